//! The place of a subscriber in the events of a space.

use chrono::{DateTime, Utc};
use domain::id::SpaceId;
use domain::port::Position;

use crate::api::problem::Problem;
use crate::app::seal::Sealer;

/// The place of a subscriber in one creation of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StreamPosition {
    /// Time at which the space was created.
    pub(super) created_at: DateTime<Utc>,
    /// Position of the last event `searchable`; 0 before the first.
    pub(super) searchable: Position,
    /// Position of the last event `organised`; 0 before the first.
    pub(super) organised: Position,
    /// Time at which the latest reported erasure was complete; before the first report, the time from which erasures
    /// are reported.
    pub(super) erased_at: DateTime<Utc>,
}

impl StreamPosition {
    /// Returns the place before the first event of a space.
    pub(super) fn before_first_event(created_at: DateTime<Utc>, erased_at: DateTime<Utc>) -> StreamPosition {
        StreamPosition {
            created_at,
            searchable: Position(0),
            organised: Position(0),
            erased_at,
        }
    }

    fn to_text(&self) -> String {
        let (created, erased) = (self.created_at.to_rfc3339(), self.erased_at.to_rfc3339());
        format!("{created} {} {} {erased}", self.searchable.0, self.organised.0)
    }

    fn from_text(text: &str) -> Option<StreamPosition> {
        let mut parts = text.split(' ');
        let place = StreamPosition {
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
    pub(super) fn event_id(&self, space: &SpaceId, place: &StreamPosition) -> Result<String, Problem> {
        self.seal_value(&["events", space.as_str()], place.to_text().as_bytes())
    }

    /// Returns the place in an `id`; `None` if the `id` is not one of this space.
    pub(super) fn place_from_event_id(&self, space: &SpaceId, id: &str) -> Option<StreamPosition> {
        let plain = self.open_value(&["events", space.as_str()], id)?;
        StreamPosition::from_text(std::str::from_utf8(&plain).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_parsed_from_its_text_and_invalid_texts_are_rejected() {
        let at = |text: &str| DateTime::parse_from_rfc3339(text).unwrap().to_utc();
        let place = StreamPosition {
            created_at: at("2026-11-27T08:00:00.123456789Z"),
            searchable: Position(7),
            organised: Position(u64::MAX),
            erased_at: at("2026-11-27T09:00:00Z"),
        };
        let text = place.to_text();
        assert_eq!(StreamPosition::from_text(&text), Some(place));
        for wrong in ["", "7", &format!("{text} 1"), &text.replace(" 7 ", " -7 ")] {
            assert_eq!(StreamPosition::from_text(wrong), None, "{wrong}");
        }
    }
}
