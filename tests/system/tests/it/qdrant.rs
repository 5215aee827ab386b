//! The index on Qdrant: the conformance suite, a comparison with the embedded index, outages, drift, and rebuilding.
//!
//! Each test has its own server, the stand-in of `system::servers::qdrant`. Set `MNEMIC_TEST_QDRANT_URL` to the gRPC
//! address of a real server, and `MNEMIC_TEST_QDRANT_KEY` to its key if it has one, to run the same tests there. Each
//! test then uses its own collections, which are removed at the end. Tests that make the server fail still use the
//! stand-in:
//!
//! `MNEMIC_TEST_QDRANT_URL=http://127.0.0.1:6334 cargo test -p system --test it qdrant`

mod approximate;
mod deleted;
mod generations;
mod outages;
mod scores;
mod setup;
mod strict;

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use adapters::servers::qdrant::{Options, QdrantIndex, provision_collection};
use adapters::{Embedded, Options as EmbeddedOptions};
use chrono::{DateTime, Utc};
use domain::id::{SpaceId, UnitId};
use domain::port::{Point, Search};
use futures::FutureExt;
use qdrant_client::Qdrant;
use system::conformance::Ports;
use system::conformance::bus::ACK_WAIT;
use system::servers::qdrant::Server;
use uuid::Uuid;

/// Runs a test against the real server if there is one, or else against a stand-in, with its own prefix.
async fn on_server(test: impl AsyncFnOnce(Options)) {
    let Ok(url) = std::env::var("MNEMIC_TEST_QDRANT_URL") else {
        let server = Server::start("").unwrap();
        test(server.options("t")).await;
        return;
    };
    let options = Options {
        url,
        api_key: std::env::var("MNEMIC_TEST_QDRANT_KEY")
            .unwrap_or_default()
            .as_str()
            .into(),
        prefix: unique_prefix(),
        // An unoptimised server is slow to create several collections at once.
        try_ms: 20_000,
        call_ms: 60_000,
        ..Options::default()
    };
    let outcome = AssertUnwindSafe(test(options.clone())).catch_unwind().await;
    let driver = connect_driver(&options);
    for it in driver.list_collections().await.unwrap().collections {
        if it.name.starts_with(&options.prefix) {
            driver.delete_collection(it.name).await.unwrap();
        }
    }
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

/// Returns a prefix that no other run has, because the name of a new temporary folder is random.
fn unique_prefix() -> String {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().as_os_str().as_encoded_bytes();
    format!(
        "t{}",
        &Uuid::new_v5(&Uuid::NAMESPACE_OID, name).simple().to_string()[..16]
    )
}

/// Returns a client of the driver, for operations that the adapter does not have.
fn connect_driver(options: &Options) -> Qdrant {
    let config = Qdrant::from_url(&options.url).skip_compatibility_check();
    let key = Some(options.api_key.reveal().to_owned()).filter(|it| !it.is_empty());
    config.api_key(key).build().unwrap()
}

/// Opens ports with the index on the server, and with all other ports embedded in a folder.
async fn open_ports(options: &Options, dir: &Path) -> Ports {
    let embedded = open_embedded(dir).await;
    let index = open_index(options, &embedded).await;
    Ports {
        bus: embedded.bus,
        dead_letters: embedded.dead_letters,
        records: embedded.records,
        readings: embedded.readings,
        receipts: embedded.receipts,
        keys: embedded.keys,
        webhooks: embedded.webhooks,
        graph: embedded.graph,
        index: Arc::new(index),
        embedder: embedded.embedder,
        ack_wait: ACK_WAIT,
    }
}

async fn open_embedded(dir: &Path) -> Embedded {
    let options = EmbeddedOptions {
        ack_wait: ACK_WAIT,
        ..EmbeddedOptions::default()
    };
    Embedded::open(dir, options).await.unwrap()
}

/// Provisions the collection and connects to it.
async fn open_index(options: &Options, embedded: &Embedded) -> QdrantIndex {
    let (dimension, model) = (embedded.embedder.dimension(), embedded.embedder.model());
    assert_eq!(provision_collection(options, dimension, model).await.unwrap(), []);
    QdrantIndex::connect(options, Arc::clone(&embedded.records), dimension, model)
        .await
        .unwrap()
}

fn space(name: &str) -> SpaceId {
    name.parse().unwrap()
}

fn at(second: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(second, 0).unwrap()
}

fn unit(number: u128) -> UnitId {
    UnitId::from_uuid(Uuid::from_u128(number))
}

/// Returns a point whose vectors have one component each, so that it equals the others except for its unit.
fn sample_point(number: u128, dimension: usize) -> Point {
    Point {
        unit: unit(number),
        part: 0,
        dense: (0..dimension).map(|it| f32::from(it == 0)).collect(),
        words: vec![(1, 1.0)],
        pieces: vec![(2, 1.0)],
        observed_at: 0,
    }
}

/// Returns a search for the word that all points of [`sample_point`] have.
fn word_search(limit: usize) -> Search {
    Search {
        words: Some(vec![(1, 1.0)]),
        limit,
        ..Search::default()
    }
}

macro_rules! run {
    ($promise:path) => {
        let dir = tempfile::tempdir().unwrap();
        super::on_server(async |options| $promise(async || super::open_ports(&options, dir.path()).await).await).await;
    };
}

system::promises! { run: index, erasure }
