//! The tools a model may call to look around in a space. A call that cannot be used is told to the model, never an abort.

use domain::id::{SpaceId, UnitId};
use domain::port::Search;
use domain::relation::Relation;
use domain::unit::{Status, Unit};
use domain::{Classify, ErrorKind, PortError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::api::{Record, ToolOutcome, ToolProblem, ToolSpec};
use crate::extract::at_path;
use crate::state::App;
use crate::validate;

const LIMIT_MAX: u32 = 50;
const NEIGHBOURS_MAX: u32 = 20;
const RELATIONS_MAX: usize = 200;
/// Hits asked for beside each unit wanted, since a long unit is found by each of its parts.
const PARTS: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Retrieve {
    query: String,
    #[serde(default = "ten")]
    limit: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expand {
    unit: UnitId,
    #[serde(default = "ten")]
    limit: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Surroundings {
    unit: UnitId,
    #[serde(default = "three")]
    before: u32,
    #[serde(default = "three")]
    after: u32,
}

/// Returns the tools by name.
pub(crate) fn catalogue() -> Vec<ToolSpec> {
    let unit =
        json!({"type": "string", "format": "uuid", "description": "Id of a unit, as another tool or a query gave it"});
    let limit = json!({"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": 10});
    let neighbours = json!({"type": "integer", "minimum": 0, "maximum": NEIGHBOURS_MAX, "default": 3});
    let query = json!({"type": "string", "description": "What is sought, in plain words"});
    vec![
        spec(
            "expand_unit",
            "Lists the units that a unit is related to, each with the type and direction of the relation. Use it to follow causes, sequels and contrasts.",
            &json!({"unit": unit, "limit": limit}),
            &["unit"],
        ),
        spec(
            "lexical_retrieve",
            "Finds units that share words with the query, best first. Use it for names, numbers and exact wording.",
            &json!({"query": query, "limit": limit}),
            &["query"],
        ),
        spec(
            "query_event_context",
            "Returns what was said or done just before and after a unit in its session. Use it to understand a line that leans on its surroundings.",
            &json!({"unit": unit, "before": neighbours, "after": neighbours}),
            &["unit"],
        ),
        spec(
            "semantic_retrieve",
            "Finds units near in meaning to the query, best first. Use it when the wording is not known.",
            &json!({"query": query, "limit": limit}),
            &["query"],
        ),
    ]
}

/// Calls a tool of a space that exists.
pub(crate) async fn call(app: &App, space: &SpaceId, name: &str, arguments: Value) -> ToolOutcome {
    let outcome = match name {
        "semantic_retrieve" => retrieve(app, space, arguments, By::Meaning).await,
        "lexical_retrieve" => retrieve(app, space, arguments, By::Words).await,
        "expand_unit" => expand(app, space, arguments).await,
        "query_event_context" => surroundings(app, space, arguments).await,
        _ => {
            let known: Vec<String> = catalogue().into_iter().map(|it| it.name).collect();
            Err(problem(
                "unknown_tool",
                format!("there is no such tool; there are: {}", known.join(", ")),
            ))
        }
    };
    match outcome {
        Ok(result) => ToolOutcome {
            result: Some(result),
            error: None,
        },
        Err(error) => ToolOutcome {
            result: None,
            error: Some(error),
        },
    }
}

/// Which search a tool makes.
#[derive(Clone, Copy)]
enum By {
    Words,
    Meaning,
}

/// Searches the index itself: what a tool promises, words or meaning, is not to be outvoted by what a question would want.
async fn retrieve(app: &App, space: &SpaceId, arguments: Value, by: By) -> Result<Value, ToolProblem> {
    let Retrieve { query, limit } = read(arguments)?;
    bounded("limit", limit, 1, LIMIT_MAX)?;
    validate::content("query", &query, app.config.question_bytes_max).map_err(bad)?;
    if query.trim().is_empty() {
        return Err(bad("query: is empty; say what is sought".to_owned()));
    }
    let stores = app.stores();
    let mut search = Search {
        limit: limit as usize * PARTS,
        ..Search::default()
    };
    match by {
        By::Words => search.words = Some(text::sparse::words(&query)),
        By::Meaning => search.dense = stores.embedder.embed(&[query]).await.map_err(failed)?.pop(),
    }
    let found = stores.index.search(space, &search).await.map_err(failed)?;
    let mut best: Vec<(UnitId, f32)> = Vec::new();
    for hit in found.words.into_iter().chain(found.dense) {
        if !best.iter().any(|it| it.0 == hit.unit) {
            best.push((hit.unit, hit.score));
        }
    }
    let ids: Vec<UnitId> = best.iter().map(|it| it.0).collect();
    let units = stores.graph.units(space, &ids).await.map_err(failed)?;
    let told = units
        .iter()
        .filter(|it| it.status == Status::Active)
        .take(limit as usize);
    let told = told.map(|it| {
        let score = best.iter().find(|hit| hit.0 == it.id).map(|hit| hit.1);
        json!({"unit": it.id, "external_ids": it.external_ids, "observed_at": it.observed_at, "actor": it.actor,
            "text": shown(it), "score": score})
    });
    Ok(json!({"units": told.collect::<Vec<Value>>()}))
}

fn shown(unit: &Unit) -> String {
    if unit.caption.is_empty() {
        unit.text.clone()
    } else {
        format!("{} [{}]", unit.text, unit.caption).trim().to_owned()
    }
}

async fn expand(app: &App, space: &SpaceId, arguments: Value) -> Result<Value, ToolProblem> {
    let Expand { unit, limit } = read(arguments)?;
    bounded("limit", limit, 1, LIMIT_MAX)?;
    let graph = &app.stores().graph;
    let unit = known(app, space, unit).await?.id;
    let mut relations = graph.relations(space, &[unit], RELATIONS_MAX).await.map_err(failed)?;
    relations.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let others: Vec<UnitId> = relations.iter().map(|it| other(it, unit)).collect();
    let units = graph.units(space, &others).await.map_err(failed)?;
    let related: Vec<Value> = relations
        .iter()
        .filter_map(|relation| Some((relation, units.iter().find(|it| it.id == other(relation, unit))?)))
        .filter(|(_, it)| it.status == Status::Active)
        .take(limit as usize)
        .map(|(relation, it)| {
            let direction = if relation.source == unit { "to" } else { "from" };
            json!({
                "relation": relation.kind, "label": relation.label, "direction": direction, "weight": relation.weight,
                "unit": it.id, "external_ids": it.external_ids, "text": it.summary
            })
        })
        .collect();
    Ok(json!({"unit": unit, "related": related}))
}

async fn surroundings(app: &App, space: &SpaceId, arguments: Value) -> Result<Value, ToolProblem> {
    let Surroundings { unit, before, after } = read(arguments)?;
    bounded("before", before, 0, NEIGHBOURS_MAX)?;
    bounded("after", after, 0, NEIGHBOURS_MAX)?;
    let unit = known(app, space, unit).await?;
    let Some(first) = unit.records.first().copied() else {
        return Ok(json!({"unit": unit.id, "records": []}));
    };
    // `before` of the port counts the record itself.
    let (before, after) = (before as usize + 1, after as usize);
    let records = app
        .stores()
        .records
        .session(space, unit.session, first, before, after)
        .await
        .map_err(failed)?;
    let records: Vec<Record> = records.into_iter().map(Record::from).collect();
    Ok(json!({"unit": unit.id, "records": records}))
}

async fn known(app: &App, space: &SpaceId, unit: UnitId) -> Result<Unit, ToolProblem> {
    let found = app
        .stores()
        .graph
        .units(space, &[unit])
        .await
        .map_err(failed)?
        .into_iter()
        .next();
    found.ok_or_else(|| {
        problem(
            "not_found",
            format!("there is no unit {unit}; take ids from what a tool or a query returned"),
        )
    })
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolProblem> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        bad(at_path(&path, error.inner()))
    })
}

fn bounded(name: &str, value: u32, least: u32, most: u32) -> Result<(), ToolProblem> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(bad(format!("{name}: is not {least} to {most}")))
    }
}

