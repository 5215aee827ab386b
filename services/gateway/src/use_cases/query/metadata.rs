//! Metadata of the caller for the records in a pack.

use std::collections::{BTreeMap, BTreeSet};

use domain::code::DegradedCode;
use domain::evidence::EvidencePack;
use domain::id::RecordId;
use tokio::time::Instant;
use tracing::{Instrument, info_span, warn};

use super::Query;
use crate::strategies::request_report::describe_failure;

/// Metadata of records, by the callers' ids.
pub(super) type Metadata = BTreeMap<String, BTreeMap<String, String>>;

impl Query<'_> {
    /// Returns the metadata of the records of a pack, if requested. If they cannot be read, the evidence stays valid,
    /// and `degraded` says what is missing.
    pub(super) async fn read_metadata(&mut self, pack: &EvidencePack) -> Option<Metadata> {
        if !self.metadata {
            return None;
        }
        let begun = Instant::now();
        let ids: BTreeSet<RecordId> = pack.items.iter().flat_map(|it| it.records.iter().copied()).collect();
        let ids: Vec<RecordId> = ids.into_iter().collect();
        let read = self.app.stores().records.get(&self.route.space, &ids);
        let read = read.instrument(info_span!("metadata", records = ids.len())).await;
        self.note_step("metadata", begun);
        match read {
            Ok(records) => {
                let with_metadata = records.into_iter().filter(|it| !it.metadata.is_empty());
                Some(with_metadata.map(|it| (it.external_id, it.metadata)).collect())
            }
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "no metadata");
                let reason = format!("metadata: the store of the records {}", describe_failure(&error));
                self.trail.report_degraded(DegradedCode::MetadataUnavailable, reason);
                None
            }
        }
    }
}
