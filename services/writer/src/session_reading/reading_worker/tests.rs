use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use domain::port::ModelCost;
use domain::record::Record;
use fixtures::ChatEndpoint;
use host::{PictureOptions, Settings};

use super::*;
use crate::erasure::erase;
use crate::intake::organise::Organiser;
use crate::reading::example;
use crate::reading::prompts::prompt::shown_digest;

/// A picture of one pixel.
const PIXEL: &str = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";

fn worker_with_pictures(context: &Context, options: &PictureOptions) -> ReadingWorker {
    let config = ReadingConfig::default();
    let organiser = Arc::new(Organiser::new(context.backends.clone()));
    let pictures = PictureReader::new(context, &config, options, organiser).unwrap();
    ReadingWorker::new(context, &config, pictures)
}

/// Returns a context with a language model in which a record is stored.
async fn context_with_model(dir: &Path, endpoint: &ChatEndpoint, record: &Record) -> Context {
    let settings = Settings::from_toml(&endpoint.settings(), "the test").unwrap();
    let context = Context::embedded_with(dir, settings).await.unwrap();
    let records = &context.backends.records;
    records.create_space(&record.space, DateTime::UNIX_EPOCH).await.unwrap();
    records.put(&record.space, std::slice::from_ref(record)).await.unwrap();
    context
}

/// Returns a record whose picture is at this address. It is the same record for each address.
fn record_with_picture(uri: &str) -> Record {
    Record {
        image_uri: Some(uri.to_owned()),
        ..example::sample_record(1, "Ann", "Look!")
    }
}

