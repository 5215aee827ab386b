use domain::message::{ToolErrorV1, ToolSpecV1};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The tools, the same in every space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolList {
    /// By name.
    pub tools: Vec<ToolSpec>,
}

/// One tool, as a model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON schema of its arguments.
    #[schema(value_type = Object)]
    pub input_schema: Value,
}

/// What a tool gave: a result, or an error that the model can read and mend.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolOutcome {
    /// What was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub result: Option<Value>,
    /// Why nothing was found, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolProblem>,
    /// What it cost.
    pub cost: ToolCost,
}

/// What a call of a tool cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolCost {
    /// Calls of a language model.
    pub model_calls: u32,
    /// Milliseconds.
    pub ms: f32,
}

/// A call that could not be used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolProblem {
    /// `unknown_tool`, `bad_arguments`, `not_found` or `unavailable`.
    pub code: String,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl From<ToolSpecV1> for ToolSpec {
    fn from(spec: ToolSpecV1) -> ToolSpec {
        ToolSpec {
            name: spec.name,
            description: spec.description,
            input_schema: spec.input_schema,
        }
    }
}

impl From<ToolErrorV1> for ToolProblem {
    fn from(error: ToolErrorV1) -> ToolProblem {
        ToolProblem {
            code: error.code,
            message: error.message,
        }
    }
}
