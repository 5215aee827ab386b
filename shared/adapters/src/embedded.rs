use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::port::{Bus, DeadLetters, Embedder, Graph, Index, Keys, Readings, Receipts, Records, Webhooks};
use tokio::task::{JoinError, spawn_blocking};

use crate::OpenError;
use crate::bus::QueueBus;
use crate::embed::TableEmbedder;
use crate::index::MemoryIndex;
use crate::store::{Store, StoredGraph, StoredKeys, StoredReadings, StoredReceipts, StoredRecords, StoredWebhooks};

/// Bounds and times of the embedded adapters. The defaults suit one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a delivery may stay unsettled before it is delivered again.
    pub ack_wait: Duration,
    /// Most messages kept in the queue, dead letters included; accepted records beyond are `Exhausted`.
    pub queue_frames_max: u64,
    /// Memory of the index over all spaces, in bytes; spaces not searched for longest leave first.
    pub index_bytes_max: usize,
    /// Size the file may reach, in bytes; a write beyond is `Unavailable`. None leaves it to the disk.
    pub file_bytes_max: Option<u64>,
    /// Number of connections that read.
    pub readers: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            ack_wait: Duration::from_secs(30),
            queue_frames_max: 1_000_000,
            index_bytes_max: 1 << 30,
            file_bytes_max: None,
            readers: 4,
        }
    }
}

/// Every port over one data directory. The directory is free for others once the last clone of any port is gone.
#[derive(Clone)]
pub struct Embedded {
    /// Durable queue and request/reply.
    pub bus: Arc<dyn Bus>,
    /// Messages that were given up.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Spaces and records.
    pub records: Arc<dyn Records>,
    /// What language models said about records.
    pub readings: Arc<dyn Readings>,
    /// Receipts of erasures.
    pub receipts: Arc<dyn Receipts>,
    /// Keys of the API.
    pub keys: Arc<dyn Keys>,
    /// Webhooks of the API.
    pub webhooks: Arc<dyn Webhooks>,
    /// Units, relations and all that is derived.
    pub graph: Arc<dyn Graph>,
    /// Exact search.
    pub index: Arc<dyn Index>,
    /// What embeds.
    pub embedder: Arc<dyn Embedder>,
}

impl Embedded {
    /// Opens the data directory, making it if needed, and brings its schema up to date.
    ///
    /// # Errors
    /// See [`OpenError`]; a second process on the same directory gets `Locked`.
    pub async fn open(dir: &Path, options: Options) -> Result<Embedded, OpenError> {
        Embedded::open_with(dir, options, Arc::new(TableEmbedder::new())).await
    }

    /// The same, with another embedder than the built-in one.
    ///
    /// # Errors
    /// As [`Embedded::open`].
    pub async fn open_with(dir: &Path, options: Options, embedder: Arc<dyn Embedder>) -> Result<Embedded, OpenError> {
        let dir = dir.to_owned();
        let path = dir.clone();
        let work = spawn_blocking(move || open(&dir, &options, embedder));
        let panicked = |source: JoinError| OpenError::Directory {
            path,
            source: source.into(),
        };
        work.await.unwrap_or_else(|error| Err(panicked(error)))
    }
}

fn open(dir: &Path, options: &Options, embedder: Arc<dyn Embedder>) -> Result<Embedded, OpenError> {
    let store = Arc::new(Store::open(dir, embedder.model(), options)?);
    let bus = Arc::new(QueueBus::new(Arc::clone(&store), options));
    let index = MemoryIndex::new(Arc::clone(&store), embedder.dimension(), options)?;
    Ok(Embedded {
        bus: bus.clone(),
        dead_letters: bus,
        records: Arc::new(StoredRecords(Arc::clone(&store))),
        readings: Arc::new(StoredReadings(Arc::clone(&store))),
        receipts: Arc::new(StoredReceipts(Arc::clone(&store))),
        keys: Arc::new(StoredKeys(Arc::clone(&store))),
        webhooks: Arc::new(StoredWebhooks(Arc::clone(&store))),
        graph: Arc::new(StoredGraph(store)),
        index: Arc::new(index),
        embedder,
    })
}
