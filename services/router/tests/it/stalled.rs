//! A graph that stops during a read, one that is slow while a space is written, and one that is unavailable.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::code::DegradedCode;
use domain::curation::Act;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{RecordId, SpaceId, UnitId};
use domain::message::RouteV1;
use domain::port::{Change, DerivedChange, Graph, Position, Room, Selection};
use domain::relation::Relation;
use domain::unit::Unit;
use domain::{Classify, ErrorKind, PortError};
use fixtures::WAIT_MAX;
use host::Context;
use router::{Config, Router};
use tokio::sync::{Notify, Semaphore};
use uuid::Uuid;

use crate::decided::act;
use crate::stores::{moment, put};
use crate::talk::{packed, request, space, units};

type Result<T> = std::result::Result<T, PortError>;

/// A graph that returns a given number of pages of changes, or fails.
struct Stalled {
    graph: Arc<dyn Graph>,
    pages: Semaphore,
    /// Notified whenever a page is requested and not returned.
    stalled: Notify,
    away: AtomicBool,
    /// The sequences after which pages of changes were returned.
    given: Mutex<Vec<u64>>,
}

impl Stalled {
    fn here(&self) -> Result<()> {
        if self.away.load(Ordering::SeqCst) {
            return Err(PortError::new("graph", ErrorKind::Unavailable, "nobody is there"));
        }
        Ok(())
    }
}

#[async_trait]
impl Graph for Stalled {
    async fn put_units(&self, space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> Result<()> {
        self.graph.put_units(space, units, retired).await
    }

    async fn units(&self, space: &SpaceId, ids: &[UnitId]) -> Result<Vec<Unit>> {
        self.graph.units(space, ids).await
    }

    async fn changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        self.here()?;
        if self.pages.available_permits() == 0 {
            self.stalled.notify_one();
        }
        self.pages.acquire().await.unwrap().forget();
        self.given.lock().unwrap().push(sequence);
        self.graph.changes(space, sequence, limit).await
    }

    async fn select(
        &self,
        space: &SpaceId,
        of: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Unit>, Option<u64>)> {
        self.graph.select(space, of, after, room).await
    }

    async fn put_relations(&self, space: &SpaceId, relations: &[Relation]) -> Result<()> {
        self.graph.put_relations(space, relations).await
    }

    async fn relations(&self, space: &SpaceId, units: &[UnitId], limit: usize) -> Result<Vec<Relation>> {
        self.here()?;
        self.graph.relations(space, units, limit).await
    }

    async fn put_derived(&self, space: &SpaceId, items: &[Derived], gone: &[DerivedId]) -> Result<()> {
        self.graph.put_derived(space, items, gone).await
    }

    async fn derived_write_count(&self, space: &SpaceId) -> Result<u64> {
        self.graph.derived_write_count(space).await
    }

    async fn put_derived_if_unchanged(
        &self,
        space: &SpaceId,
        turn: u64,
        items: &[Derived],
        gone: &[DerivedId],
    ) -> Result<()> {
        self.graph.put_derived_if_unchanged(space, turn, items, gone).await
    }

