//! API keys as nodes that belong to no space.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::key::{FoundKey, KEYS_MAX, Key, KeyDigest, KeyName};
use domain::port::{Keys, Result, Rotation};
use domain::{ErrorKind, PortError};
use neo4rs::{Query, Row};

use crate::servers::neo4j::client::{Client, read_body, read_column, read_natural, to_bolt_integer, to_json};
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::node_keys::{key_of_name, key_range_of_namespace};
use crate::store_rules::api_keys::{name_is_taken, no_room, stored_body, time_from_millis};

/// Columns of a key, as [`key_from_row`] reads them.
macro_rules! returned {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            " RETURN k.body AS body, k.former_until AS former_until, k.revoked AS revoked, k.used AS used",
            $after
        )
    };
}

const DIGEST: &str = "MATCH (k:Key {key: $key}) RETURN k.digest AS digest";
const COUNT: &str = "MATCH (k:Key) WHERE k.key > $from AND k.key < $until RETURN count(k) AS count";
const FORGET: &str = "MATCH (k:Key) WHERE k.key > $from AND k.key < $until AND k.revoked IS NOT NULL
    WITH k ORDER BY k.revoked, k.key LIMIT 1 DELETE k RETURN 1 AS gone";
/// An existing node is not changed; the caller compares the digest to see whether the node is its own.
const CREATE: &str = "MERGE (k:Key {key: $key}) ON CREATE SET k.digest = $digest, k.body = $body
    RETURN k.digest AS digest";
const FIND: &str = returned!("MATCH (k:Key {digest: $digest})", ", k.digest AS kept");
const FIND_FORMER: &str = returned!("MATCH (k:Key {former: $digest})", ", k.former AS kept");
const GET: &str = returned!("MATCH (k:Key {key: $key})", "");
const LIST: &str = returned!(
    "MATCH (k:Key) WHERE k.key > $after AND k.key < $until",
    " ORDER BY k.key LIMIT $limit"
);
/// Setting the property takes the lock; the compared values are read after that.
const ROTATE: &str = "MATCH (k:Key {key: $key}) SET k.lock = true
    WITH k WHERE k.revoked IS NULL
    WITH k, k.digest AS before
    FOREACH (x IN CASE WHEN before <> $digest THEN [1] ELSE [] END |
      SET k.former = CASE WHEN $former_until IS NULL THEN null ELSE before END,
        k.former_until = $former_until, k.digest = $digest)
    RETURN 1 AS done";
const REVOKE: &str = "MATCH (k:Key {key: $key})
    SET k.revoked = coalesce(k.revoked, $at), k.former = null, k.former_until = null RETURN 1 AS done";
const NOTE_USE: &str = "MATCH (k:Key {key: $key}) SET k.lock = true
    WITH k WHERE k.used IS NULL OR k.used < $at SET k.used = $at";

/// Keys as nodes.
pub(crate) struct NodeKeys(pub(crate) Arc<Client>);

impl NodeKeys {
    fn node_key(&self, name: &KeyName) -> String {
        key_of_name(&self.0.namespace, name.as_str())
    }

    /// Returns a digest in its stored form, which includes the namespace, since several namespaces may share a server.
    fn stored_digest(&self, digest: KeyDigest) -> String {
        let hex: String = digest.iter().map(|it| format!("{it:02x}")).collect();
        key_of_name(&self.0.namespace, &hex)
    }

    /// Returns the digest from the form that [`NodeKeys::stored_digest`] made.
    fn kept_digest(&self, operation: &'static str, row: &Row) -> Result<KeyDigest> {
        let stored_hex: String = read_column(operation, row, "kept")?;
        let hex = stored_hex
            .strip_prefix(&key_of_name(&self.0.namespace, ""))
            .unwrap_or_default();
        let mut digest = [0; 32];
        for (at, byte) in digest.iter_mut().enumerate() {
            let pair = hex.get(2 * at..2 * at + 2).unwrap_or_default();
            *byte = u8::from_str_radix(pair, 16).map_err(|error| damaged_error(operation, error))?;
        }
        Ok(digest)
    }

    fn on_all(&self, text: &'static str) -> Query {
        let (from, until) = key_range_of_namespace(&self.0.namespace);
        Query::new(text.to_owned()).param("from", from).param("until", until)
    }

    fn query_for_key(&self, name: &KeyName, text: &'static str) -> Query {
        Query::new(text.to_owned()).param("key", self.node_key(name))
    }

