use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adapters::servers::qdrant::{Options, QdrantIndex};
use domain::ErrorKind;
use domain::id::UnitId;
use domain::port::{Generation, Index, Point, Search};
use qdrant_client::Payload;
use qdrant_client::qdrant::{Condition, Filter, ScrollPointsBuilder, SetPayloadPointsBuilder};

use super::deleted::{collection_name, count_points};
use super::{at, connect_driver, on_server, open_embedded, open_index, sample_point, space, unit, word_search};

/// Number of units of a generation in the test of switching.
const UNITS: u128 = 40;
/// Number of rebuilds in that test.
const ROUNDS: u128 = 6;

fn units_of_hits(found: &[domain::port::Hit]) -> Vec<UnitId> {
    found.iter().map(|it| it.unit).collect()
}

/// Searches until it is stopped. Every response must be one whole generation, and never an earlier one than before.
async fn search_until_stopped(index: QdrantIndex, stop: Arc<AtomicBool>, searches: Arc<AtomicU64>) -> u128 {
    let mut seen = 0;
    while !stop.load(Ordering::Relaxed) {
        let search = Search {
            dense: Some(sample_point(0, 128).dense),
            ..word_search(1_000)
        };
        let found = index.search(&space("a"), &search).await.unwrap();
        let first = found.words[0].unit.uuid().as_u128();
        let expected: Vec<UnitId> = (first..first + UNITS).map(unit).collect();
        assert_eq!(units_of_hits(&found.words), expected);
        assert_eq!(units_of_hits(&found.dense), expected);
        assert!(first >= seen, "back from {seen} to {first}");
        seen = first;
        searches.fetch_add(1, Ordering::Relaxed);
    }
    seen
}

/// Readers see a rebuilt space change from one complete state to the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_see_only_complete_generations() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (builder, a) = (open_index(&options, &embedded).await, space("a"));
        embedded.records.create_space(&a, at(0)).await.unwrap();
        let state = |round: u128| -> Vec<Point> {
            let first = round * 1_000;
            (first..first + UNITS).map(|it| sample_point(it, 128)).collect()
        };
        builder.put(&a, &state(0), &[]).await.unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let searches: [Arc<AtomicU64>; 3] = Default::default();
        let mut readers = Vec::new();
        for searches in &searches {
            let reader = open_index(&options, &embedded).await;
            readers.push(tokio::spawn(search_until_stopped(
                reader,
                Arc::clone(&stop),
                Arc::clone(searches),
            )));
        }
        for round in 1..=ROUNDS {
            let generation = builder.begin_generation(&a).await.unwrap();
            builder.put_into(&a, generation, &state(round), &[]).await.unwrap();
            builder.switch_generation(&a, generation).await.unwrap();
            // Every reader finishes the search that it began before the switch.
            for (reader, searches) in readers.iter().zip(&searches) {
                let enough = searches.load(Ordering::Relaxed) + 2;
                while searches.load(Ordering::Relaxed) < enough && !reader.is_finished() {
                    tokio::task::yield_now().await;
                }
            }
            builder.drop_unused(&a).await.unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.await.unwrap() >= (ROUNDS - 1) * 1_000);
        }
        assert_eq!(builder.count(&a).await.unwrap(), UNITS as u64);
        assert_eq!(
            builder.search(&a, &word_search(1)).await.unwrap().words[0].unit,
            unit(ROUNDS * 1_000)
        );
    })
    .await;
}

