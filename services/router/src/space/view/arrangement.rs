//! The reading order of the turns of a view, and the data of each turn by its place.
//!
//! A chat is often written turn by turn, with a question after each turn. So a new turn is inserted at its place, and
//! the other turns are not sorted again. Many new turns are merged with the others in one pass. All turns are arranged
//! again only if many change, or if one is removed.

mod merge;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use domain::id::{SessionId, UnitId};
use rustc_hash::FxHashMap;

use super::scan_data::ScanData;
use super::speakers::{SpeakerNumbers, Speakers};
use super::turn::Turn;

/// Maximum number of turns that are put between others one by one. Each moves the data of all turns after it. A turn at
/// the end moves nothing.
const BETWEEN_MAX: usize = 16;
/// Maximum number of changed turns whose data is replaced one by one.
const REPLACED_MAX: usize = 64;

/// The turns in order: sessions by their first moment, inside a session by (observed at, ordinal, id).
#[derive(Clone, Default)]
pub(super) struct Arrangement {
    pub(super) turns: Vec<Arc<Turn>>,
    pub(super) scan_data: ScanData,
    /// Places in `turns` by unit.
    pub(super) places: FxHashMap<UnitId, u32>,
    /// Ranges of the sessions in `turns`, in order.
    pub(super) sessions: Vec<Range<usize>>,
    /// Places in `sessions`.
    session_places: FxHashMap<SessionId, u32>,
    /// For each turn, the place of its session.
    pub(super) session_of: Vec<u32>,
    /// For each turn, the number of its speaker.
    pub(super) speaker_of: Vec<Option<u32>>,
    /// True for each turn that follows a question by another speaker.
    pub(super) replies: Vec<bool>,
}

