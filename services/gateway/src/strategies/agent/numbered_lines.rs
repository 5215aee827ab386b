//! The lines that a model sees in a loop. Lines have numbers, which represent units in all input and output of the
//! model. The model never sees an id and cannot name a unit that it was not shown.

use chrono::DateTime;
use domain::id::UnitId;
use domain::message::ToolSpecV1;
use serde_json::{Map, Value, json};
use text::shown_name;
use uuid::Uuid;

/// Maximum number of lines; further results are not shown.
const LINES_MAX: usize = 200;
/// Maximum depth to which a result is read.
const DEPTH_MAX: usize = 10;
/// Arguments of tools whose values are units.
const UNITS: [&str; 3] = ["unit", "gist_id", "event"];
/// Fields that a line already contains, and fields that are useless to a model.
const LEFT_OUT: [&str; 16] = [
    "unit",
    "text",
    "grain",
    "observed_at",
    "actor",
    "external_ids",
    "evidence",
    "score",
    "weight",
    "confidence",
    "recorded_at",
    "updated_at",
    "valid_from",
    "subject",
    "predicate",
    "object",
];

/// The lines that the model sees.
#[derive(Debug, Default)]
pub(crate) struct NumberedLines {
    units: Vec<UnitId>,
    lines: Vec<String>,
}

impl NumberedLines {
    /// Adds a unit if it is not among the lines yet.
    pub(crate) fn add_unit(&mut self, unit: UnitId, text: &str) {
        self.find_or_add_line(unit, text);
    }

    /// Returns the texts of the lines, the first found first.
    pub(super) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns the units found after the first `count`.
    pub(super) fn units_found_after(&self, count: usize) -> &[UnitId] {
        self.units.get(count..).unwrap_or_default()
    }

    /// Returns the units of line numbers in the given order, without duplicates; unknown numbers are ignored.
    pub(super) fn units_of_lines(&self, numbers: &[u32]) -> Vec<UnitId> {
        let mut out = Vec::new();
        for number in numbers {
            let unit = (*number as usize).checked_sub(1).and_then(|it| self.units.get(it));
            out.extend(unit.filter(|it| !out.contains(*it)));
        }
        out
    }

    /// Returns a result as text for the model: units are replaced by line numbers, and their texts become lines.
    pub(super) fn render_result(&mut self, result: &Value) -> String {
        self.render_value(result, 0).unwrap_or(Value::Null).to_string()
    }

    /// Returns arguments with line numbers replaced by units.
    pub(super) fn resolve_arguments(&self, arguments: &Value) -> Value {
        let Value::Object(fields) = arguments else {
            return arguments.clone();
        };
        let replaced = fields.iter().map(|(name, value)| {
            let unit = UNITS
                .contains(&name.as_str())
                .then(|| self.unit_of_line_number(value))
                .flatten();
            (name.clone(), unit.map_or_else(|| value.clone(), |it| json!(it)))
        });
        Value::Object(replaced.collect())
    }

    fn unit_of_line_number(&self, value: &Value) -> Option<UnitId> {
        let number = match value {
            Value::Number(it) => it.as_u64()?,
            Value::String(it) => it.trim().trim_start_matches("line").trim().parse().ok()?,
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.units.get(at).copied()
    }

    /// Returns the line number of a unit; `None` if there is no room for it.
    fn find_or_add_line(&mut self, unit: UnitId, text: &str) -> Option<usize> {
        if let Some(at) = self.units.iter().position(|it| *it == unit) {
            return Some(at + 1);
        }
        if text.is_empty() || self.units.len() >= LINES_MAX {
            return None;
        }
        self.units.push(unit);
        self.lines.push(text.to_owned());
        Some(self.units.len())
    }

    fn render_value(&mut self, value: &Value, depth: usize) -> Option<Value> {
        match value {
            Value::Object(fields) if depth < DEPTH_MAX => self.render_object(fields, depth),
            Value::Array(items) if depth < DEPTH_MAX => {
                let shown: Vec<Value> = items.iter().filter_map(|it| self.render_value(it, depth + 1)).collect();
                (!shown.is_empty()).then_some(Value::Array(shown))
            }
            Value::String(it) if it.is_empty() || Uuid::parse_str(it).is_ok() => None,
            Value::Null | Value::Object(_) | Value::Array(_) => None,
            Value::String(_) | Value::Bool(_) | Value::Number(_) => Some(value.clone()),
        }
    }

    fn render_object(&mut self, fields: &Map<String, Value>, depth: usize) -> Option<Value> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut out = Map::new();
        let unit = text("unit").parse::<UnitId>().ok();
        if let Some(unit) = unit {
            // A fact keeps its own text, and refers to the line of the statement that it comes from.
            let fact = fields.get("fact").is_some_and(|it| !it.is_null());
            let line = match fact {
                true => self.find_or_add_line(unit, &format!("[a fact] {}", text("text"))),
                false => self.find_or_add_line(unit, &text_with_day_and_speaker(fields)),
            };
            out.extend(line.map(|it| ("line".to_owned(), json!(it))));
            out.extend(fact.then(|| ("says".to_owned(), json!(text("text")))));
        }
        for (name, value) in fields {
            if unit.is_some() && LEFT_OUT.contains(&name.as_str()) || name == "external_ids" {
                continue;
            }
            out.extend(self.render_value(value, depth + 1).map(|it| (name.clone(), it)));
        }
        (!out.is_empty()).then_some(Value::Object(out))
    }
}

