//! Runs the conformance suites on NATS, and tests servers that are killed, away, protected or full.

mod access;
mod fairness;
mod hosts;
mod outage;
mod retention;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use adapters::servers::nats::{NatsBus, Options, Topic, provision_streams};
use domain::port::{Delivery, Frame, Result};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use system::conformance::Ports;
use system::conformance::bus::{ACK_WAIT, SOON};
use system::servers::nats::Nats;

/// Time during which nothing must arrive.
const QUIET: Duration = Duration::from_millis(500);

/// Returns the server that is shared by all tests that do not change it.
fn shared_server() -> Option<&'static Nats> {
    static SERVER: OnceLock<Option<Nats>> = OnceLock::new();
    SERVER.get_or_init(|| Nats::start("")).as_ref()
}

/// Returns options with names that no other test uses.
fn options_of_server(server: &Nats) -> Options {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let topic = |subject: &str| Topic {
        subject: subject.to_owned(),
        groups: Vec::new(),
        bounded: subject == "s",
    };
    Options {
        url: server.url(),
        prefix: format!("t{}", NUMBER.fetch_add(1, Ordering::SeqCst)),
        ack_wait_ms: ACK_WAIT.as_millis() as u64,
        // More than a call takes on a busy machine.
        call_timeout_ms: 10_000,
        publish_timeout_ms: 60_000,
        // Each partition has a consumer, and creating many would slow the tests down. With seven partitions, `loud`
        // and `calm` are in different ones.
        partitions: 7,
        bytes_max: 64 << 20,
        dead_letters_bytes_max: 64 << 20,
        topics: vec![topic("s"), topic("other")],
        ..Options::default()
    }
}

async fn open_ports(options: &Options, dir: &Path) -> Ports {
    assert_eq!(provision_streams(options).await.unwrap(), []);
    let bus = Arc::new(NatsBus::connect(options).await.unwrap());
    let others = adapters::Embedded::open(dir, adapters::Options::default())
        .await
        .unwrap();
    Ports {
        bus: bus.clone(),
        dead_letters: bus,
        records: others.records,
        readings: others.readings,
        receipts: others.receipts,
        keys: others.keys,
        webhooks: others.webhooks,
        graph: others.graph,
        index: others.index,
        embedder: others.embedder,
        ack_wait: ACK_WAIT,
    }
}

async fn connect_bus(options: &Options) -> NatsBus {
    assert_eq!(provision_streams(options).await.unwrap(), []);
    NatsBus::connect(options).await.unwrap()
}

fn sample_frame(space: &str, key: &str, payload: &str) -> Frame {
    Frame {
        subject: "s".to_owned(),
        space: space.to_owned(),
        dedup_key: key.to_owned(),
        headers: BTreeMap::new(),
        payload: payload.as_bytes().to_vec(),
    }
}

/// Receives and settles messages until `wanted` have arrived and no more follow, or until none arrives for a long
/// time. Returns their texts by position.
async fn drain_deliveries(
    deliveries: &mut BoxStream<'static, Result<Delivery>>,
    wanted: usize,
) -> BTreeMap<u64, String> {
    let mut seen = BTreeMap::new();
    loop {
        let patience = if seen.len() < wanted { SOON } else { QUIET };
        let Ok(Some(delivery)) = tokio::time::timeout(patience, deliveries.next()).await else {
            return seen;
        };
        let delivery = delivery.unwrap();
        let text = String::from_utf8_lossy(&delivery.frame.payload).into_owned();
        seen.insert(delivery.position.0, text);
        delivery.settler.done().await.unwrap();
    }
}

/// Waits for a promise. If it panics, prints the state of the streams and continues the panic.
async fn wait_or_print_streams(server: &Nats, prefix: &str, promise: impl Future<Output = ()>) {
    if let Err(panic) = AssertUnwindSafe(promise).catch_unwind().await {
        eprintln!("streams: {}", server.streams(prefix).await);
        resume_unwind(panic);
    }
}

macro_rules! run {
    ($promise:path) => {
        let Some(server) = super::shared_server() else { return };
        let (options, dir) = (super::options_of_server(server), tempfile::tempdir().unwrap());
        let promise = $promise(async || super::open_ports(&options, dir.path()).await);
        super::wait_or_print_streams(server, &options.prefix, promise).await;
    };
}

system::promises! { run: bus, dead_letters, erasure }
