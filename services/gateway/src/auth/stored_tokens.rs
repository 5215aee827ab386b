//! Tokens of keys that are kept in the store, as it said within the last seconds.
//!
//! A key that another gateway revokes is refused here after [`AGE`]; one that this gateway revokes, at once. While the store is away,
//! tokens that were found go on until they are that old, and then nobody gets in with one: the caller sees 503.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use domain::PortError;
use domain::key::{FoundKey, Key, KeyDigest};
use domain::port;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::{Instrument as _, debug};

use super::Access;
use super::keyring::is_same;

/// What every token of the store begins with.
pub(crate) const PREFIX: &str = "mnk_";
/// Characters behind the prefix: 32 bytes as base64url.
const CHARACTERS: usize = 43;
/// How long the word of the store is taken.
const AGE: Duration = Duration::from_secs(5);
/// Most tokens that are known at once.
const TOKENS_MAX: usize = 4_096;
/// Tokens that are not known and that the store is asked about at once; more wait. Those that were found before do not wait for
/// whoever guesses.
const UNKNOWN_AT_ONCE: usize = 8;

/// What the store said about tokens.
pub(super) struct StoredTokens {
    known: Mutex<Known>,
    unknown: Semaphore,
}

#[derive(Default)]
struct Known {
    tokens: HashMap<KeyDigest, Token>,
    /// Grows with every key that is forgotten: what the store said before that is not taken after it.
    revision: u64,
    /// The minute of the last use that was noted, by the name of the key.
    noted: HashMap<String, DateTime<Utc>>,
}

/// A token that was found.
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
    /// Returns what a token opens at a moment, and notes in the background that it was used.
    pub(super) async fn find(
        &self,
        store: &Arc<dyn port::Keys>,
        token: &str,
        digest: KeyDigest,
        now: DateTime<Utc>,
    ) -> Result<Option<Access>, PortError> {
        if !has_form(token) {
            return Ok(None);
        }
        let Some(found) = self.ask(&**store, digest).await? else {
            return Ok(None);
        };
        if !is_same(&found.digest, &digest) || !found.is_valid(now) {
            return Ok(None);
        }
        self.note_use(store, &found.key, now);
        Ok(Some(access(found.key)))
    }

    /// Returns the key of a digest as the store has it, or had it less than [`AGE`] ago.
    async fn ask(&self, store: &dyn port::Keys, digest: KeyDigest) -> Result<Option<FoundKey>, PortError> {
        let (is_known, revision) = {
            let known = self.known();
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
        let mut known = self.known();
        match &found {
            Some(found) if known.revision == revision => known.keep(
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

    /// Forgets all tokens of a key.
    pub(super) fn forget(&self, name: &str) {
        let mut known = self.known();
        known.revision += 1;
        known.tokens.retain(|_, it| it.found.key.name.as_str() != name);
    }

    /// Notes that a key was used, at most once a minute. Nobody waits for it, and nothing depends on it.
    fn note_use(&self, store: &Arc<dyn port::Keys>, key: &Key, now: DateTime<Utc>) {
        let Ok(minute) = now.duration_trunc(TimeDelta::minutes(1)) else {
            return;
        };
        if key.last_used_at.is_some_and(|it| it >= minute) || !self.known().is_first_in(key, minute) {
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

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Keeps a token; without room for it, the one that the store was asked about longest ago goes.
    fn keep(&mut self, digest: KeyDigest, token: Token) {
        if self.tokens.len() >= TOKENS_MAX && !self.tokens.contains_key(&digest) {
            self.tokens.retain(|_, it| it.at.elapsed() < AGE);
        }
        if self.tokens.len() >= TOKENS_MAX && !self.tokens.contains_key(&digest) {
            let oldest = self.tokens.iter().min_by_key(|(_, it)| it.at).map(|(it, _)| *it);
            oldest.map(|it| self.tokens.remove(&it));
        }
        self.tokens.insert(digest, token);
    }

    /// Returns true if no use of the key within the minute was noted here.
    fn is_first_in(&mut self, key: &Key, minute: DateTime<Utc>) -> bool {
        if self.noted.len() >= TOKENS_MAX && !self.noted.contains_key(key.name.as_str()) {
            self.noted.clear();
        }
        self.noted.insert(key.name.to_string(), minute) != Some(minute)
    }
}

/// Returns true if a text may be a token of the store: for anything else the store is not asked.
fn has_form(token: &str) -> bool {
    let rest = token.strip_prefix(PREFIX).unwrap_or_default();
    let is_character = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
    rest.len() == CHARACTERS && rest.bytes().all(is_character)
}

fn access(key: Key) -> Access {
    Access {
        name: key.name.into(),
        spaces: key.spaces,
        rights: key.rights,
        quotas: key.quotas,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> FoundKey {
        let key = serde_json::json!({"name": name, "spaces": ["*"], "rights": ["read"], "by": "owner",
            "created_at": "2026-03-01T12:00:00Z"});
        FoundKey {
            key: serde_json::from_value(key).unwrap(),
            digest: [0; 32],
            is_former: false,
        }
    }

    fn digest(number: usize) -> KeyDigest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_be_bytes());
        digest
    }

    #[test]
    fn only_what_looks_like_a_token_is_looked_up() {
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
    async fn the_token_asked_about_longest_ago_makes_room() {
        let mut known = Known::default();
        for number in 0..TOKENS_MAX {
            let found = found("a");
            known.keep(
                digest(number),
                Token {
                    found,
                    at: Instant::now(),
                },
            );
            tokio::time::advance(Duration::from_micros(1)).await;
        }
        let keep = |known: &mut Known, number| {
            let (found, at) = (found("b"), Instant::now());
            known.keep(digest(number), Token { found, at });
        };
        keep(&mut known, 0);
        assert_eq!(known.tokens.len(), TOKENS_MAX, "one that is there needs no room");
        keep(&mut known, TOKENS_MAX);
        assert_eq!(known.tokens.len(), TOKENS_MAX);
        assert!(known.tokens.contains_key(&digest(0)) && !known.tokens.contains_key(&digest(1)));
        tokio::time::advance(AGE).await;
        keep(&mut known, TOKENS_MAX + 1);
        assert_eq!(known.tokens.len(), 1, "what is too old goes first");
    }

    #[test]
    fn a_use_is_noted_once_a_minute_and_key() {
        let mut known = Known::default();
        let noon = DateTime::UNIX_EPOCH + TimeDelta::hours(12);
        let later = noon + TimeDelta::minutes(1);
        for (name, minute, expected) in [
            ("a", noon, true),
            ("a", noon, false),
            ("b", noon, true),
            ("a", later, true),
            ("a", later, false),
        ] {
            assert_eq!(known.is_first_in(&found(name).key, minute), expected, "{name} {minute}");
        }
    }
}
