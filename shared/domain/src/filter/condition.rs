//! Conditions on metadata, and their JSON form.

use std::cmp::Ordering;
use std::fmt;

use chrono::DateTime;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{COMPARISONS_MAX, KEY_BYTES_MAX, LEVELS_MAX, VALUE_BYTES_MAX, check_bytes, check_length};

/// Names of all fields of a condition.
const FIELDS: &[&str] = &[
    "and", "or", "not", "key", "eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "exists",
];

/// A condition on metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All of these hold.
    And(Vec<Condition>),
    /// At least one of these holds.
    Or(Vec<Condition>),
    /// This does not hold.
    Not(Box<Condition>),
    /// The value of a key passes a test.
    Compare(Comparison),
}

/// A test of the value of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The key.
    pub key: String,
    /// The test.
    pub test: Test,
}

/// A test of one value. Metadata values are strings; a number or a boolean in a filter is compared in its JSON
/// notation.
///
/// `Gt`, `Gte`, `Lt` and `Lte` compare numbers if both sides are finite numbers, and times if both sides are RFC 3339
/// times. They hold for nothing else. A key that a record does not have passes only `Ne`, `Nin` and `Exists(false)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// Equal to this string.
    Eq(String),
    /// Not equal to this string.
    Ne(String),
    /// Equal to one of these strings.
    In(Vec<String>),
    /// Equal to none of these strings.
    Nin(Vec<String>),
    /// Greater or later.
    Gt(String),
    /// Greater, later or equal.
    Gte(String),
    /// Less or earlier.
    Lt(String),
    /// Less, earlier or equal.
    Lte(String),
    /// Contains this string; case-sensitive.
    Contains(String),
    /// The key has a value (`true`) or has none (`false`).
    Exists(bool),
}

impl Condition {
    /// Returns true if the condition holds. `holds` returns for each comparison whether it holds.
    pub fn evaluate_with(&self, holds: &impl Fn(&Comparison) -> bool) -> bool {
        match self {
            Condition::And(all) => all.iter().all(|it| it.evaluate_with(holds)),
            Condition::Or(some) => some.iter().any(|it| it.evaluate_with(holds)),
            Condition::Not(one) => !one.evaluate_with(holds),
            Condition::Compare(comparison) => holds(comparison),
        }
    }

    /// Returns true if the condition holds. `holds` has one bit for each of the first 64 comparisons, in order, the
    /// first one in the lowest bit.
    pub fn evaluate_bits(&self, holds: u64) -> bool {
        self.evaluate_from(holds, &mut 0)
    }

    fn evaluate_from(&self, holds: u64, next: &mut u32) -> bool {
        // No short-circuit: every comparison must be counted.
        match self {
            Condition::And(all) => {
                let failed = all.iter().filter(|it| !it.evaluate_from(holds, next)).count();
                failed == 0
            }
            Condition::Or(some) => some.iter().filter(|it| it.evaluate_from(holds, next)).count() > 0,
            Condition::Not(one) => !one.evaluate_from(holds, next),
            Condition::Compare(_) => {
                let bit = *next;
                *next += 1;
                holds.checked_shr(bit).unwrap_or(0) & 1 > 0
            }
        }
    }

    /// Returns the comparisons, in order.
    pub fn list_comparisons(&self) -> Vec<&Comparison> {
        match self {
            Condition::And(several) | Condition::Or(several) => {
                several.iter().flat_map(Self::list_comparisons).collect()
            }
            Condition::Not(one) => one.list_comparisons(),
            Condition::Compare(comparison) => vec![comparison],
        }
    }

    /// Checks the limits. An error names the part, as a path below `path`.
    pub(super) fn check_limits(&self, path: &str) -> Result<(), String> {
        self.check_level(path, 1)?;
        let count = self.list_comparisons().len();
        if count > COMPARISONS_MAX {
            return Err(format!("{path}: has {count} comparisons, more than {COMPARISONS_MAX}"));
        }
        Ok(())
    }

