use std::collections::BTreeMap;
use std::f32::consts::LN_2;

use domain::id::SpaceId;
use domain::port::{Hit, Index, Point, Search, Sparse};
use qdrant_client::qdrant::{
    Condition, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, DeletePointsBuilder, FieldType, Filter,
    IdfParamsBuilder, Modifier, NamedVectors, PointStruct, Query, QueryBatchPointsBuilder, QueryPointsBuilder,
    SearchParamsBuilder, SparseVectorParamsBuilder, SparseVectorsConfigBuilder, UpsertPointsBuilder, Vector,
    VectorInput,
};
use qdrant_client::{Payload, Qdrant};
use uuid::Uuid;

use super::{at, connect_driver, on_server, open_embedded, open_index, sample_point, space, unit, word_search};

/// Greatest difference between scores of the two indexes.
const CLOSE: f32 = 1e-4;

/// A small random number generator that gives the same numbers on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn dense(&mut self, dimension: usize) -> Vec<f32> {
        let numbers: Vec<f32> = (0..dimension)
            .map(|_| self.below(2_001) as f32 / 1_000.0 - 1.0)
            .collect();
        let length = numbers.iter().map(|it| it * it).sum::<f32>().sqrt();
        numbers.iter().map(|it| it / length).collect()
    }

    fn sparse(&mut self, terms: u64) -> Sparse {
        let terms = (0..terms).map(|_| {
            let bound = 1 + self.below(40);
            (self.below(bound) as u32, self.below(90) as f32 / 100.0 + 0.1)
        });
        terms.collect::<BTreeMap<_, _>>().into_iter().collect()
    }

    /// Returns a point; some have a zero dense vector, and some have no terms.
    fn point(&mut self, number: u128, dimension: usize) -> Point {
        let dense = match self.below(10) {
            0 => vec![0.0; dimension],
            _ => self.dense(dimension),
        };
        let (words, pieces) = (self.below(6), self.below(9));
        Point {
            unit: unit(number / 2),
            part: (number % 2) as u16,
            dense,
            words: self.sparse(words),
            pieces: self.sparse(pieces),
            observed_at: self.below(1_000) as i64,
        }
    }
}

/// Checks that the hits and scores are the same. The order of nearly equal scores may differ.
fn assert_same(found: &[Hit], expected: &[Hit]) {
    assert_eq!(found.len(), expected.len());
    for (it, other) in found.iter().zip(expected) {
        assert!((it.score - other.score).abs() < CLOSE, "{it:?}, expected {other:?}");
    }
    let Some(last) = expected.last() else { return };
    let within = |hits: &[Hit]| -> Vec<_> {
        let clear = hits.iter().filter(|it| it.score > last.score + CLOSE);
        let mut clear: Vec<_> = clear.map(|it| (it.unit, it.part)).collect();
        clear.sort_unstable();
        clear
    };
    assert_eq!(within(found), within(expected));
}

/// In five spaces with common units and terms, both indexes give the same results, and each space uses its own counts.
/// Points without vectors count like others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn qdrant_and_the_embedded_index_give_the_same_scores() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (qdrant, dimension) = (open_index(&options, &embedded).await, embedded.embedder.dimension());
        let mut random = Numbers(11);
        let spaces: Vec<SpaceId> = (0..5).map(|it| space(&format!("s{it}"))).collect();
        for (number, space) in spaces.iter().enumerate() {
            embedded.records.create_space(space, at(0)).await.unwrap();
            let points: Vec<Point> = (0..20 * (number as u128 + 1))
                .map(|it| random.point(it, dimension))
                .collect();
            for index in [&qdrant as &dyn Index, &*embedded.index] {
                index.put(space, &points, &[]).await.unwrap();
            }
        }
        let total: u64 = futures::future::join_all(spaces.iter().map(|it| qdrant.count(it)))
            .await
            .into_iter()
            .map(Result::unwrap)
            .sum();
        assert_eq!(total, 300);
        for round in 0..40 {
            let space = &spaces[round % 5];
            let search = Search {
                dense: Some(random.dense(dimension)),
                words: Some(random.sparse(5)),
                pieces: Some(random.sparse(7)),
                limit: 1 + random.below(30) as usize,
                from: Some(300).filter(|_| round % 3 == 0),
                until: Some(700).filter(|_| round % 4 == 0),
                units: None,
            };
            let found = qdrant.search(space, &search).await.unwrap();
            let expected = embedded.index.search(space, &search).await.unwrap();
            assert!(!expected.dense.is_empty() && !expected.pieces.is_empty());
            assert_same(&found.dense, &expected.dense);
            assert_same(&found.words, &expected.words);
            assert_same(&found.pieces, &expected.pieces);
        }
    })
    .await;
}

