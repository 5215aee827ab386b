use serde::{Deserialize, Serialize};

use super::Message;
use crate::id::SpaceId;
use crate::position::Position;

/// The writer derived events and relations from the units it wrote, and stored the curations; the clusterer organises
/// the space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitsOrganisedV1 {
    /// The space.
    pub space: SpaceId,
    /// Position of the accepted batch that the units came from.
    pub position: Position,
    /// Whether the batch contains curations. If so, its watermark is reached only when the clusterer has applied them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acts: bool,
    /// The id of the reading that the units came from; empty if they came from a batch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reading: String,
}

impl Message for UnitsOrganisedV1 {
    const SUBJECT: &'static str = "units-organised.v1";

    fn space(&self) -> &SpaceId {
        &self.space
    }

    fn dedup_key(&self) -> String {
        match self.reading.is_empty() {
            true => format!("{}/{}", self.space, self.position.0),
            false => format!("{}/{}", self.space, self.reading),
        }
    }
}
