//! The place of a subscriber in the events of a space.

use chrono::{DateTime, Utc};
use domain::id::SpaceId;
use domain::port::Position;

use crate::problem::Problem;
use crate::seal::Sealer;

/// The place of a subscriber in one creation of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// When the space was created.
    pub(super) created_at: DateTime<Utc>,
    /// Position of the last event `searchable`; 0 before the first.
    pub(super) searchable: Position,
    /// Position of the last event `organised`; 0 before the first.
    pub(super) organised: Position,
    /// Time at which the latest reported erasure was complete; before the first report, the time from which erasures
    /// are reported.
    pub(super) erased_at: DateTime<Utc>,
}

impl Place {
    /// Returns the place before the first event of a space.
    pub(super) fn start(created_at: DateTime<Utc>, erased_at: DateTime<Utc>) -> Place {
        Place {
            created_at,
            searchable: Position(0),
            organised: Position(0),
            erased_at,
        }
    }

    fn print(&self) -> String {
        let (created, erased) = (self.created_at.to_rfc3339(), self.erased_at.to_rfc3339());
        format!("{created} {} {} {erased}", self.searchable.0, self.organised.0)
    }

    fn parse(text: &str) -> Option<Place> {
        let mut parts = text.split(' ');
        let place = Place {
            created_at: parts.next()?.parse().ok()?,
            searchable: Position(parts.next()?.parse().ok()?),
            organised: Position(parts.next()?.parse().ok()?),
            erased_at: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(place)
    }
}

impl Sealer {
    /// Returns the `id` of the event that leads to `place`.
    pub(super) fn event_id(&self, space: &SpaceId, place: &Place) -> Result<String, Problem> {
        self.seal(&["events", space.as_str()], place.print().as_bytes())
    }

    /// Returns the place in an `id`; `None` if the `id` is not one of this space.
    pub(super) fn place(&self, space: &SpaceId, id: &str) -> Option<Place> {
        let plain = self.open(&["events", space.as_str()], id)?;
        Place::parse(std::str::from_utf8(&plain).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_id_parses_to_the_same_place() {
        let at = |text: &str| DateTime::parse_from_rfc3339(text).unwrap().to_utc();
        let place = Place {
            created_at: at("2026-11-27T08:00:00.123456789Z"),
            searchable: Position(7),
            organised: Position(u64::MAX),
            erased_at: at("2026-11-27T09:00:00Z"),
        };
        let text = place.print();
        assert_eq!(Place::parse(&text), Some(place));
        for wrong in ["", "7", &format!("{text} 1"), &text.replace(" 7 ", " -7 ")] {
            assert_eq!(Place::parse(wrong), None, "{wrong}");
        }
    }
}
