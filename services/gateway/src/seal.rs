//! What leaves the gateway and comes back: positions and cursors, encrypted and authenticated, so that a caller learns nothing
//! from them and can make none.
//!
//! AES-SIV (RFC 5297) is deterministic: the same position gives the same text, and there is no nonce to repeat. A text is
//! bound to what it is for and to whose it is; for anything else it is refused.

use aes_siv::KeyInit;
use aes_siv::siv::Aes128Siv;
use anyhow::ensure;
use domain::port::Records;
use tokio::sync::OnceCell;

use crate::auth::{hex, hex_bytes};
use crate::problem::Problem;

/// Name under which the key is kept with the memory, where the settings have none.
const KEPT: &str = "seal";
/// Most keys in the settings: the one that seals and those from before.
const KEYS_MAX: usize = 8;

type Key = [u8; 32];

/// Where the keys come from: the settings, else the memory itself, which is asked for them once.
pub(crate) struct Seal {
    configured: Option<Sealer>,
    kept: OnceCell<Sealer>,
}

/// Seals and opens.
#[derive(Clone)]
pub(crate) struct Sealer {
    /// The first one seals, every one opens.
    keys: Vec<Key>,
}

impl Seal {
    /// Reads the setting: keys of 64 hex digits with commas between them, or nothing.
    pub(crate) fn new(setting: &str) -> anyhow::Result<Seal> {
        let configured = if setting.is_empty() {
            None
        } else {
            Some(Sealer { keys: keys(setting)? })
        };
        Ok(Seal {
            configured,
            kept: OnceCell::new(),
        })
    }

    /// Returns the sealer. Every gateway over one memory gets the same.
    pub(crate) async fn sealer(&self, records: &dyn Records) -> Result<&Sealer, Problem> {
        if let Some(configured) = &self.configured {
            return Ok(configured);
        }
        let keep = async || -> Result<Sealer, Problem> {
            let key = records.secret(KEPT, host::random::secret()?).await?;
            Ok(Sealer { keys: vec![key] })
        };
        self.kept.get_or_try_init(keep).await
    }
}

impl Sealer {
    /// Returns a text that only [`Sealer::open`] reads, with the same `about`.
    pub(crate) fn seal(&self, about: &[&str], plain: &[u8]) -> Result<String, Problem> {
        let key = self.keys.first().ok_or_else(Problem::internal)?;
        let sealed = Aes128Siv::new(&(*key).into()).encrypt(about, plain);
        sealed.map(|it| hex(&it)).map_err(|_| Problem::internal())
    }

    /// Returns what was sealed; none if it was not sealed here for this.
    pub(crate) fn open(&self, about: &[&str], sealed: &str) -> Option<Vec<u8>> {
        let sealed = hex_bytes(sealed)?;
        let open = |key: &Key| Aes128Siv::new(&(*key).into()).decrypt(about, &sealed).ok();
        self.keys.iter().find_map(open)
    }
}

fn keys(setting: &str) -> anyhow::Result<Vec<Key>> {
    let key = |text: &str| hex_bytes(text.trim()).and_then(|it| Key::try_from(it).ok());
    let keys: Option<Vec<Key>> = setting.split(',').map(key).collect();
    let keys = keys.unwrap_or_default();
    ensure!(
        (1..=KEYS_MAX).contains(&keys.len()),
        "[gateway] seal_key: is not 1 to {KEYS_MAX} keys of 64 hex digits with commas between them; `openssl rand -hex 32` \
         makes one"
    );
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer(setting: &str) -> Sealer {
        Sealer {
            keys: keys(setting).unwrap(),
        }
    }

    #[test]
    fn only_the_key_that_sealed_opens_and_only_for_the_same() {
        let (one, two) = ("01".repeat(32), "02".repeat(32));
        let (first, second) = (sealer(&one), sealer(&two));
        let about = ["watermark", "a"];
        let sealed = first.seal(&about, b"seven").unwrap();
        assert_eq!(first.open(&about, &sealed).as_deref(), Some(b"seven".as_slice()));
        assert_eq!(sealed, first.seal(&about, b"seven").unwrap(), "the same again");
        assert!(!sealed.contains(&hex(b"seven")));
        for other in [["watermark", "b"], ["cursor", "a"], ["watermarka", ""]] {
            assert_eq!(first.open(&other, &sealed), None, "{other:?}");
        }
        assert_eq!(second.open(&about, &sealed), None);
        assert_eq!(
            sealer(&format!("{two}, {one}")).open(&about, &sealed),
            first.open(&about, &sealed)
        );
        assert_ne!(sealer(&format!("{two},{one}")).seal(&about, b"seven").unwrap(), sealed);
        for at in 0..sealed.len() {
            let mut altered = sealed.clone().into_bytes();
            altered[at] = if altered[at] == b'0' { b'1' } else { b'0' };
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(first.open(&about, &altered), None, "{altered}");
        }
    }

    #[test]
    fn a_key_is_64_hex_digits() {
        for wrong in [
            "01",
            "zz",
            &"0g".repeat(32),
            &format!("{},", "01".repeat(32)),
            &"01".repeat(33),
        ] {
            assert!(keys(wrong).is_err(), "{wrong}");
        }
        assert_eq!(keys(&vec!["01".repeat(32); 8].join(",")).unwrap().len(), 8);
        assert!(keys(&vec!["01".repeat(32); 9].join(",")).is_err());
    }
}
