//! Requests about neither memories nor entities: the ping of the client constructors, the state of a change, feedback,
//! and lists of changes, for which Mnemic has no equivalent.

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::api::problem::{Problem, ProblemCode};
use crate::api::{NewAct, NewCuration};
use crate::app::config::Right;
use crate::app::hex::to_hex;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{ObjectBody, PathParameters};
use crate::mem0::administration::project::PROJECT;
use crate::mem0::memories::add::Change;
use crate::mem0::memories::locate;
use crate::mem0::requests::errors::unsupported_problem;
use crate::mem0::requests::request::{self, Fields, present_field};
use crate::use_cases::query;
use crate::use_cases::write::curate;

/// Confirms that the server runs and accepts the key; clients send this request first.
pub(crate) async fn ping() -> Json<Value> {
    Json(json!({"status": "ok", "org_id": PROJECT, "project_id": PROJECT, "user_email": null}))
}

/// Returns the state of a change.
pub(crate) async fn get_event(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
) -> Result<Json<Value>, Problem> {
    let unknown = || Problem::not_found("there is no event with this id");
    access.require_right(Right::Read)?;
    let (space, position) = Change::open_event_id(&app, &id).await?.ok_or_else(unknown)?;
    let space: SpaceId = access.authorize_space(&space, Right::Read).map_err(|_| unknown())?;
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
pub(crate) async fn post_feedback(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let id =
        request::text_field(&fields, "memory_id")?.ok_or_else(|| Problem::invalid_request("memory_id: is missing"))?;
    let found = locate::find_memory(&app, &access, Right::Write, id).await?;
    let feedback = request::text_field(&fields, "feedback")?.map(str::to_ascii_uppercase);
    if feedback.as_deref() != Some("POSITIVE") {
        return Err(unsupported_problem(
            "only POSITIVE is stored, as a pin; use update() to correct a memory, or delete() to remove it",
        ));
    }
    let reason = request::text_field(&fields, "feedback_reason")?
        .unwrap_or_default()
        .to_owned();
    let unit = found.memory.unit.id;
    let digest = Sha256::new()
        .chain_update(unit.to_string())
        .chain_update(&reason)
        .finalize();
    let act = NewCuration {
        id: Some(format!("mem0-{}", to_hex(&digest[..16]))),
        act: NewAct::PinUnit { unit },
        reason: reason.clone(),
    };
    let done = curate::accept_act(&app, &found.space, act, access.name(), None).await?;
    Ok(Json(json!({
        "id": done.curation.id,
        "memory_id": found.memory.id,
        "feedback": present_field(&fields, "feedback"),
        "feedback_reason": reason,
    })))
}

pub(crate) async fn no_events() -> Problem {
    unsupported_problem("changes are not listed; use GET /v1/event/{id}/ with the event_id of a change")
}

/// Returns the problem for an unknown route of mem0.
pub(crate) async fn no_route() -> Problem {
    Problem::new(ProblemCode::NoRoute)
        .with_detail("Mnemic does not know this route of mem0; docs/MEM0.md says which routes it knows")
}
