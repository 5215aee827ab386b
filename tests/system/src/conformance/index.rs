//! Search, compared with scores that are computed here.

mod generations;
mod invalid_numbers;
mod listing;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use domain::ErrorKind;
use domain::id::UnitId;
use domain::port::{Hit, Point, Search, SearchResult, Sparse};

use super::sample::{noon, point, space, unit};
use super::{Ports, error_kind};
pub use generations::{
    a_generation_ends_with_the_next_and_with_its_space, a_switch_leaves_what_was_put_since,
    points_of_a_space_created_by_a_slow_clock_stay, what_was_put_since_a_deletion_stays,
};
pub use invalid_numbers::numbers_that_are_not_finite_are_refused;
pub use listing::points_are_listed_once;

/// Greatest difference between a score of an adapter and the reference.
const CLOSE: f64 = 1e-4;

/// A small random number generator that gives the same numbers on every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn dense(&mut self, dimension: usize) -> Vec<f32> {
        let numbers: Vec<f32> = (0..dimension)
            .map(|_| self.below(2_001) as f32 / 1_000.0 - 1.0)
            .collect();
        let length = numbers.iter().map(|it| it * it).sum::<f32>().sqrt();
        numbers.iter().map(|it| it / length).collect()
    }

    /// A few terms occur in most points and most terms in few points, as with real words.
    fn sparse(&mut self, terms: u64) -> Sparse {
        let terms = (0..terms).map(|_| {
            let bound = 1 + self.below(300);
            (self.below(bound) as u32 + 5, self.below(90) as f32 / 100.0 + 0.1)
        });
        terms.collect::<BTreeMap<_, _>>().into_iter().collect()
    }

    fn point(&mut self, number: u128, part: u16, dimension: usize) -> Point {
        let (words, pieces) = (self.sparse(6), self.sparse(9));
        let observed_at = self.below(1_000) as i64;
        Point {
            words,
            pieces,
            observed_at,
            ..point(number, part, self.dense(dimension))
        }
    }
}

async fn open_empty(open: impl AsyncFn() -> Ports) -> (Ports, usize) {
    let ports = open().await;
    for name in ["a", "b"] {
        ports.records.create_space(&space(name), noon()).await.unwrap();
    }
    let dimension = ports.embedder.dimension();
    (ports, dimension)
}

fn unit_vector(dimension: usize, at: usize) -> Vec<f32> {
    (0..dimension).map(|it| f32::from(it == at)).collect()
}

fn numbers_of_hits(hits: &[Hit]) -> Vec<(u128, u16)> {
    hits.iter().map(|it| (it.unit.uuid().as_u128(), it.part)).collect()
}

/// Checks one channel against scores computed in f64: the scores are right, the best come first, and no better point
/// is missing.
fn check_hits(hits: &[Hit], expected: &BTreeMap<(UnitId, u16), f64>, limit: usize) {
    assert_eq!(hits.len(), limit.min(expected.len()));
    for hit in hits {
        let score = expected[&(hit.unit, hit.part)];
        assert!(
            (f64::from(hit.score) - score).abs() < CLOSE,
            "{hit:?}, expected {score}"
        );
    }
    assert!(
        hits.is_sorted_by(|x, y| (y.score, x.unit, x.part) < (x.score, y.unit, y.part)),
        "best first"
    );
    let mut best: Vec<f64> = expected.values().copied().collect();
    best.sort_by(|x, y| y.total_cmp(x));
    for (hit, best) in hits.iter().zip(best) {
        assert!(
            (f64::from(hit.score) - best).abs() < CLOSE,
            "{hit:?} in the place of {best}"
        );
    }
}

fn expected_sums(points: &[Point], query: &Sparse, terms: impl Fn(&Point) -> &Sparse) -> BTreeMap<(UnitId, u16), f64> {
    let mut scores = BTreeMap::new();
    for (term, asked) in query {
        let holds = |point: &Point| terms(point).iter().find(|it| it.0 == *term).map(|it| f64::from(it.1));
        let (all, df) = (points.len() as f64, points.iter().filter_map(holds).count() as f64);
        let idf = (1.0 + (all - df + 0.5) / (df + 0.5)).ln();
        for it in points {
            if let Some(weight) = holds(it) {
                *scores.entry((it.unit, it.part)).or_default() += f64::from(*asked) * weight * idf;
            }
        }
    }
    scores
}

