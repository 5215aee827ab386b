use chrono::{DateTime, FixedOffset};

use crate::filter::Filter;
use crate::id::SessionId;
use crate::record::Record;
use crate::unit::{Grain, Status, Unit};

/// Selects the records or units of a list. An absent field restricts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only of this actor; case-insensitive.
    pub actor: Option<String>,
    /// Only observed at or after this time.
    pub from: Option<DateTime<FixedOffset>>,
    /// Only observed before this time.
    pub until: Option<DateTime<FixedOffset>>,
    /// Only with these tags and this metadata. Among units, only turn units have any.
    pub filter: Filter,
}

impl Selection {
    /// Returns true if the selection accepts a record.
    #[must_use]
    pub fn accepts_record(&self, record: &Record) -> bool {
        self.matches_session_actor_time(record.session, &record.actor, record.observed_at)
            && self.filter.matches_labels(&record.tags, &record.metadata)
    }

    /// Returns true if the selection accepts a unit. Superseded units are never accepted.
    #[must_use]
    pub fn accepts_unit(&self, unit: &Unit) -> bool {
        unit.status != Status::Superseded
            && self.matches_session_actor_time(unit.session, &unit.actor, unit.observed_at)
            && self.accepts_labels(unit)
    }

    fn accepts_labels(&self, unit: &Unit) -> bool {
        self.filter.is_empty() || unit.grain == Grain::Turn && self.filter.matches_labels(&unit.tags, &unit.metadata)
    }

    fn matches_session_actor_time(&self, session: SessionId, actor: &str, at: DateTime<FixedOffset>) -> bool {
        self.session.is_none_or(|it| it == session)
            && self.from.is_none_or(|it| at >= it)
            && self.until.is_none_or(|it| at < it)
            && self
                .actor
                .as_ref()
                .is_none_or(|it| case_folded_actor(it) == case_folded_actor(actor))
    }
}

/// Returns the form in which actors are compared, so that case does not matter.
#[must_use]
pub fn case_folded_actor(actor: &str) -> String {
    actor.to_lowercase()
}

/// The size limit of a page. The first item is always returned, whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Maximum number of items.
    pub items: usize,
    /// Maximum number of stored bytes of these items.
    pub bytes: usize,
}

impl Room {
    /// Returns a limit of `items` items, without a limit on bytes.
    #[must_use]
    pub fn of_items(items: usize) -> Room {
        Room {
            items,
            bytes: usize::MAX,
        }
    }
}
