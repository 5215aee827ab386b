use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Message;
use crate::curation::Curation;
use crate::id::SpaceId;
use crate::record::Record;

/// The gateway accepted records; the writer derives units from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordsAcceptedV1 {
    /// The space of all records and curations.
    pub space: SpaceId,
    /// Digest of the batch; equal batches have equal digests.
    pub batch: String,
    /// Time at which the space that accepted the records was created. A new space of the same name does not accept
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<DateTime<Utc>>,
    /// In the order given. There is at least one record or one curation.
    pub records: Vec<Record>,
    /// Curations, in the order given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curations: Vec<Curation>,
}

impl RecordsAcceptedV1 {
    /// The consumer group that writes them. A batch that it has settled is searchable.
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
