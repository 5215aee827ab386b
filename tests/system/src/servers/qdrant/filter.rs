use std::collections::{HashMap, HashSet};

use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{Condition, FieldCondition, Filter, PayloadSchemaInfo, PayloadSchemaType, Range, Value};
use tonic::Status;
use uuid::Uuid;

use super::request_fields::{parse_uuid, refuse_unknown};

/// A filter whose conditions are all known. Without a condition, it accepts every point.
#[derive(Default)]
pub(super) struct Accepts {
    must: Vec<Test>,
    must_not: Vec<Test>,
}

enum Test {
    /// An empty condition holds for every point.
    Always,
    Ids(HashSet<Uuid>),
    Keywords(String, HashSet<String>),
    Integers(String, HashSet<i64>),
    Within(String, Range),
    All(Accepts),
}

/// Indexed fields of a collection.
pub(super) type Indexes = HashMap<String, PayloadSchemaInfo>;

impl Accepts {
    /// Returns a filter whose fields are all indexed, and rejects any other. A collection in strict mode, which Qdrant
    /// Cloud sets by default, does the same.
    pub(super) fn indexed(filter: Option<&Filter>, indexes: &Indexes) -> Result<Accepts, Status> {
        let accepts = Accepts::of(filter)?;
        match accepts.unindexed(indexes) {
            Some((field, kind)) => Err(Status::invalid_argument(format!(
                "Bad request: Index required but not found for \"{field}\" of one of the following types: [{kind}]. Help: Create an \
                 index for this key or use a different filter."
            ))),
            None => Ok(accepts),
        }
    }

    /// Returns the first field that has no suitable index for its condition, and the kind of the suitable index.
    fn unindexed(&self, indexes: &Indexes) -> Option<(&str, &'static str)> {
        let has =
            |field: &str, kind: PayloadSchemaType| indexes.get(field).is_some_and(|it| it.data_type == i32::from(kind));
        self.must.iter().chain(&self.must_not).find_map(|test| match test {
            Test::Always | Test::Ids(_) => None,
            Test::Keywords(field, _) => {
                (!has(field, PayloadSchemaType::Keyword)).then_some((field.as_str(), "keyword"))
            }
            Test::Integers(field, _) | Test::Within(field, _) => {
                (!has(field, PayloadSchemaType::Integer)).then_some((field.as_str(), "integer"))
            }
            Test::All(inner) => inner.unindexed(indexes),
        })
    }

    fn of(filter: Option<&Filter>) -> Result<Accepts, Status> {
        let Some(filter) = filter else {
            return Ok(Accepts::default());
        };
        refuse_unknown(
            "should and min_should",
            !filter.should.is_empty() || filter.min_should.is_some(),
        )?;
        let all = |conditions: &[Condition]| conditions.iter().map(parse_test).collect::<Result<Vec<Test>, Status>>();
        Ok(Accepts {
            must: all(&filter.must)?,
            must_not: all(&filter.must_not)?,
        })
    }

    pub(super) fn point(&self, id: &Uuid, payload: &HashMap<String, Value>) -> bool {
        let holds = |test: &Test| test.holds(id, payload);
        self.must.iter().all(holds) && !self.must_not.iter().any(holds)
    }
}

impl Test {
    /// Returns true if the condition holds. A condition on a missing field, or on a field of another type, does not
    /// hold.
    fn holds(&self, id: &Uuid, payload: &HashMap<String, Value>) -> bool {
        let value = |key: &str| payload.get(key).and_then(|it| it.kind.as_ref());
        match self {
            Test::Always => true,
            Test::Ids(ids) => ids.contains(id),
            Test::Keywords(key, some) => matches!(value(key), Some(Kind::StringValue(it)) if some.contains(it)),
            Test::Integers(key, some) => matches!(value(key), Some(Kind::IntegerValue(it)) if some.contains(it)),
            Test::Within(key, range) => match value(key) {
                Some(Kind::IntegerValue(it)) => range_contains(range, *it as f64),
                Some(Kind::DoubleValue(it)) => range_contains(range, *it),
                _ => false,
            },
            Test::All(inner) => inner.point(id, payload),
        }
    }
}

fn range_contains(range: &Range, it: f64) -> bool {
    range.gt.is_none_or(|bound| it > bound)
        && range.gte.is_none_or(|bound| it >= bound)
        && range.lt.is_none_or(|bound| it < bound)
        && range.lte.is_none_or(|bound| it <= bound)
}

fn parse_test(condition: &Condition) -> Result<Test, Status> {
    match &condition.condition_one_of {
        None => Ok(Test::Always),
        Some(ConditionOneOf::Field(field)) => of_field(field),
        Some(ConditionOneOf::HasId(has)) => {
            let ids = has.has_id.iter().map(|it| parse_uuid(Some(it)));
            Ok(Test::Ids(ids.collect::<Result<_, _>>()?))
        }
        Some(ConditionOneOf::Filter(inner)) => Ok(Test::All(Accepts::of(Some(inner))?)),
        Some(
            ConditionOneOf::IsEmpty(_)
            | ConditionOneOf::IsNull(_)
            | ConditionOneOf::Nested(_)
            | ConditionOneOf::HasVector(_)
            | ConditionOneOf::Slice(_),
        ) => Err(Status::unimplemented("the stand-in does not know this condition")),
    }
}

fn of_field(field: &FieldCondition) -> Result<Test, Status> {
    let other = field.geo_bounding_box.is_some()
        || field.geo_radius.is_some()
        || field.geo_polygon.is_some()
        || field.values_count.is_some()
        || field.datetime_range.is_some()
        || field.is_empty.is_some()
        || field.is_null.is_some();
    refuse_unknown(
        "this condition on a field",
        other || (field.range.is_some() && field.r#match.is_some()),
    )?;
    let key = field.key.clone();
    if !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Err(Status::invalid_argument(format!("Invalid json path: '{key}'")));
    }
    if let Some(range) = field.range {
        return Ok(Test::Within(key, range));
    }
    match field.r#match.as_ref().and_then(|it| it.match_value.clone()) {
        Some(MatchValue::Keyword(it)) => Ok(Test::Keywords(key, HashSet::from([it]))),
        Some(MatchValue::Keywords(some)) => Ok(Test::Keywords(key, some.strings.into_iter().collect())),
        Some(MatchValue::Integer(it)) => Ok(Test::Integers(key, HashSet::from([it]))),
        Some(MatchValue::Integers(some)) => Ok(Test::Integers(key, some.integers.into_iter().collect())),
        Some(
            MatchValue::Boolean(_)
            | MatchValue::Text(_)
            | MatchValue::ExceptIntegers(_)
            | MatchValue::ExceptKeywords(_)
            | MatchValue::Phrase(_)
            | MatchValue::TextAny(_)
            | MatchValue::Prefix(_)
            | MatchValue::Substring(_),
        )
        | None => Err(Status::unimplemented("the stand-in does not know this match")),
    }
}
