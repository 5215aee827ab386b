//! Requests about neither memories nor entities: the ping of the client constructors, the state of a change, feedback,
//! and lists of changes, for which Mnemic has no equivalent.

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::add::Change;
use super::errors::unsupported;
use super::locate;
use super::project::PROJECT;
use super::request::{self, Fields, field};
use crate::api::{NewAct, NewCuration};
use crate::auth::{Access, hex};
use crate::config::Right;
use crate::curate;
use crate::extract::{At, ObjectBody};
use crate::problem::{Problem, ProblemCode};
use crate::query;
use crate::state::App;

/// Confirms that the server runs and accepts the key; clients send this request first.
pub(super) async fn ping() -> Json<Value> {
    Json(json!({"status": "ok", "org_id": PROJECT, "project_id": PROJECT, "user_email": null}))
}

/// Returns the state of a change.
pub(super) async fn event(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    let unknown = || Problem::not_found("there is no event of this id");
    access.demand(Right::Read)?;
    let (space, position) = Change::opened(&app, &id).await?.ok_or_else(unknown)?;
    let space: SpaceId = access.enter(&space, Right::Read).map_err(|_| unknown())?;
    if app.stores().records.space(&space).await?.is_none() {
        return Err(unknown());
    }
    let status = if app.stores().records.is_written(&space, position).await? {
        "SUCCEEDED"
    } else if query::given_up(&app, &space, position).await?.is_some() {
        "FAILED"
    } else {
        "PENDING"
    };
    Ok(Json(
        json!({"id": id, "event_type": "MEMORY", "status": status, "payload": {}, "results": []}),
    ))
}

/// Pins a memory that gets positive feedback: it ranks before units of equal score. Negative feedback has no equivalent
/// that could be undone without loss.
pub(super) async fn feedback(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let id = request::text(&fields, "memory_id")?.ok_or_else(|| Problem::invalid("memory_id: is missing"))?;
    let found = locate::memory(&app, &access, Right::Write, id).await?;
    let said = request::text(&fields, "feedback")?.map(str::to_ascii_uppercase);
    if said.as_deref() != Some("POSITIVE") {
        return Err(unsupported(
            "only POSITIVE is kept, as a pin; use update() for what is wrong, or delete() for what is to go",
        ));
    }
    let reason = request::text(&fields, "feedback_reason")?
        .unwrap_or_default()
        .to_owned();
    let unit = found.memory.unit.id;
    let digest = Sha256::new()
        .chain_update(unit.to_string())
        .chain_update(&reason)
        .finalize();
    let act = NewCuration {
        id: Some(format!("mem0-{}", hex(&digest[..16]))),
        act: NewAct::PinUnit { unit },
        reason: reason.clone(),
    };
    let done = curate::curate(&app, &found.space, act, (access.name(), None)).await?;
    Ok(Json(json!({
        "id": done.curation.id,
        "memory_id": found.memory.id,
        "feedback": field(&fields, "feedback"),
        "feedback_reason": reason,
    })))
}

pub(super) async fn no_events() -> Problem {
    unsupported("changes are not listed; use GET /v1/event/{id}/ with the event_id of a change")
}

/// Returns the problem for an unknown route of mem0.
pub(super) async fn no_route() -> Problem {
    Problem::new(ProblemCode::NoRoute).detail("this is no route of mem0 that Mnemic knows; docs/MEM0.md lists them")
}
