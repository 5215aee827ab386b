use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use domain::curation::{Act, Curation};
use domain::id::CurationId;
use domain::port::{Claim, Position};
use domain::reading::Reading;
use domain::unit::Status;

use super::*;
use crate::reading::example;
use crate::reading::prompts::prompt::shown_digest;
use crate::session_reading::reading_store;

fn sample_space() -> SpaceId {
    "s".parse().unwrap()
}

fn sample_record(id: &str, text: &str) -> Record {
    Record {
        actor: "Ana".to_owned(),
        text: text.to_owned(),
        ..fixtures::sample_record(&sample_space(), id)
    }
}

/// Runs a test with separate stores that contain the space; deletes their folder at the end.
async fn with_stores(name: &str, test: impl AsyncFnOnce(&Backends)) {
    let dir = std::env::temp_dir().join(format!("mnemic-accept-{name}-{}", std::process::id()));
    let context = Context::embedded_with_defaults(&dir).await.unwrap();
    let is_created = context
        .backends
        .records
        .create_space(&sample_space(), DateTime::UNIX_EPOCH)
        .await;
    assert!(is_created.unwrap());
    test(&context.backends).await;
    drop(context);
    std::fs::remove_dir_all(&dir).ok();
}

/// Returns the texts of the active turn units of records.
async fn active_unit_texts(backends: &Backends, records: &[&Record]) -> Vec<String> {
    let ids: Vec<UnitId> = records.iter().map(|it| UnitId::of_turn(it.id)).collect();
    let units = backends.graph.units(&sample_space(), &ids).await.unwrap();
    let used = units.into_iter().filter(|it| it.status == Status::Active);
    used.map(|it| it.text).collect()
}

fn erasing_act(record: &Record) -> Curation {
    Curation {
        id: CurationId::from_external_id(&sample_space(), "1"),
        at: DateTime::UNIX_EPOCH,
        by: String::new(),
        act: Act::EraseRecord { record: record.id },
        reason: String::new(),
    }
}

/// Erases a record between the first look and the put of its batch; the first look sees the act if `is_act_seen`.
async fn erased_between_look_and_put(name: &str, is_act_seen: bool) {
    with_stores(name, async |backends| {
        let (erased, remaining) = (
            sample_record("1", "The quaxbank has it."),
            sample_record("2", "I water the fern."),
        );
        let claims = [(erased.id, [1; 32]), (remaining.id, [2; 32])];
        backends.records.claim(&sample_space(), &claims).await.unwrap();
        let before = read_space_info(backends, &sample_space()).await.unwrap();
        backends
            .records
            .put_curations(&sample_space(), Position(1), &[erasing_act(&erased)])
            .await
            .unwrap();
        let behind = read_space_info(backends, &sample_space()).await.unwrap();
        let before = if is_act_seen { behind } else { before };
        backends.records.erase(&sample_space(), &[erased.id]).await.unwrap();

        let all = vec![erased.clone(), remaining.clone()];
        assert!(store_records(backends, &before, all).await.unwrap());
        let stored = backends
            .records
            .get(&sample_space(), &[erased.id, remaining.id])
            .await
            .unwrap();
        assert_eq!(stored, std::slice::from_ref(&remaining));
        assert_eq!(
            active_unit_texts(backends, &[&erased, &remaining]).await,
            ["I water the fern."]
        );
    })
    .await;
}

#[tokio::test]
async fn an_erasure_between_the_first_look_and_the_put_takes_effect() {
    erased_between_look_and_put("erasure", false).await;
}

#[tokio::test]
async fn an_erasure_whose_curation_precedes_the_first_look_takes_effect() {
    erased_between_look_and_put("seen", true).await;
}

/// The first attempt stored the units after the erasure had ended, and the process ended before it checked for that.
#[tokio::test]
async fn a_repeated_batch_retires_the_units_of_an_erased_record() {
    with_stores("redelivered", async |backends| {
        let (erased, remaining) = (
            sample_record("1", "The quaxbank has it."),
            sample_record("2", "I water the fern."),
        );
        let all = [erased.clone(), remaining.clone()];
        let claims = [(erased.id, [1; 32]), (remaining.id, [2; 32])];
        backends.records.claim(&sample_space(), &claims).await.unwrap();
        store_all(backends, &all).await;
        backends
            .records
            .put_curations(&sample_space(), Position(1), &[erasing_act(&erased)])
            .await
            .unwrap();
        backends.records.erase(&sample_space(), &[erased.id]).await.unwrap();
        let texts = active_unit_texts(backends, &[&erased, &remaining]).await;
        assert_eq!(texts, ["The quaxbank has it.", "I water the fern."]);

        let message = RecordsAcceptedV1 {
            space: sample_space(),
            batch: "1".to_owned(),
            created: None,
            records: all.to_vec(),
            curations: Vec::new(),
        };
        // The bus counts only deliveries, so an attempt that follows at once has the number 1 too.
        let position = Position(2);
        let again = apply_batch(backends, message, &Meta { position, attempt: 1 }).await;
        assert!(again.unwrap().is_some());
        let texts = active_unit_texts(backends, &[&erased, &remaining]).await;
        assert_eq!(texts, ["I water the fern."]);
        assert_eq!(indexed_units(backends).await, turn_units(&[remaining]));
    })
    .await;
}