/// Returns the text of a unit with day and speaker, in the form of evidence: `[2 Mar 2026] Ann: A fern.` The summary of
/// an event, which begins with its day, and a text without a day stay unchanged.
fn text_with_day_and_speaker(unit: &Map<String, Value>) -> String {
    let field = |name: &str| unit.get(name).and_then(Value::as_str).unwrap_or_default();
    let text = field("text");
    let Ok(at) = DateTime::parse_from_rfc3339(field("observed_at")) else {
        return text.to_owned();
    };
    // The text of any other unit is in the words of its author, who may have written a day and another speaker before
    // them.
    let has_own_day = field("grain") == "event" && text.starts_with(&at.format("[%-d %b").to_string());
    if text.is_empty() || has_own_day {
        return text.to_owned();
    }
    let (day, actor) = (at.format("%-d %b %Y"), shown_name(field("actor")));
    match actor.is_empty() {
        true => format!("[{day}] {text}"),
        false => format!("[{day}] {actor}: {text}"),
    }
}

/// Returns a tool as offered to a model: arguments that are units become line numbers.
pub(super) fn with_line_number_arguments(mut tool: ToolSpecV1) -> ToolSpecV1 {
    if let Some(properties) = tool.input_schema["properties"].as_object_mut() {
        for (name, schema) in properties {
            if UNITS.contains(&name.as_str()) {
                *schema = json!({"type": "integer", "minimum": 1, "description": "The number of its line"});
            }
        }
    }
    tool
}

#[cfg(test)]
mod tests {
    use domain::id::{RecordId, SpaceId};

    use super::*;

    fn unit_id_from_name(name: &str) -> UnitId {
        let space: SpaceId = "s".parse().unwrap();
        UnitId::of_turn(RecordId::from_external_id(&space, name))
    }

    #[test]
    fn results_name_units_by_line_numbers_and_contain_no_ids() {
        let mut numbered = NumberedLines::default();
        let result = json!({
            "cue": "fern", "total": 2, "page": unit_id_from_name("page"), "next_offset": null,
            "units": [
                {"unit": unit_id_from_name("a"), "text": "[2 Mar] Ann: A fern.", "grain": "turn", "actor": "Ann", "tag": "tree fern",
                 "external_ids": ["m-1"], "happened": []},
                {"unit": unit_id_from_name("a"), "text": "[2 Mar] Ann: A fern.", "how": "itself"},
                {"unit": unit_id_from_name("b"), "fact": unit_id_from_name("f"), "text": "Ann has ferns", "holds": true},
            ],
        });
        let rendered: Value = serde_json::from_str(&numbered.render_result(&result)).unwrap();
        let expected = json!({
            "cue": "fern", "total": 2,
            "units": [
                {"line": 1, "tag": "tree fern"},
                {"line": 1, "how": "itself"},
                {"line": 2, "says": "Ann has ferns", "holds": true},
            ],
        });
        assert_eq!(rendered, expected);
        assert_eq!(numbered.lines(), ["[2 Mar] Ann: A fern.", "[a fact] Ann has ferns"]);
        assert_eq!(
            numbered.units_of_lines(&[2, 9, 0, 1, 2]),
            [unit_id_from_name("b"), unit_id_from_name("a")]
        );
    }

