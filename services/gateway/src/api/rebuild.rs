use domain::id::SpaceId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What became of a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RebuildState {
    /// It is under way.
    Running,
    /// Everything is derived again and searched.
    Done,
    /// It broke off; what was searched before still is.
    Failed,
}

/// How far the rebuild of a space is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Rebuild {
    /// The space.
    pub space: SpaceId,
    /// What became of it.
    pub state: RebuildState,
    /// Records derived again so far.
    pub records: u64,
    /// Records there were when it began.
    pub of: u64,
}