/// A point that is put while a generation is built is visible immediately and after the switch. Older data that the
/// rebuild had read does not replace it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_put_also_reaches_the_generation_that_is_being_built() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (index, a) = (open_index(&options, &embedded).await, space("a"));
        embedded.records.create_space(&a, at(0)).await.unwrap();
        index
            .put(&a, &[sample_point(1, 128), sample_point(2, 128)], &[])
            .await
            .unwrap();
        let alone = index.search(&a, &word_search(9)).await.unwrap();

        let given_up = index.begin_generation(&a).await.unwrap();
        index
            .put_into(&a, given_up, &[sample_point(7, 128)], &[])
            .await
            .unwrap();
        let generation = index.begin_generation(&a).await.unwrap();
        assert_eq!(
            error_kind(index.put_into(&a, given_up, &[sample_point(8, 128)], &[]).await),
            Some(ErrorKind::Conflict)
        );
        assert_eq!(
            error_kind(index.switch_generation(&a, given_up).await),
            Some(ErrorKind::Conflict)
        );

        let newer = Point {
            words: vec![(5, 1.0)],
            ..sample_point(1, 128)
        };
        index
            .put_into(&a, generation, &[sample_point(2, 128), sample_point(3, 128)], &[])
            .await
            .unwrap();
        assert_eq!(
            index.search(&a, &word_search(9)).await.unwrap(),
            alone,
            "what is built is not seen and weighs nothing"
        );
        index.put(&a, &[newer, sample_point(4, 128)], &[unit(2)]).await.unwrap();
        assert_eq!(
            units_of_hits(&index.search(&a, &word_search(9)).await.unwrap().words),
            [unit(4)]
        );
        index
            .put_into(&a, generation, &[sample_point(1, 128)], &[])
            .await
            .unwrap();
        index.switch_generation(&a, generation).await.unwrap();
        index.switch_generation(&a, generation).await.unwrap();
        assert_eq!(
            units_of_hits(&index.search(&a, &word_search(9)).await.unwrap().words),
            [unit(3), unit(4)]
        );
        index.drop_unused(&a).await.unwrap();
        assert_eq!(
            units_of_hits(&index.search(&a, &word_search(9)).await.unwrap().words),
            [unit(3), unit(4)]
        );
        assert_eq!(index.count(&a).await.unwrap(), 3);
        index.erase(&a).await.unwrap();
        assert_eq!(index.count(&a).await.unwrap(), 0);
    })
    .await;
}

/// No point is lost if the space is rebuilt many times from the known points while more points are put.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_point_is_lost_during_rebuilds() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (builder, a) = (open_index(&options, &embedded).await, space("a"));
        embedded.records.create_space(&a, at(0)).await.unwrap();
        let stored: Arc<Mutex<Vec<u128>>> = Arc::default();
        let mut writers = Vec::new();
        for first in [0, 1_000, 2_000] {
            let (writer, known) = (open_index(&options, &embedded).await, Arc::clone(&stored));
            writers.push(tokio::spawn(async move {
                for number in first..first + 60 {
                    // A rebuild knows the point from its record, which is stored first. If a point is put just before
                    // a generation begins, only the rebuild puts it into that generation.
                    known.lock().unwrap().push(number);
                    writer
                        .put(&space("a"), &[sample_point(number, 128)], &[])
                        .await
                        .unwrap();
                }
            }));
        }
        let mut rebuilt = 0;
        while writers.iter().any(|it| !it.is_finished()) {
            let generation = builder.begin_generation(&a).await.unwrap();
            let known = stored.lock().unwrap().clone();
            let known: Vec<Point> = known.into_iter().map(|it| sample_point(it, 128)).collect();
            builder.put_into(&a, generation, &known, &[]).await.unwrap();
            builder.switch_generation(&a, generation).await.unwrap();
            builder.drop_unused(&a).await.unwrap();
            rebuilt += 1;
        }
        for writer in writers {
            writer.await.unwrap();
        }
        assert!(rebuilt > 2, "{rebuilt}");
        assert_eq!(builder.search(&a, &word_search(1_000)).await.unwrap().words.len(), 180);
    })
    .await;
}

/// A generation that is not renewed is ended: later points are written once, and its own are removed. A generation that
/// is renewed still gets all points.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abandoned_rebuild_ends_and_a_renewed_one_goes_on() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (builder, a) = (open_index(&options, &embedded).await, space("a"));
        // It ends a generation at the second put that sees no renewal in between.
        let writer = open_index(&options, &embedded).await.with_rebuild_lease(Duration::ZERO);
        embedded.records.create_space(&a, at(0)).await.unwrap();
        let put = async |number| writer.put(&a, &[sample_point(number, 128)], &[]).await.unwrap();
        put(1).await;

        let kept = builder.begin_generation(&a).await.unwrap();
        put(2).await;
        builder.renew_generation(&a, kept).await.unwrap();
        put(3).await;
        // The points that are shown, those of the new generation, and the marker.
        assert_eq!(count_points(&options, "a").await, 3 + 2 + 1);
        builder.switch_generation(&a, kept).await.unwrap();
        builder.drop_unused(&a).await.unwrap();
        let found = builder.search(&a, &word_search(9)).await.unwrap();
        assert_eq!(units_of_hits(&found.words), [unit(2), unit(3)]);

        let abandoned = builder.begin_generation(&a).await.unwrap();
        put(4).await;
        assert_eq!(count_points(&options, "a").await, 3 + 1 + 1);
        put(5).await;
        assert_eq!(count_points(&options, "a").await, 4 + 1);
        put(6).await;
        assert_eq!(count_points(&options, "a").await, 5 + 1);
        for outcome in [
            builder.renew_generation(&a, abandoned).await,
            builder.switch_generation(&a, abandoned).await,
        ] {
            assert_eq!(error_kind(outcome), Some(ErrorKind::Conflict));
        }

        let next = builder.begin_generation(&a).await.unwrap();
        assert!(next > abandoned);
        put(7).await;
        builder.switch_generation(&a, next).await.unwrap();
        let found = builder.search(&a, &word_search(9)).await.unwrap();
        assert_eq!(units_of_hits(&found.words), [unit(7)]);
    })
    .await;
}

