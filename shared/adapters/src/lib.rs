//! The embedded adapters of every port: one SQLite file, an index in memory, a built-in embedder, no server. Also the
//! embedders that an operator can choose and, with the feature `distributed`, the adapters of the servers.
//!
//! [`Embedded::open`] opens all of them in one data directory and locks that directory against other processes. `store`
//! owns the file: one writer thread commits in groups, several connections read. `bus` keeps its queue in that file and
//! wakes consumers through channels. `index` searches exactly, over points in that file. What is absent: no port knows
//! another one, and no SQLite call ever runs on a thread of the async runtime.

mod addresses;
mod api_keys;
mod bus;
mod clock;
#[cfg(feature = "distributed")]
pub mod distributed;
mod embed;
mod embedded;
#[cfg(feature = "encoder")]
mod encoder;
pub mod endpoint;
mod error;
mod index;
mod names;
#[cfg(feature = "distributed")]
pub mod nats;
#[cfg(feature = "distributed")]
pub mod neo4j;
mod notes;
pub mod pictures;
mod pinned;
mod priority;
mod private;
#[cfg(feature = "distributed")]
pub mod qdrant;
mod receipts;
pub mod recording;
mod secret;
pub mod server_options;
mod servers;
mod store;
pub mod webhook;

pub use embed::embedder;
pub use embedded::{Embedded, Options};
pub use error::{EncoderError, OpenError};
pub use priority::lower_priority;
pub use private::create_private;
pub use secret::Secret;
pub use store::{UpkeepError, backup, check, file_bytes, forget_vectors, is_behind, is_held, restore};

/// Sets the TLS implementation for every HTTP client of this process.
#[cfg(feature = "https")]
pub fn provide_tls() {
    // Only the first call has an effect, and this is the only implementation.
    drop(rustls::crypto::ring::default_provider().install_default());
}
