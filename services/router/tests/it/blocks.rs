//! Blocks of units in the store: a router that starts reads them instead of units, and never trusts them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use domain::PortError;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{SessionId, SpaceId, UnitId};
use domain::port::{
    BlockGap, Change, DerivedChange, Graph, Room, Selection, UnitBlock, UnitDigest, UnitFeed, WrittenBlockFile,
};
use domain::relation::Relation;
use domain::unit::{Grain, Unit};
use fixtures::wait_until;
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
    /// Number of mapped files that were written.
    files: AtomicUsize,
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

    async fn write_block_file(&self, space: &SpaceId, version: i64) -> Result<Option<WrittenBlockFile>> {
        let written = self.graph.write_block_file(space, version).await?;
        self.files.fetch_add(usize::from(written.is_some()), Ordering::SeqCst);
        Ok(written)
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
        files: AtomicUsize::new(0),
        is_damaged: AtomicBool::new(false),
    });
    let mut stores = ctx.backends.clone();
    stores.graph = Arc::clone(&graph) as Arc<dyn Graph>;
    (graph, Router::new(stores, Config::default()).unwrap())
}

/// Makes the router read ahead until it has stored the number of blocks.
async fn store_blocks(ctx: &Context, graph: &Watched, router: &Router, count: usize) {
    let ready = ctx.readiness.register_component("spaces are read");
    let stored = async || graph.stored.load(Ordering::SeqCst) >= count;
    tokio::select! {
        never = router.read_ahead(&ready) => match never {},
        () = wait_until("the blocks are stored", stored) => {}
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

/// Returns the files of a data folder that hold blocks.
fn block_files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir.join("mnemic.blocks")) else {
        return Vec::new();
    };
    entries.map(|it| it.unwrap().path()).collect()
}

/// Returns true if this process uses a file of a folder in place.
fn maps_files_of(dir: &Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.contains(&*dir.join("mnemic.blocks").to_string_lossy())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_space_uses_mapped_files_until_a_unit_of_them_is_erased() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    // A file has at least 32 blocks of 256 units.
    let all = long(8_192);
    put(&ctx, &all).await;
    let (graph, router) = start(&ctx);
    let router = Arc::new(router);
    let expected = replies(&router).await;
    let (reader, ready) = (Arc::clone(&router), ctx.readiness.register_component("spaces are read"));
    let reading = tokio::spawn(async move { reader.read_ahead(&ready).await });
    wait_until("a file is in use", async || {
        graph.files.load(Ordering::SeqCst) == 1 && block_files(dir.path()).len() == 1 && maps_files_of(dir.path())
    })
    .await;
    assert_eq!(replies(&router).await, expected);

    // A router that starts uses the file at once.
    let (graph, other) = start(&ctx);
    assert_eq!(replies(&other).await, expected);
    assert_eq!(
        (
            graph.returned.load(Ordering::SeqCst),
            graph.files.load(Ordering::SeqCst)
        ),
        (32, 0)
    );
    drop(other);

    let erased = &all[4];
    let asked = request(&erased.text, 300);
    let count = router.route_question(asked.clone()).await.unwrap().units;
    ctx.backends.graph.put_units(&space(), &[], &[erased.id]).await.unwrap();
    ctx.backends.index.put(&space(), &[], &[erased.id]).await.unwrap();
    wait_until("the file is destroyed", async || {
        block_files(dir.path()).is_empty() && !maps_files_of(dir.path())
    })
    .await;
    assert_eq!(router.route_question(asked).await.unwrap().units, count - 1);
    reading.abort();
}