impl Arrangement {
    /// Arranges turns; each has one of the `speakers`, or none.
    pub(super) fn from_turns<'a>(turns: impl Iterator<Item = &'a Arc<Turn>>, speakers: &Speakers) -> Arrangement {
        let mut by_session: FxHashMap<SessionId, Vec<Arc<Turn>>> = FxHashMap::default();
        for turn in turns {
            by_session.entry(turn.unit.session).or_default().push(Arc::clone(turn));
        }
        let mut sessions: Vec<Vec<Arc<Turn>>> = by_session.into_values().collect();
        sessions.iter_mut().for_each(|it| it.sort_by(|a, b| in_session(a, b)));
        sessions.sort_by_key(|it| it.first().map(|it| (it.unit.observed_at, it.unit.session)));
        let mut all = Arrangement::default();
        for (number, session) in sessions.into_iter().enumerate() {
            let start = all.turns.len();
            if let Some(first) = session.first() {
                all.session_places.insert(first.unit.session, number as u32);
            }
            all.turns.extend(session);
            all.sessions.push(start..all.turns.len());
            all.session_of.resize(all.turns.len(), number as u32);
        }
        all.scan_data = ScanData::from_turns(all.turns.iter().map(Arc::as_ref));
        all.places = all.turns.iter().zip(0..).map(|(it, at)| (it.unit.id, at)).collect();
        let numbers = speakers.numbers();
        all.speaker_of = all.turns.iter().map(|it| numbers.of_turn(it)).collect();
        all.replies = (0..all.turns.len()).map(|it| all.is_reply(it)).collect();
        all
    }

    /// Returns true if a unit has a turn here.
    pub(super) fn contains(&self, unit: UnitId) -> bool {
        self.places.contains_key(&unit)
    }

    /// Puts new and changed turns at their places. Returns false if all turns have to be arranged again; this
    /// arrangement is then not to be used.
    pub(super) fn put_turns(&mut self, mut turns: Vec<&Arc<Turn>>, numbers: &SpeakerNumbers<'_>) -> bool {
        turns.sort_by(|a, b| in_session(a, b));
        let mut between = 0;
        let mut rest = turns.as_slice();
        while let [turn, later @ ..] = rest
            && between <= BETWEEN_MAX
            && let Some(place) = self.put_turn(turn, numbers)
        {
            between += usize::from(place + 1 < self.turns.len());
            rest = later;
        }
        let (changed, new): (Vec<_>, Vec<_>) = rest.iter().partition(|it| self.contains(it.unit.id));
        if changed.len() > REPLACED_MAX || !changed.into_iter().all(|it| self.put_turn(it, numbers).is_some()) {
            return false;
        }
        if !new.is_empty() {
            self.merge_turns(&new, numbers);
        }
        true
    }

    /// Gives each turn the present number of its speaker.
    pub(super) fn renumber_speakers(&mut self, present: &[u32]) {
        for number in self.speaker_of.iter_mut().flatten() {
            *number = present[*number as usize];
        }
    }

    /// Puts a turn at its place, which is returned; `None` if other turns would have to move with their sessions.
    fn put_turn(&mut self, turn: &Arc<Turn>, numbers: &SpeakerNumbers<'_>) -> Option<usize> {
        if let Some(place) = self.places.get(&turn.unit.id) {
            return self.replace_turn(*place as usize, turn, numbers);
        }
        let session = match self.session_places.get(&turn.unit.session) {
            Some(session) => *session as usize,
            None => self.add_session(turn),
        };
        let range = self.sessions[session].clone();
        let before = self.turns[range.clone()].partition_point(|it| in_session(it, turn) == Ordering::Less);
        if before == 0 && !range.is_empty() {
            // The session begins earlier.
            return None;
        }
        let place = range.start + before;
        if place < self.turns.len() {
            let later = self.places.values_mut().filter(|it| **it >= place as u32);
            later.for_each(|it| *it += 1);
        }
        self.sessions[session].end += 1;
        for later in &mut self.sessions[session + 1..] {
            *later = later.start + 1..later.end + 1;
        }
        self.turns.insert(place, Arc::clone(turn));
        self.scan_data.insert_turn(place, turn);
        self.places.insert(turn.unit.id, place as u32);
        self.session_of.insert(place, session as u32);
        self.speaker_of.insert(place, numbers.of_turn(turn));
        self.replies.insert(place, false);
        self.update_replies(place);
        Some(place)
    }

    /// Replaces the state of a turn, which keeps its place; `None` if it belongs to another place.
    fn replace_turn(&mut self, place: usize, turn: &Arc<Turn>, numbers: &SpeakerNumbers<'_>) -> Option<usize> {
        let former = &self.turns[place];
        if former.unit.session != turn.unit.session || in_session(former, turn) != Ordering::Equal {
            return None;
        }
        self.turns[place] = Arc::clone(turn);
        self.scan_data.replace_turn(place, turn);
        self.speaker_of[place] = numbers.of_turn(turn);
        self.update_replies(place);
        Some(place)
    }

    /// Adds an empty session for its first turn, and returns its place.
    fn add_session(&mut self, turn: &Turn) -> usize {
        let key = |it: &Turn| (it.unit.observed_at, it.unit.session);
        let session = self
            .sessions
            .partition_point(|it| key(&self.turns[it.start]) < key(turn));
        let start = self.sessions.get(session).map_or(self.turns.len(), |it| it.start);
        if session < self.sessions.len() {
            let places = self.session_places.values_mut().chain(&mut self.session_of);
            places.filter(|it| **it >= session as u32).for_each(|it| *it += 1);
        }
        self.sessions.insert(session, start..start);
        self.session_places.insert(turn.unit.session, session as u32);
        session
    }

    /// Updates whether a turn and the one after it are replies.
    fn update_replies(&mut self, place: usize) {
        for it in place..(place + 2).min(self.turns.len()) {
            self.replies[it] = self.is_reply(it);
        }
    }

    fn is_reply(&self, place: usize) -> bool {
        let Some(before) = place.checked_sub(1) else {
            return false;
        };
        let (turn, asking) = (&self.turns[place], &self.turns[before]);
        self.session_of[place] == self.session_of[before] && asking.asks && asking.unit.actor != turn.unit.actor
    }
}

fn in_session(a: &Turn, b: &Turn) -> Ordering {
    let key = |it: &Turn| (it.unit.observed_at, it.unit.ordinal, it.unit.id);
    key(a).cmp(&key(b))
}

/// Units that changed since the turns were arranged.
#[derive(Clone, Default)]
pub(super) struct ChangedUnits {
    ids: BTreeSet<UnitId>,
    /// True if so many changed that their ids are not kept.
    are_many: bool,
}

impl ChangedUnits {
    /// Maximum number of units whose ids are kept.
    const MAX: usize = 16_384;

