//! Jobs and settings of profiles. Profiles are derived as memories arrive, so a job has nothing to do. Its id holds its
//! users, sealed, and its state says whether records of these users still wait for derivation.

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use host::clock;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::entities::{name_kept, opened_entities};
use super::errors::unsupported;
use super::profile::{Profile, space_of};
use super::request::{self, Fields, field};
use super::scope::Kind;
use crate::auth::Access;
use crate::config::Right;
use crate::extract::{At, ObjectBody};
use crate::problem::Problem;
use crate::state::App;

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
pub(super) async fn create(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    access.demand(Right::Read)?;
    if request::text(&fields, "entity_type")? != Some(Kind::User.name()) {
        return Err(Problem::invalid(
            "entity_type: is not `user`; profiles are made of users",
        ));
    }
    let operation = request::text(&fields, "operation")?.unwrap_or_default();
    let users = match operation {
        "trigger" => {
            let id = field(&fields, "entity_id").and_then(super::scope::name_of);
            let id = id.ok_or_else(|| Problem::invalid("entity_id: is missing"))?;
            vec![(space_of(&app, &access, Kind::User, &id).await?, id)]
        }
        "sample" => {
            let limit = request::count(&fields, "limit", SAMPLE, SAMPLE_MAX)?;
            sample(&app, &access, limit).await?
        }
        _ => return Err(Problem::invalid("operation: is neither `trigger` nor `sample`")),
    };
    let (spaces, names): (Vec<SpaceId>, Vec<String>) = users.into_iter().unzip();
    let job = Job {
        operation: operation.to_owned(),
        spaces,
    };
    let plain = serde_json::to_vec(&job).map_err(|_| Problem::internal())?;
    let id = app.sealer().await?.seal(&[JOB], &plain)?;
    let done = Done::count(&app, &job).await?;
    let mut shown = json!({
        "job_id": id,
        "status": done.status(),
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
async fn sample(app: &App, access: &Access, limit: usize) -> Result<Vec<(SpaceId, String)>, Problem> {
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
pub(super) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    let unknown = || Problem::not_found("there is no job of this id");
    access.demand(Right::Read)?;
    let plain = app.sealer().await?.open(&[JOB], &id);
    let job: Option<Job> = plain.and_then(|it| serde_json::from_slice(&it).ok());
    let job = job.ok_or_else(unknown)?;
    if !job.spaces.iter().all(|it| access.opens(it.as_str())) {
        return Err(unknown());
    }
    let done = Done::count(&app, &job).await?;
    Ok(Json(json!({"job": {
        "id": id,
        "operation": job.operation,
        "entity_type": Kind::User.name(),
        "status": done.status(),
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
    async fn count(app: &App, job: &Job) -> Result<Done, Problem> {
        let mut done = Done::default();
        let now = clock::now();
        for space in &job.spaces {
            let profile = Profile::read(app, space, now).await?;
            let counted = match (profile.is_behind(), profile.is_empty()) {
                (true, _) => &mut done.waiting,
                (false, true) => &mut done.skipped,
                (false, false) => &mut done.succeeded,
            };
            *counted += 1;
        }
        Ok(done)
    }

    fn status(&self) -> &'static str {
        if self.waiting > 0 { "running" } else { "succeeded" }
    }
}

/// Returns the settings of profiles, which are constant.
pub(super) async fn settings(Extension(access): Extension<Access>) -> Result<Json<Value>, Problem> {
    access.demand(Right::Read)?;
    Ok(Json(settings_shown()))
}

/// Accepts an update of the settings that equals the current ones.
///
/// # Errors
/// 501 for any other update.
pub(super) async fn update_settings(
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    access.demand(Right::Read)?;
    if field(&fields, "enabled").is_some_and(|it| *it != json!(true)) {
        return Err(unsupported(
            "enabled: profiles cannot be switched off, since nothing is made for them; use a key without the right `read`              for whoever is not to see them",
        ));
    }
    let entities = field(&fields, "entities").and_then(Value::as_object);
    for settings in entities
        .into_iter()
        .flat_map(|it| it.values())
        .filter_map(Value::as_object)
    {
        if let Some(name) = ["schema", "custom_instructions"]
            .into_iter()
            .find(|it| field(settings, it).is_some())
        {
            return Err(unsupported(&format!(
                "{name}: profiles hold what is derived without a language model, which alone could follow it; use                  get_profile() for facts, people, places, preferences and topics"
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