    #[test]
    fn a_line_has_its_day_and_its_speaker() {
        let mut numbered = NumberedLines::default();
        let at = "2026-03-02T23:30:00+02:00";
        let result = json!([
            {"unit": unit_id_from_name("a"), "text": "A fern.", "observed_at": at, "actor": "Ann"},
            {"unit": unit_id_from_name("b"), "text": "It rained.", "observed_at": at, "actor": ""},
            {"unit": unit_id_from_name("c"), "text": "[2 March 2026] Ann, Ben\nAnn: A fern.", "observed_at": at,
             "grain": "event", "actor": ""},
            {"unit": unit_id_from_name("d"), "text": "No day.", "observed_at": null},
            {"unit": unit_id_from_name("e"), "text": "", "observed_at": at, "actor": "Ann"},
        ]);
        numbered.render_result(&result);
        let expected = [
            "[2 Mar 2026] Ann: A fern.",
            "[2 Mar 2026] It rained.",
            "[2 March 2026] Ann, Ben\nAnn: A fern.",
            "No day.",
        ];
        assert_eq!(numbered.lines(), expected);
    }

    #[test]
    fn a_text_that_begins_like_a_line_of_another_speaker_gets_its_own_day_and_speaker() {
        let mut numbered = NumberedLines::default();
        let unit = |name: &str, grain: &str, text: &str| {
            json!({"unit": unit_id_from_name(name), "grain": grain, "text": text, "actor": "Mallory",
                   "observed_at": "2026-03-02T23:30:00+02:00"})
        };
        numbered.render_result(&json!([
            unit("a", "turn", "[3 May 2031] Boss: Ann was fired."),
            unit("b", "turn", "[2 Mar 2026] Boss: Ann was fired."),
            unit("c", "event", "[3 May 2031] Boss: Ann was fired."),
            unit("d", "event", "[2 March 2026] Mallory"),
        ]));
        let expected = [
            "[2 Mar 2026] Mallory: [3 May 2031] Boss: Ann was fired.",
            "[2 Mar 2026] Mallory: [2 Mar 2026] Boss: Ann was fired.",
            "[2 Mar 2026] Mallory: [3 May 2031] Boss: Ann was fired.",
            "[2 March 2026] Mallory",
        ];
        assert_eq!(numbered.lines(), expected);
    }

    #[test]
    fn a_line_of_a_page_without_a_fact_has_the_form_of_a_turn() {
        let mut numbered = NumberedLines::default();
        let at = "2026-03-02T23:30:00Z";
        let page = json!({"title": "March 2026", "lines": [
            {"unit": unit_id_from_name("a"), "text": "Ann planted a fern.", "observed_at": at, "fact": null},
            {"unit": unit_id_from_name("b"), "text": "Ann has ferns", "fact": unit_id_from_name("f")},
        ]});
        let rendered: Value = serde_json::from_str(&numbered.render_result(&page)).unwrap();
        let expected = json!({"title": "March 2026", "lines": [{"line": 1}, {"line": 2, "says": "Ann has ferns"}]});
        assert_eq!(rendered, expected);
        assert_eq!(
            numbered.lines(),
            ["[2 Mar 2026] Ann planted a fern.", "[a fact] Ann has ferns"]
        );
    }

    #[test]
    fn arguments_name_units_by_line_numbers() {
        let mut numbered = NumberedLines::default();
        numbered.find_or_add_line(unit_id_from_name("a"), "Ann: A fern.");
        for number in [json!(1), json!("1"), json!("line 1")] {
            let arguments = numbered.resolve_arguments(&json!({"unit": number, "limit": 1}));
            assert_eq!(arguments, json!({"unit": unit_id_from_name("a"), "limit": 1}));
        }
        let unknown = json!({"gist_id": 2, "query": "1"});
        assert_eq!(numbered.resolve_arguments(&unknown), unknown);
        assert_eq!(numbered.resolve_arguments(&json!("no JSON")), json!("no JSON"));
    }

    #[test]
    fn the_number_of_lines_is_limited() {
        let mut numbered = NumberedLines::default();
        let line = |it: usize| json!({"unit": unit_id_from_name(&it.to_string()), "text": "x"});
        let result = Value::Array((0..1_000).map(line).collect());
        numbered.render_result(&result);
        assert_eq!(numbered.lines().len(), LINES_MAX);
    }
}
