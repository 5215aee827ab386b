//! Everything that a process needs around its services: settings, backends, telemetry, health and an orderly shutdown.
//!
//! Start at [`run_service`] and [`run_standalone`]; services only see [`Context`]. [`settings`] reads one TOML file and the
//! environment into typed sections, `backends` is the only place that chooses adapters, `circuit_breaker` stops calls to
//! servers that are down, [`relay`] forwards requests of callers to a language model, [`telemetry`] has logs and traces,
//! [`metrics`] the metrics, `health` the admin port, `process` signals and draining.

mod asker;
mod backends;
mod background;
mod bus;
mod circuit_breaker;
mod context;
mod health;
mod host_sections;
mod in_process;
mod process;
mod propagation;
mod readiness;
mod unstored_costs;

pub mod clock;
pub mod metrics;
pub mod random;
pub mod relay;
pub mod settings;
pub mod telemetry;
pub mod upkeep;

pub use adapters::outgoing::pictures::{PictureError, PictureOptions, Pictures};
pub use adapters::outgoing::webhook;
pub use adapters::return_free_memory;
pub use asker::{Asker, ModelResult};
pub use backends::Backends;
pub use background::spawn_background;
pub use bus::Meta;
pub use circuit_breaker::{time_until_deadline, with_deadline};
pub use context::Context;
pub use host_sections::host_schemas;
pub use metrics::Metrics;
pub use process::{SPEAKS_TLS, provide_tls, run_service, run_standalone, without_ports};
pub use readiness::{Expected, Readiness};
pub use settings::Settings;
pub use unstored_costs::{PendingCost, UnstoredCosts};
