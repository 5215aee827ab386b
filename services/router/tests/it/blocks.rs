//! Blocks of units in the store: a router that starts reads them instead of units, and never trusts them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use domain::PortError;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{SessionId, SpaceId, UnitId};
use domain::port::{BlockGap, Change, DerivedChange, Graph, Room, Selection, UnitBlock, UnitDigest, UnitFeed};
use domain::relation::Relation;
use domain::unit::{Grain, Unit};
use host::Context;
use router::{Config, Router};
use uuid::Uuid;

use crate::stalled::long;
use crate::stores::{moment, put};
use crate::talk::{request, space, units};

type Result<T> = std::result::Result<T, PortError>;

/// A graph that counts the blocks it returns and may return other bytes than stored.
struct Watched {
    graph: Arc<dyn Graph>,
    returned: AtomicUsize,
    stored: AtomicUsize,
    is_damaged: AtomicBool,
}

#[async_trait]
impl Graph for Watched {
    async fn unit_feed(&self, space: &SpaceId, sequence: u64, limit: usize, version: i64) -> Result<UnitFeed> {
        let mut feed = self.graph.unit_feed(space, sequence, limit, version).await?;
        self.returned.fetch_add(feed.blocks.len(), Ordering::SeqCst);
        if self.is_damaged.load(Ordering::SeqCst) {
            feed.blocks
                .iter_mut()
                .for_each(|it| it.body.truncate(it.body.len() - 1));
        }
        Ok(feed)
    }

    async fn block_gap(&self, space: &SpaceId, sequence: u64, limit: usize, version: i64) -> Result<Option<BlockGap>> {
        self.graph.block_gap(space, sequence, limit, version).await
    }

    async fn put_block(&self, space: &SpaceId, version: i64, block: &UnitBlock, of: &[UnitDigest]) -> Result<bool> {
        let stored = self.graph.put_block(space, version, block, of).await?;
        self.stored.fetch_add(usize::from(stored), Ordering::SeqCst);
        Ok(stored)
    }

    async fn put_units(&self, space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> Result<()> {
        self.graph.put_units(space, units, retired).await
    }

    async fn units(&self, space: &SpaceId, ids: &[UnitId]) -> Result<Vec<Unit>> {
        self.graph.units(space, ids).await
    }

    async fn changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<Change>> {
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
        self.graph.derived_changes(space, sequence, limit).await
    }
}

/// Makes a router that knows nothing yet, over the stores of a context.
fn start(ctx: &Context) -> (Arc<Watched>, Router) {
    let graph = Arc::new(Watched {
        graph: Arc::clone(&ctx.backends.graph),
        returned: AtomicUsize::new(0),
        stored: AtomicUsize::new(0),
        is_damaged: AtomicBool::new(false),
    });
    let mut stores = ctx.backends.clone();
    stores.graph = Arc::clone(&graph) as Arc<dyn Graph>;
    (graph, Router::new(stores, Config::default()).unwrap())
}

/// Makes the router read ahead until it has stored the number of blocks.
async fn store_blocks(ctx: &Context, graph: &Watched, router: &Router, count: usize) {
    let ready = ctx.readiness.register_component("spaces are read");
    let stored = async || {
        while graph.stored.load(Ordering::SeqCst) < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        never = router.read_ahead(&ready) => match never {},
        () = stored() => {}
    }
}

/// Returns the replies to some questions, without what they cost.
async fn replies(router: &Router) -> Vec<String> {
    let mut all = Vec::new();
    for question in [
        "What is the name of Liv's dog?",
        "Why did Omar start pottery?",
        "Who sings?",
    ] {
        let routed = router.route_question(request(question, 300)).await.unwrap();
        assert!(!routed.pack.items.is_empty());
        all.push(format!("{:?} {:?} {:?}", routed.pack, routed.scenes, routed.units));
    }
    all
}

/// Returns 900 turns with an event and a gist among the first ones.
fn mixed() -> Vec<Unit> {
    let mut all = long(900);
    let mut event = all[3].clone();
    (event.id, event.grain) = (UnitId::from_uuid(Uuid::from_u128(7)), Grain::Event);
    event.session = SessionId::from_uuid(Uuid::from_u128(8));
    let mut gist = all[5].clone();
    (gist.id, gist.grain) = (UnitId::from_uuid(Uuid::from_u128(9)), Grain::Gist);
    gist.text = "Omar sings in a choir.".to_owned();
    all.insert(10, event);
    all.insert(20, gist);
    all
}

#[tokio::test]
async fn a_router_that_starts_over_blocks_answers_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    put(&ctx, &mixed()).await;
    let (graph, router) = start(&ctx);
    let expected = replies(&router).await;
    // The last 512 changes wait until the space is not written for a while.
    store_blocks(&ctx, &graph, &router, 2).await;
    assert_eq!(graph.returned.load(Ordering::SeqCst), 0);

    let (graph, router) = start(&ctx);
    assert_eq!(replies(&router).await, expected);
    assert_eq!(graph.returned.load(Ordering::SeqCst), 2);

    let (graph, router) = start(&ctx);
    graph.is_damaged.store(true, Ordering::SeqCst);
    assert_eq!(replies(&router).await, expected);
    assert!(graph.returned.load(Ordering::SeqCst) > 0);
}

#[tokio::test]
async fn a_unit_that_was_erased_does_not_come_back_from_a_block() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    let all = mixed();
    put(&ctx, &all).await;
    let (graph, router) = start(&ctx);
    store_blocks(&ctx, &graph, &router, 2).await;
    let erased: Vec<UnitId> = all
        .iter()
        .filter(|it| it.text == units()[4].text)
        .map(|it| it.id)
        .collect();
    assert!(erased.len() > 9);
    let asked = request(&all[4].text, 300);
    let routed = router.route_question(asked.clone()).await.unwrap();
    assert!(format!("{routed:?}").contains(&units()[4].text));

    ctx.backends.graph.put_units(&space(), &[], &erased).await.unwrap();
    ctx.backends.index.put(&space(), &[], &erased).await.unwrap();
    let (graph, router) = start(&ctx);
    let routed = router.route_question(asked).await.unwrap();
    assert!(!format!("{routed:?}").contains(&units()[4].text));
    assert_eq!(graph.returned.load(Ordering::SeqCst), 0);
    store_blocks(&ctx, &graph, &router, 1).await;
}
