use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::{QueryFilter, Request};
use crate::code::ToolCode;
use crate::filter::Filter;
use crate::id::SpaceId;

/// Asks for the catalogue of tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolsV1 {}

/// One tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpecV1 {
    /// Name of the tool.
    pub name: String,
    /// Description for a model: what the tool does and when to use it.
    pub description: String,
    /// JSON schema of its arguments.
    pub input_schema: serde_json::Value,
}

impl Request for ToolsV1 {
    const SUBJECT: &'static str = "tools.v1";
    type Reply = Vec<ToolSpecV1>;
}

/// Calls a tool of the catalogue in a space that exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolV1 {
    /// The space to search.
    pub space: SpaceId,
    /// Name of the tool.
    pub name: String,
    /// Arguments, as the caller gave them.
    pub arguments: serde_json::Value,
    /// Only knowledge from this moment or before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<DateTime<FixedOffset>>,
    /// Only knowledge from records with these tags and this metadata.
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    pub labels: Filter,
    /// Only knowledge from units that this filter admits; if it has labels, these and `labels` both apply. A strategy
    /// sends the filter of its question.
    #[serde(default, skip_serializing_if = "QueryFilter::is_empty")]
    pub filter: QueryFilter,
}

/// The outcome of a tool call: either `result` or `error`. An unusable call is reported to the caller as `error`; it is
/// not a failure of the request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolledV1 {
    /// The result, JSON defined by the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<serde_json::Value>,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolErrorV1>,
}

/// Why a call returned nothing, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolErrorV1 {
    /// The name of a [`ToolCode`].
    pub code: String,
    /// One sentence that states the problem and what to do.
    pub message: String,
}

impl ToolErrorV1 {
    /// Makes the error with this code.
    pub fn new(code: ToolCode, message: impl Into<String>) -> ToolErrorV1 {
        ToolErrorV1 {
            code: code.name().to_owned(),
            message: message.into(),
        }
    }
}

impl Request for ToolV1 {
    const SUBJECT: &'static str = "tool.v1";
    type Reply = ToolledV1;
}
