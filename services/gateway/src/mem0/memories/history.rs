//! History of a memory: the versions of its record.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::UnitId;
use domain::record::Record;
use serde_json::{Map, Value, json};

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::PathParameters;
use crate::mem0::memories::locate;
use crate::mem0::memory::same_part;
use crate::mem0::requests::scope::RESERVED;
use crate::use_cases::write::versions;

/// Returns the versions of a memory, the first one first. The API of mem0 has no pages of a history, so of a long one
/// it returns the newest versions.
pub(crate) async fn list_history(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
) -> Result<Json<Value>, Problem> {
    let found = locate::find_memory(&app, &access, Right::Read, &id).await?;
    let memory = &found.memory;
    let versions = versions::newest_versions(&app, &found.space, memory.first_external_id()).await?;
    let unit = |it: &Record| same_part(memory.unit.id, memory.record.id, it.id);
    let ids: Vec<UnitId> = versions.iter().map(unit).collect();
    let units = app.stores().graph.units(&found.space, &ids).await?;
    let summaries: BTreeMap<UnitId, String> = units.into_iter().map(|it| (it.id, it.summary)).collect();
    let mut before: Option<String> = None;
    let mut all = Vec::new();
    for version in &versions {
        let new = summaries.get(&unit(version)).filter(|it| !it.is_empty());
        let new = new.unwrap_or(&version.text).clone();
        let mut shown = Map::new();
        memory.entities.write_fields(&mut shown);
        let own = version.metadata.iter().filter(|(name, _)| !name.starts_with(RESERVED));
        for (name, value) in [
            ("id", json!(version.id)),
            ("memory_id", json!(memory.id)),
            ("input", json!([{"role": version.actor, "content": version.text}])),
            ("event", json!(if version.version.is_some() { "UPDATE" } else { "ADD" })),
            ("old_memory", json!(before)),
            ("new_memory", json!(new)),
            ("metadata", json!(own.collect::<BTreeMap<_, _>>())),
            ("created_at", json!(memory.created_at)),
            ("updated_at", json!(version.observed_at)),
        ] {
            shown.insert(name.to_owned(), value);
        }
        all.push(Value::Object(shown));
        before = Some(new);
    }
    Ok(Json(Value::Array(all)))
}
