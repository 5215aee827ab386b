//! Files of earlier versions: their content is found as if this version had stored it.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

use std::path::Path;

use adapters::{Embedded, Options};
use chrono::DateTime;
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::port::{Room, Selection};
use domain::record::Record;
use domain::unit::Unit;
use rusqlite::Connection;
use serde_json::json;

/// Statements that take a file back to an earlier schema: first they remove what the thirteenth and later schemas
/// added, then the ninth and later ones, then the seventh and eighth.
const WITHOUT_DIGESTS: &str = "DROP TABLE deleted_spaces; ALTER TABLE spaces DROP COLUMN removed_day;
    ALTER TABLE spaces DROP COLUMN removed_calls; ALTER TABLE spaces DROP COLUMN removed_prompt_tokens;
    ALTER TABLE spaces DROP COLUMN removed_completion_tokens; ALTER TABLE spaces DROP COLUMN removed_ms;
    DROP TRIGGER point_changed; DROP TRIGGER point_deleted; DROP TABLE point_images;
    DROP TRIGGER block_deleted; DROP TABLE block_files;
    DROP TRIGGER unit_changed; DROP TRIGGER unit_deleted; DROP TABLE unit_blocks;
    CREATE TABLE images (row INTEGER PRIMARY KEY, version INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TRIGGER unit_changed AFTER UPDATE ON units BEGIN DELETE FROM images WHERE row = old.row; END;
    CREATE TRIGGER unit_deleted AFTER DELETE ON units BEGIN DELETE FROM images WHERE row = old.row; END;
    DROP TABLE webhooks; DROP TABLE keys; DROP TABLE readings; DROP TABLE read_records; DROP TABLE wanted_sessions; DROP TABLE receipts; DROP INDEX curations_position; ALTER TABLE records DROP COLUMN digest; ALTER TABLE units DROP COLUMN digest;
    ALTER TABLE derived DROP COLUMN digest; ALTER TABLE curations DROP COLUMN digest;
    PRAGMA user_version = 12;";
const WITHOUT_WHOSE: &str = "DROP TRIGGER unit_changed; DROP TRIGGER unit_deleted; DROP TABLE images;
    ALTER TABLE remembered DROP COLUMN held_until; DROP TABLE unfinished_erasures;
    DROP INDEX records_actor; DROP INDEX units_session; DROP INDEX units_actor;
    ALTER TABLE records DROP COLUMN actor; ALTER TABLE units DROP COLUMN actor; ALTER TABLE units DROP COLUMN session;
    PRAGMA user_version = 8;";
const WITHOUT_ROWS: &str =
    "DROP TABLE record_rows; ALTER TABLE curations DROP COLUMN position; PRAGMA user_version = 6;";

fn space() -> SpaceId {
    "a".parse().unwrap()
}

fn record(name: &str, session: &str, actor: &str) -> Record {
    let value = json!({"id": RecordId::from_external_id(&space(), name), "space": space(), "external_id": name, "ordinal": 0,
        "actor": actor, "session": SessionId::from_name(&space(), session), "session_name": session, "modality": "text",
        "text": name, "observed_at": "2026-03-01T12:00:00Z"});
    serde_json::from_value(value).unwrap()
}

fn unit(record: &Record) -> Unit {
    let value = json!({"id": UnitId::of_turn(record.id), "grain": "turn", "session": record.session, "records": [record.id],
        "external_ids": [record.external_id], "observed_at": record.observed_at, "ordinal": 0, "modality": "text",
        "actor": record.actor, "text": record.text, "summary": record.text, "derived_by": "test", "confidence": 1.0});
    serde_json::from_value(value).unwrap()
}

/// Opens the stores and creates the space.
async fn open(dir: &Path) -> Embedded {
    let it = Embedded::open(dir, Options::default()).await.unwrap();
    it.records.create_space(&space(), DateTime::UNIX_EPOCH).await.unwrap();
    it
}

fn change(dir: &Path, text: &str) {
    let connection = Connection::open(dir.join("mnemic.sqlite")).unwrap();
    connection.execute_batch(text).unwrap();
}

/// A file from before rows were counted can be used further, and its row numbers are not reused either.
#[tokio::test]
async fn row_numbers_of_an_older_file_are_not_reused() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    let [one, two, three] = ["1", "2", "3"].map(|it| record(it, "s", ""));
    it.records.put(&space(), &[one.clone(), two]).await.unwrap();
    drop(it);
    change(dir.path(), WITHOUT_DIGESTS);
    change(dir.path(), WITHOUT_WHOSE);
    change(dir.path(), WITHOUT_ROWS);
    assert!(adapters::needs_migration(dir.path()).unwrap());

    let records = open(dir.path()).await.records;
    let (found, _) = records.list(&space(), 0, 9).await.unwrap();
    records.erase(&space(), &[found[0].id, found[1].id]).await.unwrap();
    records.put(&space(), std::slice::from_ref(&three)).await.unwrap();
    assert_eq!((&found[0], found.len()), (&one, 2));
    assert!(!adapters::needs_migration(dir.path()).unwrap());
    assert_eq!(records.list(&space(), 2, 9).await.unwrap(), (vec![three], None));
}

