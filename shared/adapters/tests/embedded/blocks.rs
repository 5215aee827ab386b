//! A block of units is kept until one of its units changes, and deleted with it.

use bytes::Bytes;
use chrono::DateTime;
use domain::id::{SessionId, UnitId};
use domain::port::{UnitBlock, UnitFeed};
use domain::record::Modality;
use domain::unit::{Grain, Status, Unit};
use rusqlite::Connection;
use uuid::Uuid;

use super::{Embedded, erased::holds, file, open, space};

const BODY: &[u8] = b"a block of the quaxbank";
const VERSION: i64 = 7;

pub(super) fn unit(number: u128, text: &str) -> Unit {
    Unit {
        id: UnitId::from_uuid(Uuid::from_u128(number)),
        grain: Grain::Turn,
        session: SessionId::from_uuid(Uuid::from_u128(1)),
        records: Vec::new(),
        external_ids: Vec::new(),
        observed_at: DateTime::UNIX_EPOCH.fixed_offset(),
        ordinal: 0,
        modality: Modality::Text,
        actor: "Ann".to_owned(),
        addressee: String::new(),
        text: text.to_owned(),
        caption: String::new(),
        summary: text.to_owned(),
        times: Vec::new(),
        participants: Vec::new(),
        location: String::new(),
        action: String::new(),
        step: None,
        changes: Vec::new(),
        version: None,
        stated: Vec::new(),
        tag: String::new(),
        cues: Vec::new(),
        question: String::new(),
        tags: Vec::new(),
        metadata: Default::default(),
        derived_by: "test".to_owned(),
        status: Status::Active,
        confidence: 1.0,
    }
}

/// Creates a space with units 1 to 6 in the order of their numbers.
async fn with_units(it: &Embedded) {
    let a = space("a");
    it.records.create_space(&a, DateTime::UNIX_EPOCH).await.unwrap();
    let units: Vec<Unit> = (1..=6).map(|it| unit(it, "first")).collect();
    it.graph.put_units(&a, &units, &[]).await.unwrap();
}

/// Stores a block of at most `limit` units of the first gap after `sequence`. Returns false if it came too late.
async fn put_block(it: &Embedded, sequence: u64, limit: usize, version: i64) -> bool {
    let a = space("a");
    let gap = it.graph.block_gap(&a, sequence, limit, version).await.unwrap().unwrap();
    let block = UnitBlock {
        after: gap.after,
        last: gap.changes.last().unwrap().sequence,
        body: Bytes::from_static(BODY),
        file: None,
    };
    it.graph.put_block(&a, version, &block, &gap.digests).await.unwrap()
}

/// Creates a space with units 1 to 6 and blocks of two units each.
async fn with_blocks(it: &Embedded) {
    with_units(it).await;
    for start in [0, 2, 4] {
        assert!(put_block(it, start, 2, VERSION).await);
    }
    assert_eq!(it.graph.block_gap(&space("a"), 0, 9, VERSION).await.unwrap(), None);
}

/// Reads the feed from the start. Returns the intervals of the blocks, and the sequence numbers of the single changes.
async fn read_feed(it: &Embedded, version: i64) -> (Vec<(u64, u64)>, Vec<u64>) {
    let (mut blocks, mut changes, mut at) = (Vec::new(), Vec::new(), 0);
    loop {
        let feed = it.graph.unit_feed(&space("a"), at, 9, version).await.unwrap();
        at = feed.last_sequence().unwrap_or(at);
        let UnitFeed { has_more, .. } = feed;
        assert!(feed.blocks.iter().all(|it| it.body == BODY));
        blocks.extend(feed.blocks.iter().map(|it| (it.after, it.last)));
        changes.extend(feed.changes.iter().map(|it| it.sequence));
        if !has_more {
            return (blocks, changes);
        }
    }
}

