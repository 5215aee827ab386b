//! The conformance suites on the embedded adapters.

use std::path::Path;

use adapters::{Embedded, Options};
use system::conformance::Ports;
use system::conformance::bus::ACK_WAIT;

async fn open(dir: &Path) -> Ports {
    let options = Options {
        ack_wait: ACK_WAIT,
        ..Options::default()
    };
    let it = Embedded::open(dir, options).await.unwrap();
    Ports {
        bus: it.bus,
        dead_letters: it.dead_letters,
        records: it.records,
        graph: it.graph,
        index: it.index,
        embedder: it.embedder,
        ack_wait: ACK_WAIT,
    }
}

macro_rules! run {
    ($promise:path) => {
        let dir = tempfile::tempdir().unwrap();
        $promise(async || super::open(dir.path()).await).await;
    };
}

system::promises! { run: bus, dead_letters, records, selection, curation, graph, derived, index, embedder, erasure }
