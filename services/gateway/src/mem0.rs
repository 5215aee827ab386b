//! The API of mem0 over Mnemic. Clients of mem0 work with this server if their `host` points to the prefix of these
//! routes.
//!
//! It is off by default (`[gateway.mem0]`). A user is a space ([`scope`]), a chat message is a record, and a memory is
//! the turn unit that the writer makes of it ([`memory`]). Keys, rights and limits are those of the rest of the API.
//! Two rules differ, because clients depend on them: unknown fields are ignored, and an error is `{"detail"}`
//! ([`errors`]).

mod add;
mod change;
mod comparison;
mod entities;
mod errors;
mod export;
mod filter;
mod list;
mod locate;
mod memory;
mod profile;
mod profile_jobs;
mod project;
mod request;
mod scope;
mod search;
mod service;
mod settings;
mod webhooks;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, any, delete, get, post, put};

use crate::state::App;
use crate::{auth, edge};

pub(crate) use locate::Places;
pub use settings::Mem0;

/// Returns the routes under their prefix; empty if they are switched off.
pub(crate) fn routes(app: &App) -> Router<App> {
    let settings = &app.config.mem0;
    if !settings.enabled {
        return Router::new();
    }
    let routes = oss(hosted(Router::new()))
        .route_layer(from_fn_with_state(app.clone(), edge::admit))
        .route_layer(from_fn_with_state(app.clone(), auth::authenticate))
        .route_layer(from_fn(request::read_key));
    match settings.prefix.as_str() {
        // Unknown routes under the root get our own response.
        "" => routes.layer(from_fn(errors::translate)),
        prefix => {
            let routes = routes.fallback(service::no_route);
            Router::new().nest(prefix, routes.layer(from_fn(errors::translate)))
        }
    }
}

/// Adds a route with and without a trailing slash: clients do not follow redirects.
fn both(router: Router<App>, path: &str, methods: MethodRouter<App>) -> Router<App> {
    router.route(path, methods.clone()).route(&format!("{path}/"), methods)
}

/// Adds the routes of the hosted service, which `MemoryClient` calls.
fn hosted(mut router: Router<App>) -> Router<App> {
    for (path, methods) in [
        ("/v1/ping", get(service::ping)),
        ("/v3/memories/add", post(add::post)),
        ("/v3/memories/search", post(search::post)),
        ("/v3/memories", post(list::post)),
        (
            "/v1/memories",
            get(list::get).post(add::post).delete(change::delete_all),
        ),
        (
            "/v1/memories/{id}",
            get(change::get).put(change::put).delete(change::delete),
        ),
        ("/v1/memories/{id}/history", get(change::history)),
        ("/v1/event/{id}", get(service::event)),
        ("/v1/batch", put(change::put_batch).delete(change::delete_batch)),
        ("/v1/entities", get(entities::list)),
        ("/v1/entities/{kind}/{name}", delete(entities::delete)),
        ("/v2/entities/{kind}/{name}", delete(entities::delete)),
        ("/v1/feedback", post(service::feedback)),
        ("/v1/events", any(service::no_events)),
        ("/v1/exports", post(export::create)),
        ("/v1/exports/get", post(export::get)),
        ("/v1/summary", post(profile::summary)),
        ("/v2/entities/{kind}/{name}/profile", get(profile::get)),
        ("/v2/profiles/jobs", post(profile_jobs::create)),
        ("/v2/profiles/jobs/{id}", get(profile_jobs::get)),
        (
            "/v2/profiles/settings",
            get(profile_jobs::settings).post(profile_jobs::update_settings),
        ),
        (
            "/api/v1/orgs/organizations/{org}/projects/{project}",
            get(project::get).patch(project::update).delete(project::unchangeable),
        ),
        ("/api/v1/orgs/{*rest}", any(project::unchangeable)),
        (
            "/api/v1/webhooks/projects/{project}",
            get(webhooks::list).post(webhooks::create),
        ),
        ("/api/v1/webhooks/{id}", put(webhooks::update).delete(webhooks::delete)),
    ] {
        router = if path.ends_with("{*rest}") {
            router.route(path, methods)
        } else {
            both(router, path, methods)
        };
    }
    router
}

/// Adds the routes of the open-source server.
fn oss(mut router: Router<App>) -> Router<App> {
    for (path, methods) in [
        ("/memories", get(list::get).post(add::post).delete(change::delete_all)),
        (
            "/memories/{id}",
            get(change::get).put(change::put).delete(change::delete),
        ),
        ("/memories/{id}/history", get(change::history)),
        ("/search", post(search::post)),
        ("/entities", get(entities::list)),
        ("/entities/{kind}/{name}", delete(entities::delete)),
        ("/reset", post(entities::reset)),
        ("/configure", any(project::unchangeable)),
    ] {
        router = both(router, path, methods);
    }
    router
}
