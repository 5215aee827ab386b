//! Files of blocks: mapped into memory, the same as what the database holds, and destroyed with the first of their blocks.

use std::fs;
use std::path::{Path, PathBuf};

use adapters::{Embedded, Options, file_bytes};
use bytes::Bytes;
use chrono::DateTime;
use domain::port::{BlockFileId, UnitBlock, UnitFeed, WrittenBlockFile};
use domain::unit::Unit;
use fixtures::wait_until;
use rusqlite::Connection;

use super::blocks::unit;
use super::erased::holds;
use super::{file, space};

pub(super) const VERSION: i64 = 7;

/// The blocks of a space, the single changes, and the files that are not outdated.
pub(super) struct Seen {
    pub(super) blocks: Vec<UnitBlock>,
    pub(super) changes: Vec<u64>,
    pub(super) files: Vec<BlockFileId>,
}

impl Seen {
    /// Returns the intervals of the blocks, each with the number of its file.
    pub(super) fn places(&self) -> Vec<(u64, u64, Option<i64>)> {
        let place = |it: &UnitBlock| (it.after, it.last, it.file.map(|it| it.0));
        self.blocks.iter().map(place).collect()
    }
}

/// Opens a directory where two blocks are enough for a file.
pub(super) async fn open(dir: &Path) -> Embedded {
    let options = Options {
        unit_file_blocks_least: 2,
        ..Options::default()
    };
    Embedded::open(dir, options).await.unwrap()
}

/// Returns the body of a block in these tests. Its length depends on the block.
fn body(last: u64) -> Bytes {
    Bytes::from(format!("block {last} of the quaxbank{}", "!".repeat(last as usize)))
}

pub(super) async fn put_units(it: &Embedded, numbers: impl IntoIterator<Item = u128>, text: &str) {
    let units: Vec<Unit> = numbers.into_iter().map(|number| unit(number, text)).collect();
    it.graph.put_units(&space("a"), &units, &[]).await.unwrap();
}

/// Makes blocks of at most two units of all units that are in none.
pub(super) async fn put_blocks(it: &Embedded, version: i64) {
    let a = space("a");
    while let Some(gap) = it.graph.block_gap(&a, 0, 2, version).await.unwrap() {
        let last = gap.changes.last().unwrap().sequence;
        let block = UnitBlock {
            after: gap.after,
            last,
            body: body(last),
            file: None,
        };
        // A change may have come first.
        it.graph.put_block(&a, version, &block, &gap.digests).await.unwrap();
    }
}

/// Creates a space with units from 1 in blocks of two units each.
pub(super) async fn fill(it: &Embedded, units: u128) {
    let a = space("a");
    it.records.create_space(&a, DateTime::UNIX_EPOCH).await.unwrap();
    put_units(it, 1..=units, "first").await;
    put_blocks(it, VERSION).await;
}

pub(super) async fn write(it: &Embedded, version: i64) -> Option<WrittenBlockFile> {
    it.graph.write_block_file(&space("a"), version).await.unwrap()
}

pub(super) fn written(id: i64, after: u64, last: u64) -> Option<WrittenBlockFile> {
    let id = BlockFileId(id);
    Some(WrittenBlockFile { id, after, last })
}

/// Reads the feed from `sequence` to its end, and compares the bodies of the blocks.
pub(super) async fn read_from(it: &Embedded, sequence: u64, version: i64) -> Seen {
    let (mut blocks, mut changes, mut at) = (Vec::new(), Vec::new(), sequence);
    loop {
        let feed = it.graph.unit_feed(&space("a"), at, 9, version).await.unwrap();
        at = feed.last_sequence().unwrap_or(at);
        let UnitFeed { has_more, files, .. } = feed;
        for block in &feed.blocks {
            assert_eq!(block.body, body(block.last));
            assert!(block.file.is_none() || (block.body.as_ptr() as usize).is_multiple_of(8));
        }
        blocks.extend(feed.blocks);
        changes.extend(feed.changes.iter().map(|it| it.sequence));
        if !has_more {
            return Seen { blocks, changes, files };
        }
    }
}

pub(super) async fn read(it: &Embedded) -> Seen {
    read_from(it, 0, VERSION).await
}

/// Returns the paths in the folder of the files.
pub(super) fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir.join("mnemic.blocks")) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    files.sort();
    files
}

/// Returns the paths of complete files with these numbers.
pub(super) fn paths<const N: usize>(dir: &Path, numbers: [i64; N]) -> [PathBuf; N] {
    numbers.map(|it| dir.join(format!("mnemic.blocks/{it}.units")))
}

/// Returns the numbers of the files that the database knows, also of incomplete ones.
pub(super) fn noted(dir: &Path) -> Vec<i64> {
    let database = Connection::open(file(dir)).unwrap();
    let mut select = database.prepare("SELECT id FROM block_files ORDER BY id").unwrap();
    let found = select.query_map([], |row| row.get(0)).unwrap();
    found.map(Result::unwrap).collect()
}

