use std::collections::BTreeSet;
use std::sync::Arc;

use host::PictureOptions;

use super::*;
use crate::erasure::erase;
use crate::intake::organise::Organiser;
use crate::reading::example;
use crate::reading::prompts::prompt::shown_digest;

fn worker_without_model(context: &Context) -> ReadingWorker {
    let config = ReadingConfig::default();
    let organiser = Arc::new(Organiser::new(context.backends.clone()));
    let pictures = PictureReader::new(context, &config, &PictureOptions::default(), organiser).unwrap();
    ReadingWorker::new(context, &config, pictures)
}

/// The same record and reading are imported again after the record was erased, and after the space was deleted.
#[tokio::test]
async fn gists_of_a_reading_that_is_imported_again_are_derived_again() {
    let dir = tempfile::tempdir().unwrap();
    let context = Context::embedded_with_defaults(dir.path()).await.unwrap();
    let (backends, worker) = (&context.backends, worker_without_model(&context));
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
