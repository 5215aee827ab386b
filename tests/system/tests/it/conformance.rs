//! Runs the conformance suites on the embedded adapters.

use std::path::Path;

use adapters::Embedded;
use system::conformance::{Ports, test_options};

async fn open_ports(dir: &Path) -> Ports {
    Ports::of(Embedded::open(dir, test_options()).await.unwrap())
}

macro_rules! run {
    ($promise:path) => {
        let dir = tempfile::tempdir().unwrap();
        $promise(async || super::open_ports(dir.path()).await).await;
    };
}

system::promises! { run: bus, dead_letters, records, idempotency, selection, curation, graph, derived, index, embedder, erasure, readings, keys, webhooks }
