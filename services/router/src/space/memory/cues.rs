use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use domain::id::UnitId;
use domain::unit::Unit;
use rustc_hash::FxHashMap;

use super::MemoryAsOf;
use super::posting_lists::Posts;
use crate::space::numbered_values::NumberedValues;

/// Maximum number of cues that are read to find one with the same stem.
const NEAR: usize = 256;
/// Maximum number of words of a name that are used.
const NAME_WORDS: usize = 6;

/// Cues of turn units: cue -tag-> unit (MRAgent, section 3). The words of a speaker's name are also cues of the
/// speaker's turns.
#[derive(Clone, Default)]
pub(super) struct Cues {
    turns: FxHashMap<UnitId, Cued>,
    /// The cues and tags of all turns.
    words: NumberedValues<str>,
    /// The units of each cue. They are collected when a tool first looks for a cue: questions need none, and a start
    /// does not wait for them.
    units: OnceLock<CueUnits>,
    bytes: usize,
}

/// Units by cue, each with the moment when it was observed.
type CueUnits = Posts<Arc<str>, (DateTime<Utc>, UnitId)>;

#[derive(Clone)]
struct Cued {
    observed_at: DateTime<Utc>,
    /// The number of the tag, then those of the cues.
    words: Arc<[u32]>,
}

impl Cues {
    pub(super) fn put_unit(&mut self, unit: &Unit) {
        self.remove_unit(unit.id);
        let actor = unit.actor.to_lowercase();
        let names = actor.split_whitespace().take(NAME_WORDS);
        let names = names.filter(|name| unit.cues.iter().all(|cue| cue != name));
        let cues = unit.cues.iter().map(String::as_str).chain(names);
        let words = [unit.tag.as_str()].into_iter().chain(cues);
        let words: Vec<u32> = words.map(|it| self.words.add_use(it).0).collect();
        let cued = Cued {
            observed_at: unit.observed_at.to_utc(),
            words: words.into(),
        };
        self.update_index(unit.id, &cued, true);
        self.bytes += cued.size_in_bytes();
        self.turns.insert(unit.id, cued);
    }

    pub(super) fn remove_unit(&mut self, unit: UnitId) {
        let Some(old) = self.turns.remove(&unit) else {
            return;
        };
        self.update_index(unit, &old, false);
        self.bytes -= old.size_in_bytes();
        for word in &*old.words {
            self.words.remove_use(*word);
        }
    }

    /// Returns the time at which a turn unit was observed.
    pub(super) fn observation_time(&self, turn: UnitId) -> Option<DateTime<Utc>> {
        self.turns.get(&turn).map(|it| it.observed_at)
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the units of each cue.
    fn units_by_cue(&self) -> &CueUnits {
        self.units.get_or_init(|| {
            let turns = self.turns.iter();
            let pairs = turns.flat_map(|(id, it)| self.cues_of(it).map(|cue| (Arc::clone(cue), (it.observed_at, *id))));
            Posts::from_pairs(pairs)
        })
    }

    /// Adds a unit to the units of its cues, or removes it if `add` is false, if they are collected.
    fn update_index(&mut self, unit: UnitId, cued: &Cued, add: bool) {
        let Some(mut units) = self.units.take() else { return };
        for cue in self.cues_of(cued) {
            units.add_or_remove(Arc::clone(cue), (cued.observed_at, unit), add);
        }
        self.units = OnceLock::from(units);
    }

    fn cues_of(&self, cued: &Cued) -> impl Iterator<Item = &Arc<str>> {
        let numbers = cued.words.iter().skip(1);
        numbers.filter_map(|it| self.words.get(*it))
    }

    fn tag_of(&self, cued: &Cued) -> Option<&str> {
        self.words.get(*cued.words.first()?).map(|it| &**it)
    }
}

impl Cued {
    /// Returns roughly how many bytes it takes, with its entries in the units of each cue, collected or not.
    fn size_in_bytes(&self) -> usize {
        112 + 48 * self.words.len()
    }
}

impl<'a> MemoryAsOf<'a> {
    /// Returns the known cue for a word: the word itself, else the first cue with the same stem. For a name of several
    /// words, returns the cue of the word that leads to the fewest units, since stored cues are single words.
    pub fn find_cue(self, word: &str) -> Option<&'a str> {
        let MemoryAsOf { memory, .. } = self;
        let word = word.trim().to_lowercase();
        let exact = memory.cues.units_by_cue().keys_from(word.as_str()).next();
        if let Some(cue) = exact.filter(|it| ***it == *word && self.leads_to_units(it)) {
            return Some(cue);
        }
        let stem = text::stem_word(&word);
        let near = self.cues_like(&word).find(|it| text::stem_word(it) == stem);
        near.or_else(|| self.rarest_cue_of_name(&word))
    }

