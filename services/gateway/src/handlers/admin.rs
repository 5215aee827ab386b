use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use domain::port::{DeadLetter, DeadLetterId};

use crate::api::{DeadLetterPage, Paging};
use crate::auth::Access;
use crate::config::Right;
use crate::cursor::Paged;
use crate::extract::{At, NoBody, Params};
use crate::filling::Filling;
use crate::problem::Problem;
use crate::state::App;

/// Letters read at once: each may be as long as a batch.
const LOOK: usize = 16;

/// Lists messages that were given up, of the spaces that the key opens.
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
    let mut after: DeadLetterId = paging.start()?.unwrap_or(0);
    let mut page = Filling::new(limit);
    for _ in 0..limit.div_ceil(LOOK) {
        let found = app.stores().dead_letters.list(after, LOOK).await?;
        let ended = found.len() < LOOK;
        for letter in found {
            after = letter.id;
            if sees(&access, &letter) {
                page.take(letter);
            }
            if page.is_full() {
                return Ok(shown(page.items, Some(after)));
            }
        }
        if ended {
            return Ok(shown(page.items, None));
        }
    }
    Ok(shown(page.items, Some(after)))
}

/// Returns one dead letter with its payload.
#[utoipa::path(get, path = "/v1/admin/dead-letters/{id}", tag = "admin", params(("id" = u64, Path)), responses(
    (status = 200, description = "The dead letter", body = DeadLetter),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<DeadLetterId>,
) -> Result<Json<DeadLetter>, Problem> {
    find(&app, &access, id).await.map(Json)
}

/// Delivers a dead letter again.
#[utoipa::path(post, path = "/v1/admin/dead-letters/{id}/replay", tag = "admin", params(("id" = u64, Path)), responses(
    (status = 204, description = "It is on its way again"),
))]
pub(crate) async fn replay(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<DeadLetterId>,
    _: NoBody,
) -> Result<StatusCode, Problem> {
    find(&app, &access, id).await?;
    app.stores().dead_letters.replay(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Forgets a dead letter; what it carried is not written.
#[utoipa::path(delete, path = "/v1/admin/dead-letters/{id}", tag = "admin", params(("id" = u64, Path)), responses(
    (status = 204, description = "It is forgotten"),
))]
pub(crate) async fn discard(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<DeadLetterId>,
) -> Result<StatusCode, Problem> {
    find(&app, &access, id).await?;
    app.stores().dead_letters.discard(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn shown(items: Vec<DeadLetter>, next: Option<DeadLetterId>) -> Json<DeadLetterPage> {
    let next = next.map(|it| it.to_string());
    Json(DeadLetterPage { items, next })
}

async fn find(app: &App, access: &Access, id: DeadLetterId) -> Result<DeadLetter, Problem> {
    access.demand(Right::Admin)?;
    let first = app
        .stores()
        .dead_letters
        .list(id.saturating_sub(1), 1)
        .await?
        .into_iter()
        .next();
    let found = first.filter(|it| it.id == id && sees(access, it));
    found.ok_or_else(|| Problem::not_found("there is no dead letter of this id"))
}

fn sees(access: &Access, letter: &DeadLetter) -> bool {
    if letter.space.is_empty() {
        access.opens_all()
    } else {
        access.opens(&letter.space)
    }
}
