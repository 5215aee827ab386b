//! The gateway is the only HTTP service. It authenticates callers, checks and limits requests, publishes accepted
//! records, and passes questions to the router and the reader.
//!
//! 202 means that the bus has the records on disk; rejected records are named by their index. Every error is a problem
//! document (RFC 9457). Start at `routes.rs`, the table of all routes; [`api`] has the bodies. `query.rs` handles
//! questions, `recall.rs` messages for recall, `accept.rs` records, `curate.rs` decisions of people, `proxy.rs` chats
//! that are forwarded to a language model, and `events.rs` events for subscribers. The gateway stores nothing itself
//! and never ranks.

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

/// Serves the API until shutdown, and then finishes open requests.
///
/// # Errors
/// Invalid or unsafe settings; an address that cannot be bound.
pub fn run(context: host::Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // Boxed, because an opaque future would be compiled by every crate that polls it.
    Box::pin(listen(context))
}

async fn listen(context: host::Context) -> anyhow::Result<()> {
    let ready = context.readiness.expect("gateway listens");
    let config: Config = context.section("gateway")?;
    config.check()?;
    // Before the address is bound, so that invalid settings are reported even if another process has the address.
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
    // The task ends with the process; the next start continues its work.
    erasing.abort();
    sending.abort();
    app.all_erased().await;
    Ok(())
}

/// Returns the routes over `context`, without a socket; for tests and for embedding.
///
/// # Errors
/// Invalid settings.
pub fn router(context: host::Context) -> anyhow::Result<axum::Router> {
    let config: Config = context.section("gateway")?;
    Ok(routes::router(App::new(context, config)?))
}