    async fn list_derived(
        &self,
        space: &SpaceId,
        kind: DerivedKind,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Derived>> {
        self.graph.list_derived(space, kind, after, limit).await
    }

    async fn derived(&self, space: &SpaceId, ids: &[DerivedId]) -> Result<Vec<Derived>> {
        self.graph.derived(space, ids).await
    }

    async fn derived_changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<DerivedChange>> {
        self.here()?;
        self.graph.derived_changes(space, sequence, limit).await
    }
}

async fn opened(dir: &tempfile::TempDir, pages: usize) -> (Context, Arc<Stalled>, Router) {
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    let graph = Arc::new(Stalled {
        graph: Arc::clone(&ctx.backends.graph),
        pages: Semaphore::new(pages),
        stalled: Notify::new(),
        away: AtomicBool::new(false),
        given: Mutex::default(),
    });
    let mut stores = ctx.backends.clone();
    stores.graph = Arc::clone(&graph) as Arc<dyn Graph>;
    let router = Router::new(stores, Config::default()).unwrap();
    (ctx, graph, router)
}

/// Returns the turns of the talk, repeated up to `count`.
pub(crate) fn long(count: usize) -> Vec<Unit> {
    let all = units();
    let lines = (0..count).map(|number| {
        let mut unit = all[number % all.len()].clone();
        let id = format!("r{number}");
        let record = RecordId::from_external_id(&space(), &id);
        (unit.id, unit.records, unit.external_ids) = (UnitId::of_turn(record), vec![record], vec![id]);
        unit
    });
    lines.collect()
}

#[tokio::test]
async fn pages_read_for_a_cancelled_request_are_not_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, graph, router) = opened(&dir, 1).await;
    put(&ctx, &long(575)).await;
    let asked = request("What is the name of Liv's dog?", 80);
    for more in [1, 1] {
        tokio::select! {
            routed = router.route_question(asked.clone()) => panic!("{routed:?}"),
            () = graph.stalled.notified() => {}
        }
        graph.pages.add_permits(more);
    }
    assert_eq!(router.route_question(asked.clone()).await.unwrap().units, 575);
    assert_eq!(*graph.given.lock().unwrap(), [0, 250, 500]);
    // A space that was read completely is not read again until it changes.
    assert_eq!(router.route_question(asked.clone()).await.unwrap().units, 575);
    put(&ctx, &long(576)[575..]).await;
    // The space is erased and created again under the same name. A read that began for the old space must not count for
    // the new one.
    tokio::select! {
        routed = router.route_question(asked.clone()) => panic!("{routed:?}"),
        () = graph.stalled.notified() => {}
    }
    ctx.backends.records.delete_space(&space()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(1)).await.unwrap();
    put(&ctx, &units()[..1]).await;
    graph.pages.add_permits(9);
    assert_eq!(router.route_question(asked).await.unwrap().units, 1);
}

#[tokio::test]
async fn a_cached_view_answers_while_the_graph_is_unavailable() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, graph, router) = opened(&dir, 99).await;
    put(&ctx, &units()).await;
    let asked = request("What did Omar make in pottery classes?", 200);
    let kind = async || router.route_question(asked.clone()).await.unwrap_err().kind();
    graph.away.store(true, Ordering::SeqCst);
    assert_eq!(kind().await, ErrorKind::Unavailable);
    graph.away.store(false, Ordering::SeqCst);
    let before = router.route_question(asked.clone()).await.unwrap();
    assert!(before.degraded.is_empty() && before.degraded_codes.is_empty() && packed(&before).contains(&"r6"));
    graph.away.store(true, Ordering::SeqCst);
    let routed = router.route_question(asked.clone()).await.unwrap();
    assert_eq!(routed.degraded, ["graph is not available"]);
    assert_eq!(routed.degraded_codes, [DegradedCode::GraphUnavailable]);
    assert!(packed(&routed).contains(&"r6"));
    // Erased content is not returned while the graph is unavailable, neither a turn nor a whole space.
    let erased = [units()[6].id];
    ctx.backends.graph.put_units(&space(), &[], &erased).await.unwrap();
    ctx.backends.index.put(&space(), &[], &erased).await.unwrap();
    let routed = router.route_question(asked.clone()).await.unwrap();
    assert!(!packed(&routed).is_empty() && !packed(&routed).contains(&"r6"));
    assert!(
        routed
            .scenes
            .iter()
            .flat_map(|it| &it.turns)
            .all(|it| it.unit != erased[0])
    );
    ctx.backends.index.erase(&space()).await.unwrap();
    assert_eq!(kind().await, ErrorKind::Unavailable);
    graph.away.store(false, Ordering::SeqCst);
    assert_eq!(router.route_question(asked.clone()).await.unwrap().units, 7);
    ctx.backends.records.delete_space(&space()).await.unwrap();
    assert_eq!(kind().await, ErrorKind::NotFound);
    graph.away.store(true, Ordering::SeqCst);
    assert_eq!(kind().await, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_cached_view_that_lacks_a_stored_act_does_not_answer() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, graph, router) = opened(&dir, 99).await;
    put(&ctx, &units()[..7]).await;
    let mut asked = request("What did Omar make in pottery classes?", 200);
    router.route_question(asked.clone()).await.unwrap();
    graph.away.store(true, Ordering::SeqCst);
    put(&ctx, &units()[7..]).await;
    let routed = router.route_question(asked.clone()).await.unwrap();
    assert_eq!(routed.degraded_codes, [DegradedCode::GraphUnavailable]);
    assert!(packed(&routed).contains(&"r6"), "it lacks a turn, but no act");
    let forget = act(1, Act::ForgetUnit { unit: units()[6].id });
    let records = &ctx.backends.records;
    records.put_curations(&space(), Position(1), &[forget]).await.unwrap();
    for current in [false, true] {
        asked.current = current;
        let error = router.route_question(asked.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "current: {current}");
    }
    // Once the act was read, the cached view answers again.
    for away in [false, true] {
        graph.away.store(away, Ordering::SeqCst);
        let routed = router.route_question(asked.clone()).await.unwrap();
        assert_eq!(routed.degraded_codes.is_empty(), !away);
        assert!(!packed(&routed).is_empty() && !packed(&routed).contains(&"r6"));
    }
}