/// Putting, replacing or removing points in other spaces changes no score, to the last bit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn points_of_other_spaces_do_not_change_scores() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (qdrant, dimension) = (open_index(&options, &embedded).await, embedded.embedder.dimension());
        let mut random = Numbers(5);
        for name in ["mine", "other"] {
            embedded.records.create_space(&space(name), at(0)).await.unwrap();
        }
        let points: Vec<Point> = (0..40).map(|it| random.point(it, dimension)).collect();
        qdrant.put(&space("mine"), &points, &[]).await.unwrap();
        let search = Search {
            dense: Some(random.dense(dimension)),
            words: Some(random.sparse(8)),
            pieces: Some(random.sparse(8)),
            limit: 50,
            ..Search::default()
        };
        let alone = qdrant.search(&space("mine"), &search).await.unwrap();
        let others: Vec<Point> = (0..200).map(|it| random.point(it, dimension)).collect();
        let units: Vec<_> = (0..10).map(unit).collect();
        qdrant.put(&space("other"), &others, &[]).await.unwrap();
        assert_eq!(qdrant.search(&space("mine"), &search).await.unwrap(), alone);
        qdrant.put(&space("other"), &[], &units).await.unwrap();
        assert_eq!(qdrant.count(&space("other")).await.unwrap(), 180);
        assert_eq!(qdrant.search(&space("mine"), &search).await.unwrap(), alone);
        qdrant.erase(&space("other")).await.unwrap();
        assert_eq!(qdrant.search(&space("mine"), &search).await.unwrap(), alone);
        assert_eq!(qdrant.count(&space("mine")).await.unwrap(), 40);
    })
    .await;
}

/// The server may cut a long group of equal scores anywhere. The first points by unit and part are still found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_equal_scores_are_ordered_by_unit_and_part() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (qdrant, dimension) = (open_index(&options, &embedded).await, embedded.embedder.dimension());
        embedded.records.create_space(&space("a"), at(0)).await.unwrap();
        let points: Vec<Point> = (0..700).map(|it| sample_point(it, dimension)).collect();
        qdrant.put(&space("a"), &points, &[]).await.unwrap();
        let search = Search {
            dense: Some(points[0].dense.clone()),
            ..word_search(20)
        };
        let found = qdrant.search(&space("a"), &search).await.unwrap();
        for hits in [found.dense, found.words] {
            let units: Vec<_> = hits.iter().map(|it| it.unit).collect();
            assert_eq!(units, (0..20).map(unit).collect::<Vec<_>>());
        }
    })
    .await;
}