fn compare_with_exact(result: &SearchResult, points: &[Point], search: &Search) {
    let inside = |it: &&Point| {
        search.from.is_none_or(|from| it.observed_at >= from)
            && search.until.is_none_or(|until| it.observed_at < until)
            && search.units.as_ref().is_none_or(|units| units.contains(&it.unit))
    };
    let kept: BTreeMap<(UnitId, u16), &Point> = points
        .iter()
        .filter(inside)
        .map(|it| ((it.unit, it.part), it))
        .collect();
    let query = search.dense.as_ref().unwrap();
    let cosine = |it: &Point| {
        it.dense
            .iter()
            .zip(query)
            .map(|(x, y)| f64::from(*x) * f64::from(*y))
            .sum()
    };
    check_hits(
        &result.dense,
        &kept.iter().map(|(key, it)| (*key, cosine(it))).collect(),
        search.limit,
    );
    let filtered = |mut scores: BTreeMap<(UnitId, u16), f64>| {
        scores.retain(|key, _| kept.contains_key(key));
        scores
    };
    check_hits(
        &result.words,
        &filtered(expected_sums(points, search.words.as_ref().unwrap(), |it| &it.words)),
        search.limit,
    );
    check_hits(
        &result.pieces,
        &filtered(expected_sums(points, search.pieces.as_ref().unwrap(), |it| &it.pieces)),
        search.limit,
    );
}

/// Every channel finds the points that the formulas give, with and without a filter by time or unit. This holds before
/// and after many replacements and removals, and after a restart of the store.
pub async fn it_finds_what_the_formulas_say(open: impl AsyncFn() -> Ports) {
    let (mut ports, dimension) = open_empty(&open).await;
    let a = space("a");
    let mut random = Numbers(7);
    let mut points: Vec<Point> = (0..1_500)
        .map(|it| random.point(it / 2, (it % 2) as u16, dimension))
        .collect();
    ports.index.put(&a, &points, &[]).await.unwrap();
    for round in 0..4 {
        let third = points.iter().step_by(3).map(|it| it.unit);
        let third: Arc<HashSet<UnitId>> = Arc::new(third.collect());
        for (from, until, units) in [
            (None, None, None),
            (Some(300), Some(400), None),
            (None, Some(20), None),
            (Some(990), None, None),
            (None, None, Some(&third)),
            (Some(300), Some(700), Some(&third)),
            (None, None, Some(&Arc::default())),
        ] {
            let (words, pieces) = (Some(random.sparse(5)), Some(random.sparse(8)));
            let search = Search {
                dense: Some(random.dense(dimension)),
                words,
                pieces,
                limit: 25,
                from,
                until,
                units: units.cloned(),
            };
            compare_with_exact(&ports.index.search(&a, &search).await.unwrap(), &points, &search);
        }
        if round == 2 {
            drop(ports);
            ports = open().await;
            continue;
        }
        let retired: Vec<UnitId> = (0..40).map(|_| unit(u128::from(random.below(750))).id).collect();
        points.retain(|it| !retired.contains(&it.unit));
        for it in points.iter_mut().filter(|it| it.part == 0) {
            *it = random.point(it.unit.uuid().as_u128(), 0, dimension);
        }
        let changed: Vec<Point> = points.iter().filter(|it| it.part == 0).cloned().collect();
        ports.index.put(&a, &changed, &retired).await.unwrap();
        assert_eq!(ports.index.count(&a).await.unwrap(), points.len() as u64);
    }
}

/// Equal scores are ordered by unit and part, also at the limit.
pub async fn ties_break_by_unit_and_part(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let a = space("a");
    let mut points = Vec::new();
    for (number, part) in [(5, 1), (2, 0), (9, 0), (5, 0), (1, 3), (2, 1)] {
        points.push(point(number, part, unit_vector(dimension, 0)));
    }
    ports.index.put(&a, &points, &[]).await.unwrap();
    let search = Search {
        dense: Some(unit_vector(dimension, 0)),
        words: Some(vec![(1, 1.0)]),
        pieces: Some(vec![(2, 1.0)]),
        limit: 4,
        ..Search::default()
    };
    let found = ports.index.search(&a, &search).await.unwrap();
    for hits in [&found.dense, &found.words, &found.pieces] {
        assert_eq!(numbers_of_hits(hits), [(1, 3), (2, 0), (2, 1), (5, 0)]);
    }
}