/// A builder that does not renew its generation in time may not show it, because a writer may have ended it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generation_that_was_not_renewed_in_time_is_not_shown() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let a = space("a");
        embedded.records.create_space(&a, at(0)).await.unwrap();
        for (lease, expected) in [(Duration::ZERO, Some(ErrorKind::Conflict)), (Duration::MAX, None)] {
            let builder = open_index(&options, &embedded).await.with_rebuild_lease(lease);
            let generation = builder.begin_generation(&a).await.unwrap();
            assert_eq!(error_kind(builder.renew_generation(&a, generation).await), expected);
            assert_eq!(error_kind(builder.switch_generation(&a, generation).await), expected);
        }
    })
    .await;
}

/// Ends the generation before this one in the space `a`, like a request that reached the server late.
async fn end_generation_before(options: &Options, generation: Generation) {
    let (driver, collection) = (connect_driver(options), collection_name(options).await);
    let of = Filter::must([Condition::matches("space", "a".to_owned())]);
    let scroll = ScrollPointsBuilder::new(&collection)
        .filter(of)
        .limit(100)
        .with_payload(true);
    let found = driver.scroll(scroll).await.unwrap().result;
    let marker = found.into_iter().find(|it| it.payload.contains_key("born"));
    let mut ended = Payload::new();
    ended.insert("building", generation.0 - 1);
    ended.insert("renewals", -1_i64);
    let change = SetPayloadPointsBuilder::new(collection, ended)
        .points_selector([marker.unwrap().id.unwrap()])
        .wait(true);
    driver.set_payload(change).await.unwrap();
}

/// If a late request brings the number of a generation back, the next generation of this number shows only its own
/// points.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generation_shows_no_points_of_an_earlier_one_with_its_number() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (index, a) = (open_index(&options, &embedded).await, space("a"));
        embedded.records.create_space(&a, at(0)).await.unwrap();
        let put = async |number| index.put(&a, &[sample_point(number, 128)], &[]).await.unwrap();
        put(1).await;
        let first = index.begin_generation(&a).await.unwrap();
        put(2).await;
        end_generation_before(&options, first).await;
        let again = index.begin_generation(&a).await.unwrap();
        assert_eq!(again, first);
        put(3).await;
        index.switch_generation(&a, again).await.unwrap();
        let found = index.search(&a, &word_search(9)).await.unwrap();
        assert_eq!(units_of_hits(&found.words), [unit(3)]);
    })
    .await;
}

/// A space that is created again shows nothing of the former space, even if the index did not learn about the deletion.
/// A former generation does not come back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_space_that_is_created_again_is_empty() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (index, a) = (open_index(&options, &embedded).await, space("a"));
        embedded.records.create_space(&a, at(10)).await.unwrap();
        index
            .put(&a, &[sample_point(1, 128), sample_point(2, 128)], &[])
            .await
            .unwrap();
        let generation = index.begin_generation(&a).await.unwrap();
        embedded.records.delete_space(&a).await.unwrap();
        assert_eq!(
            error_kind(index.put(&a, &[sample_point(3, 128)], &[]).await),
            Some(ErrorKind::NotFound)
        );
        embedded.records.create_space(&a, at(20)).await.unwrap();
        index.put(&a, &[sample_point(4, 128)], &[]).await.unwrap();
        assert_eq!(
            units_of_hits(&index.search(&a, &word_search(9)).await.unwrap().words),
            [unit(4)]
        );
        assert_eq!(index.count(&a).await.unwrap(), 1);
        assert_eq!(
            error_kind(index.switch_generation(&a, generation).await),
            Some(ErrorKind::Conflict)
        );
        index.drop_unused(&a).await.unwrap();
        assert_eq!(
            units_of_hits(&index.search(&a, &word_search(9)).await.unwrap().words),
            [unit(4)]
        );
    })
    .await;
}

fn error_kind<T>(result: domain::port::Result<T>) -> Option<ErrorKind> {
    use domain::Classify;
    result.err().map(|it| it.kind())
}