/// Tests the rules of the server that the adapter relies on, with numbers. The stand-in must follow the same rules as
/// a real server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_weighs_terms_as_documented() {
    on_server(async |options| {
        let (driver, name) = (connect_driver(&options), format!("{}_rules", options.prefix));
        let mut sparse = SparseVectorsConfigBuilder::default();
        sparse.add_named_vector_params("s", SparseVectorParamsBuilder::default().modifier(Modifier::Idf));
        driver
            .create_collection(CreateCollectionBuilder::new(&name).sparse_vectors_config(sparse))
            .await
            .unwrap();
        let group = CreateFieldIndexCollectionBuilder::new(&name, "group", FieldType::Keyword).wait(true);
        driver.create_field_index(group).await.unwrap();
        // Corpus a has four points with the vector and one without. Two of them have term 1, and three have term 2.
        let held: [(&str, &[(u32, f32)]); 7] = [
            ("a", &[(1, 1.0), (2, 1.0)]),
            ("a", &[(1, 2.0), (2, 0.0)]),
            ("a", &[(2, 1.0)]),
            ("a", &[(3, 1.0)]),
            ("a", &[]),
            ("b", &[(1, 1.0)]),
            ("b", &[(1, 1.0)]),
        ];
        let points: Vec<PointStruct> = held
            .iter()
            .zip(0..)
            .map(|((group, terms), id)| of_group(group, terms, id))
            .collect();
        driver
            .upsert_points(UpsertPointsBuilder::new(&name, points).wait(true))
            .await
            .unwrap();
        let close = |found: Vec<f32>, expected: &[f32]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(
                found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4),
                "{found:?}"
            );
        };
        // The scores are ln((4 - 2 + 0.5) / (2 + 0.5) + 1), twice that for the double weight, and ln((4 - 3 + 0.5) /
        // (3 + 0.5) + 1).
        close(score_points(&driver, &name, 1, Some("a")).await, &[2.0 * LN_2, LN_2]);
        close(
            score_points(&driver, &name, 2, Some("a")).await,
            &[0.356_67, 0.356_67, 0.0],
        );
        // Over all points: six points with the vector, four of them with term 1: ln((6 - 4 + 0.5) / (4 + 0.5) + 1).
        close(score_points(&driver, &name, 1, None).await, &[0.883_67, 0.441_83]);
        // An empty corpus, and a term that no point has.
        close(score_points(&driver, &name, 1, Some("none")).await, &[2.0 * LN_2, LN_2]);
        close(score_points(&driver, &name, 9, Some("a")).await, &[]);
        // Deleted points no longer count.
        let gone = DeletePointsBuilder::new(&name)
            .points(Filter::must([Condition::has_id([uuid(1)])]))
            .wait(true);
        driver.delete_points(gone).await.unwrap();
        close(score_points(&driver, &name, 1, Some("a")).await, &[0.980_83]);
    })
    .await;
}

fn uuid(number: u128) -> String {
    Uuid::from_u128(number).to_string()
}

fn of_group(group: &str, terms: &[(u32, f32)], id: u128) -> PointStruct {
    let (indices, values): (Vec<u32>, Vec<f32>) = terms.iter().copied().unzip();
    let vectors = match terms.is_empty() {
        true => NamedVectors::default(),
        false => NamedVectors::default().add_vector("s", Vector::new_sparse(indices, values)),
    };
    PointStruct::new(uuid(id), vectors, Payload::from([("group", group.into())]))
}

/// Returns the scores of the points in group a for one term. The rarity of the term is computed over the group
/// `corpus`.
async fn score_points(driver: &Qdrant, name: &str, term: u32, corpus: Option<&str>) -> Vec<f32> {
    let group = |group: &str| Filter::must([Condition::matches("group", group.to_owned())]);
    let mut params = SearchParamsBuilder::default().exact(true);
    if let Some(corpus) = corpus {
        params = params.idf(IdfParamsBuilder::default().corpus(group(corpus)));
    }
    let query = QueryPointsBuilder::new(name)
        .query(Query::new_nearest(VectorInput::new_sparse(vec![term], vec![1.0])))
        .using("s")
        .filter(group("a"))
        .params(params)
        .limit(10);
    let batch = QueryBatchPointsBuilder::new(name, vec![query.build()]).build();
    let answers = driver.query_batch(batch).await.unwrap().result;
    answers[0].result.iter().map(|it| it.score).collect()
}