/// A channel that was not requested is empty. So are a sparse channel without common terms, and the dense channel for
/// a zero vector.
pub async fn what_is_not_asked_is_not_found(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let (a, index) = (space("a"), &ports.index);
    index
        .put(
            &a,
            &[
                point(1, 0, unit_vector(dimension, 0)),
                point(2, 0, vec![0.0; dimension]),
            ],
            &[],
        )
        .await
        .unwrap();
    let dense = Search {
        dense: Some(unit_vector(dimension, 0)),
        limit: 9,
        ..Search::default()
    };
    let found = index.search(&a, &dense).await.unwrap();
    assert_eq!(numbers_of_hits(&found.dense), [(1, 0), (2, 0)]);
    assert!(found.words.is_empty() && found.pieces.is_empty());
    let sparse = Search {
        words: Some(vec![(1, 1.0)]),
        pieces: Some(vec![(77, 1.0)]),
        limit: 9,
        ..Search::default()
    };
    let found = index.search(&a, &sparse).await.unwrap();
    assert_eq!(numbers_of_hits(&found.words), [(1, 0), (2, 0)]);
    assert!(found.dense.is_empty() && found.pieces.is_empty());
    let zeros = Search {
        dense: Some(vec![0.0; dimension]),
        ..dense.clone()
    };
    assert_eq!(index.search(&a, &zeros).await.unwrap(), SearchResult::default());
    let no_hits = Search {
        limit: 0,
        ..dense.clone()
    };
    assert_eq!(index.search(&a, &no_hits).await.unwrap(), SearchResult::default());

    let short = Search {
        dense: Some(vec![1.0]),
        ..dense.clone()
    };
    assert_eq!(error_kind(index.search(&a, &short).await), Some(ErrorKind::Invalid));
    assert_eq!(
        error_kind(index.put(&a, &[point(3, 0, vec![1.0])], &[]).await),
        Some(ErrorKind::Invalid)
    );
    assert_eq!(
        error_kind(
            index
                .put(&space("no"), &[point(1, 0, unit_vector(dimension, 0))], &[])
                .await
        ),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(
        index.search(&space("no"), &dense).await.unwrap(),
        SearchResult::default()
    );
    assert_eq!(index.count(&space("no")).await.unwrap(), 0);
}

/// The next search sees a put. A unit that is retired and put in one call keeps only the new points.
pub async fn a_put_is_seen_at_once(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let (a, index) = (space("a"), &ports.index);
    let nearest = async |at| {
        let search = Search {
            dense: Some(unit_vector(dimension, at)),
            limit: 1,
            ..Search::default()
        };
        numbers_of_hits(&index.search(&a, &search).await.unwrap().dense)
    };
    assert!(nearest(0).await.is_empty());
    for number in 0..60 {
        let place = number as usize;
        index
            .put(
                &a,
                &[
                    point(number, 0, unit_vector(dimension, place)),
                    point(number, 1, unit_vector(dimension, place + 60)),
                ],
                &[],
            )
            .await
            .unwrap();
        assert_eq!(nearest(place).await, [(number, 0)]);
    }
    index
        .put(&a, &[point(7, 0, unit_vector(dimension, 127))], &[unit(7).id])
        .await
        .unwrap();
    assert_eq!(nearest(127).await, [(7, 0)]);
    assert_eq!(index.count(&a).await.unwrap(), 119, "its second part is gone");
}

/// The same units in two spaces are independent in every channel and in idf. Erasing one space leaves the other.
pub async fn spaces_do_not_meet(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let (a, b, index) = (space("a"), space("b"), &ports.index);
    let search = Search {
        words: Some(vec![(1, 1.0)]),
        dense: Some(unit_vector(dimension, 0)),
        limit: 9,
        ..Search::default()
    };
    index
        .put(
            &a,
            &[
                point(1, 0, unit_vector(dimension, 0)),
                point(2, 0, unit_vector(dimension, 0)),
            ],
            &[],
        )
        .await
        .unwrap();
    let alone = index.search(&a, &search).await.unwrap();
    for number in [1, 3, 4, 5] {
        let words = vec![(1, 9.0)];
        index
            .put(
                &b,
                &[Point {
                    words,
                    ..point(number, 0, unit_vector(dimension, 0))
                }],
                &[],
            )
            .await
            .unwrap();
    }
    assert_eq!(index.search(&a, &search).await.unwrap(), alone);
    index.put(&b, &[], &[unit(1).id]).await.unwrap();
    assert_eq!(
        numbers_of_hits(&index.search(&b, &search).await.unwrap().dense),
        [(3, 0), (4, 0), (5, 0)]
    );
    index.erase(&b).await.unwrap();
    index.erase(&b).await.unwrap();
    assert_eq!((index.count(&a).await.unwrap(), index.count(&b).await.unwrap()), (2, 0));
    assert_eq!(index.search(&b, &search).await.unwrap(), SearchResult::default());
    assert_eq!(index.search(&a, &search).await.unwrap(), alone);
}
