//! Cache of tokens of keys in the store; an entry is valid for some seconds.
//!
//! A key that another gateway revokes is refused here after [`AGE`]; a key that this gateway revokes is refused at
//! once. While the store is not available, cached tokens work until they reach that age. Then no stored token is
//! accepted, and the caller gets 503.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use domain::key::{FoundKey, Key, KeyDigest};
use domain::{PortError, port};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::{Instrument as _, debug};

use crate::app::keys::access::Access;

/// Prefix of every token in the store.
pub(crate) const PREFIX: &str = "mnk_";
/// Number of characters after the prefix: 32 bytes as base64url.
const CHARACTERS: usize = 43;
/// Maximum age of a cache entry.
const AGE: Duration = Duration::from_secs(5);
/// Maximum number of cached tokens.
const TOKENS_MAX: usize = 4_096;
/// Maximum number of unknown tokens that are looked up in the store at once; more wait. Known tokens do not wait for
/// a caller that guesses tokens.
const UNKNOWN_AT_ONCE: usize = 8;

/// Cache of the answers of the store about tokens.
pub(crate) struct StoredTokens {
    known: Mutex<KnownTokens>,
    unknown: Semaphore,
}

#[derive(Default)]
struct KnownTokens {
    tokens: HashMap<KeyDigest, Token>,
    /// Grows with every key that is removed; an answer of the store from before a removal is not cached after it.
    revision: u64,
    /// The minute of the last recorded use, by the name of the key.
    noted: HashMap<String, DateTime<Utc>>,
}

/// A token that exists in the store.
struct Token {
    found: FoundKey,
    at: Instant,
}

impl Default for StoredTokens {
    fn default() -> StoredTokens {
        StoredTokens {
            known: Mutex::default(),
            unknown: Semaphore::new(UNKNOWN_AT_ONCE),
        }
    }
}

impl StoredTokens {
    /// Returns the access of a token at a moment, and records its use in the background.
    pub(crate) async fn find_access(
        &self,
        store: &Arc<dyn port::Keys>,
        token: &str,
        digest: KeyDigest,
        now: DateTime<Utc>,
    ) -> Result<Option<Access>, PortError> {
        if !has_form(token) {
            return Ok(None);
        }
        let Some(key) = self.find_valid_key(&**store, digest, now).await? else {
            return Ok(None);
        };
        self.note_use(store, &key, now);
        Ok(Some(access_from_key(key)))
    }

    /// Returns the access of a token at a moment, by its digest, and records no use.
    pub(crate) async fn find_access_by_digest(
        &self,
        store: &dyn port::Keys,
        digest: KeyDigest,
        now: DateTime<Utc>,
    ) -> Result<Option<Access>, PortError> {
        Ok(self.find_valid_key(store, digest, now).await?.map(access_from_key))
    }

    /// Returns the key of a digest; `None` if there is none, or if its token is not valid at `now`.
    async fn find_valid_key(
        &self,
        store: &dyn port::Keys,
        digest: KeyDigest,
        now: DateTime<Utc>,
    ) -> Result<Option<Key>, PortError> {
        let found = self.find_key_by_digest(store, digest).await?;
        let valid = found.filter(|it| is_same(&it.digest, &digest) && it.is_valid(now));
        Ok(valid.map(|it| it.key))
    }

    /// Returns the key of a digest from the store, or from the cache if the entry is younger than [`AGE`].
    async fn find_key_by_digest(
        &self,
        store: &dyn port::Keys,
        digest: KeyDigest,
    ) -> Result<Option<FoundKey>, PortError> {
        let (is_known, revision) = {
            let known = self.lock_known();
            if let Some(token) = known.tokens.get(&digest).filter(|it| it.at.elapsed() < AGE) {
                return Ok(Some(token.found.clone()));
            }
            (known.tokens.contains_key(&digest), known.revision)
        };
        let _turn = match is_known {
            true => None,
            false => self.unknown.acquire().await.ok(),
        };
        let at = Instant::now();
        let found = store.find(digest).await?;
        let mut known = self.lock_known();
        match &found {
            Some(found) if known.revision == revision => known.insert_token(
                digest,
                Token {
                    found: found.clone(),
                    at,
                },
            ),
            Some(_) | None => {
                known.tokens.remove(&digest);
            }
        }
        Ok(found)
    }

    /// Removes all tokens of a key.
    pub(crate) fn forget_tokens_of_key(&self, name: &str) {
        let mut known = self.lock_known();
        known.revision += 1;
        known.tokens.retain(|_, it| it.found.key.name.as_str() != name);
    }

