//! Images of the index: files that are mapped into memory, and never show anything else than the points in the database.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use adapters::{Embedded, Options};
use chrono::DateTime;
use domain::id::UnitId;
use domain::port::{Point, Search, SearchResult};
use fixtures::wait_until;
use rusqlite::Connection;
use uuid::Uuid;

use super::{file, space};

/// Environment variable with the data directory, for the child process that writes until it is killed.
const CHILD: &str = "MNEMIC_IMAGES_DIR";
/// Number of points in a space of these tests.
const POINTS: u32 = 300;

/// Opens a directory whose images are written soon.
async fn open(dir: &Path) -> Embedded {
    let options = Options {
        index_image_points_least: 100,
        index_image_pause: Duration::from_millis(20),
        ..Options::default()
    };
    Embedded::open(dir, options).await.unwrap()
}

fn unit(number: u32) -> UnitId {
    UnitId::from_uuid(Uuid::from_u128(u128::from(number)))
}

/// Returns a point that differs from all others, in each channel.
fn point(it: &Embedded, number: u32) -> Point {
    let mut dense: Vec<f32> = (0..it.embedder.dimension())
        .map(|at| ((number as f32 + 1.0) * (at as f32 + 1.0)).sin())
        .collect();
    let length = dense.iter().map(|it| it * it).sum::<f32>().sqrt();
    dense.iter_mut().for_each(|it| *it /= length);
    Point {
        unit: unit(number),
        part: (number % 3) as u16,
        dense,
        words: vec![(number % 7, 1.0), (1_000 + number, 0.5)],
        pieces: vec![(number % 11, 0.25 + number as f32 / 1_000.0)],
        observed_at: i64::from(number),
    }
}

async fn put(it: &Embedded, numbers: impl IntoIterator<Item = u32>) {
    let points: Vec<Point> = numbers.into_iter().map(|number| point(it, number)).collect();
    it.index.put(&space("a"), &points, &[]).await.unwrap();
}

async fn search(it: &Embedded) -> SearchResult {
    let search = Search {
        dense: Some(point(it, 17).dense),
        words: Some(vec![(3, 1.0), (1_017, 1.0)]),
        pieces: Some(vec![(5, 1.0), (6, 2.0)]),
        limit: 50,
        ..Search::default()
    };
    it.index.search(&space("a"), &search).await.unwrap()
}

/// Creates the space, puts its points, and returns what a search finds.
async fn fill(it: &Embedded) -> SearchResult {
    it.records
        .create_space(&space("a"), DateTime::UNIX_EPOCH)
        .await
        .unwrap();
    put(it, 0..POINTS).await;
    let found = search(it).await;
    assert_eq!((found.dense.len(), found.dense[0].unit), (50, unit(17)));
    found
}

/// Returns the files of the images.
fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir.join("index")) else {
        return Vec::new();
    };
    entries.map(|it| it.unwrap().path()).collect()
}

/// Returns true if this process uses a file in place.
fn is_mapped(path: &Path) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|it| it.ends_with(&*path.to_string_lossy()))
}

/// Returns the number of complete images that the database knows.
fn noted(dir: &Path) -> i64 {
    let database = Connection::open(file(dir)).unwrap();
    let count = "SELECT count(*) FROM point_images WHERE digest IS NOT NULL";
    database.query_row(count, [], |row| row.get(0)).unwrap()
}

/// Waits until the space has an image that is in use, and returns its file.
async fn wait_for_image(dir: &Path) -> PathBuf {
    wait_until("an image is in use", async || {
        noted(dir) == 1 && files(dir).len() == 1 && is_mapped(&files(dir)[0])
    })
    .await;
    files(dir).remove(0)
}

/// Returns true if a file of an image holds some bytes.
fn holds(dir: &Path, wanted: &[u8]) -> bool {
    let has = |path: &PathBuf| fs::read(path).unwrap().windows(wanted.len()).any(|it| it == wanted);
    files(dir).iter().any(has)
}

