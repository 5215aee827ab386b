//! Records that cannot be read, that count an act before they list it, and that list more spaces than fit on a page.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::code::DegradedCode;
use domain::curation::{Act, Curation};
use domain::id::{CurationId, RecordId, SessionId, SpaceId};
use domain::port::{
    Claim, Hold, Idempotent, KeyClaim, Position, Records, Room, Selection, SpaceInfo, UnfinishedErasure,
};
use domain::recall::Note;
use domain::record::Record;
use domain::{Classify, ErrorKind, PortError};
use fixtures::wait_until;
use host::Context;
use router::{Config, Router};

use crate::decided::act;
use crate::stores::{moment, put};
use crate::talk::{packed, request, space, units};

type Result<T> = std::result::Result<T, PortError>;

struct FaultyRecords {
    records: Arc<dyn Records>,
    /// If true, no space can be read.
    is_away: AtomicBool,
    /// Acts that are counted but not listed.
    unlisted_acts: Mutex<BTreeSet<CurationId>>,
    /// How often acts were listed.
    act_listings: AtomicUsize,
    /// The spaces that are listed instead of the stored ones.
    listed_spaces: Mutex<Option<Vec<SpaceInfo>>>,
}

#[async_trait]
impl Records for FaultyRecords {
    async fn space(&self, space: &SpaceId) -> Result<Option<SpaceInfo>> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(PortError::new("records", ErrorKind::Unavailable, "the store is away"));
        }
        self.records.space(space).await
    }

    async fn spaces_under(&self, prefix: &str, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceInfo>> {
        let listed = self.listed_spaces.lock().unwrap().clone();
        let Some(listed) = listed else {
            return self.records.spaces_under(prefix, after, limit).await;
        };
        let page = listed
            .into_iter()
            .filter(|it| after.is_none_or(|after| it.space > *after));
        Ok(page.take(limit).collect())
    }

    async fn curations(&self, space: &SpaceId, after: Option<CurationId>, limit: usize) -> Result<Vec<Curation>> {
        self.act_listings.fetch_add(1, Ordering::SeqCst);
        let mut page = self.records.curations(space, after, limit).await?;
        let unlisted = self.unlisted_acts.lock().unwrap();
        page.retain(|it| !unlisted.contains(&it.id));
        Ok(page)
    }

    async fn create_space(&self, space: &SpaceId, at: DateTime<Utc>) -> Result<bool> {
        self.records.create_space(space, at).await
    }

    async fn delete_space(&self, space: &SpaceId) -> Result<bool> {
        self.records.delete_space(space).await
    }

    async fn unfinished_erasures(&self, space: Option<&SpaceId>, limit: usize) -> Result<Vec<UnfinishedErasure>> {
        self.records.unfinished_erasures(space, limit).await
    }

    async fn finish_erasure(&self, erasure: &UnfinishedErasure) -> Result<()> {
        self.records.finish_erasure(erasure).await
    }

    async fn claim(&self, space: &SpaceId, claims: &[(RecordId, [u8; 32])]) -> Result<Vec<Claim>> {
        self.records.claim(space, claims).await
    }

    async fn claimed(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<RecordId>> {
        self.records.claimed(space, ids).await
    }

    async fn hold_idempotency_key(&self, space: &SpaceId, key: &str, hold: &Hold) -> Result<KeyClaim> {
        self.records.hold_idempotency_key(space, key, hold).await
    }

    async fn release(&self, space: &SpaceId, key: &str, hold: &Hold, bound: bool) -> Result<()> {
        self.records.release(space, key, hold, bound).await
    }

    async fn stored_response(&self, space: &SpaceId, key: &str) -> Result<Option<Idempotent>> {
        self.records.stored_response(space, key).await
    }

    async fn store_response(&self, space: &SpaceId, key: &str, outcome: &Idempotent, at: DateTime<Utc>) -> Result<()> {
        self.records.store_response(space, key, outcome, at).await
    }

    async fn secret(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32]> {
        self.records.secret(name, fresh).await
    }

    async fn put(&self, space: &SpaceId, records: &[Record]) -> Result<()> {
        self.records.put(space, records).await
    }

    async fn erase(&self, space: &SpaceId, ids: &[RecordId]) -> Result<()> {
        self.records.erase(space, ids).await
    }

    async fn get(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<Record>> {
        self.records.get(space, ids).await
    }

    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Record>, Option<u64>)> {
        self.records.select(space, selection, after, room).await
    }

    async fn session(
        &self,
        space: &SpaceId,
        session: SessionId,
        around: RecordId,
        before: usize,
        after: usize,
    ) -> Result<Vec<Record>> {
        self.records.session(space, session, around, before, after).await
    }

    async fn mark_written(&self, space: &SpaceId, position: Position) -> Result<()> {
        self.records.mark_written(space, position).await
    }

    async fn is_written(&self, space: &SpaceId, position: Position) -> Result<bool> {
        self.records.is_written(space, position).await
    }

    async fn put_curations(&self, space: &SpaceId, position: Position, curations: &[Curation]) -> Result<()> {
        self.records.put_curations(space, position, curations).await
    }

    async fn redact_curations(&self, space: &SpaceId, ids: &[CurationId]) -> Result<()> {
        self.records.redact_curations(space, ids).await
    }

    async fn position_of_curation(&self, space: &SpaceId, id: CurationId) -> Result<Option<Position>> {
        self.records.position_of_curation(space, id).await
    }

    async fn note(&self, space: &SpaceId, scope: &str, notes: &[Note], most: usize) -> Result<()> {
        self.records.note(space, scope, notes, most).await
    }

    async fn notes(&self, space: &SpaceId, scope: &str) -> Result<Vec<Note>> {
        self.records.notes(space, scope).await
    }

    async fn forget_notes(&self, space: &SpaceId, scope: &str) -> Result<()> {
        self.records.forget_notes(space, scope).await
    }
}

/// Stores the talk, and makes a router that reads it through faulty records.
async fn opened(dir: &tempfile::TempDir, config: Config) -> (Context, Arc<FaultyRecords>, Router) {
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    put(&ctx, &units()).await;
    let records = Arc::new(FaultyRecords {
        records: Arc::clone(&ctx.backends.records),
        is_away: AtomicBool::new(false),
        unlisted_acts: Mutex::default(),
        act_listings: AtomicUsize::new(0),
        listed_spaces: Mutex::default(),
    });
    let mut stores = ctx.backends.clone();
    stores.records = Arc::clone(&records) as Arc<dyn Records>;
    let router = Router::new(stores, config).unwrap();
    (ctx, records, router)
}

#[tokio::test]
async fn the_cached_state_answers_while_no_space_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, records, router) = opened(&dir, Config::default()).await;
    let asked = request("What did Omar make in pottery classes?", 200);
    records.is_away.store(true, Ordering::SeqCst);
    let error = router.route_question(asked.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "the space was never read");
    records.is_away.store(false, Ordering::SeqCst);
    router.route_question(asked.clone()).await.unwrap();
    records.is_away.store(true, Ordering::SeqCst);
    let routed = router.route_question(asked).await.unwrap();
    assert_eq!(routed.degraded_codes, [DegradedCode::GraphUnavailable]);
    assert!(packed(&routed).contains(&"r6"), "{:?}", packed(&routed));
}

