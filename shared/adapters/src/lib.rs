//! The adapters of every port.
//!
//! - `embedded` needs no server: [`Embedded::open`] opens all ports in one data directory and locks it against other
//!   processes. `store` owns the SQLite file: one writer thread commits in groups, several connections read. `bus`
//!   keeps its queue in that file and wakes consumers through channels. `index` searches exactly, over points in that
//!   file.
//! - [`servers`] has, with the feature `distributed`, the same ports on NATS, Qdrant and Neo4j.
//! - [`models`] has the built-in embedder, a sentence encoder, models over HTTP, and recordings of their calls.
//! - [`outgoing`] fetches pictures and sends webhooks.
//!
//! What is absent: no port knows another one, and no SQLite call ever runs on a thread of the async runtime.

mod embedded;
mod error;
pub mod models;
pub mod outgoing;
mod process;
mod request_servers;
pub mod servers;
mod store_rules;

pub use embedded::store::{
    UpkeepError, check_file, file_bytes, forget_vectors, is_held, needs_migration, restore_backup, write_backup,
};
pub use embedded::{Embedded, Options};
pub use error::{EncoderError, OpenError};
pub use models::embedder::open_embedder;
pub use process::disk_space::free_bytes;
pub use process::heap::{limit_heap_arenas, return_free_memory};
pub use process::priority::lower_priority;
pub use process::private_files::create_private;
pub use process::secret::Secret;

/// Sets the TLS implementation for every HTTP client of this process.
#[cfg(feature = "https")]
pub fn provide_tls() {
    // Only the first call has an effect, and this is the only implementation.
    drop(rustls::crypto::ring::default_provider().install_default());
}
