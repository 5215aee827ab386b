//! What is read from the results of tools: units wherever they stand, with what stands beside them.

use domain::id::UnitId;
use serde_json::Value;

/// Depth of a result that is looked through.
const DEPTH_MAX: usize = 8;
/// Units that are taken from one result.
const UNITS_MAX: usize = 200;

/// A unit in a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) unit: UnitId,
    /// The text beside it; empty if there is none.
    pub(super) text: String,
    /// The weight beside it; 0 if there is none.
    pub(super) weight: f32,
}

/// Returns the units of a result in order, each once: whatever stands under `unit`, with `text` and `weight` beside it.
pub(super) fn units(result: &Value) -> Vec<Found> {
    let mut out = Vec::new();
    look(result, 0, &mut out);
    out
}

fn look(value: &Value, depth: usize, out: &mut Vec<Found>) {
    if depth > DEPTH_MAX || out.len() >= UNITS_MAX {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|it| look(it, depth + 1, out)),
        Value::Object(fields) => {
            let unit = fields.get("unit").and_then(Value::as_str);
            if let Some(unit) = unit.and_then(|it| it.parse::<UnitId>().ok())
                && !out.iter().any(|it| it.unit == unit)
            {
                out.push(Found {
                    unit,
                    text: value["text"].as_str().unwrap_or_default().to_owned(),
                    weight: value["weight"].as_f64().unwrap_or_default() as f32,
                });
            }
            fields.values().for_each(|it| look(it, depth + 1, out));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns a list of a result; empty if there is none of that name.
pub(super) fn list<'a>(result: &'a Value, name: &str) -> &'a [Value] {
    result[name].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the strings of a list.
pub(super) fn strings<'a>(value: &'a Value, name: &str) -> Vec<&'a str> {
    list(value, name).iter().filter_map(Value::as_str).collect()
}
