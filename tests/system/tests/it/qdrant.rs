//! The index on Qdrant: the conformance suite, compared with the embedded index, outages, drift, rebuilding.
//!
//! Each test has a server of its own, the stand-in of `system::servers::qdrant`. With `MNEMIC_TEST_QDRANT_URL` set to
//! the gRPC address of a real server, and `MNEMIC_TEST_QDRANT_KEY` to its key if it has one, the same tests run there, each
//! with collections of its own that are removed at the end; only those that make the server fail go on with the stand-in:
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

use adapters::qdrant::{Options, QdrantIndex, provision};
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

/// Runs a test against the real server if there is one, else against a stand-in, with a prefix of its own.
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
        prefix: unique(),
        // Collections are made slowly by a server that is not optimised, several at once.
        try_ms: 20_000,
        call_ms: 60_000,
        ..Options::default()
    };
    let outcome = AssertUnwindSafe(test(options.clone())).catch_unwind().await;
    let driver = driver(&options);
    for it in driver.list_collections().await.unwrap().collections {
        if it.name.starts_with(&options.prefix) {
            driver.delete_collection(it.name).await.unwrap();
        }
    }
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

/// A prefix that no other run has: the name of a new folder is random.
fn unique() -> String {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().as_os_str().as_encoded_bytes();
    format!(
        "t{}",
        &Uuid::new_v5(&Uuid::NAMESPACE_OID, name).simple().to_string()[..16]
    )
}

/// The bare driver, for what the adapter does not do.
fn driver(options: &Options) -> Qdrant {
    let config = Qdrant::from_url(&options.url).skip_compatibility_check();
    let key = Some(options.api_key.reveal().to_owned()).filter(|it| !it.is_empty());
    config.api_key(key).build().unwrap()
}

/// The index on the server, everything else embedded in a folder.
async fn open(options: &Options, dir: &Path) -> Ports {
    let embedded = embedded(dir).await;
    let index = index(options, &embedded).await;
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

async fn embedded(dir: &Path) -> Embedded {
    let options = EmbeddedOptions {
        ack_wait: ACK_WAIT,
        ..EmbeddedOptions::default()
    };
    Embedded::open(dir, options).await.unwrap()
}

/// Provisions and connects.
async fn index(options: &Options, embedded: &Embedded) -> QdrantIndex {
    let (dimension, model) = (embedded.embedder.dimension(), embedded.embedder.model());
    assert_eq!(provision(options, dimension, model).await.unwrap(), []);
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

/// A point whose vectors hold one thing each, so that it equals others.
fn point(number: u128, dimension: usize) -> Point {
    Point {
        unit: unit(number),
        part: 0,
        dense: (0..dimension).map(|it| f32::from(it == 0)).collect(),
        words: vec![(1, 1.0)],
        pieces: vec![(2, 1.0)],
        observed_at: 0,
    }
}

/// A search for the word that all points of [`point`] hold.
fn word(limit: usize) -> Search {
    Search {
        words: Some(vec![(1, 1.0)]),
        limit,
        ..Search::default()
    }
}

macro_rules! run {
    ($promise:path) => {
        let dir = tempfile::tempdir().unwrap();
        super::on_server(async |options| $promise(async || super::open(&options, dir.path()).await).await).await;
    };
}

system::promises! { run: index, erasure }