fn bytes_of(dense: &[f32]) -> Vec<u8> {
    dense.iter().flat_map(|it| it.to_le_bytes()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_maps_the_image_and_adds_what_was_put_since() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    let found = fill(&it).await;
    let image = wait_for_image(dir.path()).await;
    assert_eq!(search(&it).await, found, "from the image that was just written");
    put(&it, 1_000..1_020).await;
    let grown = search(&it).await;
    assert_ne!(grown, found, "the frequency of words has changed");
    drop(it);
    wait_until("the image is closed", async || !is_mapped(&image)).await;

    let it = open(dir.path()).await;
    assert_eq!(search(&it).await, grown);
    assert!(is_mapped(&image), "the start used the image");
    put(&it, 1_020..1_200).await;
    let expected = search(&it).await;
    wait_until("another image follows", async || files(dir.path()) != [image.clone()]).await;
    wait_for_image(dir.path()).await;
    assert_eq!(search(&it).await, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_image_is_not_used_and_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    let found = fill(&it).await;
    wait_for_image(dir.path()).await;
    drop(it);
    let damages: [fn(&Path, Vec<u8>); 5] = [
        |path, mut bytes| {
            bytes[40_000] ^= 1;
            fs::write(path, bytes).unwrap();
        },
        |path, bytes| fs::write(path, &bytes[..bytes.len() / 2]).unwrap(),
        |path, _| fs::write(path, b"").unwrap(),
        |path, bytes| fs::write(path, [bytes, vec![0; 8]].concat()).unwrap(),
        |path, _| fs::remove_file(path).unwrap(),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let damaged = files(dir.path()).remove(0);
        damage(&damaged, fs::read(&damaged).unwrap());
        let it = open(dir.path()).await;
        assert_eq!(search(&it).await, found, "damage {number}");
        assert!(!is_mapped(&damaged), "damage {number}");
        wait_until("another image is written", async || {
            !files(dir.path()).contains(&damaged)
        })
        .await;
        wait_for_image(dir.path()).await;
        drop(it);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_never_outlives_a_point_that_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it).await;
    let mut image = wait_for_image(dir.path()).await;
    put(&it, [5]).await;
    assert_eq!(files(dir.path()), [image.clone()], "the point is the same as before");

    for number in [40, 41] {
        let former = bytes_of(&point(&it, number).dense);
        assert!(holds(dir.path(), &former));
        if number == 40 {
            it.index.put(&space("a"), &[], &[unit(40)]).await.unwrap();
        } else {
            let changed = Point {
                dense: point(&it, 999).dense,
                ..point(&it, number)
            };
            it.index.put(&space("a"), &[changed], &[]).await.unwrap();
        }
        assert!(!holds(dir.path(), &former), "gone as soon as it is acknowledged");
        wait_until("another image is written", async || {
            files(dir.path()) != [image.clone()]
        })
        .await;
        image = wait_for_image(dir.path()).await;
        assert!(!holds(dir.path(), &former));
    }
    let found = search(&it).await;
    drop(it);
    let it = open(dir.path()).await;
    assert_eq!(search(&it).await, found);

    it.records.delete_space(&space("a")).await.unwrap();
    let erasures = it.records.unfinished_erasures(Some(&space("a")), 1).await.unwrap();
    it.index.erase_deleted(&erasures[0]).await.unwrap();
    assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_cannot_be_written_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("index"), b"not a folder").unwrap();
    let it = open(dir.path()).await;
    let found = fill(&it).await;
    // Long enough for the attempt, whose end is not visible.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(noted(dir.path()), 0);
    put(&it, 1_000..1_001).await;
    assert_ne!(search(&it).await, found);
}

#[tokio::test]
async fn files_that_no_image_needs_are_destroyed_at_a_start() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("index")).unwrap();
    for name in ["7.points", "8.partial", "x"] {
        fs::write(dir.path().join("index").join(name), b"old words").unwrap();
    }
    open(dir.path()).await;
    assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
}

/// Puts and retires points in an endless loop.
async fn write_until_killed(dir: &Path) {
    let it = open(dir).await;
    if it.records.space(&space("a")).await.unwrap().is_none() {
        fill(&it).await;
    }
    search(&it).await;
    fs::write(dir.join("ready"), b"").unwrap();
    for round in 0_u32.. {
        put(&it, (0..60).map(|number| 2_000 + (round * 60 + number) % 3_000)).await;
        // Each of these destroys the image.
        if round % 20 == 19 {
            it.index.put(&space("a"), &[], &[unit(round % POINTS)]).await.unwrap();
        }
    }
}

fn start_child(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "images::a_kill_at_any_moment_loses_nothing"])
        .env(CHILD, dir)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_any_moment_loses_nothing() {
    if let Ok(dir) = std::env::var(CHILD) {
        return write_until_killed(Path::new(&dir)).await;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut used = 0;
    for round in 0_u64..8 {
        let mut child = start_child(dir.path());
        wait_until("the child writes", async || dir.path().join("ready").exists()).await;
        fs::remove_file(dir.path().join("ready")).unwrap();
        tokio::time::sleep(Duration::from_millis(60 + 37 * round)).await;
        child.kill().unwrap();
        child.wait().unwrap();

        used += usize::from(noted(dir.path()) == 1);
        let it = open(dir.path()).await;
        let found = search(&it).await;
        let mapped = files(dir.path());
        drop(it);
        wait_until("the file is closed", async || !mapped.iter().any(|it| is_mapped(it))).await;
        Connection::open(file(dir.path()))
            .unwrap()
            .execute("DELETE FROM point_images", [])
            .unwrap();
        let it = open(dir.path()).await;
        assert_eq!(search(&it).await, found, "from the points alone, round {round}");
    }
    assert!(used > 0, "no kill met an image");
}
