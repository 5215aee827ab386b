//! Runs the conformance suites on the embedded adapters.

use std::path::Path;

use adapters::Embedded;
use system::conformance::{Ports, options};

async fn open(dir: &Path) -> Ports {
    Ports::of(Embedded::open(dir, options()).await.unwrap())
}

macro_rules! run {
    ($promise:path) => {
        let dir = tempfile::tempdir().unwrap();
        $promise(async || super::open(dir.path()).await).await;
    };
}

system::promises! { run: bus, dead_letters, records, idempotency, selection, curation, graph, derived, index, embedder, erasure, readings, keys, webhooks }