    /// Records the use of a key, at most once a minute, in the background; a failure has no consequence.
    fn note_use(&self, store: &Arc<dyn port::Keys>, key: &Key, now: DateTime<Utc>) {
        let Ok(minute) = now.duration_trunc(TimeDelta::minutes(1)) else {
            return;
        };
        if key.last_used_at.is_some_and(|it| it >= minute) || !self.lock_known().is_first_in(key, minute) {
            return;
        }
        let (store, name) = (Arc::clone(store), key.name.clone());
        let work = async move {
            if let Err(error) = store.note_use(&name, minute).await {
                debug!(
                    error = &error as &dyn std::error::Error,
                    "the use of a key was not noted"
                );
            }
        };
        tokio::spawn(work.in_current_span());
    }

    fn lock_known(&self) -> MutexGuard<'_, KnownTokens> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownTokens {
    /// Adds a token; if the cache is full, the entry that was read from the store longest ago is removed.
    fn insert_token(&mut self, digest: KeyDigest, token: Token) {
        if self.tokens.len() >= TOKENS_MAX && !self.tokens.contains_key(&digest) {
            self.tokens.retain(|_, it| it.at.elapsed() < AGE);
        }
        if self.tokens.len() >= TOKENS_MAX && !self.tokens.contains_key(&digest) {
            let oldest = self.tokens.iter().min_by_key(|(_, it)| it.at).map(|(it, _)| *it);
            oldest.map(|it| self.tokens.remove(&it));
        }
        self.tokens.insert(digest, token);
    }

    /// Returns true if this process has not recorded a use of the key in this minute.
    fn is_first_in(&mut self, key: &Key, minute: DateTime<Utc>) -> bool {
        if self.noted.len() >= TOKENS_MAX && !self.noted.contains_key(key.name.as_str()) {
            self.noted.clear();
        }
        self.noted.insert(key.name.to_string(), minute) != Some(minute)
    }
}

/// Returns true if a text has the form of a stored token; other texts are not looked up in the store.
fn has_form(token: &str) -> bool {
    let rest = token.strip_prefix(PREFIX).unwrap_or_default();
    let is_character = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
    rest.len() == CHARACTERS && rest.bytes().all(is_character)
}

fn access_from_key(key: Key) -> Access {
    Access {
        name: key.name.into(),
        spaces: key.spaces,
        rights: key.rights,
        quotas: key.quotas,
    }
}

/// Compares two digests in constant time.
pub(crate) fn is_same(one: &KeyDigest, other: &KeyDigest) -> bool {
    one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_key(name: &str) -> FoundKey {
        let key = serde_json::json!({"name": name, "spaces": ["*"], "rights": ["read"], "by": "owner",
            "created_at": "2026-03-01T12:00:00Z"});
        FoundKey {
            key: serde_json::from_value(key).unwrap(),
            digest: [0; 32],
            is_former: false,
        }
    }

    fn digest_from_number(number: usize) -> KeyDigest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_be_bytes());
        digest
    }

    #[test]
    fn only_texts_in_the_form_of_a_token_are_looked_up() {
        let token = format!("{PREFIX}{}", "aZ09-_x".repeat(7))
            .chars()
            .take(47)
            .collect::<String>();
        assert!(has_form(&token));
        for other in [
            "",
            "mnk_",
            "owner",
            &token[..46],
            &format!("{token}a"),
            &token.replace("mnk_", "mnk-"),
            &token.replace('Z', " "),
            &token.replace("Z0", "é"),
        ] {
            assert!(!has_form(other), "{other}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_token_that_was_read_longest_ago_is_removed_first() {
        let mut known = KnownTokens::default();
        for number in 0..TOKENS_MAX {
            let found = found_key("a");
            known.insert_token(
                digest_from_number(number),
                Token {
                    found,
                    at: Instant::now(),
                },
            );
            tokio::time::advance(Duration::from_micros(1)).await;
        }
        let keep = |known: &mut KnownTokens, number| {
            let (found, at) = (found_key("b"), Instant::now());
            known.insert_token(digest_from_number(number), Token { found, at });
        };
        keep(&mut known, 0);
        assert_eq!(known.tokens.len(), TOKENS_MAX, "one that is there needs no room");
        keep(&mut known, TOKENS_MAX);
        assert_eq!(known.tokens.len(), TOKENS_MAX);
        assert!(
            known.tokens.contains_key(&digest_from_number(0)) && !known.tokens.contains_key(&digest_from_number(1))
        );
        tokio::time::advance(AGE).await;
        keep(&mut known, TOKENS_MAX + 1);
        assert_eq!(known.tokens.len(), 1, "what is too old goes first");
    }

    #[test]
    fn a_use_is_recorded_once_a_minute_for_each_key() {
        let mut known = KnownTokens::default();
        let noon = DateTime::UNIX_EPOCH + TimeDelta::hours(12);
        let later = noon + TimeDelta::minutes(1);
        for (name, minute, expected) in [
            ("a", noon, true),
            ("a", noon, false),
            ("b", noon, true),
            ("a", later, true),
            ("a", later, false),
        ] {
            assert_eq!(
                known.is_first_in(&found_key(name).key, minute),
                expected,
                "{name} {minute}"
            );
        }
    }
}
