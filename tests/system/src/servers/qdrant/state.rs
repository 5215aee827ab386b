use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use qdrant_client::qdrant::{HnswConfigDiff, PayloadSchemaInfo, SparseVectorParams, VectorParams};
use tonic::{Request, Status};

use super::held::Points;

/// State that all connections share.
pub(super) struct SharedState {
    api_key: String,
    delay_ms: AtomicU64,
    lost: AtomicU32,
    calls: AtomicU64,
    busy_us: AtomicU64,
    version: Mutex<String>,
    stored: Mutex<StoredCollections>,
}

/// Collections by name, and their aliases.
#[derive(Default)]
pub(super) struct StoredCollections {
    pub(super) collections: BTreeMap<String, Collection>,
    pub(super) aliases: BTreeMap<String, String>,
}

#[derive(Default)]
pub(super) struct Collection {
    pub(super) dense: HashMap<String, VectorParams>,
    pub(super) sparse: HashMap<String, SparseVectorParams>,
    pub(super) graph: HnswConfigDiff,
    pub(super) indexes: HashMap<String, PayloadSchemaInfo>,
    pub(super) points: Points,
}

/// Returns the index of a name in the sorted names. The names of a collection never change.
pub(super) fn index_of_name<T>(names: &HashMap<String, T>, name: &str) -> usize {
    names.keys().filter(|it| it.as_str() < name).count()
}

impl SharedState {
    pub(super) fn new(api_key: &str) -> SharedState {
        SharedState {
            api_key: api_key.to_owned(),
            delay_ms: AtomicU64::new(0),
            lost: AtomicU32::new(0),
            calls: AtomicU64::new(0),
            busy_us: AtomicU64::new(0),
            version: Mutex::new("1.19.0".to_owned()),
            stored: Mutex::default(),
        }
    }

    pub(super) fn delay(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.delay_ms.store(time, Ordering::Relaxed);
    }

    pub(super) fn lose_answers(&self, calls: u32) {
        self.lost.store(calls, Ordering::Relaxed);
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(super) fn busy(&self) -> Duration {
        Duration::from_micros(self.busy_us.load(Ordering::Relaxed))
    }

    /// Does the work of a call and adds its duration to the busy time.
    pub(super) fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        let time = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.busy_us.fetch_add(time, Ordering::Relaxed);
        done
    }

    pub(super) fn version(&self) -> MutexGuard<'_, String> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a call: counts it, waits for the configured delay, and checks the key.
    pub(super) async fn enter<T>(&self, request: Request<T>) -> Result<T, Status> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let delay = self.delay_ms.load(Ordering::Relaxed);
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        let key = request.metadata().get("api-key").and_then(|it| it.to_str().ok());
        if !self.api_key.is_empty() && key != Some(&self.api_key) {
            return Err(Status::unauthenticated("Must provide an API key"));
        }
        Ok(request.into_inner())
    }

    /// Returns the answer of a write, or an error if the test lets the answer get lost.
    pub(super) fn leave<T>(&self, answer: T) -> Result<T, Status> {
        let one_less = |left: u32| left.checked_sub(1);
        match self.lost.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less) {
            Ok(_) => Err(Status::internal("Service internal error: the answer is lost")),
            Err(_) => Ok(answer),
        }
    }

    pub(super) fn stored(&self) -> MutexGuard<'_, StoredCollections> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredCollections {
    /// Returns the collection of a name or alias.
    pub(super) fn collection(&mut self, name: &str) -> Result<&mut Collection, Status> {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        let found = self.collections.get_mut(name);
        found.ok_or_else(|| Status::not_found(format!("Not found: Collection `{name}` doesn't exist!")))
    }
}
