use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::Result;
use crate::key::{FoundKey, Key, KeyDigest, KeyName};

/// A new token for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Digest of the new token.
    pub digest: KeyDigest,
    /// Until when the token before it stays valid; none: it is valid no more.
    pub former_until: Option<DateTime<Utc>>,
}

/// Keys of the API. They belong to no space.
#[async_trait]
pub trait Keys: Send + Sync + 'static {
    /// Keeps a new key with the digest of its token; the same once more changes nothing. At
    /// [`KEYS_MAX`](crate::key::KEYS_MAX) keys the one that was revoked first makes room. Durable on return.
    ///
    /// # Errors
    /// `Conflict` if another key has the name, or if there is no room and no key was revoked.
    async fn create(&self, key: &Key, digest: KeyDigest) -> Result<()>;

    /// Returns the key of a token, valid or not, by the digest of its token or of the one before the last rotation.
    async fn find(&self, digest: KeyDigest) -> Result<Option<FoundKey>>;

    /// Returns a key by its name.
    async fn get(&self, name: &KeyName) -> Result<Option<Key>>;

    /// Returns up to `limit` keys with names greater than `after`, by name in the order of their bytes.
    async fn list(&self, after: Option<&KeyName>, limit: usize) -> Result<Vec<Key>>;

    /// Gives a key a new token; the token before the present one is valid no more. The same once more changes nothing. Durable
    /// on return. Returns false if there is no such key, or it is revoked.
    async fn rotate(&self, name: &KeyName, rotation: Rotation) -> Result<bool>;

    /// Revokes a key with all its tokens; the first moment stays. Durable on return. Returns false if there is no such key.
    async fn revoke(&self, name: &KeyName, at: DateTime<Utc>) -> Result<bool>;

    /// Notes that a key was used at a moment; an earlier one than noted changes nothing. A loss of power may undo it.
    async fn note_use(&self, name: &KeyName, at: DateTime<Utc>) -> Result<()>;
}