    fn rarest_cue_of_name(self, name: &str) -> Option<&'a str> {
        let words: Vec<&str> = name.split_whitespace().take(NAME_WORDS).collect();
        // A single word was already looked up.
        if words.len() < 2 {
            return None;
        }
        let cues = words.into_iter().filter_map(|it| self.find_cue(it));
        cues.min_by_key(|it| self.units_with(it).count())
    }

    /// Returns known cues that begin like a word without its last three letters, by name.
    pub fn cues_like(self, word: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let lower = word.trim().to_lowercase();
        let length = lower.chars().count();
        let start: String = lower.chars().take(length.saturating_sub(3).max(3)).collect();
        let near = self.memory.cues.units_by_cue().keys_from(start.as_str()).take(NEAR);
        let near = near.take_while(move |it| it.starts_with(&start)).map(|it| &**it);
        near.filter(move |it| self.leads_to_units(it))
    }

    fn leads_to_units(self, cue: &str) -> bool {
        self.units_with(cue).next().is_some()
    }

    /// Returns the turn units that a stored cue leads to, by when they were observed, ties by id.
    pub fn units_with(self, cue: &str) -> impl DoubleEndedIterator<Item = UnitId> + 'a {
        let units: Vec<(DateTime<Utc>, UnitId)> = self.memory.cues.units_by_cue().values_of_key(cue).collect();
        let known = move |(at, unit): (DateTime<Utc>, UnitId)| {
            (self.covers_moment(at) && self.may_show_unit(unit)).then_some(unit)
        };
        units.into_iter().filter_map(known)
    }

    /// Returns the tags between a stored cue and its turn units, with the number of units; most units first, ties by
    /// tag.
    pub fn tags_of_cue(self, cue: &str) -> Vec<(&'a str, usize)> {
        let mut counts: BTreeMap<&'a str, usize> = BTreeMap::new();
        for unit in self.units_with(cue) {
            *counts.entry(self.tag_of_unit(unit)).or_default() += 1;
        }
        let mut tags: Vec<(&'a str, usize)> = counts.into_iter().collect();
        tags.sort_by_key(|it| (Reverse(it.1), it.0));
        tags
    }

    /// Returns the tag of a turn, event or gist; empty if it has none.
    pub fn tag_of_unit(self, unit: UnitId) -> &'a str {
        let MemoryAsOf { memory, .. } = self;
        let turn = memory.cues.turns.get(&unit).and_then(|it| memory.cues.tag_of(it));
        let event = || memory.events.get(unit).map(|it| it.tag.as_str());
        let gist = || memory.gists.get(unit).map(|it| it.tag.as_str());
        turn.or_else(event).or_else(gist).unwrap_or_default()
    }

    /// Returns the cues of a turn, event or gist, in the order in which they occur in it.
    pub fn cues_of(self, unit: UnitId) -> Vec<&'a str> {
        let MemoryAsOf { memory, .. } = self;
        if let Some(turn) = memory.cues.turns.get(&unit) {
            return memory.cues.cues_of(turn).map(|it| &**it).collect();
        }
        let event = memory.events.get(unit).map(|it| &it.cues);
        let gist = || memory.gists.get(unit).map(|it| &it.cues);
        let cues = event.or_else(gist);
        cues.into_iter().flatten().map(String::as_str).collect()
    }
}
