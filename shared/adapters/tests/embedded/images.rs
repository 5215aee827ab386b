//! Images of the index: files that are mapped into memory, and never show anything else than the points in the database.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use adapters::{Embedded, OpenError, Options, restore_backup, write_backup};
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

/// Closes the stores, and waits until an image that is being written is complete.
async fn close(it: Embedded, dir: &Path) {
    drop(it);
    wait_until("the directory is free", async || {
        !matches!(
            Embedded::open(dir, Options::default()).await,
            Err(OpenError::Locked { .. })
        )
    })
    .await;
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
    let Ok(entries) = fs::read_dir(dir.join("mnemic.index")) else {
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
    close(it, dir.path()).await;
    assert!(!is_mapped(&image));

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
    close(it, dir.path()).await;
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
        close(it, dir.path()).await;
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
    close(it, dir.path()).await;
    let it = open(dir.path()).await;
    assert_eq!(search(&it).await, found);

    it.records.delete_space(&space("a")).await.unwrap();
    let erasures = it.records.unfinished_erasures(Some(&space("a")), 1).await.unwrap();
    it.index.erase_deleted(&erasures[0]).await.unwrap();
    assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn a_file_in_place_of_the_folder_is_named_and_stops_the_start() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mnemic.index"), b"not a folder").unwrap();
    let error = super::refusal(dir.path()).await.to_string();
    assert!(error.contains("mnemic.index"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_image_before_stays_if_the_next_one_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it).await;
    let image = wait_for_image(dir.path()).await;
    let occupied = dir.path().join("mnemic.index/2.partial");
    fs::create_dir(&occupied).unwrap();
    put(&it, 1_000..1_200).await;
    let found = search(&it).await;
    wait_until("the attempt has ended", async || {
        let database = Connection::open(file(dir.path())).unwrap();
        let last = "SELECT seq FROM sqlite_sequence WHERE name = 'point_images'";
        let begun: i64 = database.query_row(last, [], |row| row.get(0)).unwrap();
        let count = "SELECT count(*) FROM point_images";
        begun == 2 && database.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    })
    .await;
    assert_eq!((search(&it).await, is_mapped(&image)), (found.clone(), true));
    close(it, dir.path()).await;
    let it = open(dir.path()).await;
    assert_eq!((search(&it).await, is_mapped(&image)), (found, true));
    assert!(occupied.exists());
}

#[tokio::test]
async fn only_own_files_that_no_image_needs_are_destroyed_at_a_start() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, foreign) = (dir.path().join("mnemic.index"), dir.path().join("notes.txt"));
    fs::create_dir_all(folder.join("3.points")).unwrap();
    fs::write(&foreign, b"not ours").unwrap();
    for name in ["7.points", "8.partial", "x", "x.points", "9.txt"] {
        fs::write(folder.join(name), b"old words").unwrap();
    }
    std::os::unix::fs::symlink(&foreign, folder.join("4.points")).unwrap();
    open(dir.path()).await;
    let mut left: Vec<String> = files(dir.path())
        .iter()
        .map(|it| it.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["3.points", "4.points", "9.txt", "x", "x.points"]);
    assert_eq!(fs::read(foreign).unwrap(), b"not ours");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rebuild_and_an_erasure_leave_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it).await;
    wait_for_image(dir.path()).await;
    let generation = it.index.begin(&space("a")).await.unwrap();
    put(&it, 0..40).await;
    it.index.activate_generation(&space("a"), generation).await.unwrap();
    assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
    let numbers: Vec<UnitId> = search(&it).await.dense.iter().map(|it| it.unit).collect();
    assert!(numbers.len() == 40 && (0..40).all(|it| numbers.contains(&unit(it))));

    put(&it, 40..POINTS).await;
    wait_for_image(dir.path()).await;
    it.index.erase(&space("a")).await.unwrap();
    assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_space_that_is_deleted_before_its_image_gets_none() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        index_image_points_least: 100,
        index_image_pause: Duration::from_millis(200),
        ..Options::default()
    };
    let it = Embedded::open(dir.path(), options).await.unwrap();
    fill(&it).await;
    it.records.delete_space(&space("a")).await.unwrap();
    // Longer than the space has to be quiet.
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!((noted(dir.path()), files(dir.path()).len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_copy_uses_no_image_of_the_memory_before() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy");
    let it = open(dir.path()).await;
    let found = fill(&it).await;
    let first = wait_for_image(dir.path()).await;
    write_backup(dir.path(), &copy).unwrap();
    put(&it, 1_000..1_400).await;
    wait_until("another image is written", async || {
        files(dir.path()) != [first.clone()]
    })
    .await;
    let second = wait_for_image(dir.path()).await;
    close(it, dir.path()).await;
    restore_backup(dir.path(), &copy, DateTime::UNIX_EPOCH).unwrap();
    let it = open(dir.path()).await;
    assert_eq!((search(&it).await, second.exists()), (found, false));
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
    // On a slow machine, the first eight rounds can all end where an image was just destroyed. The others wait for one.
    for round in 0_u64..40 {
        if round >= 8 && used > 0 {
            break;
        }
        let mut child = start_child(dir.path());
        wait_until("the child writes", async || dir.path().join("ready").exists()).await;
        fs::remove_file(dir.path().join("ready")).unwrap();
        if round < 8 {
            tokio::time::sleep(Duration::from_millis(60 + 37 * round)).await;
        } else {
            wait_until("an image is complete", async || noted(dir.path()) == 1).await;
        }
        child.kill().unwrap();
        child.wait().unwrap();

        used += usize::from(noted(dir.path()) == 1);
        let it = open(dir.path()).await;
        let found = search(&it).await;
        close(it, dir.path()).await;
        Connection::open(file(dir.path()))
            .unwrap()
            .execute("DELETE FROM point_images", [])
            .unwrap();
        let it = open(dir.path()).await;
        assert_eq!(search(&it).await, found, "from the points alone, round {round}");
    }
    assert!(used > 0, "no kill met an image");
}
