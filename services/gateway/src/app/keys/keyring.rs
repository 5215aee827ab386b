//! The keys of the server: those in the settings, and those in the store.

use std::sync::Arc;

use anyhow::{Context as _, ensure};
use chrono::{DateTime, Utc};
use domain::key::KeyDigest;
use domain::{PortError, port};
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::app::config::{Config, Right};
use crate::app::hex::hex_bytes;
use crate::app::keys::access::Access;
use crate::app::keys::stored_tokens::{StoredTokens, is_same};

/// Number of keys of the store that are read together.
const PAGE: usize = 1_000;

/// All keys, prepared for comparison.
pub(crate) struct Keyring {
    configured: Vec<ConfiguredKey>,
    stored: StoredTokens,
    /// Whether the server is open; read from the store once if the settings have no key.
    is_open: OnceCell<bool>,
}

/// A key in the settings.
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

    /// Returns true if every caller may do everything, because neither the settings nor the store has a key. Without
    /// keys in the settings the store is read once in the life of the process; if all its keys are revoked, it counts
    /// as empty.
    ///
    /// # Errors
    /// Errors of the store, until it was read once.
    pub(crate) async fn is_open(&self, store: &dyn port::Keys) -> Result<bool, PortError> {
        if !self.configured.is_empty() {
            return Ok(false);
        }
        let ask = async || Ok(!has_unrevoked_key(store).await?);
        self.is_open.get_or_try_init(ask).await.copied()
    }

    /// Returns the access of a token at a moment; `None` if the token is not valid.
    ///
    /// # Errors
    /// Errors of the store, for a token that may be in the store and was not found there within the last seconds.
    pub(crate) async fn find_access(
        &self,
        store: &Arc<dyn port::Keys>,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<Access>, PortError> {
        let digest = digest_of_token(token);
        match self.find_configured(&digest) {
            Some(access) => Ok(Some(access)),
            None => self.stored.find_access(store, token, digest, now).await,
        }
    }

    /// Returns the access of a token at a moment, for a token that was valid when its request began; `None` if it is no
    /// longer valid. This is not recorded as a use of the key.
    ///
    /// # Errors
    /// Errors of the store, for a token that is in the store and was not found there within the last seconds.
    pub(crate) async fn find_access_by_digest(
        &self,
        store: &dyn port::Keys,
        digest: &KeyDigest,
        now: DateTime<Utc>,
    ) -> Result<Option<Access>, PortError> {
        match self.find_configured(digest) {
            Some(access) => Ok(Some(access)),
            None => self.stored.find_access_by_digest(store, *digest, now).await,
        }
    }

    /// Compares the digest with every key in the settings, in constant time.
    fn find_configured(&self, digest: &KeyDigest) -> Option<Access> {
        let mut found = None;
        for key in &self.configured {
            if is_same(&key.digest, digest) {
                found = Some(&key.access);
            }
        }
        found.cloned()
    }

    /// Returns true if a key in the settings has the name.
    pub(crate) fn is_configured(&self, name: &str) -> bool {
        self.configured.iter().any(|it| it.access.name == name)
    }

    /// Returns true if a key in the settings may create others: it stays valid whatever happens to the keys in the
    /// store.
    pub(crate) fn has_configured_admin(&self) -> bool {
        self.configured.iter().any(|it| it.access.is_admin_of_all())
    }

    /// Removes the tokens of a stored key from the cache, so that the next request with one reads the store.
    pub(crate) fn forget_tokens_of_key(&self, name: &str) {
        self.stored.forget_tokens_of_key(name);
    }
}

/// Returns the digest by which the key of a token is found.
pub(crate) fn digest_of_token(token: &str) -> KeyDigest {
    Sha256::digest(token.as_bytes()).into()
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
    /// Returns true if the key has the right `admin` over all spaces.
    pub(crate) fn is_admin_of_all(&self) -> bool {
        self.opens_all() && self.rights().contains(&Right::Admin)
    }
}
