//! A body that was changed in the file is detected by reads and by a check.

use std::path::Path;

use adapters::{Embedded, check_file, restore_backup, write_backup};
use chrono::DateTime;
use domain::curation::{Act, Curation};
use domain::derived::{Derived, DerivedId};
use domain::id::{CurationId, ReadingId, RecordId, SessionId, TopicId, UnitId};
use domain::port::{Position, Room, Selection};
use domain::reading::Reading;
use domain::record::Record;
use domain::topic::Topic;
use domain::unit::Unit;
use domain::{Classify, ErrorKind, PortError};
use fixtures::sample_reading;
use rusqlite::Connection;
use serde_json::json;

use super::{file, open, space};

pub(super) const TEXT: &str = "Take 100 mg in the morning.";

pub(super) fn record(name: &str) -> Record {
    let a = space("a");
    let value = json!({"id": RecordId::from_external_id(&a, name), "space": a, "external_id": name, "ordinal": 0, "actor": "Ann",
        "session": SessionId::from_name(&a, "s"), "session_name": "s", "modality": "text", "text": TEXT,
        "observed_at": "2026-03-01T12:00:00Z"});
    serde_json::from_value(value).unwrap()
}

fn unit(record: &Record) -> Unit {
    let value = json!({"id": UnitId::of_turn(record.id), "grain": "turn", "session": record.session, "records": [record.id],
        "external_ids": [record.external_id], "observed_at": record.observed_at, "ordinal": 0, "modality": "text",
        "actor": record.actor, "text": record.text, "summary": record.text, "derived_by": "test", "confidence": 1.0});
    serde_json::from_value(value).unwrap()
}

/// Returns stores with a space that has two records and their units.
async fn filled(dir: &Path) -> Embedded {
    let it = open(dir).await;
    let a = space("a");
    it.records.create_space(&a, DateTime::UNIX_EPOCH).await.unwrap();
    let records = [record("1"), record("2")];
    it.records.put(&a, &records).await.unwrap();
    it.graph
        .put_units(&a, &records.each_ref().map(unit), &[])
        .await
        .unwrap();
    it
}

/// Changes the dose in the bodies of the first row of a table.
pub(super) fn change(path: &Path, table: &str) {
    let sql = format!(
        "UPDATE {table} SET body = CAST(replace(CAST(body AS TEXT), '100 mg', '900 mg') AS BLOB)
         WHERE row = (SELECT min(row) FROM {table})"
    );
    assert_eq!(Connection::open(path).unwrap().execute(&sql, []).unwrap(), 1);
}

fn assert_changed<T: std::fmt::Debug>(read: Result<T, PortError>) {
    let error = read.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    assert!(error.detail().contains("was changed after it was written"), "{error}");
}

#[tokio::test]
async fn a_changed_record_is_not_read_and_the_check_names_it() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()).await);
    assert_eq!(check_file(dir.path()).unwrap(), Vec::<String>::new());
    change(&file(dir.path()), "records");
    let found = check_file(dir.path()).unwrap();
    let [changed, other] = [record("1"), record("2")];
    let line = format!("record {} of space a: its content was changed in the file", changed.id);
    assert_eq!(found, [line]);

    let it = open(dir.path()).await;
    let a = space("a");
    let all = Selection::default();
    assert_changed(it.records.get(&a, &[changed.id]).await);
    assert_changed(it.records.select(&a, &all, 0, Room::of_items(9)).await);
    assert_changed(it.records.session(&a, changed.session, changed.id, 1, 1).await);
    assert_eq!(it.records.get(&a, &[other.id]).await.unwrap(), [other]);
}

#[tokio::test]
async fn a_changed_unit_is_not_read_and_can_be_written_again() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()).await);
    change(&file(dir.path()), "units");
    let unit = unit(&record("1"));
    let found = check_file(dir.path()).unwrap();
    assert!(
        found.len() == 1 && found[0].starts_with(&format!("unit {} of space a", unit.id)),
        "{found:?}"
    );

    let it = open(dir.path()).await;
    let a = space("a");
    assert_changed(it.graph.units(&a, &[unit.id]).await);
    assert_changed(it.graph.changes(&a, 0, 9).await);
    assert_changed(it.graph.unit_feed(&a, 0, 9, 1).await);
    assert_changed(it.graph.block_gap(&a, 0, 9, 1).await);
    assert_changed(it.graph.select(&a, &Selection::default(), 0, Room::of_items(9)).await);
    it.graph.put_units(&a, std::slice::from_ref(&unit), &[]).await.unwrap();
    assert_eq!(it.graph.units(&a, &[unit.id]).await.unwrap(), [unit]);
    assert_eq!(check_file(dir.path()).unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_body_whose_digest_was_removed_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()).await);
    let database = Connection::open(file(dir.path())).unwrap();
    database.execute("UPDATE records SET digest = NULL", []).unwrap();
    drop(database);
    assert_eq!(check_file(dir.path()).unwrap().len(), 2);
    let it = open(dir.path()).await;
    assert_changed(it.records.get(&space("a"), &[record("1").id]).await);
}

