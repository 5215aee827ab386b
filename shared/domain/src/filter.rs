//! Filters over the labels that callers store with their records: tags and metadata.
//!
//! A filter is written as JSON, for example `{"tags": {"any": ["work"], "none": ["draft"]}, "metadata": {"and":
//! [{"key": "lang", "eq": "de"}, {"key": "n", "gt": 3}]}}`.

mod condition;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

pub use condition::{Comparison, Condition, Test};

/// Maximum number of tags of a record.
pub const TAGS_MAX: usize = 32;
/// Maximum length of a tag, in bytes.
pub const TAG_BYTES_MAX: usize = 128;
/// Maximum number of comparisons in a filter.
pub const COMPARISONS_MAX: usize = 64;
/// Maximum nesting of a condition; a single comparison has one level.
pub const LEVELS_MAX: usize = 8;
/// Maximum number of tags or values in one list of a filter.
pub const VALUES_MAX: usize = 100;
/// Maximum length of a metadata key, in bytes.
pub const KEY_BYTES_MAX: usize = 64;
/// Maximum length of a metadata value, in bytes.
pub const VALUE_BYTES_MAX: usize = 1_024;

/// Selects records by their tags and their metadata. An empty filter accepts every record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = LabelFilter))]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Condition on the tags.
    #[serde(skip_serializing_if = "TagFilter::is_empty", deserialize_with = "from_object")]
    pub tags: TagFilter,
    /// Condition on the metadata: a comparison of one key (`{"key": "lang", "eq": "de"}`; `eq`, `ne`, `in`, `nin`,
    /// `gt`, `gte`, `lt`, `lte`, `contains`, `exists`), or `and`, `or` (lists of conditions) or `not` (a condition).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub metadata: Option<Condition>,
}

/// The tags that a record must or must not have. Empty lists restrict nothing; tags are compared as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TagFilter {
    /// At least one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// All of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<String>,
    /// None of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub none: Vec<String>,
}

impl Filter {
    /// Returns true if the filter accepts every record.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.metadata.is_none()
    }

    /// Returns true if the filter accepts a record with these tags and this metadata.
    pub fn matches_labels(&self, tags: &[String], metadata: &BTreeMap<String, String>) -> bool {
        let holds = |it: &Comparison| it.accepts_value(metadata.get(&it.key).map(String::as_str));
        self.tags.matches_tags(|tag| tags.iter().any(|it| it == tag))
            && self.metadata.as_ref().is_none_or(|it| it.evaluate_with(&holds))
    }

    /// Checks the limits of a filter.
    ///
    /// # Errors
    ///
    /// Names the first part that exceeds a limit, as a path below `path`, and the limit.
    pub fn check_limits(&self, path: &str) -> Result<(), String> {
        let lists = [
            ("any", &self.tags.any),
            ("all", &self.tags.all),
            ("none", &self.tags.none),
        ];
        for (name, tags) in lists {
            let path = format!("{path}.tags.{name}");
            check_length(&path, tags.len())?;
            for (index, tag) in tags.iter().enumerate() {
                check_tag(&format!("{path}[{index}]"), tag)?;
            }
        }
        match &self.metadata {
            Some(condition) => condition.check_limits(&format!("{path}.metadata")),
            None => Ok(()),
        }
    }
}

impl TagFilter {
    /// Returns true if the tags are not restricted.
    pub fn is_empty(&self) -> bool {
        self.any.is_empty() && self.all.is_empty() && self.none.is_empty()
    }

    fn matches_tags(&self, has: impl Fn(&String) -> bool) -> bool {
        (self.any.is_empty() || self.any.iter().any(&has)) && self.all.iter().all(&has) && !self.none.iter().any(&has)
    }
}

/// Returns tags as a record stores them: sorted, without duplicates.
///
/// # Errors
///
/// Names the first invalid tag, or says that there are more than [`TAGS_MAX`].
pub fn checked_tags(path: &str, mut tags: Vec<String>) -> Result<Vec<String>, String> {
    if tags.len() > TAGS_MAX {
        return Err(format!("{path}: has {} tags, more than {TAGS_MAX}", tags.len()));
    }
    for (index, tag) in tags.iter().enumerate() {
        check_tag(&format!("{path}[{index}]"), tag)?;
    }
    tags.sort_unstable();
    tags.dedup();
    Ok(tags)
}

/// Reads tags from an object only. By default, serde would also read a struct from a list, with one value for each
/// field.
fn from_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TagFilter, D::Error> {
    deserializer.deserialize_map(TagFilterVisitor)
}

struct TagFilterVisitor;

impl<'de> Visitor<'de> for TagFilterVisitor {
    type Value = TagFilter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<TagFilter, A::Error> {
        TagFilter::deserialize(MapAccessDeserializer::new(fields))
    }
}

fn check_tag(path: &str, tag: &str) -> Result<(), String> {
    if tag.trim().is_empty() {
        return Err(format!("{path}: is empty; leave it out instead"));
    }
    check_bytes(path, tag, TAG_BYTES_MAX)?;
    match tag.chars().find(|it| it.is_control()) {
        Some(control) => Err(format!(
            "{path}: holds the control character U+{:04X}",
            u32::from(control)
        )),
        None => Ok(()),
    }
}

fn check_bytes(path: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    if text.len() > bytes_max {
        return Err(format!("{path}: has {} bytes, more than {bytes_max}", text.len()));
    }
    Ok(())
}

fn check_length(path: &str, length: usize) -> Result<(), String> {
    if length > VALUES_MAX {
        return Err(format!("{path}: has {length} entries, more than {VALUES_MAX}"));
    }
    Ok(())
}
