use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};

use crate::api::{DeadLetter, DeadLetterPage, Paging};
use crate::auth::Access;
use crate::config::Right;
use crate::cursor::{Cursors, Paged};
use crate::extract::{At, NoBody, Params};
use crate::letters;
use crate::problem::Problem;
use crate::state::App;

/// Lists dead letters of the spaces that the key opens: messages that could not be processed.
#[utoipa::path(get, path = "/v1/admin/dead-letters", tag = "admin", params(Paging), responses(
    (status = 200, description = "A page of dead letters", body = DeadLetterPage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Params(paging): Params<Paging>,
) -> Result<Json<DeadLetterPage>, Problem> {
    access.demand(Right::Admin)?;
    let limit = paging.limit()?;
    let cursors = Cursors::of(&app, "dead letters", &access.patterns().join(","), &paging).await?;
    let place = cursors.start(&paging)?.unwrap_or_default();
    let (items, next) = letters::list(&app, &access, place, limit).await?;
    let next = next.map(|it| cursors.behind(it)).transpose()?;
    Ok(Json(DeadLetterPage { items, next }))
}

/// Returns one dead letter with its payload.
#[utoipa::path(get, path = "/v1/admin/dead-letters/{id}", tag = "admin", params(("id" = String, Path)), responses(
    (status = 200, description = "The dead letter", body = DeadLetter),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<String>,
) -> Result<Json<DeadLetter>, Problem> {
    letters::find(&app, &access, &id).await.map(|(_, letter)| Json(letter))
}

/// Delivers the message of a dead letter again.
#[utoipa::path(post, path = "/v1/admin/dead-letters/{id}/replay", tag = "admin", params(("id" = String, Path)), responses(
    (status = 204, description = "It is on its way again"),
))]
pub(crate) async fn replay(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<String>,
    _: NoBody,
) -> Result<StatusCode, Problem> {
    let (number, _) = letters::find(&app, &access, &id).await?;
    app.stores().dead_letters.replay(number).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a dead letter; its contents are not written.
#[utoipa::path(delete, path = "/v1/admin/dead-letters/{id}", tag = "admin", params(("id" = String, Path)), responses(
    (status = 204, description = "It is forgotten"),
))]
pub(crate) async fn discard(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<String>,
) -> Result<StatusCode, Problem> {
    let (number, _) = letters::find(&app, &access, &id).await?;
    app.stores().dead_letters.discard(number).await?;
    Ok(StatusCode::NO_CONTENT)
}