#[tokio::test]
async fn records_of_a_deleted_space_are_not_in_a_new_space_of_the_same_name() {
    with_stores("next", async |backends| {
        let (old, same) = (
            sample_record("1", "The quaxbank has it."),
            sample_record("2", "The quaxbank is shut."),
        );
        let before = read_space_info(backends, &sample_space()).await.unwrap();
        assert!(backends.records.delete_space(&sample_space()).await.unwrap());
        let later = DateTime::UNIX_EPOCH + TimeDelta::seconds(1);
        backends.records.create_space(&sample_space(), later).await.unwrap();
        let own = sample_record("2", "I water the fern.");
        backends
            .records
            .claim(&sample_space(), &[(own.id, [7; 32])])
            .await
            .unwrap();
        let now = read_space_info(backends, &sample_space()).await.unwrap();
        assert!(store_records(backends, &now, vec![own.clone()]).await.unwrap());

        let all = vec![old.clone(), same.clone()];
        assert!(!store_records(backends, &before, all).await.unwrap());
        let stored = backends.records.get(&sample_space(), &[old.id, same.id]).await.unwrap();
        assert_eq!(stored, std::slice::from_ref(&own));
        assert_eq!(active_unit_texts(backends, &[&old, &same]).await, ["I water the fern."]);
        let claim = [(old.id, [9; 32]), (own.id, [7; 32])];
        let claims = backends.records.claim(&sample_space(), &claim).await.unwrap();
        assert_eq!(claims, [Claim::Fresh, Claim::Same]);
    })
    .await;
}

/// Returns the stores with the index of other stores in `dir`. It does not know the space, so every put to it fails.
async fn with_failing_index(backends: &Backends, dir: &Path) -> Backends {
    let other = Context::embedded_with_defaults(dir).await.unwrap();
    Backends {
        index: Arc::clone(&other.backends.index),
        ..backends.clone()
    }
}

/// Returns the stores with the graph of other stores in `dir`. It does not know the space, so every put to it fails.
async fn with_failing_graph(backends: &Backends, dir: &Path) -> Backends {
    let other = Context::embedded_with_defaults(dir).await.unwrap();
    Backends {
        graph: Arc::clone(&other.backends.graph),
        ..backends.clone()
    }
}

fn turn_units(records: &[Record]) -> BTreeSet<UnitId> {
    records.iter().map(|it| UnitId::of_turn(it.id)).collect()
}

/// Returns the units that have points.
async fn indexed_units(backends: &Backends) -> BTreeSet<UnitId> {
    let (points, _) = backends.index.points(&sample_space(), None, 10_000).await.unwrap();
    points.into_iter().map(|it| it.0).collect()
}

async fn store_all(backends: &Backends, records: &[Record]) {
    let before = read_space_info(backends, &sample_space()).await.unwrap();
    assert!(store_records(backends, &before, records.to_vec()).await.unwrap());
}

fn sample_passage() -> [Record; 3] {
    [
        sample_record("1", "I water the fern."),
        sample_record("2", "I baked bread."),
        sample_record("3", "I sold my bicycle."),
    ]
}

/// Stores the reading of a passage. Its only gist cites the first record, and is not stored yet.
async fn store_reading(backends: &Backends, records: &[Record]) -> Reading {
    let output = r#"{"gists": [{"text": "Ana waters the fern.", "lines": [1]}]}"#;
    let reading = Reading {
        digest: shown_digest(&[], records),
        ..example::sample_reading(records, output)
    };
    let stored = std::slice::from_ref(&reading);
    backends.readings.put(&sample_space(), stored).await.unwrap();
    reading
}

/// Stores the records of a passage, its reading and its gist.
async fn store_read_passage(backends: &Backends, records: &[Record]) -> Reading {
    store_all(backends, records).await;
    let reading = store_reading(backends, records).await;
    let gists = reading_store::put_gists(backends, &sample_space(), &reading).await;
    assert_eq!(gists.unwrap(), Some(1));
    assert_eq!(indexed_units(backends).await.len(), records.len() + 1);
    reading
}

async fn gists_of(backends: &Backends, reading: &Reading) -> BTreeSet<UnitId> {
    let gists = unit_lookup::gists_of(backends, &sample_space(), &[reading.id]).await;
    gists.unwrap()
}