#[tokio::test]
async fn blocks_survive_a_restart_and_are_deleted_when_a_unit_of_them_changes() {
    let dir = tempfile::tempdir().unwrap();
    let a = space("a");
    let it = open(dir.path()).await;
    with_blocks(&it).await;
    drop(it);
    let it = open(dir.path()).await;
    assert_eq!(read_feed(&it, VERSION).await, (vec![(0, 2), (2, 4), (4, 6)], vec![]));
    let all: Vec<u64> = (1..=6).collect();
    assert_eq!(read_feed(&it, VERSION + 1).await, (vec![], all), "of another version");

    it.graph.put_units(&a, &[unit(3, "changed")], &[]).await.unwrap();
    assert_eq!(read_feed(&it, VERSION).await, (vec![(0, 2), (4, 6)], vec![4, 7]));
    it.graph.put_units(&a, &[], &[unit(1, "first").id]).await.unwrap();
    assert_eq!(read_feed(&it, VERSION).await, (vec![(4, 6)], vec![2, 4, 7, 8]));
    assert!(put_block(&it, 0, 9, VERSION).await);
    assert_eq!(read_feed(&it, VERSION).await, (vec![(0, 4), (4, 6)], vec![7, 8]));
}

#[tokio::test]
async fn a_block_that_was_made_before_a_change_is_not_stored() {
    let dir = tempfile::tempdir().unwrap();
    let a = space("a");
    let it = open(dir.path()).await;
    with_units(&it).await;
    let gap = it.graph.block_gap(&a, 0, 2, VERSION).await.unwrap().unwrap();
    assert!(!gap.is_end || gap.changes.len() == 2);
    let block = UnitBlock {
        after: 0,
        last: 2,
        body: Bytes::from_static(BODY),
        file: None,
    };
    it.graph.put_units(&a, &[unit(2, "changed")], &[]).await.unwrap();
    assert!(!it.graph.put_block(&a, VERSION, &block, &gap.digests).await.unwrap());
    it.records.delete_space(&a).await.unwrap();
    with_units(&it).await;
    it.graph.put_units(&a, &[unit(2, "first")], &[]).await.unwrap();
    assert!(
        it.graph.put_block(&a, VERSION, &block, &gap.digests).await.unwrap(),
        "of equal units"
    );
    assert_eq!(read_feed(&it, VERSION).await.0, [(0, 2)]);
}

#[tokio::test]
async fn a_block_replaces_those_that_it_overlaps() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    with_blocks(&it).await;
    assert!(put_block(&it, 1, 2, VERSION + 1).await);
    assert_eq!(read_feed(&it, VERSION + 1).await, (vec![(1, 3)], vec![1, 4, 5, 6]));
    assert_eq!(read_feed(&it, VERSION).await, (vec![(4, 6)], vec![1, 2, 3, 4]));
    // The reader was already inside of a block.
    let feed = it.graph.unit_feed(&space("a"), 5, 9, VERSION).await.unwrap();
    let changes = feed.changes.iter().map(|it| it.sequence);
    assert_eq!((feed.blocks.len(), changes.collect::<Vec<u64>>()), (0, vec![6]));
}

#[tokio::test]
async fn a_damaged_block_is_not_returned_and_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    with_blocks(&it).await;
    drop(it);
    let database = Connection::open(file(dir.path())).unwrap();
    let changed = "UPDATE unit_blocks SET body = x'00' WHERE start = 2";
    assert_eq!(database.execute(changed, []).unwrap(), 1);
    drop(database);
    let it = open(dir.path()).await;
    for _ in 0..2 {
        assert_eq!(read_feed(&it, VERSION).await, (vec![(0, 2), (4, 6)], vec![3, 4]));
    }
    assert!(put_block(&it, 0, 9, VERSION).await);
    assert_eq!(read_feed(&it, VERSION).await, (vec![(0, 2), (2, 4), (4, 6)], vec![]));
}

#[tokio::test]
async fn blocks_of_erased_units_are_gone_from_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    with_blocks(&it).await;
    drop(it);
    assert!(holds(dir.path(), BODY), "it was there before");
    let it = open(dir.path()).await;
    // One unit of each block.
    let gone = [1, 4, 5].map(|it| unit(it, "first").id);
    it.graph.put_units(&space("a"), &[], &gone).await.unwrap();
    drop(it);
    assert!(!holds(dir.path(), BODY));

    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    with_blocks(&it).await;
    it.records.delete_space(&space("a")).await.unwrap();
    drop(it);
    assert!(!holds(dir.path(), BODY));
}
