//! Everything that a process needs around its services: settings, backends, telemetry, health and an orderly shutdown.
//!
//! Start at [`main`] and [`standalone`]; services only see [`Context`]. [`settings`] reads one TOML file and the
//! environment into typed sections, `backends` is the only place that chooses adapters, `guard` is the circuit breaker
//! for servers, [`relay`] forwards requests of callers to a language model, [`telemetry`] has logs and traces,
//! [`metrics`] the metrics, `health` the admin port, `process` signals and draining.

mod asker;
mod backends;
mod background;
mod bus;
mod context;
mod guard;
mod health;
mod process;
mod propagation;
mod unstored_costs;

pub mod clock;
pub mod metrics;
pub mod random;
pub mod relay;
pub mod settings;
pub mod telemetry;
pub mod upkeep;

pub use adapters::pictures::{PictureError, PictureOptions, Pictures};
pub use adapters::webhook;
pub use asker::{Asked, Asker};
pub use backends::Backends;
pub use background::background;
pub use bus::Meta;
pub use context::Context;
pub use guard::within;
pub use health::{Expected, Readiness};
pub use metrics::Metrics;
pub use process::{SPEAKS_TLS, main, provide_tls, standalone, without_ports};
pub use settings::Settings;
pub use unstored_costs::UnstoredCosts;
