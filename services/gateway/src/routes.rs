//! The table of all routes.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post, put};

#[cfg(feature = "explorer")]
use crate::handlers::explorer;
use crate::handlers::{
    access, admin, curations, docs, erasures, events, keys, mcp, memory, pages, progress, proxy, query, readings,
    rebuild, recall, records, sessions, spaces, tools,
};
use crate::problem::{Problem, ProblemCode};
use crate::state::App;
use crate::{auth, edge, mem0};

pub(crate) fn router(app: App) -> Router {
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
        .merge(derived())
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
        .route("/v1/admin/dead-letters", get(admin::list))
        .route("/v1/admin/dead-letters/{id}", get(admin::get).delete(admin::discard))
        .route("/v1/admin/dead-letters/{id}/replay", post(admin::replay))
        .route_layer(from_fn_with_state(app.clone(), edge::admit))
        .route_layer(from_fn_with_state(app.clone(), auth::authenticate));
    let routes = open_to_all()
        .route("/openapi.json", get(docs::openapi))
        .merge(guarded)
        .merge(mem0::routes(&app))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(body_limit);
    // Outside authentication: a browser sends preflight requests without a key, and a page may read why a request was
    // refused.
    let routes = match app.config.cors.layer() {
        Some(cors) => routes.layer(cors),
        None => routes,
    };
    routes
        .layer(from_fn_with_state(app.clone(), edge::guard))
        .with_state(app)
}

/// Returns the routes of data that derive from records.
fn derived() -> Router<App> {
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
        .route("/", get(explorer::root))
        .route("/docs", get(explorer::page))
        .route("/assets/{file}", get(explorer::asset))
}

/// Returns the index and the documentation of the API, for a build without the explorer.
#[cfg(not(feature = "explorer"))]
fn open_to_all() -> Router<App> {
    Router::new()
        .route("/", get(async || docs::index()))
        .route("/docs", get(docs::page))
}

async fn no_route(uri: Uri) -> Problem {
    let detail = match uri.path() {
        "/health" | "/healthz" | "/livez" | "/readyz" | "/metrics" => {
            "/livez, /readyz and /metrics are on the admin port ([admin] listen); /docs lists the routes here"
        }
        _ => "/docs lists the routes",
    };
    Problem::new(ProblemCode::NoRoute).detail(detail)
}

async fn no_method() -> Problem {
    Problem::new(ProblemCode::NoMethod).detail("/docs lists the routes")
}
