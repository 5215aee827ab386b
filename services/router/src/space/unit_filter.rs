//! Actors, sessions, modalities and times of a filter, compared with a unit. Questions and tools share this comparison.

use chrono::{DateTime, FixedOffset};
use domain::id::{SessionId, SpaceId};
use domain::message::QueryFilter;
use domain::record::Modality;

use crate::space::view::UnitHead;

/// A filter of a question, prepared for the units of a space.
pub struct UnitFilter {
    sessions: Vec<SessionId>,
    /// Names in lower case.
    actors: Vec<String>,
    modalities: Vec<Modality>,
    from: Option<DateTime<FixedOffset>>,
    until: Option<DateTime<FixedOffset>>,
}

impl UnitFilter {
    /// Prepares a filter for the units of a space.
    pub fn new(space: &SpaceId, filter: &QueryFilter) -> UnitFilter {
        let QueryFilter { sessions, actors, .. } = filter;
        let ids_by_name = sessions.iter().map(|it| SessionId::from_name(space, it));
        // A pack names sessions by their ids.
        let parsed = sessions.iter().filter_map(|it| it.parse().ok());
        UnitFilter {
            sessions: ids_by_name.chain(parsed).collect(),
            actors: actors.iter().map(|it| lower_case(it).collect()).collect(),
            modalities: filter.modalities.clone(),
            from: filter.from,
            until: filter.until,
        }
    }

    /// Returns true if the filter admits units of any actor, session, modality and time.
    pub fn admits_all_units(&self) -> bool {
        self.compares_only_times() && self.from.is_none() && self.until.is_none()
    }

    /// Returns true if the filter admits units of any actor, session and modality.
    pub fn compares_only_times(&self) -> bool {
        self.sessions.is_empty() && self.actors.is_empty() && self.modalities.is_empty()
    }

    /// Returns true if the filter admits the actor, the session, the modality and the time of a unit. It does not
    /// compare tags and metadata; [`Scope`](crate::space::scope::Scope) does.
    pub fn admits_unit(&self, unit: &UnitHead) -> bool {
        self.admits_unit_of_any_actor(unit)
            && (self.actors.is_empty() || self.actors.iter().any(|it| lower_case(&unit.actor).eq(it.chars())))
    }

    /// Like [`UnitFilter::admits_unit`], without comparing the actor.
    pub fn admits_unit_of_any_actor(&self, unit: &UnitHead) -> bool {
        self.from.is_none_or(|it| unit.observed_at >= it)
            && self.until.is_none_or(|it| unit.observed_at < it)
            && (self.sessions.is_empty() || self.sessions.contains(&unit.session))
            && (self.modalities.is_empty() || self.modalities.contains(&unit.modality))
    }
}

/// Returns the characters of a name in lower case, without allocating. Both lower-case forms of the Greek letter sigma
/// are returned as one, since they have the same upper case.
fn lower_case(name: &str) -> impl Iterator<Item = char> + '_ {
    let lower = name.chars().flat_map(char::to_lowercase);
    lower.map(|it| if it == '\u{3c2}' { '\u{3c3}' } else { it })
}

#[cfg(test)]
mod tests {
    use super::lower_case;

    #[test]
    fn names_of_actors_are_compared_without_case() {
        for (name, other, is_same) in [
            ("Omar", "oMAR", true),
            ("Omar", "Omar B.", false),
            ("\u{141}UCJA", "\u{142}ucja", true),
            (
                "\u{39d}\u{399}\u{39a}\u{39f}\u{3a3}",
                "\u{3bd}\u{3b9}\u{3ba}\u{3bf}\u{3c2}",
                true,
            ),
            ("", "Liv", false),
        ] {
            assert_eq!(lower_case(name).eq(lower_case(other)), is_same, "{name} {other}");
        }
    }
}