    /// Deletes the key that was revoked first if the maximum number is reached. Concurrent calls may each find the last
    /// place free.
    async fn make_room(&self, operation: &'static str) -> Result<()> {
        let rows = self.0.run_read(operation, self.on_all(COUNT)).await?;
        let count = rows
            .first()
            .map(|it| read_natural(operation, it, "count"))
            .transpose()?;
        if count.unwrap_or(0) < KEYS_MAX as u64 {
            return Ok(());
        }
        let forgotten_keys = self.0.run_write(operation, self.on_all(FORGET)).await?;
        if forgotten_keys.is_empty() {
            return Err(PortError::new(operation, ErrorKind::Conflict, no_room()));
        }
        Ok(())
    }
}

#[async_trait]
impl Keys for NodeKeys {
    async fn create(&self, key: &Key, digest: KeyDigest) -> Result<()> {
        const OPERATION: &str = "keys.create";
        let digest = self.stored_digest(digest);
        let stored_rows = self
            .0
            .run_read(OPERATION, self.query_for_key(&key.name, DIGEST))
            .await?;
        if stored_rows.is_empty() {
            self.make_room(OPERATION).await?;
        }
        let create = self
            .query_for_key(&key.name, CREATE)
            .param("digest", digest.clone())
            .param("body", to_json(OPERATION, &stored_body(key))?);
        let rows = self.0.run_write(OPERATION, create).await?;
        let stored_rows = rows.first().map(|it| read_column::<String>(OPERATION, it, "digest"));
        if stored_rows.transpose()?.as_ref() == Some(&digest) {
            return Ok(());
        }
        Err(PortError::new(OPERATION, ErrorKind::Conflict, name_is_taken(&key.name)))
    }

    async fn find(&self, digest: KeyDigest) -> Result<Option<FoundKey>> {
        const OPERATION: &str = "keys.find";
        for (text, is_former) in [(FIND, false), (FIND_FORMER, true)] {
            let query = Query::new(text.to_owned()).param("digest", self.stored_digest(digest));
            if let Some(row) = self.0.run_read(OPERATION, query).await?.first() {
                return Ok(Some(FoundKey {
                    key: key_from_row(OPERATION, row)?,
                    digest: self.kept_digest(OPERATION, row)?,
                    is_former,
                }));
            }
        }
        Ok(None)
    }

    async fn get(&self, name: &KeyName) -> Result<Option<Key>> {
        const OPERATION: &str = "keys.get";
        let rows = self.0.run_read(OPERATION, self.query_for_key(name, GET)).await?;
        rows.first().map(|it| key_from_row(OPERATION, it)).transpose()
    }

    async fn list(&self, after: Option<&KeyName>, limit: usize) -> Result<Vec<Key>> {
        const OPERATION: &str = "keys.list";
        let after = after.map(KeyName::as_str).unwrap_or_default();
        let query = self
            .on_all(LIST)
            .param("after", key_of_name(&self.0.namespace, after))
            .param("limit", to_bolt_integer(limit));
        let rows = self.0.run_read(OPERATION, query).await?;
        rows.iter().map(|it| key_from_row(OPERATION, it)).collect()
    }

    async fn rotate(&self, name: &KeyName, rotation: Rotation) -> Result<bool> {
        let query = self
            .query_for_key(name, ROTATE)
            .param("digest", self.stored_digest(rotation.digest))
            .param("former_until", rotation.former_until.map(|it| it.timestamp_millis()));
        Ok(!self.0.run_write("keys.rotate", query).await?.is_empty())
    }

    async fn revoke(&self, name: &KeyName, at: DateTime<Utc>) -> Result<bool> {
        let query = self.query_for_key(name, REVOKE).param("at", at.timestamp_millis());
        Ok(!self.0.run_write("keys.revoke", query).await?.is_empty())
    }

    async fn note_use(&self, name: &KeyName, at: DateTime<Utc>) -> Result<()> {
        let query = self.query_for_key(name, NOTE_USE).param("at", at.timestamp_millis());
        self.0.run_write("keys.note_use", query).await.map(drop)
    }
}

fn key_from_row(operation: &'static str, row: &Row) -> Result<Key> {
    let key: Key = read_body(operation, row)?;
    let read = |name: &str| -> Result<Option<DateTime<Utc>>> {
        let millis: Option<i64> = read_column(operation, row, name)?;
        let read = |it: i64| time_from_millis(it).ok_or_else(|| damaged_error(operation, OutOfRange));
        millis.map(read).transpose()
    };
    Ok(Key {
        former_valid_until: read("former_until")?,
        revoked_at: read("revoked")?,
        last_used_at: read("used")?,
        ..key
    })
}

/// The error for a number that is not a valid time.
#[derive(Debug, thiserror::Error)]
#[error("a time of a key is out of range")]
struct OutOfRange;
