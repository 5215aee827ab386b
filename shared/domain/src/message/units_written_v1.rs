use serde::{Deserialize, Serialize};

use super::Message;
use crate::id::{SessionId, SpaceId, UnitId};
use crate::port::Position;

/// The writer wrote turn units; its segmenter makes events and relations of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitsWrittenV1 {
    /// The space of all `units`.
    pub space: SpaceId,
    /// Position of the accepted batch they came from.
    pub position: Position,
    /// The sessions touched, sorted.
    pub sessions: Vec<SessionId>,
    /// The units written.
    pub units: Vec<UnitId>,
    /// Somebody decided something in it: its watermark is reached once the clusterer has taken that up.
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
