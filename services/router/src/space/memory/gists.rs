use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use domain::evidence::Amendment;
use domain::id::{RecordId, SessionId, UnitId};
use domain::time::TimeSpan;
use domain::unit::Unit;

use super::acts::Acts;
use super::events::Events;
use super::posting_lists::Posts;
use super::{Memory, MemoryAsOf};
use crate::space::view::Marks;

/// The stored fields of a gist: one statement that a language model read from some records, as its own sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Gist {
    /// The id of the unit.
    pub id: UnitId,
    /// The session the gist belongs to.
    pub session: SessionId,
    /// The records that the gist was read from, in session order.
    pub records: Vec<RecordId>,
    /// The callers' ids of `records`.
    pub external_ids: Vec<String>,
    /// Time at which the first record of the gist was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// The speaker of all of `records`; empty if several people spoke.
    pub actor: String,
    /// The sentence.
    pub text: String,
    /// Times named in the gist.
    pub times: Vec<TimeSpan>,
    /// People and things named in the gist.
    pub participants: Vec<String>,
    /// At most two words that name the subject of the gist.
    pub tag: String,
    /// Keywords in lower case that lead to the gist.
    pub cues: Vec<String>,
}

/// The gists of a space, and the turns that they were read from.
#[derive(Clone, Default)]
pub(super) struct Gists {
    all: BTreeMap<UnitId, Arc<Gist>>,
    /// Gists by the first turn unit of each of their records.
    by_turn: Posts<UnitId, UnitId>,
    bytes: usize,
}

impl Gists {
    pub(super) fn put_gist(&mut self, unit: &Unit) {
        self.remove_gist(unit.id);
        let gist = Gist {
            id: unit.id,
            session: unit.session,
            records: unit.records.clone(),
            external_ids: unit.external_ids.clone(),
            observed_at: unit.observed_at,
            actor: unit.actor.clone(),
            text: unit.text.clone(),
            times: unit.times.clone(),
            participants: unit.participants.clone(),
            tag: unit.tag.clone(),
            cues: unit.cues.iter().map(|it| it.to_lowercase()).collect(),
        };
        self.update_index(&gist, true);
        self.all.insert(gist.id, Arc::new(gist));
    }

    pub(super) fn remove_gist(&mut self, id: UnitId) {
        if let Some(old) = self.all.remove(&id) {
            self.update_index(&old, false);
        }
    }

    pub(super) fn get(&self, id: UnitId) -> Option<&Arc<Gist>> {
        self.all.get(&id)
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.bytes + self.by_turn.size_in_bytes()
    }

    /// Returns the decisions about gists: about the gist itself, or about any of the turns `of_turns`, from which it
    /// was read. A correction of a turn applies to those of its gists that share a word with the corrected value.
    pub(super) fn compute_marks(&self, acts: &Acts, of_turns: &Marks, events: &Events) -> Marks {
        let read_in = |turn: &UnitId| self.by_turn.values_of_key(&events.first_of_record(*turn));
        let marked = |units: &BTreeSet<UnitId>, turns: &BTreeSet<UnitId>| {
            let own = units.iter().copied().filter(|it| self.all.contains_key(it));
            own.chain(turns.iter().flat_map(read_in)).collect()
        };
        let mut amended: BTreeMap<UnitId, Vec<Vec<Amendment>>> = BTreeMap::new();
        for (turn, amendments) in &of_turns.amended {
            for gist in read_in(turn).filter_map(|it| self.all.get(&it)) {
                // All amendments of one fact replace the same value.
                let concerns = |it: &Amendment| shares_word(&gist.text, &it.was);
                let own = amendments.iter().filter(|it| it.first().is_some_and(concerns));
                let own: Vec<Vec<Amendment>> = own.cloned().collect();
                if !own.is_empty() {
                    amended.entry(gist.id).or_default().extend(own);
                }
            }
        }
        Marks {
            pinned: marked(&acts.pinned, &of_turns.pinned),
            forgotten: marked(&acts.forgotten, &of_turns.forgotten),
            // A gate checks the versions of the turns that a gist was read from.
            versions: Arc::default(),
            amended,
        }
    }

    fn update_index(&mut self, gist: &Gist, add: bool) {
        for record in &gist.records {
            self.by_turn.add_or_remove(UnitId::of_turn(*record), gist.id, add);
        }
        let words = [&gist.external_ids, &gist.participants, &gist.cues];
        let words: usize = words.into_iter().flatten().map(|it| 24 + it.len()).sum();
        let texts = gist.text.len() + gist.tag.len() + gist.actor.len();
        let size = 320 + texts + 16 * gist.records.len() + 80 * gist.times.len() + words;
        self.bytes = if add { self.bytes + size } else { self.bytes - size };
    }
}

/// Returns true if a text contains a word of `value`, or `value` has no words.
fn shares_word(text: &str, value: &str) -> bool {
    let words = text::stem_words(text);
    let sought = text::stem_words(value);
    sought.is_empty() || sought.iter().any(|it| words.contains(it))
}

impl Memory {
    /// Returns true if the memory has gists, which a language model wrote.
    pub fn has_gists(&self) -> bool {
        !self.gists.all.is_empty()
    }

    /// Returns the gists that were read from the record of a turn, by id.
    pub fn gists_of(&self, turn: UnitId) -> impl Iterator<Item = UnitId> + '_ {
        self.gists.by_turn.values_of_key(&self.events.first_of_record(turn))
    }
}

impl<'a> MemoryAsOf<'a> {
    /// Returns a gist. It becomes known when all its turns are known. It is not returned if it or one of its turns is
    /// forgotten, or if a record that it was read from does not exist any more.
    pub fn find_gist(self, id: UnitId) -> Option<&'a Gist> {
        let MemoryAsOf { memory, .. } = self;
        let gist = memory.gists.get(id)?;
        let mut turns = gist
            .records
            .iter()
            .map(|it| memory.cues.observation_time(UnitId::of_turn(*it)));
        let known = turns.all(|it| it.is_some_and(|at| self.covers_moment(at)))
            && self.covers_moment(gist.observed_at.to_utc());
        (known && self.may_show_unit(id)).then_some(&**gist)
    }
}
