use serde::{Deserialize, Serialize};

use super::Message;
use crate::id::SpaceId;
use crate::record::Record;

/// The gateway accepted records; the writer makes units of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordsAcceptedV1 {
    /// The space of all `records`.
    pub space: SpaceId,
    /// Digest of the batch: equal for equal batches.
    pub batch: String,
    /// At least one, in the order given.
    pub records: Vec<Record>,
}

impl Message for RecordsAcceptedV1 {
    const SUBJECT: &'static str = "records-accepted.v1";

    fn space(&self) -> &SpaceId {
        &self.space
    }

    fn dedup_key(&self) -> String {
        format!("{}/{}", self.space, self.batch)
    }
}