#[tokio::test]
async fn a_space_is_read_before_the_first_question() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, graph, router) = opened(&dir, 9).await;
    put(&ctx, &long(575)).await;
    let ready = ctx.readiness.register_component("spaces are read");
    let read = async || {
        while !ctx.readiness.missing_components().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        never = router.read_ahead(&ready) => match never {},
        () = read() => {}
    }
    assert_eq!(
        graph.given.lock().unwrap().last(),
        Some(&500),
        "ready only when all is read"
    );
    // Only the cached view can answer now.
    graph.away.store(true, Ordering::SeqCst);
    let routed = router
        .route_question(request("What is the name of Liv's dog?", 80))
        .await
        .unwrap();
    assert!(!packed(&routed).is_empty() && !routed.degraded.is_empty());
}

/// Returns the number of units that an answer was made from, and its codes.
async fn state_of_answer(router: &Router, asked: &RouteV1) -> (u64, Vec<DegradedCode>) {
    let routed = router.route_question(asked.clone()).await.unwrap();
    (routed.units, routed.degraded_codes)
}

#[tokio::test]
async fn a_question_waits_only_for_the_writes_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, graph, router) = opened(&dir, 2).await;
    let all = long(4_010);
    put(&ctx, &all[..10]).await;
    let mut asked = request("What is the name of Liv's dog?", 80);
    asked.current = true;
    assert_eq!(state_of_answer(&router, &asked).await, (10, Vec::new()));
    put(&ctx, &all[10..]).await;
    // The space is written on and on: after the pages of the 4,000 units, the next one does not come.
    graph
        .pages
        .add_permits(16_usize.saturating_sub(graph.pages.available_permits()));
    assert_eq!(state_of_answer(&router, &asked).await, (4_010, Vec::new()));
    assert_eq!(graph.given.lock().unwrap().last(), Some(&3_760));
}

#[tokio::test]
async fn an_earlier_state_answers_while_the_latest_writes_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, graph, router) = opened(&dir, 1).await;
    let all = long(9);
    put(&ctx, &all[..7]).await;
    let mut asked = request("What did Omar make in pottery classes?", 200);
    assert_eq!(state_of_answer(&router, &asked).await, (7, Vec::new()));
    put(&ctx, &all[7..]).await;
    while let Ok(permit) = graph.pages.try_acquire() {
        permit.forget();
    }
    let behind = (7, vec![DegradedCode::RouterBehind]);
    assert_eq!(state_of_answer(&router, &asked).await, behind);
    // What was erased since is not returned.
    let routed = router.route_question(asked.clone()).await.unwrap();
    assert!(packed(&routed).contains(&"r6"));
    ctx.backends.graph.put_units(&space(), &[], &[all[6].id]).await.unwrap();
    ctx.backends.index.put(&space(), &[], &[all[6].id]).await.unwrap();
    let routed = router.route_question(asked.clone()).await.unwrap();
    assert!(!packed(&routed).is_empty() && !packed(&routed).contains(&"r6"));
    // A question that needs the latest writes waits for them, as do all if an act was not read.
    asked.current = true;
    let waits = async |asked: &RouteV1| {
        let waited = tokio::time::timeout(Duration::from_millis(1_500), router.route_question(asked.clone()));
        waited.await.is_err()
    };
    assert!(waits(&asked).await);
    asked.current = false;
    let earlier = tokio::time::timeout(WAIT_MAX, router.route_question(asked.clone())).await;
    assert!(earlier.is_ok(), "it waits for the latest writes");
    let forget = act(1, Act::ForgetUnit { unit: all[4].id });
    let records = &ctx.backends.records;
    records.put_curations(&space(), Position(1), &[forget]).await.unwrap();
    assert!(waits(&asked).await);
    graph.pages.add_permits(99);
    let routed = router.route_question(asked.clone()).await.unwrap();
    // Nine, without the erased and the forgotten one.
    assert_eq!((routed.units, &routed.degraded_codes), (7, &Vec::new()));
    assert!(!packed(&routed).contains(&"r4"), "{:?}", packed(&routed));
}