#[tokio::test]
async fn an_act_that_is_counted_before_it_is_listed_is_applied_when_it_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, records, router) = opened(&dir, Config::default()).await;
    let asked = request("What did Omar make in pottery classes?", 200);
    let packs_bowls = async || {
        let routed = router.route_question(asked.clone()).await.unwrap();
        packed(&routed).contains(&"r6")
    };
    assert!(packs_bowls().await);
    let forget = act(1, Act::ForgetUnit { unit: units()[6].id });
    records.unlisted_acts.lock().unwrap().insert(forget.id);
    let stored = &ctx.backends.records;
    stored.put_curations(&space(), Position(1), &[forget]).await.unwrap();
    assert_eq!(stored.space(&space()).await.unwrap().unwrap().revision.curations, 1);
    assert!(packs_bowls().await, "the act is not listed yet");
    records.unlisted_acts.lock().unwrap().clear();
    assert!(!packs_bowls().await);
    let listings = records.act_listings.load(Ordering::SeqCst);
    assert!(!packs_bowls().await);
    assert_eq!(
        records.act_listings.load(Ordering::SeqCst),
        listings,
        "all acts were read"
    );
}

#[tokio::test]
async fn the_deletion_of_a_space_is_noticed_among_more_than_a_thousand() {
    let dir = tempfile::tempdir().unwrap();
    // Without free memory, only the space that a question was about is kept and read ahead.
    let config = Config {
        cache_mb: 0,
        ..Config::default()
    };
    let (ctx, records, router) = opened(&dir, config).await;
    let asked = request("What did Omar make in pottery classes?", 200);
    router.route_question(asked.clone()).await.unwrap();
    let asked_space = ctx.backends.records.space(&space()).await.unwrap().unwrap();
    let other_space = |number: usize| SpaceInfo {
        space: format!("s{number:04}").parse().unwrap(),
        ..asked_space.clone()
    };
    // The names of all others are smaller, so they fill the first page.
    let other_spaces: Vec<SpaceInfo> = (0..1_000).map(other_space).collect();
    let all = other_spaces.iter().chain([&asked_space]).cloned().collect();
    *records.listed_spaces.lock().unwrap() = Some(all);

    let ready = ctx.readiness.register_component("spaces are read");
    let checks = async {
        let is_ready = async || ctx.readiness.missing_components().is_empty();
        wait_until("all spaces are checked", is_ready).await;
        records.is_away.store(true, Ordering::SeqCst);
        let routed = router.route_question(asked.clone()).await.unwrap();
        assert!(packed(&routed).contains(&"r6"), "the space is still cached");
        *records.listed_spaces.lock().unwrap() = Some(other_spaces);
        let is_dropped = async || router.route_question(asked.clone()).await.is_err();
        wait_until("the deleted space is dropped", is_dropped).await;
    };
    tokio::select! {
        never = router.read_ahead(&ready) => match never {},
        () = checks => {}
    }
}
