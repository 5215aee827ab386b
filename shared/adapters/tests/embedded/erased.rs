//! Erased data, and data that was overwritten, does not remain in the file.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use chrono::DateTime;
use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::id::{CurationId, FactId, RecordId, TopicId, UnitId};
use domain::port::{Claim, Idempotent, Position};
use domain::topic::Topic;
use fixtures::wait_until;
use rusqlite::Connection;
use uuid::Uuid;

use super::digests::{TEXT, record};
use super::{file, fill, frame, open, space};

/// Returns true if the file of closed stores, or a mapped file next to it, contains some bytes.
pub(super) fn holds(dir: &Path, wanted: &[u8]) -> bool {
    let mapped = ["mnemic.index", "mnemic.blocks"].map(|it| fs::read_dir(dir.join(it)));
    let mapped = mapped.into_iter().flatten().flatten().map(|it| it.unwrap().path());
    mapped.chain([file(dir)]).any(|path| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(wanted.len()).any(|it| it == wanted)
    })
}

#[tokio::test]
async fn erased_bytes_are_gone_from_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, "a", 1).await;
    let secret = b"a secret that nobody shall find";
    // Longer than a page: gaps between rows are zeroed in another way than pages that are not used any more.
    let payload = secret.repeat(1_000);
    let id = RecordId::from_external_id(&space("a"), "1");
    it.records.claim(&space("a"), &[(id, [7; 32])]).await.unwrap();
    it.bus.publish(frame(payload)).await.unwrap();
    assert!(
        left(dir.path(), secret) && left(dir.path(), &[7; 32]),
        "both are stored"
    );
    it.bus.erase("a").await.unwrap();
    it.records.delete_space(&space("a")).await.unwrap();
    drop(it);
    assert!(!holds(dir.path(), secret) && !holds(dir.path(), &[7; 32]));
}

/// A value that is too large for one page is stored in overflow pages, which a shorter value in its place no longer
/// needs.
#[tokio::test]
async fn rewritten_bytes_are_gone_from_the_file() {
    let topic = |label: String| {
        Derived::Topic(Topic {
            id: TopicId::from_founding_unit(UnitId::from_uuid(Uuid::from_u128(1))),
            label,
            summary: None,
            keywords: Vec::new(),
            units: 1,
            first_seen: DateTime::UNIX_EPOCH,
            last_seen: DateTime::UNIX_EPOCH,
        })
    };
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, "a", 1).await;
    let long = "Zebulon owes the bank 900 florins. ".repeat(1_000);
    it.graph.put_derived(&space("a"), &[topic(long)], &[]).await.unwrap();
    it.graph
        .put_derived(&space("a"), &[topic("a fern".to_owned())], &[])
        .await
        .unwrap();
    drop(it);
    assert!(holds(dir.path(), b"a fern") && !holds(dir.path(), b"Zebulon"));
}

/// Returns true if the file or its write-ahead log contains some bytes while the stores are open.
fn left(dir: &Path, wanted: &[u8]) -> bool {
    let holds = |name: &str| {
        let bytes = fs::read(dir.join(name)).unwrap();
        bytes.windows(wanted.len()).any(|it| it == wanted)
    };
    holds("mnemic.sqlite") || holds("mnemic.sqlite-wal")
}

