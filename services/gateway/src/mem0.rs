//! The API of mem0 over Mnemic. Clients of mem0 work with this server if their `host` points to the prefix of these
//! routes.
//!
//! It is off by default (`[gateway.mem0]`). A user is a space ([`requests::scope`]), a chat message is a record, and a
//! memory is the turn unit that the writer makes of it ([`memory`]). Keys, rights and limits are those of the rest of
//! the API. Two rules differ, because clients depend on them: unknown fields are ignored, and an error is `{"detail"}`
//! ([`errors`]).

mod administration;
mod entities;
mod filters;
mod memories;
mod memory;
mod profiles;
mod requests;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, any, delete, get, post, put};

use crate::app::auth;
use crate::app::state::App;
use crate::http::edge;
use administration::{project, service, webhooks};
use memories::{add, change, export, history, list, search};
use profiles::{profile, profile_jobs};
use requests::{errors, request};

/// Returns the routes under their prefix; empty if they are switched off.
pub(crate) fn build_routes(app: &App) -> Router<App> {
    let settings = &app.config.mem0;
    if !settings.enabled {
        return Router::new();
    }
    let routes = add_open_source_routes(add_hosted_routes(Router::new()))
        .route_layer(from_fn_with_state(app.clone(), edge::admit_request))
        .route_layer(from_fn_with_state(app.clone(), auth::authenticate_request))
        .route_layer(from_fn(request::read_key));
    match settings.prefix.as_str() {
        // Unknown routes under the root get our own response.
        "" => routes.layer(from_fn(errors::translate_problem)),
        prefix => {
            let routes = routes.fallback(service::no_route);
            Router::new().nest(prefix, routes.layer(from_fn(errors::translate_problem)))
        }
    }
}

/// Adds a route with and without a trailing slash: clients do not follow redirects.
fn route_with_and_without_slash(router: Router<App>, path: &str, methods: MethodRouter<App>) -> Router<App> {
    router.route(path, methods.clone()).route(&format!("{path}/"), methods)
}

/// Adds the routes of the hosted service, which `MemoryClient` calls.
fn add_hosted_routes(mut router: Router<App>) -> Router<App> {
    for (path, methods) in [
        ("/v1/ping", get(service::ping)),
        ("/v3/memories/add", post(add::add_memories)),
        ("/v3/memories/search", post(search::post_search)),
        ("/v3/memories", post(list::list_memories_by_body)),
        (
            "/v1/memories",
            get(list::list_memories_by_query)
                .post(add::add_memories)
                .delete(change::delete_all),
        ),
        (
            "/v1/memories/{id}",
            get(change::get_memory)
                .put(change::put_memory)
                .delete(change::delete_memory),
        ),
        ("/v1/memories/{id}/history", get(history::list_history)),
        ("/v1/event/{id}", get(service::get_event)),
        ("/v1/batch", put(change::put_batch).delete(change::delete_batch)),
        ("/v1/entities", get(entities::list_entities)),
        ("/v1/entities/{kind}/{name}", delete(entities::delete_entity)),
        ("/v2/entities/{kind}/{name}", delete(entities::delete_entity)),
        ("/v1/feedback", post(service::post_feedback)),
        ("/v1/events", any(service::no_events)),
        ("/v1/exports", post(export::create_export)),
        ("/v1/exports/get", post(export::get_export)),
        ("/v1/summary", post(profile::get_summary)),
        ("/v2/entities/{kind}/{name}/profile", get(profile::get_profile)),
        ("/v2/profiles/jobs", post(profile_jobs::create_job)),
        ("/v2/profiles/jobs/{id}", get(profile_jobs::get_job)),
        (
            "/v2/profiles/settings",
            get(profile_jobs::get_settings).post(profile_jobs::update_settings),
        ),
        (
            "/api/v1/orgs/organizations/{org}/projects/{project}",
            get(project::get_project)
                .patch(project::update_project)
                .delete(project::refuse_change),
        ),
        ("/api/v1/orgs/{*rest}", any(project::refuse_change)),
        (
            "/api/v1/webhooks/projects/{project}",
            get(webhooks::list_webhooks).post(webhooks::create_webhook),
        ),
        (
            "/api/v1/webhooks/{id}",
            put(webhooks::update_webhook).delete(webhooks::delete_webhook),
        ),
    ] {
        router = if path.ends_with("{*rest}") {
            router.route(path, methods)
        } else {
            route_with_and_without_slash(router, path, methods)
        };
    }
    router
}

/// Adds the routes of the open-source server.
fn add_open_source_routes(mut router: Router<App>) -> Router<App> {
    for (path, methods) in [
        (
            "/memories",
            get(list::list_memories_by_query)
                .post(add::add_memories)
                .delete(change::delete_all),
        ),
        (
            "/memories/{id}",
            get(change::get_memory)
                .put(change::put_memory)
                .delete(change::delete_memory),
        ),
        ("/memories/{id}/history", get(history::list_history)),
        ("/search", post(search::post_search)),
        ("/entities", get(entities::list_entities)),
        ("/entities/{kind}/{name}", delete(entities::delete_entity)),
        ("/reset", post(entities::erase_all_spaces)),
        ("/configure", any(project::refuse_change)),
    ] {
        router = route_with_and_without_slash(router, path, methods);
    }
    router
}
