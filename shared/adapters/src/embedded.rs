mod bus;
mod index;
mod mapped_files;
pub(crate) mod store;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::port::{Bus, DeadLetters, Embedder, Graph, Index, Keys, Readings, Receipts, Records, Webhooks};
use tokio::task::{JoinError, spawn_blocking};

use crate::OpenError;
use crate::embedded::bus::QueueBus;
use crate::embedded::index::MemoryIndex;
use crate::embedded::store::{
    Store, StoredGraph, StoredKeys, StoredReadings, StoredReceipts, StoredRecords, StoredWebhooks,
};
use crate::models::embedder::TableEmbedder;

/// Limits and timeouts of the embedded adapters. The defaults suit one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a delivery may stay unsettled before the message is redelivered.
    pub ack_wait: Duration,
    /// Maximum number of messages in the queue, including dead letters; further accepted records fail with `Exhausted`.
    pub queue_frames_max: u64,
    /// Memory limit of the index over all spaces, in bytes; the least recently searched spaces are evicted first.
    pub index_bytes_max: usize,
    /// Least number of points of a space that the index writes to a file which is mapped into memory.
    pub index_image_points_least: usize,
    /// How long a space must not change before the index writes its file.
    pub index_image_pause: Duration,
    /// Least number of blocks of units in a row that are written to a file which is mapped into memory. A file has at
    /// most four times as many.
    pub unit_file_blocks_least: usize,
    /// Size limit of the file, in bytes; a write beyond it fails with `Unavailable`. `None` means that only the disk
    /// limits it.
    pub file_bytes_max: Option<u64>,
    /// Number of read connections.
    pub readers: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            ack_wait: Duration::from_secs(30),
            queue_frames_max: 1_000_000,
            index_bytes_max: 1 << 30,
            index_image_points_least: 8_192,
            index_image_pause: Duration::from_secs(5),
            unit_file_blocks_least: 32,
            file_bytes_max: None,
            readers: 4,
        }
    }
}

/// All ports on one data directory. Other processes can use the directory after the last clone of any port is dropped
/// and a mapped file that is being written is complete.
#[derive(Clone)]
pub struct Embedded {
    /// Durable queue and request/reply.
    pub bus: Arc<dyn Bus>,
    /// Messages that consumers gave up.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Spaces and records.
    pub records: Arc<dyn Records>,
    /// Replies of language models about records.
    pub readings: Arc<dyn Readings>,
    /// Receipts of erasures.
    pub receipts: Arc<dyn Receipts>,
    /// API keys.
    pub keys: Arc<dyn Keys>,
    /// Webhooks that were created through the API.
    pub webhooks: Arc<dyn Webhooks>,
    /// Units, relations and all derived objects.
    pub graph: Arc<dyn Graph>,
    /// Exact search.
    pub index: Arc<dyn Index>,
    /// Turns texts into vectors.
    pub embedder: Arc<dyn Embedder>,
}

impl Embedded {
    /// Opens the data directory, creates it if needed, and migrates its schema.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]; a second process on the same directory gets `Locked`.
    pub async fn open(dir: &Path, options: Options) -> Result<Embedded, OpenError> {
        Embedded::open_with(dir, options, Arc::new(TableEmbedder::new())).await
    }

    /// Does the same as [`Embedded::open`], with the given embedder instead of the built-in one.
    ///
    /// # Errors
    ///
    /// Like [`Embedded::open`].
    pub async fn open_with(dir: &Path, options: Options, embedder: Arc<dyn Embedder>) -> Result<Embedded, OpenError> {
        let dir = dir.to_owned();
        let path = dir.clone();
        let work = spawn_blocking(move || open_ports(&dir, &options, embedder));
        let panicked = |source: JoinError| OpenError::Directory {
            path,
            source: source.into(),
        };
        work.await.unwrap_or_else(|error| Err(panicked(error)))
    }
}

fn open_ports(dir: &Path, options: &Options, embedder: Arc<dyn Embedder>) -> Result<Embedded, OpenError> {
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
