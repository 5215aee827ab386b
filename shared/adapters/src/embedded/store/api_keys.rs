//! API keys as rows.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::key::{FoundKey, KEYS_MAX, Key, KeyDigest, KeyName};
use domain::port::{Keys, Result, Rotation};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Durability, Failure, Outcome, Store, to_sql_integer};
use crate::store_rules::api_keys::{stored_body, time_from_millis};

/// Columns of a key, in the order in which [`key_from_row`] reads them.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT body, former_until, revoked, used, digest, former FROM keys ",
            $rest
        )
    };
}

/// Keys in the file.
pub(crate) struct StoredKeys(pub(crate) Arc<Store>);

#[async_trait]
impl Keys for StoredKeys {
    async fn create(&self, key: &Key, digest: KeyDigest) -> Result<()> {
        let key = key.clone();
        let job = move |db: &Connection| create_key(db, &key, digest);
        self.0.run_write("keys.create", Durability::Power, job).await
    }

    async fn find(&self, digest: KeyDigest) -> Result<Option<FoundKey>> {
        let job = move |db: &Connection| {
            let mut select = db.prepare_cached(select!("WHERE digest = ?1 OR former = ?1"))?;
            let mut rows = select.query([digest])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let current: KeyDigest = row.get(4)?;
            let former: Option<KeyDigest> = row.get(5)?;
            let former = former.filter(|_| current != digest);
            Ok(Some(FoundKey {
                key: key_from_row(row)?,
                digest: former.unwrap_or(current),
                is_former: former.is_some(),
            }))
        };
        self.0.run_read("keys.find", job).await
    }

    async fn get(&self, name: &KeyName) -> Result<Option<Key>> {
        let name = name.clone();
        let job = move |db: &Connection| {
            let mut select = db.prepare_cached(select!("WHERE name = ?1"))?;
            let mut rows = select.query([name.as_str()])?;
            rows.next()?.map(key_from_row).transpose()
        };
        self.0.run_read("keys.get", job).await
    }

    async fn list(&self, after: Option<&KeyName>, limit: usize) -> Result<Vec<Key>> {
        // No name is empty, so the empty string sorts before all names.
        let after = after.map(|it| it.as_str().to_owned()).unwrap_or_default();
        let job = move |db: &Connection| {
            let mut select = db.prepare_cached(select!("WHERE name > ?1 ORDER BY name LIMIT ?2"))?;
            let mut rows = select.query((after, to_sql_integer(limit)))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(key_from_row(row)?);
            }
            Ok(found)
        };
        self.0.run_read("keys.list", job).await
    }

    async fn rotate(&self, name: &KeyName, rotation: Rotation) -> Result<bool> {
        let name = name.clone();
        let job = move |db: &Connection| rotate_key(db, &name, rotation);
        self.0.run_write("keys.rotate", Durability::Power, job).await
    }

    async fn revoke(&self, name: &KeyName, at: DateTime<Utc>) -> Result<bool> {
        let name = name.clone();
        let job = move |db: &Connection| {
            let mut update = db.prepare_cached(
                "UPDATE keys SET revoked = coalesce(revoked, ?2), former = NULL, former_until = NULL WHERE name = ?1",
            )?;
            Ok(update.execute((name.as_str(), at.timestamp_millis()))? > 0)
        };
        self.0.run_write("keys.revoke", Durability::Power, job).await
    }

    async fn note_use(&self, name: &KeyName, at: DateTime<Utc>) -> Result<()> {
        let name = name.clone();
        let job = move |db: &Connection| {
            let mut update =
                db.prepare_cached("UPDATE keys SET used = ?2 WHERE name = ?1 AND coalesce(used, ?2 - 1) < ?2")?;
            update.execute((name.as_str(), at.timestamp_millis()))?;
            Ok(())
        };
        self.0.run_write("keys.note_use", Durability::Process, job).await
    }
}

fn create_key(db: &Connection, key: &Key, digest: KeyDigest) -> Outcome<()> {
    let name = key.name.as_str();
    let stored_digest: Option<KeyDigest> = db
        .prepare_cached("SELECT digest FROM keys WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    if stored_digest == Some(digest) {
        return Ok(());
    }
    if stored_digest.is_some() {
        return Err(Failure::conflict(crate::store_rules::api_keys::name_is_taken(
            &key.name,
        )));
    }
    let count: i64 = db
        .prepare_cached("SELECT count(*) FROM keys")?
        .query_row([], |row| row.get(0))?;
    if count >= to_sql_integer(KEYS_MAX) {
        let mut forget = db.prepare_cached(
            "DELETE FROM keys WHERE name = (SELECT name FROM keys WHERE revoked IS NOT NULL ORDER BY revoked, name LIMIT 1)",
        )?;
        if forget.execute([])? == 0 {
            return Err(Failure::conflict(crate::store_rules::api_keys::no_room()));
        }
    }
    let body = serde_json::to_vec(&stored_body(key)).map_err(|error| Failure::invalid(error.to_string()))?;
    let mut insert = db.prepare_cached("INSERT INTO keys (name, digest, body) VALUES (?1, ?2, ?3)")?;
    insert.execute(params![name, digest, body])?;
    Ok(())
}

fn rotate_key(db: &Connection, name: &KeyName, rotation: Rotation) -> Outcome<bool> {
    let Rotation { digest, former_until } = rotation;
    let current: Option<KeyDigest> = db
        .prepare_cached("SELECT digest FROM keys WHERE name = ?1 AND revoked IS NULL")?
        .query_row([name.as_str()], |row| row.get(0))
        .optional()?;
    let Some(current) = current else { return Ok(false) };
    if current != digest {
        let former = former_until.map(|_| current);
        let until = former_until.map(|it| it.timestamp_millis());
        let mut update =
            db.prepare_cached("UPDATE keys SET digest = ?2, former = ?3, former_until = ?4 WHERE name = ?1")?;
        update.execute(params![name.as_str(), digest, former, until])?;
    }
    Ok(true)
}

fn key_from_row(row: &Row<'_>) -> Outcome<Key> {
    let body: Vec<u8> = row.get(0)?;
    let key: Key = serde_json::from_slice(&body).map_err(Failure::unreadable_body)?;
    let read = |at: usize| -> Outcome<Option<DateTime<Utc>>> {
        let millis: Option<i64> = row.get(at)?;
        let read =
            |it: i64| time_from_millis(it).ok_or_else(|| Failure::unreadable_body("a time of a key is out of range"));
        millis.map(read).transpose()
    };
    Ok(Key {
        former_valid_until: read(1)?,
        revoked_at: read(2)?,
        last_used_at: read(3)?,
        ..key
    })
}
