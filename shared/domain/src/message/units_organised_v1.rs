use serde::{Deserialize, Serialize};

use super::Message;
use crate::id::SpaceId;
use crate::port::Position;

/// The writer made events and relations of what it wrote, and stored what was decided; the clusterer organises the space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitsOrganisedV1 {
    /// The space.
    pub space: SpaceId,
    /// Position of the accepted batch it came from.
    pub position: Position,
    /// Somebody decided something in it: its watermark is reached once the clusterer has taken that up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acts: bool,
    /// Names the reading of a passage that it came from, in the place of a batch.
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