    fn check_level(&self, path: &str, level: usize) -> Result<(), String> {
        if level > LEVELS_MAX {
            return Err(format!("{path}: is nested more than {LEVELS_MAX} levels deep"));
        }
        let several = |name: &str, conditions: &[Condition]| {
            let path = format!("{path}.{name}");
            if conditions.is_empty() {
                return Err(format!("{path}: is empty; leave it out instead"));
            }
            let mut numbered = conditions.iter().enumerate();
            numbered.try_for_each(|(index, it)| it.check_level(&format!("{path}[{index}]"), level + 1))
        };
        match self {
            Condition::And(all) => several("and", all),
            Condition::Or(some) => several("or", some),
            Condition::Not(one) => one.check_level(&format!("{path}.not"), level + 1),
            Condition::Compare(comparison) => comparison.check_limits(path),
        }
    }
}

impl Comparison {
    /// Returns true if the value of the key passes the test; `None` means that the record does not have the key.
    pub fn accepts_value(&self, value: Option<&str>) -> bool {
        let Some(value) = value else {
            return matches!(self.test, Test::Ne(_) | Test::Nin(_) | Test::Exists(false));
        };
        match &self.test {
            Test::Eq(wanted) => value == wanted,
            Test::Ne(wanted) => value != wanted,
            Test::In(wanted) => wanted.iter().any(|it| it == value),
            Test::Nin(wanted) => wanted.iter().all(|it| it != value),
            Test::Gt(bound) => compare_values(value, bound).is_some_and(Ordering::is_gt),
            Test::Gte(bound) => compare_values(value, bound).is_some_and(Ordering::is_ge),
            Test::Lt(bound) => compare_values(value, bound).is_some_and(Ordering::is_lt),
            Test::Lte(bound) => compare_values(value, bound).is_some_and(Ordering::is_le),
            Test::Contains(part) => value.contains(part),
            Test::Exists(wanted) => *wanted,
        }
    }

    fn check_limits(&self, path: &str) -> Result<(), String> {
        if self.key.is_empty() {
            return Err(format!("{path}.key: is empty"));
        }
        check_bytes(&format!("{path}.key"), &self.key, KEY_BYTES_MAX)?;
        let path = format!("{path}.{}", self.test.operator_name());
        match &self.test {
            Test::Eq(it) | Test::Ne(it) | Test::Gt(it) | Test::Gte(it) | Test::Lt(it) | Test::Lte(it) => {
                check_bytes(&path, it, VALUE_BYTES_MAX)
            }
            Test::Contains(part) if part.is_empty() => Err(format!("{path}: is empty; use `exists` instead")),
            Test::Contains(part) => check_bytes(&path, part, VALUE_BYTES_MAX),
            Test::In(values) | Test::Nin(values) => {
                check_length(&path, values.len())?;
                let mut numbered = values.iter().enumerate();
                numbered.try_for_each(|(index, it)| check_bytes(&format!("{path}[{index}]"), it, VALUE_BYTES_MAX))
            }
            Test::Exists(_) => Ok(()),
        }
    }
}

impl Test {
    fn operator_name(&self) -> &'static str {
        match self {
            Test::Eq(_) => "eq",
            Test::Ne(_) => "ne",
            Test::In(_) => "in",
            Test::Nin(_) => "nin",
            Test::Gt(_) => "gt",
            Test::Gte(_) => "gte",
            Test::Lt(_) => "lt",
            Test::Lte(_) => "lte",
            Test::Contains(_) => "contains",
            Test::Exists(_) => "exists",
        }
    }
}