/// Waits until some bytes are in no file.
async fn wait_until_gone(dir: &Path, wanted: &[u8]) {
    let what = format!("{} is gone", wanted.escape_ascii());
    wait_until(&what, async || !left(dir, wanted)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_emptied_after_an_erasure_when_its_readers_are_done() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, "a", 1).await;
    let one = record("1");
    it.records.put(&space("a"), std::slice::from_ref(&one)).await.unwrap();
    let reader = Connection::open(file(dir.path())).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM records").unwrap();
    it.records.erase(&space("a"), &[one.id]).await.unwrap();
    // Enough for the log to be emptied if no reader needed it.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(left(dir.path(), TEXT.as_bytes()), "the reader still needs the log");
    let begun = Instant::now();
    fill(&it, "b", 1).await;
    // Shorter than a connection waits for another one.
    assert!(begun.elapsed() < Duration::from_secs(8), "writes go on");
    reader.execute_batch("COMMIT").unwrap();
    wait_until_gone(dir.path(), TEXT.as_bytes()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_words_of_a_redacted_act_remain_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, "a", 1).await;
    let (a, id) = (space("a"), CurationId::from_external_id(&space("a"), "c"));
    let claim = [(RecordId::from_uuid(id.uuid()), [7; 32])];
    let correction = Curation {
        id,
        at: DateTime::UNIX_EPOCH,
        by: String::new(),
        act: Act::CorrectFact {
            fact: FactId::from_uuid(Uuid::from_u128(1)),
            object: "Zorbenheim".to_owned(),
        },
        reason: "Vellichor said so".to_owned(),
    };
    let remembered = |request| Idempotent {
        request,
        response: b"null".to_vec(),
    };
    it.records.claim(&a, &claim).await.unwrap();
    it.records
        .store_response(&a, " curation k", &remembered([7; 32]), DateTime::UNIX_EPOCH)
        .await
        .unwrap();
    it.records
        .store_response(&a, " curation other", &remembered([8; 32]), DateTime::UNIX_EPOCH)
        .await
        .unwrap();
    let acts = std::slice::from_ref(&correction);
    it.records.put_curations(&a, Position(1), acts).await.unwrap();
    for word in ["Zorbenheim", "Vellichor"] {
        assert!(left(dir.path(), word.as_bytes()), "{word}");
    }
    it.records.redact_curations(&a, &[id]).await.unwrap();
    for word in [&b"Zorbenheim"[..], b"Vellichor", &[7; 32]] {
        wait_until_gone(dir.path(), word).await;
    }
    assert_eq!(
        it.records.curations(&a, None, 9).await.unwrap(),
        [correction.without_words()]
    );
    assert_eq!(it.records.claim(&a, &claim).await.unwrap(), [Claim::Conflict]);
    assert_eq!(it.records.stored_response(&a, " curation k").await.unwrap(), None);
    assert!(
        it.records
            .stored_response(&a, " curation other")
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn remembered_responses_that_name_an_erased_record_are_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, "a", 1).await;
    let (a, [one, two]) = (space("a"), [record("1"), record("2")]);
    for (key, it_names) in [("one", &one), ("two", &two)] {
        let response = format!(r#"{{"items":[{{"id":"x","record":"{}"}}]}}"#, it_names.id);
        let outcome = Idempotent {
            request: [1; 32],
            response: response.into_bytes(),
        };
        it.records
            .store_response(&a, key, &outcome, DateTime::UNIX_EPOCH)
            .await
            .unwrap();
    }
    it.records.erase(&a, &[one.id]).await.unwrap();
    assert_eq!(it.records.stored_response(&a, "one").await.unwrap(), None);
    assert!(it.records.stored_response(&a, "two").await.unwrap().is_some());
}

/// Returns the next number of a small generator that is the same on every run.
fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// SQLite moves rows between pages when rows grow and shrink. The bytes that remain in the old pages must not be a copy
/// of a row that is erased later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_moved_between_pages_leave_no_copy_of_erased_data() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    let a = space("a");
    fill(&it, "a", 1).await;
    let topic = |number: u128, length: u64| {
        let words = format!("Zebulon{number} ");
        Derived::Topic(Topic {
            id: TopicId::from_uuid(Uuid::from_u128(number)),
            label: words.repeat(usize::try_from(length).unwrap()),
            summary: None,
            keywords: Vec::new(),
            units: 1,
            first_seen: DateTime::UNIX_EPOCH,
            last_seen: DateTime::UNIX_EPOCH,
        })
    };
    let mut state = 7;
    for _ in 0..60 {
        let some: Vec<Derived> = (0..40)
            .map(|_| topic(u128::from(next(&mut state) % 600), 1 + next(&mut state) % 120))
            .collect();
        let mut once = std::collections::BTreeMap::new();
        once.extend(some.into_iter().map(|it| (it.id(), it)));
        let some: Vec<Derived> = once.into_values().collect();
        it.graph.put_derived(&a, &some, &[]).await.unwrap();
    }
    assert!(left(dir.path(), b"Zebulon"));
    let all: Vec<_> = (0..600).map(|number| topic(number, 1).id()).collect();
    it.graph.put_derived(&a, &[], &all).await.unwrap();
    // Objects that derive from a record are erased first, then the record.
    it.records.erase(&a, &[record("1").id]).await.unwrap();
    wait_until_gone(dir.path(), b"Zebulon").await;
}
