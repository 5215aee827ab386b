//! Filters of mem0: fields with operators, joined by `AND`, `OR` and `NOT`.
//!
//! A filter determines the spaces to search, and is then evaluated here on the memories in them.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};
use serde_json::{Map, Value};

use crate::api::problem::Problem;
use crate::mem0::filters::comparison::Test;
use crate::mem0::memory::Memory;
use crate::mem0::requests::errors::beyond_bounds_problem;
use crate::mem0::requests::request::parse_moment;
use crate::mem0::requests::scope::{Entity, Kind, check_entity_name, name_of};
use crate::use_cases::validate::json_text;

/// Maximum number of tests in one filter; each value of a list is one test.
const CLAUSES_MAX: usize = 1_000;
/// Maximum number of substring tests in one filter: each reads the full text of every memory.
const PARTS_MAX: usize = 50;
/// Deepest nesting.
const DEPTH_MAX: usize = 50;

/// A condition on memories.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    /// True if all conditions are true.
    All(Vec<Filter>),
    /// True if at least one condition is true.
    Any(Vec<Filter>),
    /// True if the condition is false.
    Not(Box<Filter>),
    /// Tests the name of an entity of this kind.
    Of(Kind, Test<String>),
    /// Tests the time of the first or of the newest version.
    At(Moment, Test<DateTime<FixedOffset>>),
    /// Tests a metadata value of the caller.
    Metadata(String, Test<String>),
    /// Tests the text of the memory.
    Text(Test<String>),
    /// Tests the id of the memory.
    Id(Test<String>),
    /// Tests the categories; memories have no categories.
    Category,
}

/// Selects a time of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Created,
    Updated,
}

/// Spaces to search.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// One entity.
    One(Entity),
    /// All entities of this kind whose spaces the key opens.
    Every(Kind),
}

impl Filter {
    /// Parses a filter.
    ///
    /// # Errors
    /// 400 if it is invalid or exceeds a limit.
    pub(crate) fn from_json(value: &Value) -> Result<Filter, Problem> {
        Reading { clauses: 0, parts: 0 }.parse_filter(value, 0)
    }

    /// Returns the scopes that may hold matching memories; `None` if the filter names no entity.
    pub(crate) fn scopes_to_search(&self) -> Option<BTreeSet<Scope>> {
        match self {
            Filter::All(all) => {
                // A memory of a user is in the space of the user, even if it also belongs to other entities.
                all.iter().filter_map(Filter::scopes_to_search).min_by_key(|it| {
                    let kinds = || it.iter().map(Scope::kind);
                    let has_every = it.iter().any(|it| matches!(it, Scope::Every(_)));
                    (kinds().min(), kinds().max(), has_every, it.len())
                })
            }
            Filter::Any(all) if !all.is_empty() => {
                all.iter()
                    .map(Filter::scopes_to_search)
                    .try_fold(BTreeSet::new(), |mut sum, it| {
                        sum.extend(it?);
                        Some(sum)
                    })
            }
            Filter::Of(kind, Test::Exists) => Some(BTreeSet::from([Scope::Every(*kind)])),
            Filter::Of(kind, Test::In(names)) => {
                let one = |name: &String| {
                    Scope::One(Entity {
                        kind: *kind,
                        name: name.clone(),
                    })
                };
                Some(names.iter().map(one).collect())
            }
            Filter::Of(_, Test::Other(_) | Test::Than(..) | Test::Holds(_) | Test::HoldsFolded(_))
            | Filter::Any(_)
            | Filter::Not(_)
            | Filter::At(..)
            | Filter::Metadata(..)
            | Filter::Text(_)
            | Filter::Id(_)
            | Filter::Category => None,
        }
    }

    /// Returns true if the filter matches every memory in its scopes.
    pub(crate) fn is_scope_alone(&self) -> bool {
        match self {
            Filter::Of(..) => self.scopes_to_search().is_some(),
            Filter::All(all) => match all.as_slice() {
                [one] => one.is_scope_alone(),
                [] | [_, _, ..] => false,
            },
            Filter::Any(_)
            | Filter::Not(_)
            | Filter::At(..)
            | Filter::Metadata(..)
            | Filter::Text(_)
            | Filter::Id(_)
            | Filter::Category => false,
        }
    }

    /// Returns true if the filter matches a memory.
    pub(crate) fn accepts_memory(&self, memory: &Memory) -> bool {
        match self {
            Filter::All(all) => all.iter().all(|it| it.accepts_memory(memory)),
            Filter::Any(all) => all.iter().any(|it| it.accepts_memory(memory)),
            Filter::Not(it) => !it.accepts_memory(memory),
            Filter::Of(kind, test) => test.accepts_text(memory.entities.get(*kind)),
            Filter::At(Moment::Created, test) => test.accepts_moment(memory.created_at),
            Filter::At(Moment::Updated, test) => test.accepts_moment(memory.updated_at()),
            Filter::Metadata(name, test) => test.accepts_text(memory.metadata_value(name)),
            Filter::Text(test) => test.accepts_text(Some(memory.text())),
            Filter::Id(test) => test.accepts_text(Some(&memory.id.to_string())),
            Filter::Category => false,
        }
    }
}

