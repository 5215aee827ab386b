use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};

use crate::api::problem::Problem;
use crate::api::{DeadLetter, DeadLetterPage, Paged, Paging};
use crate::app::config::Right;
use crate::app::cursor::Cursors;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{NoBody, PathParameters, QueryParameters};
use crate::use_cases::administration::dead_letters;

/// Lists dead letters of the spaces that the key opens: messages that could not be processed.
#[utoipa::path(get, path = "/v1/admin/dead-letters", tag = "admin", params(Paging), responses(
    (status = 200, description = "A page of dead letters", body = DeadLetterPage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    QueryParameters(paging): QueryParameters<Paging>,
) -> Result<Json<DeadLetterPage>, Problem> {
    access.require_right(Right::Admin)?;
    let limit = paging.page_limit()?;
    let cursors = Cursors::for_list(&app, "dead letters", &access.space_patterns().join(","), &paging).await?;
    let place = cursors.start_position(&paging)?.unwrap_or_default();
    let (items, next) = dead_letters::list_dead_letters(&app, &access, place, limit).await?;
    let next = next.map(|it| cursors.cursor_after(it)).transpose()?;
    Ok(Json(DeadLetterPage { items, next }))
}

/// Returns one dead letter with its payload.
#[utoipa::path(get, path = "/v1/admin/dead-letters/{id}", tag = "admin", params(("id" = String, Path)), responses(
    (status = 200, description = "The dead letter", body = DeadLetter),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
) -> Result<Json<DeadLetter>, Problem> {
    dead_letters::find_dead_letter(&app, &access, &id)
        .await
        .map(|(_, letter)| Json(letter))
}

/// Delivers the message of a dead letter again.
#[utoipa::path(post, path = "/v1/admin/dead-letters/{id}/replay", tag = "admin", params(("id" = String, Path)), responses(
    (status = 204, description = "The message is delivered again"),
))]
pub(crate) async fn replay(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
    _: NoBody,
) -> Result<StatusCode, Problem> {
    let (number, _) = dead_letters::find_dead_letter(&app, &access, &id).await?;
    app.stores().dead_letters.replay(number).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a dead letter; its contents are not written.
#[utoipa::path(delete, path = "/v1/admin/dead-letters/{id}", tag = "admin", params(("id" = String, Path)), responses(
    (status = 204, description = "The dead letter is deleted"),
))]
pub(crate) async fn discard(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
) -> Result<StatusCode, Problem> {
    let (number, _) = dead_letters::find_dead_letter(&app, &access, &id).await?;
    app.stores().dead_letters.discard(number).await?;
    Ok(StatusCode::NO_CONTENT)
}
