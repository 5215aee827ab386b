use std::fs;
use std::path::Path;

use adapters::free_bytes;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Metrics;

/// The resources that the process uses.
#[derive(Default)]
pub(super) struct Machine {
    memory: Gauge,
    descriptors: Gauge,
    disk: Gauge,
    database: Gauge,
}

impl Machine {
    pub(super) fn register_in(&self, it: &mut Registry) {
        it.register(
            "process_resident_memory_bytes",
            "Memory of the process; 0 if the system does not report it",
            self.memory.clone(),
        );
        it.register(
            "process_open_fds",
            "Open file descriptors of the process; 0 if the system does not report them",
            self.descriptors.clone(),
        );
        it.register(
            "mnemic_disk_free_bytes",
            "Space left on the disk of the embedded stores; 0 without them",
            self.disk.clone(),
        );
        it.register(
            "mnemic_database_bytes",
            "Size of the file of the embedded stores with its write-ahead log and the files of the index; 0 without them",
            self.database.clone(),
        );
    }
}

impl Metrics {
    /// Measures the resources that the process uses; `dir` is the folder of the embedded stores.
    pub(crate) fn measure_resources(&self, dir: Option<&Path>) {
        let machine = &self.0.machine;
        let set = |gauge: &Gauge, value: Option<u64>| gauge.set(i64::try_from(value.unwrap_or(0)).unwrap_or(i64::MAX));
        set(&machine.memory, resident_bytes());
        let open = fs::read_dir("/proc/self/fd").ok();
        set(&machine.descriptors, open.and_then(|it| u64::try_from(it.count()).ok()));
        set(&machine.disk, dir.and_then(|it| free_bytes(it).ok()));
        set(&machine.database, dir.map(adapters::file_bytes));
    }
}

fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|it| it.starts_with("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1_024)
}
