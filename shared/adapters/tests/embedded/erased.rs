//! What is erased, or written anew without what was erased, is not left in the file.

use std::fs;
use std::path::Path;

use chrono::DateTime;
use domain::derived::Derived;
use domain::id::{RecordId, TopicId, UnitId};
use domain::topic::Topic;
use uuid::Uuid;

use super::{file, fill, frame, open, space};

/// Says whether the file of stores that were closed holds some bytes.
pub(super) fn holds(dir: &Path, wanted: &[u8]) -> bool {
    let bytes = fs::read(file(dir)).unwrap();
    bytes.windows(wanted.len()).any(|it| it == wanted)
}

#[tokio::test]
async fn erased_bytes_are_gone_from_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, "a", 1).await;
    let secret = b"a secret that nobody shall find";
    let id = RecordId::derive(&space("a"), "1");
    it.records.claim(&space("a"), &[(id, [7; 32])]).await.unwrap();
    it.bus.publish(frame(secret)).await.unwrap();
    it.bus.erase("a").await.unwrap();
    it.records.delete_space(&space("a")).await.unwrap();
    drop(it);
    assert!(!holds(dir.path(), secret) && !holds(dir.path(), &[7; 32]));
}

/// A value too large for one page lies in pages of its own, which a shorter one in its place no longer needs.
#[tokio::test]
async fn rewritten_bytes_are_gone_from_the_file() {
    let topic = |label: String| {
        Derived::Topic(Topic {
            id: TopicId::derive(UnitId::from_uuid(Uuid::from_u128(1))),
            label,
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