/// Waits until another thread has destroyed the files whose last reader is gone.
async fn wait_until_destroyed(dir: &Path) {
    wait_until("the files are destroyed", async || files(dir).is_empty()).await;
}

/// Returns true if a file with blocks holds some bytes.
fn is_in_files(dir: &Path, wanted: &[u8]) -> bool {
    let has = |path: &PathBuf| fs::read(path).unwrap().windows(wanted.len()).any(|it| it == wanted);
    files(dir).iter().any(has)
}

#[tokio::test]
async fn blocks_of_a_file_are_mapped_and_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    assert_eq!(read(&it).await.places(), [(0, 2, None), (2, 4, None), (4, 6, None)]);
    assert_eq!(write(&it, VERSION).await, written(1, 0, 6));
    assert_eq!(write(&it, VERSION).await, None, "all blocks are in a file");
    assert_eq!(files(dir.path()), paths(dir.path(), [1]));
    check_mapped(&it).await;
    drop(it);
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    assert_eq!(
        file_bytes(dir.path()),
        size(&file(dir.path())) + size(&files(dir.path())[0])
    );
    check_mapped(&open(dir.path()).await).await;
}

/// Reads the feed from the start, from the second block, and from inside of it. The first file has three blocks.
async fn check_mapped(it: &Embedded) {
    let mapped: [(u64, u64, Option<i64>); 3] = [(0, 2, Some(1)), (2, 4, Some(1)), (4, 6, Some(1))];
    let all = read(it).await;
    assert_eq!((all.places(), all.files), (mapped.to_vec(), vec![BlockFileId(1)]));
    assert_eq!(read_from(it, 2, VERSION).await.places(), mapped[1..]);
    let inside = read_from(it, 3, VERSION).await;
    assert_eq!((inside.places(), inside.changes), (mapped[2..].to_vec(), vec![4]));
}

#[tokio::test]
async fn a_file_holds_a_bounded_number_of_blocks_without_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 2).await;
    assert_eq!(write(&it, VERSION).await, None, "a single block");
    put_units(&it, 3..=22, "first").await;
    put_blocks(&it, VERSION).await;
    assert_eq!(write(&it, VERSION).await, written(1, 0, 16), "eight blocks");
    assert_eq!(write(&it, VERSION).await, written(2, 16, 22));
    assert_eq!(write(&it, VERSION).await, None);
    assert_eq!(read(&it).await.files, [BlockFileId(1), BlockFileId(2)]);
    let all = read(&it).await.places();
    assert_eq!((all.len(), all[7], all[8]), (11, (14, 16, Some(1)), (16, 18, Some(2))));
    assert_eq!(it.graph.write_block_file(&space("other"), VERSION).await.unwrap(), None);

    // Units 1 to 16 without 9 and 10: the blocks before the gap are one file, those after it another.
    put_units(&it, [9], "changed").await;
    assert_eq!(write(&it, VERSION).await, written(3, 0, 8));
    assert_eq!(write(&it, VERSION).await, written(4, 10, 16));
}

#[tokio::test]
async fn a_change_outdates_only_the_file_with_its_block() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 8).await;
    assert_eq!(write(&it, VERSION).await, written(1, 0, 8));
    put_units(&it, 9..=12, "first").await;
    put_blocks(&it, VERSION).await;
    assert_eq!(write(&it, VERSION).await, written(2, 8, 12));
    assert!(is_in_files(dir.path(), b"block 4 of"));
    put_units(&it, [3], "first").await;
    assert_eq!(
        files(dir.path()),
        paths(dir.path(), [1, 2]),
        "the unit is the same as before"
    );

    put_units(&it, [3], "changed").await;
    assert_eq!(files(dir.path()), paths(dir.path(), [2]));
    assert!(!is_in_files(dir.path(), b"block 4 of"));
    let seen = read(&it).await;
    assert_eq!(
        seen.places(),
        [
            (0, 2, None),
            (4, 6, None),
            (6, 8, None),
            (8, 10, Some(2)),
            (10, 12, Some(2))
        ]
    );
    assert_eq!((seen.changes, seen.files), (vec![4, 13], vec![BlockFileId(2)]));
    put_blocks(&it, VERSION).await;
    assert_eq!(write(&it, VERSION).await, written(3, 0, 8));
    assert_eq!(noted(dir.path()), [2, 3]);
}

#[tokio::test]
async fn a_file_stays_as_long_as_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 4).await;
    assert_eq!(write(&it, VERSION).await, written(1, 0, 4));
    let (first, second) = (read(&it).await, read(&it).await);
    let part = first.blocks[1].body.slice(2..9);
    put_units(&it, [1], "changed").await;
    assert_eq!(files(dir.path()), paths(dir.path(), [1]), "it is still read");
    let seen = read(&it).await;
    assert_eq!((seen.places(), seen.files), (vec![(2, 4, None)], vec![]));

    drop(second);
    drop(first);
    assert_eq!(part, "ock 4 o");
    assert_eq!(files(dir.path()), paths(dir.path(), [1]));
    drop(part);
    wait_until_destroyed(dir.path()).await;
}