impl Scope {
    fn kind(&self) -> Kind {
        match self {
            Scope::One(entity) => entity.kind,
            Scope::Every(kind) => *kind,
        }
    }
}

/// State while a filter is parsed.
struct Reading {
    clauses: usize,
    /// Number of substring tests so far.
    parts: usize,
}

impl Reading {
    fn parse_filter(&mut self, value: &Value, depth: usize) -> Result<Filter, Problem> {
        if depth > DEPTH_MAX {
            return Err(beyond_bounds_problem(format!(
                "filters: are nested deeper than {DEPTH_MAX}"
            )));
        }
        let Value::Object(fields) = value else {
            return Err(Problem::invalid_request(
                "filters: is not an object, or a part of it is not an object",
            ));
        };
        let mut all = Vec::new();
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            all.push(match name.to_ascii_uppercase().as_str() {
                "AND" => Filter::All(self.parse_list(name, value, depth)?),
                "OR" => Filter::Any(self.parse_list(name, value, depth)?),
                "NOT" => Filter::Not(Box::new(Filter::Any(self.parse_list(name, value, depth)?))),
                _ => self.parse_field(name, value)?,
            });
        }
        Ok(match all.pop() {
            Some(one) if all.is_empty() => one,
            last => {
                all.extend(last);
                Filter::All(all)
            }
        })
    }

    fn parse_list(&mut self, name: &str, value: &Value, depth: usize) -> Result<Vec<Filter>, Problem> {
        match value {
            Value::Array(all) => all.iter().map(|it| self.parse_filter(it, depth + 1)).collect(),
            one @ Value::Object(_) => Ok(vec![self.parse_filter(one, depth + 1)?]),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Err(Problem::invalid_request(format!("filters.{name}: is not a list")))
            }
        }
    }

    fn parse_field(&mut self, name: &str, value: &Value) -> Result<Filter, Problem> {
        if let Some(kind) = Kind::of_field(name) {
            let read = |it: &Value| {
                let name = name_of(it).ok_or_else(|| format!("{name}: is empty, or is not a text"))?;
                check_entity_name(kind, &name).map_err(|it| it.detail)?;
                Ok(name)
            };
            return self.parse_tests(name, value, read, |test| Filter::Of(kind, test));
        }
        let text = |it: &Value| Ok(json_text(it));
        match name {
            "created_at" | "timestamp" => {
                self.parse_tests(name, value, parse_moment, |it| Filter::At(Moment::Created, it))
            }
            "updated_at" => self.parse_tests(name, value, parse_moment, |it| Filter::At(Moment::Updated, it)),
            // A keyword always tests a part of the memory, never the whole text.
            it if TEXT.contains(&it) => self.parse_tests(name, value, text, |it| Filter::Text(it.of_part())),
            "id" | "memory_id" | "memory_ids" => self.parse_tests(name, value, text, Filter::Id),
            "categories" | "category" => self.parse_tests(name, value, text, |_| Filter::Category),
            "metadata" => match value {
                Value::Object(fields) => self.parse_metadata(fields),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    Err(Problem::invalid_request("filters.metadata: is not an object"))
                }
            },
            // As in the open-source server, any other field is a metadata field.
            other => self.parse_tests(other, value, text, |it| Filter::Metadata(other.to_owned(), it)),
        }
    }

    fn parse_metadata(&mut self, fields: &Map<String, Value>) -> Result<Filter, Problem> {
        let text = |it: &Value| Ok(json_text(it));
        let mut all = Vec::new();
        for (name, value) in fields {
            all.push(self.parse_tests(name, value, text, |it| Filter::Metadata(name.clone(), it))?);
        }
        Ok(Filter::All(all))
    }

    /// Parses the tests of a field: a value, a list of values, or an object of operators.
    fn parse_tests<T>(
        &mut self,
        name: &str,
        value: &Value,
        read: impl Fn(&Value) -> Result<T, String>,
        test: impl Fn(Test<T>) -> Filter,
    ) -> Result<Filter, Problem> {
        let mut all = Vec::new();
        let is_operator = |it: &String| OPERATORS.contains(&it.as_str());
        match value {
            Value::Object(operators) if !operators.is_empty() && operators.keys().all(is_operator) => {
                for (operator, value) in operators {
                    all.push(test(self.parse_test(name, operator, value, &read)?));
                }
            }
            Value::Array(_) => all.push(test(self.parse_test(name, "in", value, &read)?)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                all.push(test(self.parse_test(name, "eq", value, &read)?));
            }
        }
        Ok(match all.pop() {
            Some(one) if all.is_empty() => one,
            last => {
                all.extend(last);
                Filter::All(all)
            }
        })
    }

    fn parse_test<T>(
        &mut self,
        name: &str,
        operator: &str,
        value: &Value,
        read: &impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Test<T>, Problem> {
        let values: Vec<&Value> = match value {
            Value::Array(all) => all.iter().collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![value],
        };
        self.clauses += values.len().max(1);
        if self.clauses > CLAUSES_MAX {
            return Err(beyond_bounds_problem(format!(
                "filters: have more than {CLAUSES_MAX} clauses"
            )));
        }
        self.parts += usize::from(TEXT.contains(&name) || matches!(operator, "contains" | "icontains"));
        if self.parts > PARTS_MAX {
            return Err(beyond_bounds_problem(format!(
                "filters: look for more than {PARTS_MAX} parts of texts"
            )));
        }
        if value.as_str() == Some("*") {
            return Ok(Test::Exists);
        }
        let read = |it: &Value| read(it).map_err(|error| Problem::invalid_request(format!("filters.{name}: {error}")));
        let than = |orderings: &[Ordering]| Ok(Test::Than(orderings.to_vec(), read(value)?));
        match operator {
            "ne" => read(value).map(Test::Other),
            "gt" => than(&[Ordering::Greater]),
            "gte" => than(&[Ordering::Greater, Ordering::Equal]),
            "lt" => than(&[Ordering::Less]),
            "lte" => than(&[Ordering::Less, Ordering::Equal]),
            "contains" => Ok(Test::Holds(json_text(value))),
            "icontains" => Ok(Test::HoldsFolded(json_text(value).to_lowercase())),
            _ => Ok(Test::In(values.into_iter().map(read).collect::<Result<_, _>>()?)),
        }
    }
}

