//! Acts are read when there are new ones, and not with every change of a space.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::PortError;
use domain::curation::{Act, Curation};
use domain::id::{CurationId, RecordId, SessionId, SpaceId};
use domain::port::{Claim, Idempotent, Position, Records, Selection, SpaceInfo};
use domain::recall::Note;
use domain::record::Record;
use host::Context;
use router::{Config, Router};

use crate::stores::{moment, put};
use crate::talk::{packed, request, space, units};

type Result<T> = std::result::Result<T, PortError>;

/// Records that count how often acts are asked for.
struct Counting {
    records: Arc<dyn Records>,
    read: AtomicUsize,
}

macro_rules! passed_on {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        #[async_trait]
        impl Records for Counting {
            $(
                async fn $name(&self, $($arg: $type),*) -> Result<$out> {
                    self.records.$name($($arg),*).await
                }
            )*

            async fn curations(&self, space: &SpaceId, after: Option<CurationId>, limit: usize) -> Result<Vec<Curation>> {
                self.read.fetch_add(1, Ordering::SeqCst);
                self.records.curations(space, after, limit).await
            }
        }
    };
}

passed_on! {
    fn create_space(space: &SpaceId, at: DateTime<Utc>) -> bool;
    fn space(space: &SpaceId) -> Option<SpaceInfo>;
    fn spaces(after: Option<&SpaceId>, limit: usize) -> Vec<SpaceInfo>;
    fn delete_space(space: &SpaceId) -> bool;
    fn claim(space: &SpaceId, claims: &[(RecordId, [u8; 32])]) -> Vec<Claim>;
    fn claimed(space: &SpaceId, ids: &[RecordId]) -> Vec<RecordId>;
    fn remembered(space: &SpaceId, key: &str) -> Option<Idempotent>;
    fn remember(space: &SpaceId, key: &str, outcome: &Idempotent, at: DateTime<Utc>) -> ();
    fn put(space: &SpaceId, records: &[Record]) -> ();
    fn erase(space: &SpaceId, ids: &[RecordId]) -> ();
    fn get(space: &SpaceId, ids: &[RecordId]) -> Vec<Record>;
    fn list(space: &SpaceId, after: u64, limit: usize) -> (Vec<Record>, Option<u64>);
    fn select(space: &SpaceId, selection: &Selection, after: u64, limit: usize) -> (Vec<Record>, Option<u64>);
    fn session(space: &SpaceId, session: SessionId, around: RecordId, before: usize, after: usize) -> Vec<Record>;
    fn mark_written(space: &SpaceId, position: Position) -> ();
    fn is_written(space: &SpaceId, position: Position) -> bool;
    fn put_curations(space: &SpaceId, position: Position, curations: &[Curation]) -> ();
    fn brought_by(space: &SpaceId, id: CurationId) -> Option<Position>;
    fn note(space: &SpaceId, scope: &str, notes: &[Note]) -> ();
    fn notes(space: &SpaceId, scope: &str) -> Vec<Note>;
    fn forget_notes(space: &SpaceId, scope: &str) -> ();
}

fn act(number: u8, act: Act) -> Curation {
    Curation {
        id: CurationId::derive(&space(), &number.to_string()),
        at: moment(i64::from(number)),
        by: String::new(),
        act,
        reason: String::new(),
    }
}

#[tokio::test]
async fn acts_are_read_when_there_are_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded(dir.path()).await.unwrap();
    let own = &ctx.backends.records;
    own.create_space(&space(), moment(0)).await.unwrap();
    let counting = Arc::new(Counting {
        records: Arc::clone(own),
        read: AtomicUsize::new(0),
    });
    let mut stores = ctx.backends.clone();
    stores.records = Arc::clone(&counting) as Arc<dyn Records>;
    let router = Router::new(stores, Config::default()).unwrap();
    let all = units();
    let asked = request("What did Omar make in pottery classes?", 200);
    let told = async || packed(&router.route(asked.clone()).await.unwrap()).contains(&"r6");
    let read = || counting.read.load(Ordering::SeqCst);

    put(&ctx, &all[..6]).await;
    let forget = Act::ForgetUnit { unit: all[6].id };
    own.put_curations(&space(), Position(1), &[act(1, forget)])
        .await
        .unwrap();
    assert!(!told().await);
    assert_eq!(read(), 1);
    put(&ctx, &all[6..]).await;
    assert!(!told().await, "decided before it came");
    assert_eq!(read(), 1, "no act came");
    let undo = Act::Undo {
        curation: act(1, Act::PinUnit { unit: all[0].id }).id,
    };
    own.put_curations(&space(), Position(2), &[act(2, undo)]).await.unwrap();
    assert!(told().await);
    assert_eq!(read(), 2);
}