/// The first attempt fails when it removes the points of the further units of a long text; the second attempt finds
/// these units in the graph.
#[tokio::test]
async fn an_erasure_repeated_after_a_failure_of_the_index_leaves_no_part_of_a_long_text() {
    with_stores("parts", async |backends| {
        let long = sample_record("1", &"I water the fern on the balcony. ".repeat(700));
        store_all(backends, std::slice::from_ref(&long)).await;
        let all: BTreeSet<UnitId> = units_of(&long).collect();
        assert_eq!(indexed_units(backends).await, all);
        let further = unit_lookup::further_units(backends, &sample_space(), [long.id]).await;
        let further = further.unwrap();
        assert!(further.len() > 1, "{further:?}");

        let erased = BTreeSet::from([long.id]);
        erase::erase_records(backends, &sample_space(), &erased).await.unwrap();
        let dir = tempfile::tempdir().unwrap();
        let failing = with_failing_index(backends, dir.path()).await;
        let outcome = unit_retirement::retire_units(&failing, &sample_space(), &further).await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(indexed_units(backends).await, further);

        erased_with_parts(backends, &sample_space(), &erased).await.unwrap();
        assert_eq!(indexed_units(backends).await, BTreeSet::new());
    })
    .await;
}

/// The erased record is the one that no gist cites, so the gists can be found only through the reading.
#[tokio::test]
async fn an_erasure_repeated_after_a_failure_of_the_index_leaves_no_gist() {
    with_stores("gists", async |backends| {
        let records = sample_passage();
        let reading = store_read_passage(backends, &records).await;
        let erased = BTreeSet::from([records[2].id]);
        let dir = tempfile::tempdir().unwrap();
        let failing = with_failing_index(backends, dir.path()).await;
        let outcome = erased_with_parts(&failing, &sample_space(), &erased).await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::NotFound);

        erased_with_parts(backends, &sample_space(), &erased).await.unwrap();
        assert_eq!(gists_of(backends, &reading).await, BTreeSet::new());
        assert_eq!(indexed_units(backends).await, turn_units(&records[..2]));
    })
    .await;
}

#[tokio::test]
async fn the_index_gets_no_points_of_units_that_the_graph_cannot_store() {
    with_stores("graph", async |backends| {
        let records = sample_passage();
        let dir = tempfile::tempdir().unwrap();
        let failing = with_failing_graph(backends, dir.path()).await;
        let before = read_space_info(backends, &sample_space()).await.unwrap();
        let outcome = store_records(&failing, &before, records.to_vec()).await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(indexed_units(backends).await, BTreeSet::new());
        store_all(backends, &records).await;
        assert_eq!(indexed_units(backends).await, turn_units(&records));

        let reading = store_reading(backends, &records).await;
        let outcome = reading_store::put_gists(&failing, &sample_space(), &reading).await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::NotFound);
        // The batch is delivered again.
        store_all(backends, &records).await;
        assert_eq!(indexed_units(backends).await, turn_units(&records));
        let outcome = reading_store::put_gists(backends, &sample_space(), &reading).await;
        assert_eq!(outcome.unwrap(), Some(1));
        assert_eq!(indexed_units(backends).await.len(), records.len() + 1);
    })
    .await;
}

/// The attempt to store the gist ended after its points were stored.
#[tokio::test]
async fn an_erasure_after_an_interrupted_attempt_leaves_no_points_of_a_gist() {
    with_stores("interrupted", async |backends| {
        let records = sample_passage();
        store_all(backends, &records).await;
        let reading = store_reading(backends, &records).await;
        let derived = gist_points::derive_from_stored_records(backends, &sample_space(), &reading).await;
        let gists = derived.unwrap().units;
        let announced: Vec<Unit> = gists.iter().map(Unit::without_content).collect();
        let graph = &backends.graph;
        graph.put_units(&sample_space(), &announced, &[]).await.unwrap();
        let put = gist_points::put_in_index(backends, &sample_space(), &gists).await;
        put.unwrap();
        assert_eq!(indexed_units(backends).await.len(), records.len() + 1);

        let erased = BTreeSet::from([records[2].id]);
        erased_with_parts(backends, &sample_space(), &erased).await.unwrap();
        assert_eq!(indexed_units(backends).await, turn_units(&records[..2]));
    })
    .await;
}

#[tokio::test]
async fn a_reading_stays_until_its_gists_are_gone() {
    with_stores("removal", async |backends| {
        let records = sample_passage();
        let reading = store_read_passage(backends, &records).await;
        let dir = tempfile::tempdir().unwrap();
        let failing = with_failing_index(backends, dir.path()).await;
        let ids = [reading.id];
        let outcome = reading_store::remove_readings(&failing, &sample_space(), &ids).await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::NotFound);
        let stored = backends.readings.get(&sample_space(), &ids).await.unwrap();
        assert_eq!(stored.len(), 1, "a later attempt finds it");

        reading_store::remove_readings(backends, &sample_space(), &ids)
            .await
            .unwrap();
        let stored = backends.readings.get(&sample_space(), &ids).await.unwrap();
        assert_eq!(stored, Vec::<Reading>::new());
        assert_eq!(gists_of(backends, &reading).await, BTreeSet::new());
        assert_eq!(indexed_units(backends).await.len(), records.len());
    })
    .await;
}
