use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::Result;
use crate::key::{FoundKey, Key, KeyDigest, KeyName};

/// A new token for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Digest of the new token.
    pub digest: KeyDigest,
    /// Time at which the former token expires; absent if it is invalid immediately.
    pub former_until: Option<DateTime<Utc>>,
}

/// API keys. They belong to no space.
#[async_trait]
pub trait Keys: Send + Sync + 'static {
    /// Stores a new key with the digest of its token. Idempotent. If there are already
    /// [`KEYS_MAX`](crate::key::KEYS_MAX) keys, the one revoked first is deleted. Durable on return.
    ///
    /// # Errors
    ///
    /// `Conflict` if another key has the name, or if the store is full and no key was revoked.
    async fn create(&self, key: &Key, digest: KeyDigest) -> Result<()>;

    /// Returns the key with this digest, which may be that of its current token or of the one before the last rotation.
    /// The key may be invalid.
    async fn find(&self, digest: KeyDigest) -> Result<Option<FoundKey>>;

    /// Returns a key by its name.
    async fn get(&self, name: &KeyName) -> Result<Option<Key>>;

    /// Returns up to `limit` keys with names greater than `after`, in byte order of their names.
    async fn list(&self, after: Option<&KeyName>, limit: usize) -> Result<Vec<Key>>;

    /// Replaces the token of a key; the former token is accepted until `rotation.former_until`, and any token before it
    /// is no longer accepted. Idempotent. Durable on return. Returns false if there is no such key, or it is revoked.
    async fn rotate(&self, name: &KeyName, rotation: Rotation) -> Result<bool>;

    /// Revokes a key with all its tokens. A second call does not change the time of revocation. Durable on return.
    /// Returns false if there is no such key.
    async fn revoke(&self, name: &KeyName, at: DateTime<Utc>) -> Result<bool>;

    /// Records that a key was used at `at`, unless a later use is recorded already. A loss of power may undo it.
    async fn note_use(&self, name: &KeyName, at: DateTime<Utc>) -> Result<()>;
}
