//! Runs the conformance suites for records and graph on Neo4j.

mod access;
mod isolation;
mod outage;
mod races;
mod sample;
mod speed;
mod whose;

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use adapters::servers::neo4j::{Neo4j, Options, provision_schema};
use adapters::{Embedded, Options as EmbeddedOptions};
use chrono::DateTime;
use neo4rs::{ConfigBuilder, Graph};
use system::conformance::Ports;
use system::conformance::bus::ACK_WAIT;
use system::servers::neo4j::Server;
use tokio::sync::OnceCell;

/// Returns options for a new namespace on the server that all tests of this binary share; `None` if there is no
/// server.
async fn fresh_options() -> Option<Options> {
    static SERVER: OnceCell<Option<Server>> = OnceCell::const_new();
    static NAMESPACES: AtomicU32 = AtomicU32::new(0);
    let start = async || {
        let server = Server::start(false, "").await.unwrap()?;
        assert_eq!(provision_schema(&server.options("any")).await.unwrap(), []);
        Some(server)
    };
    let server = SERVER.get_or_init(start).await.as_ref()?;
    Some(server.options(&format!("t{}", NAMESPACES.fetch_add(1, Ordering::Relaxed))))
}

/// Returns a client of the driver, for statements that the adapter does not have.
fn connect_driver(options: &Options) -> Graph {
    let config = ConfigBuilder::default()
        .uri(options.url.as_str())
        .user(options.user.as_str())
        .password(options.password.reveal());
    Graph::connect(config.build().unwrap()).unwrap()
}

/// Opens ports with records and graph on the server, and with all other ports embedded in a folder.
async fn open_ports(options: &Options, dir: &Path) -> Ports {
    let it = Neo4j::connect(options).await.unwrap();
    let embedded = EmbeddedOptions {
        ack_wait: ACK_WAIT,
        ..EmbeddedOptions::default()
    };
    let rest = Embedded::open(dir, embedded).await.unwrap();
    // The embedded index looks up the space in its own file.
    for name in ["a", "b"] {
        rest.records
            .create_space(&name.parse().unwrap(), DateTime::UNIX_EPOCH)
            .await
            .unwrap();
    }
    Ports {
        bus: rest.bus,
        dead_letters: rest.dead_letters,
        records: it.records,
        readings: it.readings,
        receipts: it.receipts,
        keys: it.keys,
        webhooks: it.webhooks,
        graph: it.graph,
        index: rest.index,
        embedder: rest.embedder,
        ack_wait: ACK_WAIT,
    }
}

macro_rules! run {
    ($promise:path) => {
        let Some(options) = super::fresh_options().await else {
            return;
        };
        let dir = tempfile::tempdir().unwrap();
        $promise(async || super::open_ports(&options, dir.path()).await).await;
    };
}

system::promises! { run: records, readings, idempotency, selection, curation, graph, derived, erasure, keys, webhooks }
