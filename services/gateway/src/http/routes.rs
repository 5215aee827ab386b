//! The table of all routes.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{delete, get, post, put};

use crate::api::problem::{Problem, ProblemCode};
use crate::app::auth;
use crate::app::state::App;
#[cfg(feature = "explorer")]
use crate::http::explorer;
use crate::http::handlers::administration::access;
use crate::http::handlers::administration::dead_letters;
use crate::http::handlers::administration::events;
use crate::http::handlers::administration::keys;
use crate::http::handlers::administration::progress;
use crate::http::handlers::administration::rebuild;
use crate::http::handlers::content::curations;
use crate::http::handlers::content::erasures;
use crate::http::handlers::content::readings;
use crate::http::handlers::content::records;
use crate::http::handlers::content::sessions;
use crate::http::handlers::content::spaces;
use crate::http::handlers::lists::memory;
use crate::http::handlers::lists::pages;
use crate::http::handlers::questions::mcp;
use crate::http::handlers::questions::proxy;
use crate::http::handlers::questions::query;
use crate::http::handlers::questions::recall;
use crate::http::handlers::questions::tools;
use crate::http::{docs, edge};
use crate::proxy::translate_problem;

/// Returns the routes of the API and `further` routes, with the layers around them.
pub(crate) fn build_router(app: App, further: Router<App>) -> Router {
    let body_limit = DefaultBodyLimit::max(app.config.body_bytes_max);
    let guarded = Router::new()
        .route("/v1/spaces", get(spaces::list))
        .route(
            "/v1/spaces/{space}",
            put(spaces::put).get(spaces::get).delete(spaces::delete),
        )
        .route("/v1/spaces/{space}/records", post(records::post).get(records::list))
        .route(
            "/v1/spaces/{space}/records/{id}",
            get(records::get).put(records::put).delete(records::delete),
        )
        .route("/v1/spaces/{space}/records/{id}/versions", get(records::versions))
        .route("/v1/spaces/{space}/sessions/{id}", delete(sessions::delete))
        .route("/v1/spaces/{space}/progress", get(progress::get))
        .route("/v1/spaces/{space}/events", get(events::get))
        .route("/v1/spaces/{space}/rebuild", post(rebuild::post).get(rebuild::get))
        .route("/v1/spaces/{space}/query", post(query::post))
        .route("/v1/spaces/{space}/recall", post(recall::post))
        .route("/v1/spaces/{space}/recall/dismiss", post(recall::dismiss))
        .route(
            "/v1/spaces/{space}/curations",
            post(curations::post).get(curations::list),
        )
        .route("/v1/spaces/{space}/curations/{id}", get(curations::get))
        .route("/v1/spaces/{space}/erasures", get(erasures::list))
        .route("/v1/spaces/{space}/erasures/{id}", get(erasures::get))
        .route("/v1/spaces/{space}/erasures/{id}/check", post(erasures::check))
        .route(
            "/v1/spaces/{space}/readings",
            get(readings::list).post(readings::post).put(readings::put),
        )
        .route("/v1/spaces/{space}/readings/{id}", get(readings::get))
        .merge(derived_data_routes())
        .route("/v1/spaces/{space}/tools", get(tools::list))
        .route("/v1/spaces/{space}/tools/{name}", post(tools::call))
        .route("/v1/spaces/{space}/mcp", post(mcp::post))
        .route("/v1/chat/completions", post(proxy::chat_completions))
        .route("/v1/models", get(proxy::models))
        .route("/v1/tools", get(tools::all))
        .route("/v1/access", get(access::get))
        .route("/v1/keys", get(keys::list).post(keys::create))
        .route("/v1/keys/{name}", delete(keys::revoke))
        .route("/v1/keys/{name}/rotate", post(keys::rotate))
        .route("/v1/admin/dead-letters", get(dead_letters::list))
        .route(
            "/v1/admin/dead-letters/{id}",
            get(dead_letters::get).delete(dead_letters::discard),
        )
        .route("/v1/admin/dead-letters/{id}/replay", post(dead_letters::replay))
        .route_layer(from_fn_with_state(app.clone(), edge::admit_request))
        .route_layer(from_fn_with_state(app.clone(), auth::authenticate_request));
    let routes = open_to_all()
        .route("/openapi.json", get(docs::get_openapi_document))
        .merge(guarded)
        .merge(further)
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(body_limit);
    // Outside authentication: a browser sends preflight requests without a key, and a page may read why a request was
    // refused.
    let routes = match edge::cors_layer(&app.config.cors) {
        Some(cors) => routes.layer(cors),
        None => routes,
    };
    routes
        .layer(from_fn_with_state(app.clone(), edge::trace_and_bound_request))
        // Outside of all other layers, because each of them may refuse a request of the proxy.
        .layer(from_fn(translate_problem))
        .with_state(app)
}

/// Returns the routes of data that derive from records.
fn derived_data_routes() -> Router<App> {
    Router::new()
        .route("/v1/spaces/{space}/units", get(memory::units))
        .route("/v1/spaces/{space}/units/{id}", get(memory::unit))
        .route("/v1/spaces/{space}/facts", get(memory::facts))
        .route("/v1/spaces/{space}/facts/{id}", get(memory::fact))
        .route("/v1/spaces/{space}/entities", get(memory::entities))
        .route("/v1/spaces/{space}/entities/{id}", get(memory::entity))
        .route("/v1/spaces/{space}/merges", get(memory::merges))
        .route("/v1/spaces/{space}/merges/{id}", get(memory::merge))
        .route("/v1/spaces/{space}/topics", get(pages::topics))
        .route("/v1/spaces/{space}/topics/{id}", get(pages::topic))
        .route("/v1/spaces/{space}/pages", get(pages::pages))
        .route("/v1/spaces/{space}/pages/{id}", get(pages::page))
}

/// Returns the routes of the explorer. They need no key, because its page calls the protected routes with the user's
/// key.
#[cfg(feature = "explorer")]
fn open_to_all() -> Router<App> {
    Router::new()
        .route("/", get(explorer::get_root))
        .route("/docs", get(explorer::get_explorer_page))
        .route("/assets/{file}", get(explorer::get_asset))
}

/// Returns the index and the documentation of the API, for a build without the explorer.
#[cfg(not(feature = "explorer"))]
fn open_to_all() -> Router<App> {
    Router::new()
        .route("/", get(async || docs::api_index()))
        .route("/docs", get(docs::get_docs_page))
}

async fn no_route(uri: Uri) -> Problem {
    let detail = match uri.path() {
        "/health" | "/healthz" | "/livez" | "/readyz" | "/metrics" => {
            "/livez, /readyz and /metrics are on the admin port ([admin] listen); /docs lists the routes here"
        }
        _ => "/docs lists the routes",
    };
    Problem::new(ProblemCode::NoRoute).with_detail(detail)
}

async fn no_method() -> Problem {
    Problem::new(ProblemCode::NoMethod).with_detail("/docs lists the routes")
}
