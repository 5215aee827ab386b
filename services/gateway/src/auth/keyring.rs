//! The keys of the server: those of the settings, and those of the store.

use std::sync::Arc;

use anyhow::{Context as _, ensure};
use chrono::{DateTime, Utc};
use domain::PortError;
use domain::key::KeyDigest;
use domain::port;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use super::stored_tokens::StoredTokens;
use super::{Access, hex_bytes};
use crate::config::{Config, Right};

/// Keys of the store that are looked at together.
const PAGE: usize = 1_000;

/// All keys, ready to be compared.
pub(crate) struct Keyring {
    configured: Vec<ConfiguredKey>,
    stored: StoredTokens,
    /// Whether the server is open; asked of the store once, if the settings have no key.
    is_open: OnceCell<bool>,
}

/// A key of the settings.
struct ConfiguredKey {
    digest: KeyDigest,
    access: Access,
}

impl Keyring {
    pub(crate) fn new(config: &Config) -> anyhow::Result<Keyring> {
        let mut configured = Vec::new();
        for key in &config.keys {
            let digest = hex_bytes(&key.sha256).and_then(|it| KeyDigest::try_from(it).ok());
            let digest = digest.with_context(|| {
                format!(
                    "the sha256 of the key `{}` in [[gateway.keys]] is not 64 hex digits",
                    key.name
                )
            })?;
            ensure!(
                !key.spaces.is_empty(),
                "the key `{}` in [[gateway.keys]] opens no space",
                key.name
            );
            configured.push(ConfiguredKey {
                digest,
                access: Access {
                    name: key.name.clone(),
                    spaces: key.spaces.clone(),
                    rights: key.rights.clone(),
                    quotas: key.quotas,
                },
            });
        }
        Ok(Keyring {
            configured,
            stored: StoredTokens::default(),
            is_open: OnceCell::new(),
        })
    }

    /// Returns true if everybody may do everything, since neither the settings nor the store has a key. Without keys in the
    /// settings the store is asked once in the life of the process; keys that are all revoked do not count.
    ///
    /// # Errors
    /// Those of the store, as long as it was not reached.
    pub(crate) async fn is_open(&self, store: &dyn port::Keys) -> Result<bool, PortError> {
        if !self.configured.is_empty() {
            return Ok(false);
        }
        let ask = async || Ok(!has_unrevoked_key(store).await?);
        self.is_open.get_or_try_init(ask).await.copied()
    }

    /// Returns what a token opens at a moment; none if it is no valid one.
    ///
    /// # Errors
    /// Those of the store, about a token that may be of the store and was not found there within the last seconds.
    pub(crate) async fn find(
        &self,
        store: &Arc<dyn port::Keys>,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<Access>, PortError> {
        let digest: KeyDigest = Sha256::digest(token.as_bytes()).into();
        match self.find_configured(&digest) {
            Some(access) => Ok(Some(access)),
            None => self.stored.find(store, token, digest, now).await,
        }
    }

    /// Compares with every key of the settings, in a time that does not depend on how much of one matches.
    fn find_configured(&self, digest: &KeyDigest) -> Option<Access> {
        let mut found = None;
        for key in &self.configured {
            if is_same(&key.digest, digest) {
                found = Some(&key.access);
            }
        }
        found.cloned()
    }

    /// Returns true if a key of the settings has the name.
    pub(crate) fn is_configured(&self, name: &str) -> bool {
        self.configured.iter().any(|it| it.access.name == name)
    }

    /// Returns true if a key of the settings may make others: whatever becomes of keys of the store, it stays.
    pub(crate) fn has_configured_admin(&self) -> bool {
        self.configured.iter().any(|it| it.access.is_admin_of_all())
    }

    /// Makes the next request with a token of a stored key ask the store.
    pub(crate) fn forget(&self, name: &str) {
        self.stored.forget(name);
    }
}

/// Compares two digests in a time that does not depend on how much of them matches.
pub(super) fn is_same(one: &KeyDigest, other: &KeyDigest) -> bool {
    one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

async fn has_unrevoked_key(store: &dyn port::Keys) -> Result<bool, PortError> {
    let mut after = None;
    loop {
        let page = store.list(after.as_ref(), PAGE).await?;
        if page.iter().any(|it| it.revoked_at.is_none()) {
            return Ok(true);
        }
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.name),
            None => return Ok(false),
        }
    }
}

impl Access {
    /// Returns true if the key may do what is about the whole server.
    pub(crate) fn is_admin_of_all(&self) -> bool {
        self.opens_all() && self.rights().contains(&Right::Admin)
    }
}