#[tokio::test]
async fn a_changed_copy_is_not_restored() {
    let dir = tempfile::tempdir().unwrap();
    let it = filled(dir.path()).await;
    let copy = dir.path().join("copy");
    write_backup(dir.path(), &copy).unwrap();
    drop(it);
    change(&copy, "records");
    let error = restore_backup(dir.path(), &copy, DateTime::UNIX_EPOCH).unwrap_err();
    assert!(
        error.kind() == ErrorKind::Damaged && error.to_string().contains(&record("1").id.to_string()),
        "{error}"
    );
    let it = open(dir.path()).await;
    assert_eq!(
        it.records.get(&space("a"), &[record("1").id]).await.unwrap(),
        [record("1")]
    );
}

/// Stores a derived object, a curation and a reading whose bodies contain [`TEXT`].
async fn put_further_entries(it: &Embedded) -> (DerivedId, ReadingId) {
    let (a, record) = (space("a"), record("1"));
    let topic = Derived::Topic(Topic {
        id: TopicId::from_founding_unit(UnitId::of_event(record.id)),
        label: TEXT.to_owned(),
        summary: None,
        keywords: Vec::new(),
        units: 1,
        first_seen: DateTime::UNIX_EPOCH,
        last_seen: DateTime::UNIX_EPOCH,
    });
    it.graph
        .put_derived(&a, std::slice::from_ref(&topic), &[])
        .await
        .unwrap();
    let pin = Curation {
        id: CurationId::from_external_id(&a, "c"),
        at: DateTime::UNIX_EPOCH,
        by: String::new(),
        act: Act::PinUnit {
            unit: UnitId::of_turn(record.id),
        },
        reason: TEXT.to_owned(),
    };
    it.records.put_curations(&a, Position(1), &[pin]).await.unwrap();
    let reading = Reading {
        output: TEXT.to_owned(),
        ..sample_reading(&a, record.id)
    };
    assert_eq!(
        it.readings.put(&a, std::slice::from_ref(&reading)).await.unwrap(),
        [reading.id]
    );
    (topic.id(), reading.id)
}

#[tokio::test]
async fn changed_entries_of_every_kind_are_not_read_and_the_check_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let it = filled(dir.path()).await;
    let (topic, reading) = put_further_entries(&it).await;
    let a = space("a");
    assert_eq!(it.graph.derived(&a, &[topic]).await.unwrap().len(), 1);
    assert_eq!(it.records.curations(&a, None, 9).await.unwrap().len(), 1);
    assert_eq!(it.readings.get(&a, &[reading]).await.unwrap().len(), 1);
    drop(it);
    assert_eq!(check_file(dir.path()).unwrap(), Vec::<String>::new());
    let database = Connection::open(file(dir.path())).unwrap();
    for table in ["derived", "curations", "readings"] {
        let sql = format!(
            "UPDATE {table} SET body = CAST(replace(CAST(body AS TEXT), '100 mg', '900 mg') AS BLOB)
             WHERE instr(CAST(body AS TEXT), '100 mg') > 0"
        );
        assert_eq!(database.execute(&sql, []).unwrap(), 1, "{table}");
    }
    drop(database);
    let found = check_file(dir.path()).unwrap();
    let kinds: Vec<&str> = ["derived object ", "curation ", "reading "]
        .into_iter()
        .filter(|kind| found.iter().any(|line| line.starts_with(kind)))
        .collect();
    assert_eq!((kinds.len(), found.len()), (3, 3), "{found:?}");

    let it = open(dir.path()).await;
    assert_changed(it.graph.derived(&a, &[topic]).await);
    assert_changed(it.records.curations(&a, None, 9).await);
    assert_changed(it.readings.get(&a, &[reading]).await);
}
