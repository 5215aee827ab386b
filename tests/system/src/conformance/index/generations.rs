//! Generations: the points of a space are written again while searches continue.

use domain::ErrorKind;
use domain::port::{Point, Search};

use super::super::sample::{noon, space, unit};
use super::super::{Ports, error_kind};
use super::{Numbers, open_empty};

/// Before a switch, the index has all points. After it, the index has only the points that were put since the
/// generation began, in their last version.
pub async fn a_switch_leaves_what_was_put_since(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let index = &ports.index;
    let mut numbers = Numbers(7);
    let a = space("a");
    let mut of = |number: u128| Point {
        words: vec![(1, 1.0)],
        ..numbers.point(number, 0, dimension)
    };
    let points: Vec<Point> = (1..6).map(&mut of).collect();
    let found = async || {
        let search = Search {
            words: Some(vec![(1, 1.0)]),
            limit: 9,
            ..Search::default()
        };
        let mut found = super::numbers_of_hits(&index.search(&a, &search).await.unwrap().words);
        found.sort_unstable();
        found.into_iter().map(|it| it.0).collect::<Vec<u128>>()
    };
    index.put(&a, &points, &[]).await.unwrap();
    let generation = index.begin(&a).await.unwrap();
    assert_eq!(found().await, [1, 2, 3, 4, 5]);
    index.renew_generation(&a, generation).await.unwrap();
    index.put(&a, &points[..2], &[]).await.unwrap();
    index.put(&a, &[of(6)], &[unit(2).id]).await.unwrap();
    assert_eq!(found().await, [1, 3, 4, 5, 6]);
    index.activate_generation(&a, generation).await.unwrap();
    assert_eq!(found().await, [1, 6]);
    index.activate_generation(&a, generation).await.unwrap();
    index.delete_unreachable_points(&a).await.unwrap();
    assert_eq!(found().await, [1, 6]);
    assert_eq!(index.count(&a).await.unwrap(), 2);
    index.put(&a, &[of(7)], &[]).await.unwrap();
    assert_eq!(found().await, [1, 6, 7]);
}

/// A new generation ends the previous one, and no generation outlives its space.
pub async fn a_generation_ends_with_the_next_and_with_its_space(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let (index, a) = (&ports.index, space("a"));
    let mut numbers = Numbers(8);
    index.put(&a, &[numbers.point(1, 0, dimension)], &[]).await.unwrap();
    let given_up = index.begin(&a).await.unwrap();
    let generation = index.begin(&a).await.unwrap();
    assert_eq!(
        error_kind(index.activate_generation(&a, given_up).await),
        Some(ErrorKind::Conflict)
    );
    ports.records.delete_space(&a).await.unwrap();
    index.erase(&a).await.unwrap();
    assert_eq!(error_kind(index.begin(&a).await), Some(ErrorKind::NotFound));
    let later = noon() + chrono::TimeDelta::seconds(1);
    ports.records.create_space(&a, later).await.unwrap();
    index.put(&a, &[numbers.point(2, 0, dimension)], &[]).await.unwrap();
    assert_eq!(
        error_kind(index.activate_generation(&a, generation).await),
        Some(ErrorKind::Conflict)
    );
    assert_eq!(index.count(&a).await.unwrap(), 1);
}

/// Erasing the remains of a deleted space keeps the points of a space that was created under its name since.
pub async fn what_was_put_since_a_deletion_stays(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let (index, records, a) = (&ports.index, &ports.records, space("a"));
    let mut numbers = Numbers(9);
    index.put(&a, &[numbers.point(1, 0, dimension)], &[]).await.unwrap();
    records.delete_space(&a).await.unwrap();
    let first = records.unfinished_erasures(Some(&a), 1).await.unwrap().remove(0);
    let later = noon() + chrono::TimeDelta::seconds(1);
    records.create_space(&a, later).await.unwrap();
    index.put(&a, &[numbers.point(2, 0, dimension)], &[]).await.unwrap();
    for _ in 0..2 {
        index.erase_deleted(&first).await.unwrap();
        assert_eq!(index.count(&a).await.unwrap(), 1);
    }
    records.delete_space(&a).await.unwrap();
    let second = records.unfinished_erasures(Some(&a), 1).await.unwrap().remove(0);
    index.erase_deleted(&second).await.unwrap();
    assert_eq!(index.count(&a).await.unwrap(), 0);
}

/// The points of a space that was created again by a gateway whose clock is behind stay when the erasure of the deleted
/// space is finished, even if the deleted space was rebuilt.
pub async fn points_of_a_space_created_by_a_slow_clock_stay(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let (index, records, a) = (&ports.index, &ports.records, space("a"));
    let mut numbers = Numbers(10);
    for number in 1..4 {
        let generation = index.begin(&a).await.unwrap();
        index
            .put(&a, &[numbers.point(number, 0, dimension)], &[])
            .await
            .unwrap();
        index.activate_generation(&a, generation).await.unwrap();
    }
    records.delete_space(&a).await.unwrap();
    let erasure = records.unfinished_erasures(Some(&a), 1).await.unwrap().remove(0);
    let early = noon() - chrono::TimeDelta::seconds(2);
    assert!(records.create_space(&a, early).await.unwrap());
    index.put(&a, &[numbers.point(4, 0, dimension)], &[]).await.unwrap();
    for _ in 0..2 {
        index.erase_deleted(&erasure).await.unwrap();
        let (listed, _) = index.points(&a, None, 9).await.unwrap();
        assert_eq!(listed, [(unit(4).id, 0)]);
    }
}