/// Records and units from before session and actor were stored in columns are listed by them, case-insensitively.
/// Removed and unreadable ones belong to no session and actor, and stop nothing.
#[tokio::test]
async fn records_and_units_of_an_older_file_are_listed_by_session_and_actor() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    let all = [
        record("1", "s", "Zo\u{eb}"),
        record("2", "t", "ZO\u{cb}"),
        record("3", "s", "Ben"),
        record("4", "s", "zo\u{eb}"),
        record("5", "s", "zo\u{eb}"),
    ];
    let units = all.clone().map(|it| unit(&it));
    it.records.put(&space(), &all).await.unwrap();
    it.graph.put_units(&space(), &units, &[]).await.unwrap();
    it.graph.put_units(&space(), &[], &[units[3].id]).await.unwrap();
    drop(it);
    change(dir.path(), WITHOUT_DIGESTS);
    change(dir.path(), WITHOUT_WHOSE);
    change(dir.path(), "UPDATE units SET body = x'00' WHERE sequence = 5");

    let it = open(dir.path()).await;
    let of = |session: Option<&str>, actor: Option<&str>| Selection {
        session: session.map(|it| SessionId::from_name(&space(), it)),
        actor: actor.map(str::to_owned),
        ..Selection::default()
    };
    for (selection, records, found) in [
        (of(None, Some("ZO\u{cb}")), vec!["1", "2", "4", "5"], vec!["1", "2"]),
        (of(Some("s"), None), vec!["1", "3", "4", "5"], vec!["1", "3"]),
        (of(Some("s"), Some("zo\u{eb}")), vec!["1", "4", "5"], vec!["1"]),
    ] {
        let room = Room::of_items(9);
        let (page, _) = it.records.select(&space(), &selection, 0, room).await.unwrap();
        let names: Vec<&str> = page.iter().map(|it| it.external_id.as_str()).collect();
        assert_eq!(names, records, "{selection:?}");
        let (page, _) = it.graph.select(&space(), &selection, 0, room).await.unwrap();
        let names: Vec<&str> = page.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(names, found, "{selection:?}");
    }
}

/// A file of the eighteenth schema had an image of each unit. The images are gone after the first start, with their
/// bytes, and the units are returned.
#[tokio::test]
async fn images_of_an_older_file_are_removed() {
    const IMAGE: &[u8] = b"an image of the quaxbank";
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    let unit = unit(&record("1", "s", ""));
    it.graph
        .put_units(&space(), std::slice::from_ref(&unit), &[])
        .await
        .unwrap();
    drop(it);
    change(dir.path(), WITHOUT_DIGESTS);
    let image = format!("INSERT INTO images VALUES (1, 7, x'{}')", hex(IMAGE));
    change(dir.path(), &image);
    let has_image = || {
        let bytes = std::fs::read(dir.path().join("mnemic.sqlite")).unwrap();
        bytes.windows(IMAGE.len()).any(|it| it == IMAGE)
    };
    assert!(has_image());

    let it = open(dir.path()).await;
    let feed = it.graph.unit_feed(&space(), 0, 9, 7).await.unwrap();
    assert_eq!(
        feed.changes.into_iter().map(|it| it.unit).collect::<Vec<Unit>>(),
        [unit]
    );
    drop(it);
    assert!(!has_image());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
