use domain::id::SpaceId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// State of a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RebuildState {
    /// The rebuild is running.
    Running,
    /// Everything is derived again, and searches use it.
    Done,
    /// The rebuild failed; searches still use the previous index.
    Failed,
}

/// Progress of the rebuild of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Rebuild {
    /// The space.
    pub space: SpaceId,
    /// State of the rebuild.
    pub state: RebuildState,
    /// Number of records derived again so far.
    pub records: u64,
    /// Number of records when the rebuild began.
    pub of: u64,
}
