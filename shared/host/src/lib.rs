//! What a process needs before it can do its job: settings, backends, telemetry, health and an orderly end.
//!
//! Start at [`main`] and [`standalone`]; services see only [`Context`]. [`settings`] joins one TOML file and the
//! environment into typed sections, `backends` is the only place that chooses adapters, `guard` notices servers that are
//! away, [`relay`] passes requests of callers on to a language model, [`telemetry`] gives logs and traces, [`metrics`] the
//! numbers, `health` the admin port, `process` signals and draining.

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
