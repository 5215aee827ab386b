//! Bodies of requests and responses. Requests refuse unknown fields; responses may gain fields.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

mod access;
mod curation;
mod dead_letters;
mod erasures;
mod events;
mod json_object;
mod keys;
mod lists;
mod memory;
mod outcomes;
pub(crate) mod problem;
mod query;
mod readings;
mod rebuild;
mod recall;
mod records;
mod tools;

pub use access::KeyAccess;
pub use curation::{Curated, NewAct, NewCuration};
pub use dead_letters::DeadLetter;
pub use erasures::{Erasure, ErasureCheck, ErasureState, Presence, StoreCheck};
pub use events::{Event, EventGap, EventKind};
pub(crate) use json_object::{Object, at_path};
pub use keys::{ApiKey, ApiKeyToken, NewApiKey, Rotation};
pub use lists::{
    ApiKeyPage, AsOf, CurationPage, DeadLetterPage, EntityFilter, EntityPage, ErasurePage, FactFilter, FactPage,
    MergeFilter, MergePage, PageFilter, PagePage, Paging, ReadingFilter, RecordFilter, RecordPage, SpacePage,
    ToolScope, TopicFilter, TopicPage, UnitFilter, UnitPage, VersionFilter,
};
pub(crate) use lists::{ListPage, Paged};
pub use memory::{Absorbed, Deleting, PageHead, Space, TopicMember, TopicView, UnitView};
pub use outcomes::{Item, ItemStatus, ProblemDocument, Progress};
pub use query::{
    Budget, Cost, Filter, Limits, Pack, PathStep, QueryRequest, QueryResponse, RoleCost, StepTime, Strategy,
};
pub use readings::{
    Backfill, BackfillReport, NewReadings, PortableGist, PortableReading, PortableReadingPage, Reading, ReadingCost,
    ReadingEstimate, ReadingList, ReadingPage, ReadingState, ReadingSummary, StoredReading, StoredReadingStatus,
    StoredReadings,
};
pub use rebuild::{Rebuild, RebuildState};
pub use recall::{Dismissal, RecallBudget, RecallCost, RecallRequest, RecallResponse};
pub use records::{
    Accepted, Erased, NewBatch, NewMessage, NewMessages, NewRecord, NewRecords, NewTool, NewVersion, Record,
    RecordVersions, Tool,
};
pub use tools::{ToolCost, ToolList, ToolOutcome, ToolProblem, ToolSpec};

/// A write to wait for, and the time to wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Waiting {
    /// Watermark of the write; default: the newest accepted write that is searchable.
    pub watermark: Option<String>,
    /// Maximum time to wait until the write is searchable, in milliseconds; after it the response is 504.
    pub wait_ms: Option<u64>,
}
