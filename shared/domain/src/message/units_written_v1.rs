use serde::{Deserialize, Serialize};

use super::Message;
use crate::id::{SessionId, SpaceId, UnitId};
use crate::position::Position;

/// The writer wrote turn units; its segmenter derives events and relations from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitsWrittenV1 {
    /// The space of all `units`.
    pub space: SpaceId,
    /// Position of the accepted batch that the units came from.
    pub position: Position,
    /// The sessions that the units belong to, sorted.
    pub sessions: Vec<SessionId>,
    /// The units written.
    pub units: Vec<UnitId>,
    /// Whether the batch contains curations. If so, its watermark is reached only when the clusterer has applied them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acts: bool,
}

impl Message for UnitsWrittenV1 {
    const SUBJECT: &'static str = "units-written.v1";

    fn space(&self) -> &SpaceId {
        &self.space
    }

    fn dedup_key(&self) -> String {
        format!("{}/{}", self.space, self.position.0)
    }
}