/// A run of blocks goes on where the last unit of a block has moved to the end of the feed.
#[tokio::test]
async fn a_file_leaves_out_numbers_that_no_unit_has() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    put_units(&it, [4], "changed").await;
    put_blocks(&it, VERSION).await;
    let places = |file: Option<i64>| vec![(0, 2, file), (2, 3, file), (4, 6, file), (6, 7, file)];
    assert_eq!(read(&it).await.places(), places(None));
    assert_eq!(write(&it, VERSION).await, written(1, 0, 7));
    drop(it);

    let it = open(dir.path()).await;
    let all = read(&it).await;
    assert_eq!((all.places(), all.files), (places(Some(1)), vec![BlockFileId(1)]));
    for (sequence, single, blocks) in [(2, vec![], 1), (3, vec![], 2), (4, vec![], 2), (5, vec![6], 3)] {
        let seen = read_from(&it, sequence, VERSION).await;
        assert_eq!(
            (seen.places(), seen.changes),
            (places(Some(1))[blocks..].to_vec(), single),
            "after {sequence}"
        );
    }
    drop(all.blocks);

    // Unit 3 is in the block before the number that was left out.
    put_units(&it, [3], "changed").await;
    assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
    assert_eq!(read(&it).await.places(), [(0, 2, None), (4, 6, None), (6, 7, None)]);
}

#[tokio::test]
async fn files_of_another_version_are_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 8).await;
    assert_eq!(write(&it, VERSION + 1).await, None);
    assert_eq!(write(&it, VERSION).await, written(1, 0, 8));
    let other = read_from(&it, 0, VERSION + 1).await;
    assert_eq!((other.places(), other.files, other.changes.len()), (vec![], vec![], 8));
    put_blocks(&it, VERSION + 1).await;
    assert_eq!(files(dir.path()), [] as [PathBuf; 0], "its blocks were replaced");
    assert_eq!(write(&it, VERSION + 1).await, written(2, 0, 8));
    assert_eq!(read_from(&it, 0, VERSION + 1).await.files, [BlockFileId(2)]);
    assert!(read(&it).await.files.is_empty());
}

#[tokio::test]
async fn erased_words_are_nowhere_in_the_data_folder() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 8).await;
    write(&it, VERSION).await.unwrap();
    let reader = read(&it).await;
    it.graph
        .put_units(&space("a"), &[], &[unit(3, "first").id])
        .await
        .unwrap();
    drop(reader);
    wait_until_destroyed(dir.path()).await;
    drop(it);
    assert!(!holds(dir.path(), b"block 4 of") && holds(dir.path(), b"block 6 of"));

    let it = open(dir.path()).await;
    put_blocks(&it, VERSION).await;
    write(&it, VERSION).await.unwrap();
    let reader = read(&it).await;
    assert!(reader.blocks.iter().any(|it| it.file.is_some()));
    assert!(it.records.delete_space(&space("a")).await.unwrap());
    assert_eq!((noted(dir.path()), files(dir.path()).len()), (vec![], 1));
    drop(reader);
    wait_until_destroyed(dir.path()).await;
    drop(it);
    assert!(!holds(dir.path(), b"quaxbank"));
}

#[tokio::test]
async fn a_deleted_space_takes_only_its_files_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 4).await;
    write(&it, VERSION).await.unwrap();
    it.records
        .create_space(&space("b"), DateTime::UNIX_EPOCH)
        .await
        .unwrap();
    assert!(it.records.delete_space(&space("b")).await.unwrap());
    assert_eq!(files(dir.path()), paths(dir.path(), [1]));
    assert!(it.records.delete_space(&space("a")).await.unwrap());
    assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
}

/// Numbers of files are not reused, so an old reader cannot destroy a new file.
#[tokio::test]
async fn a_reader_that_outlives_the_stores_destroys_no_later_file() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 4).await;
    write(&it, VERSION).await.unwrap();
    let reader = read(&it).await;
    put_units(&it, [1], "changed").await;
    drop(it);
    let it = open(dir.path()).await;
    assert_eq!(files(dir.path()), [] as [PathBuf; 0], "the start has destroyed it");
    put_blocks(&it, VERSION).await;
    assert_eq!(write(&it, VERSION).await.map(|it| it.id), Some(BlockFileId(2)));
    drop(reader);
    assert_eq!(files(dir.path()), paths(dir.path(), [2]));
    assert_eq!(read(&it).await.files, [BlockFileId(2)]);
}

#[tokio::test]
async fn a_reader_that_ends_after_the_stores_leaves_its_file_to_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 4).await;
    write(&it, VERSION).await.unwrap();
    let reader = read(&it).await;
    put_units(&it, [1], "changed").await;
    drop(it);
    drop(reader);
    assert_eq!(files(dir.path()), paths(dir.path(), [1]), "the directory is unlocked");
    open(dir.path()).await;
    assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
}