/// Names of fields that mean the text of the memory.
const TEXT: [&str; 3] = ["keywords", "memory", "text"];
const OPERATORS: [&str; 9] = ["eq", "in", "ne", "gt", "gte", "lt", "lte", "contains", "icontains"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scopes_of_json(filter: Value) -> Option<Vec<String>> {
        let shown = |it: Scope| match it {
            Scope::One(entity) => format!("{} {}", entity.kind.name(), entity.name),
            Scope::Every(kind) => format!("every {}", kind.name()),
        };
        let scopes = Filter::from_json(&filter).unwrap().scopes_to_search();
        scopes.map(|it| it.into_iter().map(shown).collect())
    }

    #[test]
    fn filters_determine_the_spaces_to_search() {
        let some = |all: &[&str]| Some(all.iter().map(|it| (*it).to_owned()).collect());
        for (filter, expected) in [
            (json!({"user_id": "ann"}), some(&["user ann"])),
            (json!({"user_id": "ann", "agent_id": "b"}), some(&["user ann"])),
            (json!({"user_id": "*", "agent_id": "b"}), some(&["every user"])),
            (json!({"agent_id": "b", "city": "Oslo"}), some(&["agent b"])),
            (
                json!({"OR": [{"user_id": "ann"}, {"run_id": ["r", "s"]}]}),
                some(&["user ann", "run r", "run s"]),
            ),
            (
                json!({"AND": [{"OR": [{"user_id": "ann"}, {"agent_id": "b"}]}, {"agent_id": "b"}]}),
                some(&["user ann", "agent b"]),
            ),
            (json!({"OR": [{"user_id": "ann"}, {"city": "Oslo"}]}), None),
            (json!({"NOT": [{"user_id": "ann"}]}), None),
            (json!({"user_id": {"ne": "ann"}}), None),
            (json!({}), None),
        ] {
            assert_eq!(scopes_of_json(filter.clone()), expected, "{filter}");
        }
    }

    #[test]
    fn numeric_texts_are_compared_as_numbers() {
        let holds = |operator: &str, than: Value, value: &str| {
            let filter = Filter::from_json(&json!({"metadata": {"n": {operator: than}}})).unwrap();
            let Filter::All(all) = filter else {
                panic!("{filter:?}");
            };
            let [Filter::Metadata(_, test)] = all.as_slice() else {
                panic!("{all:?}");
            };
            test.accepts_text(Some(value))
        };
        assert!(holds("gt", json!(9), "10") && !holds("gt", json!(10), "10") && holds("gte", json!("10"), "10"));
        assert!(
            holds("lt", json!("b"), "a")
                && holds("icontains", json!("OS"), "Oslo")
                && !holds("contains", json!("OS"), "Oslo")
        );
        assert!(holds("ne", json!("a"), "b") && holds("in", json!(["a", "b"]), "b") && holds("eq", json!("*"), "x"));
    }

    #[test]
    fn invalid_filters_are_refused() {
        for filter in [
            json!([]),
            json!({"AND": 7}),
            json!({"created_at": {"gte": "soon"}}),
            json!({"user_id": {"in": [{}]}}),
            json!({"metadata": 7}),
        ] {
            assert!(Filter::from_json(&filter).is_err(), "{filter}");
        }
    }
}