fn bad(message: String) -> ToolProblem {
    problem(
        "bad_arguments",
        format!("{message}; GET the list of tools for the schema, then call again"),
    )
}

fn problem(code: &str, message: String) -> ToolProblem {
    ToolProblem {
        code: code.to_owned(),
        message,
    }
}

fn failed(error: PortError) -> ToolProblem {
    tracing::warn!(error = &error as &dyn std::error::Error, "tool failed");
    match error.kind() {
        ErrorKind::Invalid => bad(error.detail().to_owned()),
        ErrorKind::NotFound => problem("not_found", error.detail().to_owned()),
        ErrorKind::Conflict
        | ErrorKind::Exhausted
        | ErrorKind::Timeout
        | ErrorKind::Unavailable
        | ErrorKind::Damaged
        | ErrorKind::Internal => problem(
            "unavailable",
            "the memory did not answer; go on without it or try once more".to_owned(),
        ),
    }
}

fn other(relation: &Relation, unit: UnitId) -> UnitId {
    if relation.source == unit {
        relation.target
    } else {
        relation.source
    }
}

fn spec(name: &str, description: &str, properties: &Value, required: &[&str]) -> ToolSpec {
    let input_schema =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema,
    }
}

fn ten() -> u32 {
    10
}

fn three() -> u32 {
    3
}
