//! The gateway is the only HTTP: it authenticates, bounds and checks what comes in, publishes accepted records, and
//! takes a question through router and reader.
//!
//! 202 means that the bus has the records on disk; what is rejected is named by its index. Every error is a problem
//! document (RFC 9457). Start at `routes.rs`, the table of all routes; [`api`] has the bodies, `query.rs` the way of a
//! question, `recall.rs` that of a message, `accept.rs` the way of records,
//! `curate.rs` that of what people decide, `proxy.rs` that of a chat that goes on to a language model, `events.rs` that of
//! events to whoever listens. It stores nothing itself and
//! never ranks.

mod accept;
mod agent;
mod auth;
mod catalogue;
mod config;
mod connections;
mod curate;
mod cursor;
mod edge;
mod erasures;
mod events;
mod extract;
mod filling;
mod handlers;
mod idempotency;
mod kept;
mod keys;
mod labels;
mod ledger;
mod letters;
mod mcp;
mod mem0;
mod memory_block;
mod model_budget;
mod openapi;
mod opened;
mod problem;
mod proxy;
mod query;
mod readings;
mod rebuild;
mod recall;
mod repeated;
mod routes;
mod seal;
mod selected;
mod sessions;
mod standing;
mod state;
mod tools;
mod trail;
mod validate;
mod versions;
mod watermark;

pub mod api;

use anyhow::Context as _;
use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tracing::{info, warn};

pub use catalogue::error_catalogue;
pub use config::{Config, Key, Right};
pub use edge::Cors;
pub use erasures::finish as finish_erasure;
pub use events::{Events, WebhookReach, WebhookSettings};
pub use mcp::local::{Local, serve as serve_mcp};
pub use mem0::Mem0;
pub use openapi::document;
pub use problem::Problem;
pub use proxy::Proxy;
pub use rebuild::rederive;

use crate::state::App;

/// Listens and answers until shutdown; open requests are finished.
///
/// # Errors
/// Settings that are wrong or unsafe, an address that cannot be listened on.
pub fn run(context: host::Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // Boxed: an opaque future would be compiled by every crate that polls it.
    Box::pin(listen(context))
}

async fn listen(context: host::Context) -> anyhow::Result<()> {
    let ready = context.readiness.expect("gateway listens");
    let config: Config = context.section("gateway")?;
    config.check()?;
    // Before the address is taken: settings that are wrong are named even if another process has it.
    let app = App::new(context, config)?;
    let config = &app.config;
    let listener = TcpListener::bind(&config.listen)
        .await
        .with_context(|| format!("cannot listen on {} ([gateway] listen)", config.listen))?;
    if config.keys.is_empty() {
        warn!("no keys are configured: whoever reaches this address may read, write and erase everything");
    }
    info!(address = %listener.local_addr()?, keys = config.keys.len(), "the gateway is open");
    let _asking = app.context.keep_serving();
    ready.set(true);
    let erasing = tokio::spawn(erasures::finish_all(app.clone()));
    let sending = tokio::spawn(events::send_all(app.clone()));
    connections::serve(listener, routes::router(app.clone()), &app.config, &app.context).await;
    // It ends with the process; whatever it was doing, the next start goes on with it.
    erasing.abort();
    sending.abort();
    app.all_erased().await;
    Ok(())
}

/// Returns the routes over `context`, without a socket; for tests and for embedding.
///
/// # Errors
/// Settings that are wrong.
pub fn router(context: host::Context) -> anyhow::Result<axum::Router> {
    let config: Config = context.section("gateway")?;
    Ok(routes::router(App::new(context, config)?))
}
