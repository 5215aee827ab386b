use chrono::{DateTime, FixedOffset};

use crate::filter::Filter;
use crate::id::SessionId;
use crate::record::Record;
use crate::unit::{Grain, Status, Unit};

/// Which records or units are listed; what is none restricts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only of this actor, in any case.
    pub actor: Option<String>,
    /// Only observed at or after.
    pub from: Option<DateTime<FixedOffset>>,
    /// Only observed before.
    pub until: Option<DateTime<FixedOffset>>,
    /// Only with these tags and this metadata; of units only turn units have any.
    pub filter: Filter,
}

impl Selection {
    /// Says whether it takes a record.
    #[must_use]
    pub fn takes(&self, record: &Record) -> bool {
        self.holds(record.session, &record.actor, record.observed_at)
            && self.filter.matches(&record.tags, &record.metadata)
    }

    /// Says whether it takes a unit; one that was replaced never.
    #[must_use]
    pub fn takes_unit(&self, unit: &Unit) -> bool {
        unit.status != Status::Superseded
            && self.holds(unit.session, &unit.actor, unit.observed_at)
            && self.takes_labels(unit)
    }

    fn takes_labels(&self, unit: &Unit) -> bool {
        self.filter.is_empty() || unit.grain == Grain::Turn && self.filter.matches(&unit.tags, &unit.metadata)
    }

    fn holds(&self, session: SessionId, actor: &str, at: DateTime<FixedOffset>) -> bool {
        self.session.is_none_or(|it| it == session)
            && self.from.is_none_or(|it| at >= it)
            && self.until.is_none_or(|it| at < it)
            && self.actor.as_ref().is_none_or(|it| folded(it) == folded(actor))
    }
}

/// Returns an actor as it is told from others, in whatever case it is written.
#[must_use]
pub fn folded(actor: &str) -> String {
    actor.to_lowercase()
}

/// How much a page may hold. The first thing always fits, however long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Things.
    pub items: usize,
    /// Bytes of what is stored of them.
    pub bytes: usize,
}

impl Room {
    /// Room for so many things, however long they are.
    #[must_use]
    pub fn of(items: usize) -> Room {
        Room {
            items,
            bytes: usize::MAX,
        }
    }
}
