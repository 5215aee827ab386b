//! Encrypts and authenticates values that callers return to the gateway: positions and cursors. A caller learns nothing
//! from them and cannot forge them.
//!
//! AES-SIV (RFC 5297) is deterministic: equal positions give equal texts, and there is no nonce that could repeat. A
//! text is bound to its purpose and its owner, and is refused for any other.

pub(crate) mod dead_letter_names;

use aes_siv::KeyInit;
use aes_siv::siv::Aes128Siv;
use anyhow::ensure;
use domain::port::Records;
use tokio::sync::OnceCell;

use crate::api::problem::Problem;
use crate::app::hex::{hex_bytes, to_hex};

/// Name of the key in the store, used if the settings contain no key.
const KEPT: &str = "seal";
/// Maximum number of keys in the settings: the current one and older ones.
const KEYS_MAX: usize = 8;

type Key = [u8; 32];

/// Source of the keys: the settings, or else the store, which is read once.
pub(crate) struct Seal {
    configured: Option<Sealer>,
    sealer: OnceCell<Sealer>,
}

/// Seals and opens texts.
#[derive(Clone)]
pub(crate) struct Sealer {
    /// The first key seals; every key opens.
    keys: Vec<Key>,
}

impl Seal {
    /// Parses the setting: keys of 64 hex digits, separated by commas, or an empty text.
    pub(crate) fn new(setting: &str) -> anyhow::Result<Seal> {
        let configured = if setting.is_empty() {
            None
        } else {
            Some(Sealer {
                keys: parse_keys(setting)?,
            })
        };
        Ok(Seal {
            configured,
            sealer: OnceCell::new(),
        })
    }

    /// Returns the sealer. It is the same for every gateway over one memory.
    pub(crate) async fn load_sealer(&self, records: &dyn Records) -> Result<&Sealer, Problem> {
        if let Some(configured) = &self.configured {
            return Ok(configured);
        }
        let keep = async || -> Result<Sealer, Problem> {
            let key = records.secret(KEPT, host::random::generate_secret()?).await?;
            Ok(Sealer { keys: vec![key] })
        };
        self.sealer.get_or_try_init(keep).await
    }
}

impl Sealer {
    /// Returns a sealed text, which only [`Sealer::open_value`] with the same `about` can read.
    pub(crate) fn seal_value(&self, about: &[&str], plain: &[u8]) -> Result<String, Problem> {
        let key = self.keys.first().ok_or_else(Problem::internal_error)?;
        let sealed = Aes128Siv::new(&(*key).into()).encrypt(about, plain);
        sealed.map(|it| to_hex(&it)).map_err(|_| Problem::internal_error())
    }

    /// Returns the value in a sealed text; `None` if the text was not sealed with these keys and this `about`.
    pub(crate) fn open_value(&self, about: &[&str], sealed: &str) -> Option<Vec<u8>> {
        let sealed = hex_bytes(sealed)?;
        let open = |key: &Key| Aes128Siv::new(&(*key).into()).decrypt(about, &sealed).ok();
        self.keys.iter().find_map(open)
    }
}

fn parse_keys(setting: &str) -> anyhow::Result<Vec<Key>> {
    let key = |text: &str| hex_bytes(text.trim()).and_then(|it| Key::try_from(it).ok());
    let keys: Option<Vec<Key>> = setting.split(',').map(key).collect();
    let keys = keys.unwrap_or_default();
    ensure!(
        (1..=KEYS_MAX).contains(&keys.len()),
        "[gateway] seal_key: must be 1 to {KEYS_MAX} keys of 64 hex digits, separated by commas; `openssl rand -hex \
         32` makes one"
    );
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer_of_keys(setting: &str) -> Sealer {
        Sealer {
            keys: parse_keys(setting).unwrap(),
        }
    }

    #[test]
    fn a_sealed_text_opens_only_with_its_key_and_for_its_purpose() {
        let (one, two) = ("01".repeat(32), "02".repeat(32));
        let (first, second) = (sealer_of_keys(&one), sealer_of_keys(&two));
        let about = ["watermark", "a"];
        let sealed = first.seal_value(&about, b"seven").unwrap();
        assert_eq!(first.open_value(&about, &sealed).as_deref(), Some(b"seven".as_slice()));
        assert_eq!(sealed, first.seal_value(&about, b"seven").unwrap(), "the same again");
        assert!(!sealed.contains(&to_hex(b"seven")));
        for other in [["watermark", "b"], ["cursor", "a"], ["watermarka", ""]] {
            assert_eq!(first.open_value(&other, &sealed), None, "{other:?}");
        }
        assert_eq!(second.open_value(&about, &sealed), None);
        assert_eq!(
            sealer_of_keys(&format!("{two}, {one}")).open_value(&about, &sealed),
            first.open_value(&about, &sealed)
        );
        assert_ne!(
            sealer_of_keys(&format!("{two},{one}"))
                .seal_value(&about, b"seven")
                .unwrap(),
            sealed
        );
        for at in 0..sealed.len() {
            let mut altered = sealed.clone().into_bytes();
            altered[at] = if altered[at] == b'0' { b'1' } else { b'0' };
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(first.open_value(&about, &altered), None, "{altered}");
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
            assert!(parse_keys(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_keys(&vec!["01".repeat(32); 8].join(",")).unwrap().len(), 8);
        assert!(parse_keys(&vec!["01".repeat(32); 9].join(",")).is_err());
    }
}
