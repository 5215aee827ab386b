//! The callers' names of the records in readings.

use std::collections::{BTreeSet, HashMap};

use domain::id::{RecordId, SpaceId};

use crate::api::problem::Problem;
use crate::app::state::App;

/// Number of records read from the store in one step: each may hold a long text.
const AT_ONCE: usize = 64;

/// The callers' ids and sessions of stored records.
pub(super) struct RecordNames(HashMap<RecordId, RecordName>);

struct RecordName {
    external_id: String,
    session: String,
}

impl RecordNames {
    /// Returns the names of those of the records that are stored.
    pub(super) async fn of_records(
        app: &App,
        space: &SpaceId,
        records: impl Iterator<Item = RecordId>,
    ) -> Result<RecordNames, Problem> {
        let distinct: BTreeSet<RecordId> = records.collect();
        let ids: Vec<RecordId> = distinct.into_iter().collect();
        let mut names = HashMap::with_capacity(ids.len());
        for some in ids.chunks(AT_ONCE) {
            for record in app.stores().records.get(space, some).await? {
                let name = RecordName {
                    external_id: record.external_id,
                    session: record.session_name,
                };
                names.insert(record.id, name);
            }
        }
        Ok(RecordNames(names))
    }

    /// Returns the caller's id of a record; `None` if it is not stored.
    pub(super) fn external_id(&self, record: RecordId) -> Option<&str> {
        self.0.get(&record).map(|it| it.external_id.as_str())
    }

    /// Returns the caller's name of the session of a record; `None` if the record is not stored.
    pub(super) fn session_name(&self, record: RecordId) -> Option<&str> {
        self.0.get(&record).map(|it| it.session.as_str())
    }

    /// Returns the callers' ids of records, in the same order; `None` if one of them is not stored.
    pub(super) fn external_ids(&self, records: &[RecordId]) -> Option<Vec<String>> {
        let ids = records.iter().map(|it| self.external_id(*it).map(str::to_owned));
        ids.collect()
    }
}
