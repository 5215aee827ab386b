//! Jobs and settings of profiles. Profiles are derived as memories arrive, so a job has nothing to do. Its id holds its
//! users, sealed, and its state says whether records of these users still wait for derivation.

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use host::clock;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{ObjectBody, PathParameters};
use crate::mem0::entities::{name_kept, opened_entities};
use crate::mem0::profiles::profile::{Profile, space_of};
use crate::mem0::requests::errors::unsupported_problem;
use crate::mem0::requests::request::{self, Fields, present_field};
use crate::mem0::requests::scope::Kind;

/// Default and maximum number of users of a sample.
const SAMPLE: usize = 3;
const SAMPLE_MAX: usize = 10;
/// Maximum number of spaces examined for a sample.
const SPACES_MAX: usize = 1_000;
/// Purpose in the seal of the id of a job.
const JOB: &str = "mem0 profile job";

/// Contents of the id of a job.
#[derive(Serialize, Deserialize)]
struct Job {
    operation: String,
    spaces: Vec<SpaceId>,
}

/// Creates a job for one user, or for a sample of users.
pub(crate) async fn create_job(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    access.require_right(Right::Read)?;
    if request::text_field(&fields, "entity_type")? != Some(Kind::User.name()) {
        return Err(Problem::invalid_request(
            "entity_type: is not `user`; profiles are made of users",
        ));
    }
    let operation = request::text_field(&fields, "operation")?.unwrap_or_default();
    let users = match operation {
        "trigger" => {
            let id = present_field(&fields, "entity_id").and_then(crate::mem0::requests::scope::name_of);
            let id = id.ok_or_else(|| Problem::invalid_request("entity_id: is missing"))?;
            vec![(space_of(&app, &access, Kind::User, &id).await?, id)]
        }
        "sample" => {
            let limit = request::integer_field(&fields, "limit", SAMPLE, SAMPLE_MAX)?;
            sample_users(&app, &access, limit).await?
        }
        _ => return Err(Problem::invalid_request("operation: is neither `trigger` nor `sample`")),
    };
    let (spaces, names): (Vec<SpaceId>, Vec<String>) = users.into_iter().unzip();
    let job = Job {
        operation: operation.to_owned(),
        spaces,
    };
    let plain = serde_json::to_vec(&job).map_err(|_| Problem::internal_error())?;
    let id = app.sealer().await?.seal_value(&[JOB], &plain)?;
    let done = Done::count_users(&app, &job).await?;
    let mut shown = json!({
        "job_id": id,
        "status": done.status_name(),
        // Clients append it to their `host`, which already contains our prefix.
        "status_url": format!("/v2/profiles/jobs/{id}/"),
        "operation": job.operation,
        "entity_type": Kind::User.name(),
        "entity_count_reserved": 0,
        "event_id": null,
        "replayed": false,
    });
    if operation == "sample" {
        shown["sampled"] = json!(names.len());
        shown["entity_ids"] = json!(names);
    }
    Ok(Json(shown))
}

/// Returns the first users whose spaces the key opens, in the order of the names of the spaces.
async fn sample_users(app: &App, access: &Access, limit: usize) -> Result<Vec<(SpaceId, String)>, Problem> {
    let mut users = Vec::new();
    for (kind, name, info) in opened_entities(app, access, SPACES_MAX).await? {
        if users.len() >= limit {
            break;
        }
        if kind != Kind::User {
            continue;
        }
        let name = match name {
            Some(name) => Some(name),
            None => name_kept(app, kind, &info.space).await?,
        };
        users.extend(name.map(|it| (info.space, it)));
    }
    Ok(users)
}

/// Returns the progress of a job.
pub(crate) async fn get_job(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
) -> Result<Json<Value>, Problem> {
    let unknown = || Problem::not_found("there is no job with this id");
    access.require_right(Right::Read)?;
    let plain = app.sealer().await?.open_value(&[JOB], &id);
    let job: Option<Job> = plain.and_then(|it| serde_json::from_slice(&it).ok());
    let job = job.ok_or_else(unknown)?;
    if !job.spaces.iter().all(|it| access.opens_space(it.as_str())) {
        return Err(unknown());
    }
    let done = Done::count_users(&app, &job).await?;
    Ok(Json(json!({"job": {
        "id": id,
        "operation": job.operation,
        "entity_type": Kind::User.name(),
        "status": done.status_name(),
        "total": job.spaces.len(),
        "enumeration_complete": true,
        "completed": done.succeeded + done.skipped,
        "succeeded": done.succeeded,
        "failed": 0,
        "skipped": done.skipped,
    }})))
}

/// Progress of a job.
#[derive(Default)]
struct Done {
    /// Number of users for whom derivation is complete.
    succeeded: usize,
    /// Number of users who were erased or have no derived data.
    skipped: usize,
    /// Number of users whose records still wait for derivation.
    waiting: usize,
}

impl Done {
    async fn count_users(app: &App, job: &Job) -> Result<Done, Problem> {
        let mut done = Done::default();
        let now = clock::now();
        for space in &job.spaces {
            let profile = Profile::read_space(app, space, now).await?;
            let counted = match (profile.is_behind(), profile.is_empty()) {
                (true, _) => &mut done.waiting,
                (false, true) => &mut done.skipped,
                (false, false) => &mut done.succeeded,
            };
            *counted += 1;
        }
        Ok(done)
    }

    fn status_name(&self) -> &'static str {
        if self.waiting > 0 { "running" } else { "succeeded" }
    }
}

/// Returns the settings of profiles, which are constant.
pub(crate) async fn get_settings(Extension(access): Extension<Access>) -> Result<Json<Value>, Problem> {
    access.require_right(Right::Read)?;
    Ok(Json(settings_shown()))
}

/// Accepts an update of the settings that equals the current ones.
///
/// # Errors
/// 501 for any other update.
pub(crate) async fn update_settings(
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    access.require_right(Right::Read)?;
    if present_field(&fields, "enabled").is_some_and(|it| *it != json!(true)) {
        return Err(unsupported_problem(
            "enabled: profiles cannot be switched off, because nothing is stored for them; use a key without the right `read` for callers that \
             must not see them",
        ));
    }
    let entities = present_field(&fields, "entities").and_then(Value::as_object);
    for settings in entities
        .into_iter()
        .flat_map(|it| it.values())
        .filter_map(Value::as_object)
    {
        if let Some(name) = ["schema", "custom_instructions"]
            .into_iter()
            .find(|it| present_field(settings, it).is_some())
        {
            return Err(unsupported_problem(&format!(
                "{name}: profiles are derived by rules, and only a language model could follow it; use get_profile() for facts, people, \
                 places, preferences and topics"
            )));
        }
    }
    Ok(Json(settings_shown()))
}

fn settings_shown() -> Value {
    json!({
        "enabled": true,
        "entities": {"user": {"schema": null, "custom_instructions": null}},
        "capabilities": {"schema": false, "custom_instructions": false, "entity_types": ["user"]},
    })
}