/// The same record and reading are imported again after the record was erased, and after the space was deleted.
#[tokio::test]
async fn gists_of_a_reading_that_is_imported_again_are_derived_again() {
    let dir = tempfile::tempdir().unwrap();
    let context = Context::embedded_with_defaults(dir.path()).await.unwrap();
    let worker = worker_with_pictures(&context, &PictureOptions::default());
    let backends = &context.backends;
    let records = [example::sample_record(1, "Ann", "I like tea.")];
    let space = &records[0].space;
    let reading = Reading {
        digest: shown_digest(&[], &records),
        ..example::sample_reading(&records, r#"{"gists": [{"text": "Ann likes tea.", "lines": [1]}]}"#)
    };
    let gists = async || {
        let found = unit_lookup::gists_of(backends, space, &[reading.id]).await;
        found.unwrap().len()
    };
    let import = async || {
        backends.records.put(space, &records).await.unwrap();
        let stored = std::slice::from_ref(&reading);
        backends.readings.put(space, stored).await.unwrap();
        worker.put_gists_once(space, &reading).await.unwrap();
        gists().await
    };
    let created_at = DateTime::UNIX_EPOCH;
    backends.records.create_space(space, created_at).await.unwrap();
    assert_eq!(import().await, 1);

    let erased = BTreeSet::from([records[0].id]);
    erase::erase_records(backends, space, &erased).await.unwrap();
    assert_eq!(gists().await, 0);
    assert_eq!(import().await, 1);

    assert!(backends.records.delete_space(space).await.unwrap());
    let later = created_at + TimeDelta::seconds(1);
    backends.records.create_space(space, later).await.unwrap();
    assert_eq!(gists().await, 0);
    assert_eq!(import().await, 1);
}

#[tokio::test]
async fn failures_of_the_host_of_a_picture_and_of_the_model_are_counted_apart() {
    let endpoint = ChatEndpoint::scripted(&[], "400 Bad Request");
    let host = ChatEndpoint::scripted(&[], "503 Service Unavailable");
    let at_host = record_with_picture(&format!("{}/1.png", host.url()));
    let inline = record_with_picture(PIXEL);
    let dir = tempfile::tempdir().unwrap();
    let context = context_with_model(dir.path(), &endpoint, &inline).await;
    let options = PictureOptions {
        enabled: true,
        hosts: vec![host.url().split('/').nth(2).unwrap().to_owned()],
        ..PictureOptions::default()
    };
    let worker = worker_with_pictures(&context, &options);
    let seer = worker.pictures.seer.as_ref().unwrap();
    let waits = async |record: &Record| {
        let outcome = worker.describe_picture(seer, &record.space, record, None).await;
        matches!(outcome.unwrap(), ReadOutcome::Later(_))
    };
    for record in [&at_host, &at_host, &inline, &inline, &at_host, &at_host] {
        assert!(waits(record).await, "{:?}", record.image_uri);
    }
    assert!(!waits(&inline).await, "the model has failed three times");
    for expected in [true, true, false] {
        assert_eq!(waits(&at_host).await, expected, "the host fails three times in a row");
    }
    assert_eq!((host.requests().len(), endpoint.requests().len()), (7, 3));
}

#[tokio::test]
async fn a_picture_or_passage_that_waits_is_not_shown_to_the_model() {
    let no_notes = r#"{"gists": [], "relations": [], "facts": [], "changes": []}"#;
    let endpoint = ChatEndpoint::scripted(&[r#"{"caption": "A fern."}"#, no_notes], "400 Bad Request");
    let record = record_with_picture(PIXEL);
    let dir = tempfile::tempdir().unwrap();
    let context = context_with_model(dir.path(), &endpoint, &record).await;
    let options = PictureOptions {
        enabled: true,
        ..PictureOptions::default()
    };
    let worker = worker_with_pictures(&context, &options);
    let (seer, model) = (worker.pictures.seer.as_ref().unwrap(), worker.model.as_ref().unwrap());
    let open = OpenPassage {
        space: &record.space,
        before: Vec::new(),
        records: vec![record.clone()],
        former: None,
    };
    let count_waiting = async || {
        let picture = worker.describe_picture(seer, &record.space, &record, None).await;
        let passage = worker.read_passage(model, &open).await;
        let outcomes = [picture.unwrap(), passage.unwrap()];
        let waiting = outcomes.iter().filter(|it| matches!(it, ReadOutcome::Later(_)));
        waiting.count()
    };
    let questions = [ReadingId::of_picture(record.id), ReadingId::of_passage(record.id)];
    let one_call = ModelCost {
        calls: 1,
        ..ModelCost::default()
    };
    for question in questions {
        worker
            .unstored
            .postpone_question(question, one_call, true, clock::now());
    }
    assert_eq!((count_waiting().await, endpoint.requests().len()), (2, 0));
    questions.iter().for_each(|it| worker.unstored.forget_attempts(*it));
    assert_eq!((count_waiting().await, endpoint.requests().len()), (0, 2));
}

#[test]
fn a_session_that_was_wanted_while_the_clock_was_ahead_is_over() {
    let now: DateTime<Utc> = "2026-03-02T18:00:00Z".parse().unwrap();
    let quiet = TimeDelta::minutes(30);
    for (minutes, expected) in [
        (-31, true),
        (-30, true),
        (-29, false),
        (0, false),
        (30, false),
        (31, true),
        (400 * 24 * 60, true),
    ] {
        let (is_over, _) = end_of_session(now + TimeDelta::minutes(minutes), quiet, now);
        assert_eq!(is_over, expected, "{minutes} minutes ahead");
    }
    let (is_over, next_look) = end_of_session(now, TimeDelta::days(9), now);
    assert_eq!((is_over, next_look), (false, now + TimeDelta::days(1)));
}

#[tokio::test]
async fn the_cost_of_a_description_that_cannot_be_stored_counts_for_the_budget() {
    let caption = r#"{"caption": "A fern."}"#;
    let endpoint = ChatEndpoint::scripted(&[caption, caption], "400 Bad Request");
    let record = record_with_picture(PIXEL);
    let dir = tempfile::tempdir().unwrap();
    let context = context_with_model(dir.path(), &endpoint, &record).await;
    let options = PictureOptions {
        enabled: true,
        ..PictureOptions::default()
    };
    let worker = worker_with_pictures(&context, &options);
    let seer = worker.pictures.seer.as_ref().unwrap();
    let describe = async || worker.describe_picture(seer, &record.space, &record, None).await;
    let calls_not_stored = || worker.unstored.cost_of_today(&record.space, clock::now()).calls;
    assert!(matches!(describe().await, Ok(ReadOutcome::Done)));
    assert_eq!(calls_not_stored(), 0);
    // The store takes no reading of a deleted space.
    context.backends.records.delete_space(&record.space).await.unwrap();
    assert!(describe().await.is_err());
    assert_eq!(calls_not_stored(), 1);
}
