//! The router over embedded stores: it follows writes and erasures, and reports its steps.

use chrono::{DateTime, Utc};
use domain::message::RouteV1;
use domain::port::Point;
use domain::unit::{Grain, Unit};
use domain::{Classify, ErrorKind};
use host::Context;
use router::{Config, Router};
use text::EmbeddingTable;
use text::meaning::sparse_vectors;

use crate::talk::{packed, request, space, turn_from_line, units};

#[tokio::test]
async fn a_view_follows_writes_and_erasures_of_its_space() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    let asked = request("Why did Omar start pottery?", 80);
    assert_eq!(
        router.route_question(asked.clone()).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    assert_eq!(router.route_question(asked.clone()).await.unwrap().units, 0);
    put(&ctx, &units()[..4]).await;
    assert_eq!(router.route_question(asked.clone()).await.unwrap().units, 4);
    put(&ctx, &units()[4..]).await;
    let routed = router.route_question(asked.clone()).await.unwrap();
    assert!(packed(&routed).contains(&"r4"));
    assert!(
        routed.degraded.is_empty() && routed.steps.len() == 4,
        "{:?}",
        routed.degraded
    );
    let channels = routed.pack.items.iter().flat_map(|it| it.channels.clone()).count();
    assert!(channels > 0);
    ctx.backends.records.delete_space(&space()).await.unwrap();
    ctx.backends.index.erase(&space()).await.unwrap();
    assert_eq!(
        router.route_question(asked.clone()).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    ctx.backends.records.create_space(&space(), moment(1)).await.unwrap();
    put(&ctx, &units()[..1]).await;
    assert_eq!(router.route_question(asked).await.unwrap().units, 1);
}

#[tokio::test]
async fn all_units_of_a_small_space_can_be_ranked() {
    const COUNT: usize = 300;
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    let line = |at: usize| {
        let (day, hour) = (at % 28 + 1, at / 28);
        format!("2024-05-{day:02}T{hour:02}:00:00Z|Omar|I made bowl number {at} in the pottery course.")
    };
    let units: Vec<Unit> = (0..COUNT).map(|at| turn_from_line(at, &line(at))).collect();
    put(&ctx, &units).await;
    for (ranked, expected) in [(1_000, COUNT), (3, 3)] {
        let asked = RouteV1 {
            ranked,
            ..request("Which bowls did Omar make?", 80)
        };
        let routed = router.route_question(asked).await.unwrap();
        assert_eq!(routed.ranked.len(), expected);
    }
}

pub(crate) fn moment(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
}

pub(crate) async fn put(ctx: &Context, units: &[Unit]) {
    let point = |it: &Unit| Point {
        unit: it.id,
        part: 0,
        dense: EmbeddingTable::builtin().embed_text(&it.text),
        words: sparse_vectors::stem_vector(&it.text),
        pieces: sparse_vectors::piece_vector(&it.text),
        observed_at: it.observed_at.timestamp(),
    };
    let found = units.iter().filter(|it| it.grain != Grain::Event);
    let points: Vec<Point> = found.map(point).collect();
    ctx.backends.graph.put_units(&space(), units, &[]).await.unwrap();
    ctx.backends.index.put(&space(), &points, &[]).await.unwrap();
}
