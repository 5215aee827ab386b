//! The bodies of requests and responses. Requests refuse unknown fields; responses may gain some.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

mod memory;
mod query;
mod records;
mod tools;

pub use memory::{DeadLetterPage, EntityPage, FactPage, RecordPage, Space, SpacePage, UnitPage};
pub use query::{Budget, Cost, Filter, Pack, QueryRequest, QueryResponse, StepTime, Strategy};
pub use records::{Accepted, Item, ItemStatus, NewRecord, NewRecords, NewTool, Progress, Record, Tool};
pub use tools::{ToolList, ToolOutcome, ToolProblem, ToolSpec};

/// Where a list goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Paging {
    /// The `next` of the page before; nothing for the first page.
    pub after: Option<String>,
    /// Items wanted, 1 to 1000; 100 if not given.
    pub limit: Option<u32>,
}

/// How long to wait for a write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Waiting {
    /// The write asked about; the newest accepted one that is searchable if not given.
    pub watermark: Option<String>,
    /// Milliseconds to wait until it is searchable; if it then is not, the answer is 504.
    pub wait_ms: Option<u64>,
}
