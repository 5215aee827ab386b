use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use domain::key::KeyName;
use host::clock;

use crate::api::problem::Problem;
use crate::api::{ApiKeyPage, ApiKeyToken, NewApiKey, Paged, Paging, ProblemDocument, Rotation};
use crate::app::cursor::Cursors;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{ObjectBody, PathParameters, QueryParameters};
use crate::use_cases::administration::keys;

/// Creates a key.
///
/// Only this response contains its token; the server keeps a digest of it. Needs the right `admin` over all spaces.
#[utoipa::path(post, path = "/v1/keys", tag = "keys", request_body = NewApiKey, responses(
    (status = 201, description = "The key, with its token", body = ApiKeyToken),
    (status = 403, description = "The key of the request has no right `admin` over all spaces, or lacks a right that the new key would have", body = ProblemDocument, content_type = "application/problem+json"),
    (status = 409, description = "The name is taken, or the settings of the server have no key that may create others", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn create(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(new): ObjectBody<NewApiKey>,
) -> Result<Response, Problem> {
    let key_token = keys::create_key(&app, &access, new, clock::now()).await?;
    Ok((StatusCode::CREATED, shown_once(key_token)).into_response())
}

/// Lists the keys that were created through the API, including expired and revoked ones, without their tokens. Needs
/// the right `admin` over all spaces.
#[utoipa::path(get, path = "/v1/keys", tag = "keys", params(Paging), responses(
    (status = 200, description = "A page of keys", body = ApiKeyPage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    QueryParameters(paging): QueryParameters<Paging>,
) -> Result<Json<ApiKeyPage>, Problem> {
    keys::demand_admin_of_all(&access)?;
    let limit = paging.page_limit()?;
    let cursors = Cursors::for_list(&app, "keys", "", &paging).await?;
    let after: Option<KeyName> = cursors.start_position(&paging)?;
    let found = app.stores().keys.list(after.as_ref(), limit).await?;
    let next = cursors.next_cursor(&found, limit, |it| it.name.clone())?;
    let items = found.into_iter().map(Into::into).collect();
    Ok(Json(ApiKeyPage { items, next }))
}

/// Gives a key a new token.
///
/// Only this response contains the token. The previous token stays valid for `grace_seconds`; the one before it becomes
/// invalid. Needs the right `admin` over all spaces, and every right of the key.
#[utoipa::path(post, path = "/v1/keys/{name}/rotate", tag = "keys", request_body = Rotation, params(("name" = String, Path)), responses(
    (status = 200, description = "The key, with its new token", body = ApiKeyToken),
    (status = 404, description = "There is no such key", body = ProblemDocument, content_type = "application/problem+json"),
    (status = 409, description = "The key is revoked or expired", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn rotate(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    ObjectBody(rotation): ObjectBody<Rotation>,
) -> Result<Response, Problem> {
    let key_token = keys::rotate_key(&app, &access, &name, rotation, clock::now()).await?;
    Ok(shown_once(key_token).into_response())
}

/// Revokes a key.
///
/// Its tokens become invalid at this gateway at once, and at every other gateway within 5 seconds. The key stays in the
/// list. Needs the right `admin` over all spaces.
#[utoipa::path(delete, path = "/v1/keys/{name}", tag = "keys", params(("name" = String, Path)), responses(
    (status = 204, description = "The key is revoked"),
    (status = 404, description = "There is no such key", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn revoke(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
) -> Result<StatusCode, Problem> {
    keys::revoke_key(&app, &access, &name, clock::now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the response with headers that forbid caches and proxies to store the token.
fn shown_once(key_token: ApiKeyToken) -> impl IntoResponse {
    ([(header::CACHE_CONTROL, "no-store")], Json(key_token))
}