    /// Adds units.
    pub(super) fn add_units<'a>(&mut self, ids: impl Iterator<Item = &'a UnitId>) {
        for id in ids {
            if self.ids.len() == ChangedUnits::MAX {
                self.are_many = true;
            }
            if self.are_many {
                self.ids.clear();
                return;
            }
            self.ids.insert(*id);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty() && !self.are_many
    }

    /// Returns the units; `None` if many changed.
    pub(super) fn ids(&self) -> Option<&BTreeSet<UnitId>> {
        (!self.are_many).then_some(&self.ids)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use domain::id::SpaceId;
    use domain::unit::{Status, Unit};
    use fixtures::sample_unit;

    use super::*;
    use crate::space::view::View;

    /// Returns a turn; few sessions, moments, speakers and texts, so that all of them meet.
    fn turn(space: &SpaceId, number: u32, choice: u32) -> Unit {
        let session = (number / 6 + choice / 50) % 4;
        let speaker = ["Ann", "Ben", "", "Cleo"][(choice % 7 / 2) as usize];
        let text = ["Where is the ferry, Ann?", "Ben, it left.", "I took a photo.", "Why?"][(choice % 4) as usize];
        let mut unit = sample_unit(space, &number.to_string());
        unit.session = SessionId::from_name(space, &session.to_string());
        unit.observed_at += TimeDelta::minutes(i64::from(number / 3));
        unit.ordinal = u64::from(number % 2);
        unit.actor = speaker.to_owned();
        unit.text = text.to_owned();
        unit.caption = if choice.is_multiple_of(5) {
            "a ferry".to_owned()
        } else {
            String::new()
        };
        unit
    }

    fn assert_equal(grown: &View, units: impl Iterator<Item = Unit>, step: usize) {
        let whole = View::from_units(units);
        let (one, other) = (&grown.arrangement, &whole.arrangement);
        let ids = |it: &Arrangement| it.turns.iter().map(|it| it.unit.id).collect::<Vec<UnitId>>();
        assert_eq!(ids(one), ids(other), "step {step}");
        assert_eq!(
            (&one.places, &one.sessions),
            (&other.places, &other.sessions),
            "step {step}"
        );
        assert_eq!(one.session_places, other.session_places, "step {step}");
        assert_eq!(
            (&one.session_of, &one.speaker_of),
            (&other.session_of, &other.speaker_of),
            "step {step}"
        );
        assert_eq!(
            (&one.replies, &one.scan_data),
            (&other.replies, &other.scan_data),
            "step {step}"
        );
        assert_eq!(grown.speakers().names(), whole.speakers().names(), "step {step}");
        for word in ["ann", "ben", "cleo"] {
            let called = |it: &View| it.speakers().find_by_word(word);
            assert_eq!(called(grown), called(&whole), "step {step}: {word}");
        }
    }

    #[test]
    fn turns_that_are_put_one_by_one_are_arranged_like_all_at_once() {
        let space: SpaceId = "arranged".parse().unwrap();
        let (mut view, mut present) = (View::default(), std::collections::BTreeMap::new());
        let mut number = 7_u32;
        let mut random = |bound: u32| {
            number = number.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            (number >> 12) % bound
        };
        for step in 0..400 {
            let mut changes = Vec::new();
            // Now and then many turns come at once.
            let count = if random(20) == 0 { 40 } else { random(3) + 1 };
            for _ in 0..count {
                let mut unit = turn(&space, random(step as u32 / 2 + 2), random(100));
                if random(12) == 0 {
                    unit.status = Status::Superseded;
                    present.remove(&unit.id);
                } else {
                    present.insert(unit.id, unit.clone());
                }
                changes.push(domain::port::Change { sequence: 0, unit });
            }
            view.apply_changes(changes);
            assert_equal(&view, present.values().cloned(), step);
        }
        assert!(present.len() > 100, "{}", present.len());
    }

    #[test]
    fn a_chat_that_grows_is_never_arranged_again() {
        let space: SpaceId = "arranged".parse().unwrap();
        let units: Vec<Unit> = (0..60).map(|it| turn(&space, it, it % 4)).collect();
        let speakers = Speakers::default();
        let view = View::from_units(units.clone());
        let mut grown = Arrangement::default();
        for turn in &view.arrangement.turns {
            assert!(grown.put_turns(vec![turn], &speakers.numbers()));
        }
        assert_eq!(grown.places, view.arrangement.places);
    }
}
