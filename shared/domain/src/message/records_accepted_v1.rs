use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Message;
use crate::curation::Curation;
use crate::id::SpaceId;
use crate::record::Record;

/// The gateway accepted records; the writer makes units of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordsAcceptedV1 {
    /// The space of all `records`.
    pub space: SpaceId,
    /// Digest of the batch: equal for equal batches.
    pub batch: String,
    /// When the space was made that accepted them: one that is made anew under its name does not take them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<DateTime<Utc>>,
    /// In the order given; at least one, or one of `curations`.
    pub records: Vec<Record>,
    /// What people decided, in the order given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curations: Vec<Curation>,
}

impl RecordsAcceptedV1 {
    /// The group that writes them: what it has settled is searchable.
    pub const GROUP: &'static str = "writer";
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
