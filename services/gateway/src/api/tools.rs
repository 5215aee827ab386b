use domain::message::{ToolErrorV1, ToolSpecV1};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The tools; they are the same in every space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolList {
    /// Sorted by name.
    pub tools: Vec<ToolSpec>,
}

/// One tool, as described to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: String,
    /// What the tool does, and when to use it.
    pub description: String,
    /// JSON schema of its arguments.
    #[schema(value_type = Object)]
    pub input_schema: Value,
}

/// The outcome of a tool call: a result, or an error that the model can read and correct.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolOutcome {
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub result: Option<Value>,
    /// Reason why there is no result, and the next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolProblem>,
    /// The cost of the call.
    pub cost: ToolCost,
}

/// The cost of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolCost {
    /// Number of calls of a language model.
    pub model_calls: u32,
    /// Time in milliseconds.
    pub ms: f32,
}

/// The error of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolProblem {
    /// `unknown_tool`, `bad_arguments`, `not_found` or `unavailable`.
    pub code: String,
    /// The error and the next step.
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
