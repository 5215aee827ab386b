//! The gateway is the only HTTP service. It authenticates callers, checks and limits requests, publishes accepted
//! records, and passes questions to the router and the reader.
//!
//! 202 means that the bus has the records on disk; rejected records are named by their index. Every error is a problem
//! document (RFC 9457). Start at `http/routes.rs`, the table of all routes. The gateway stores nothing itself and
//! never ranks.
//!
//! - [`api`] has the bodies of requests and responses, and the problem documents.
//! - `app` has what every request shares: settings, state, keys, sealed values.
//! - `http` has connections, layers, routes and handlers.
//! - `use_cases` has what a handler calls: `write` accepts records and curations, `query` answers questions, `recall`
//!   handles messages for recall, `lists` reads derived items, `events` informs subscribers, `administration` erases
//!   and rebuilds.
//! - `strategies` has the loop in which a language model explores the memory, and the budget for its calls.
//! - `mcp` serves the Model Context Protocol, `mem0` the API of mem0, and `proxy` forwards chats to a language model.

mod app;
mod http;
mod mcp;
mod mem0;
mod proxy;
mod strategies;
mod use_cases;

pub mod api;

use anyhow::Context as _;
use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tracing::{info, warn};

pub use api::ProblemDocument;
pub use app::config::{Config, Cors, Events, Key, Mem0, Proxy, Right, WebhookReach, WebhookSettings};
pub use http::error_catalogue::error_catalogue;
pub use http::openapi::openapi_document;
pub use http::repeated_fields::find_repeated_field;
pub use mcp::stdio::{Local, serve_stdio as serve_mcp};
pub use use_cases::administration::erasures::finish_erasure;
pub use use_cases::administration::rebuild::rederive_space;
pub use use_cases::write::accept::leaves_no_record;

use crate::app::state::App;
use crate::use_cases::events::open_hooks;

/// Serves the API until shutdown, and then finishes open requests.
///
/// # Errors
/// Invalid or unsafe settings; an address that cannot be bound.
pub fn run(context: host::Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // Boxed, because an opaque future would be compiled by every crate that polls it.
    Box::pin(serve_until_shutdown(context))
}

async fn serve_until_shutdown(context: host::Context) -> anyhow::Result<()> {
    let ready = context.readiness.register_component("gateway listens");
    let config: Config = context.read_section("gateway")?;
    config.check_settings()?;
    // Before the address is bound, so that invalid settings are reported even if another process has the address.
    let hooks = open_hooks(&config.webhooks)?;
    let app = App::new(context, config)?;
    let config = &app.config;
    let listener = TcpListener::bind(&config.listen)
        .await
        .with_context(|| format!("cannot listen on {} ([gateway] listen)", config.listen))?;
    if config.keys.is_empty() {
        warn!(
            "the settings have no keys: without a key in the store, anyone who can reach this address may read, write and erase everything"
        );
    }
    info!(address = %listener.local_addr()?, keys = config.keys.len(), "the gateway is open");
    let _asking = app.context.keep_serving();
    ready.set_is_up(true);
    let erasing = tokio::spawn(use_cases::administration::erasures::finish_all(app.clone()));
    let sending = tokio::spawn(use_cases::events::send_all(app.clone(), hooks));
    http::connections::serve_connections(listener, build_all_routes(app.clone()), &app.config, &app.context).await;
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
pub fn build_router(context: host::Context) -> anyhow::Result<axum::Router> {
    let config: Config = context.read_section("gateway")?;
    drop(open_hooks(&config.webhooks)?);
    Ok(build_all_routes(App::new(context, config)?))
}

/// Returns the routes of the API of Mnemic and of the API of mem0.
fn build_all_routes(app: App) -> axum::Router {
    let of_mem0 = mem0::build_routes(&app);
    http::routes::build_router(app, of_mem0)
}