/// Compares a value with a bound. Returns `None` unless both are numbers or both are times.
fn compare_values(value: &str, bound: &str) -> Option<Ordering> {
    let number = |it: &str| it.trim().parse::<f64>().ok().filter(|it| it.is_finite());
    if let (Some(value), Some(bound)) = (number(value), number(bound)) {
        return value.partial_cmp(&bound);
    }
    let moment = |it: &str| DateTime::parse_from_rfc3339(it.trim()).ok();
    Some(moment(value)?.cmp(&moment(bound)?))
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Condition::And(all) => map.serialize_entry("and", all)?,
            Condition::Or(some) => map.serialize_entry("or", some)?,
            Condition::Not(one) => map.serialize_entry("not", one)?,
            Condition::Compare(Comparison { key, test }) => {
                map.serialize_entry("key", key)?;
                let name = test.operator_name();
                match test {
                    Test::In(values) | Test::Nin(values) => map.serialize_entry(name, values)?,
                    Test::Exists(wanted) => map.serialize_entry(name, wanted)?,
                    Test::Eq(it)
                    | Test::Ne(it)
                    | Test::Gt(it)
                    | Test::Gte(it)
                    | Test::Lt(it)
                    | Test::Lte(it)
                    | Test::Contains(it) => map.serialize_entry(name, it)?,
                }
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Condition, D::Error> {
        deserializer.deserialize_map(ConditionVisitor)
    }
}

struct ConditionVisitor;

impl<'de> Visitor<'de> for ConditionVisitor {
    type Value = Condition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a condition: an object with `and`, `or` or `not`, or with `key` and a test such as `eq`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Condition, A::Error> {
        let (mut key, mut tests, mut joined) = (None, Vec::new(), Vec::new());
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "key" if key.is_none() => key = Some(map.next_value::<String>()?),
                "and" => joined.push(Condition::And(map.next_value()?)),
                "or" => joined.push(Condition::Or(map.next_value()?)),
                "not" => joined.push(Condition::Not(Box::new(map.next_value()?))),
                "eq" => tests.push(Test::Eq(read_value(&mut map)?)),
                "ne" => tests.push(Test::Ne(read_value(&mut map)?)),
                "in" => tests.push(Test::In(read_values(&mut map)?)),
                "nin" => tests.push(Test::Nin(read_values(&mut map)?)),
                "gt" => tests.push(Test::Gt(read_value(&mut map)?)),
                "gte" => tests.push(Test::Gte(read_value(&mut map)?)),
                "lt" => tests.push(Test::Lt(read_value(&mut map)?)),
                "lte" => tests.push(Test::Lte(read_value(&mut map)?)),
                "contains" => tests.push(Test::Contains(read_value(&mut map)?)),
                "exists" => tests.push(Test::Exists(map.next_value()?)),
                "key" => return Err(A::Error::duplicate_field("key")),
                _ => return Err(A::Error::unknown_field(&name, FIELDS)),
            }
        }
        match (joined.pop(), key) {
            (Some(only), None) if joined.is_empty() && tests.is_empty() => Ok(only),
            (None, Some(key)) => all_tests_of_key(&key, tests).ok_or_else(|| {
                A::Error::custom(format!(
                    "names the key `{}` without a test such as `eq`",
                    start_of_key(&key)
                ))
            }),
            (None, None) => Err(A::Error::custom("has no `key` and none of `and`, `or` and `not`")),
            (Some(_), None | Some(_)) => Err(A::Error::custom(
                "joins conditions in more than one way; put each into a separate object in `and`",
            )),
        }
    }
}

/// Returns the condition that a key passes all of its tests, or `None` if there is no test.
fn all_tests_of_key(key: &str, tests: Vec<Test>) -> Option<Condition> {
    let comparison = |test: Test| {
        let key = key.to_owned();
        Condition::Compare(Comparison { key, test })
    };
    let mut all: Vec<Condition> = tests.into_iter().map(comparison).collect();
    match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Condition::And(all)),
    }
}

/// Returns the start of a key, for an error message.
fn start_of_key(key: &str) -> &str {
    &key[..key.floor_char_boundary(KEY_BYTES_MAX)]
}

fn read_value<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    map.next_value::<Value>().map(|it| it.0)
}

fn read_values<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Vec<String>, A::Error> {
    let values: Vec<Value> = map.next_value()?;
    Ok(values.into_iter().map(|it| it.0).collect())
}

/// A string, a number or a boolean, as a string.
struct Value(String);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl Visitor<'_> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true or false")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value(text.to_owned()))
    }

    fn visit_bool<E: Error>(self, it: bool) -> Result<Value, E> {
        Ok(Value(it.to_string()))
    }

    fn visit_i64<E: Error>(self, it: i64) -> Result<Value, E> {
        Ok(Value(it.to_string()))
    }

    fn visit_u64<E: Error>(self, it: u64) -> Result<Value, E> {
        Ok(Value(it.to_string()))
    }

    fn visit_f64<E: Error>(self, it: f64) -> Result<Value, E> {
        Ok(Value(it.to_string()))
    }
}
