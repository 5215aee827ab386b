use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::UnitId;
use domain::unit::Unit;

use super::Known;
use super::posts::Posts;

/// Maximum number of cues that are read to find one with the same stem.
const NEAR: usize = 256;
/// Maximum number of words of a name that are used.
const NAME_WORDS: usize = 6;

/// Cues of turn units: cue -tag-> unit (MRAgent, section 3). The words of a speaker's name are also cues of the
/// speaker's turns.
#[derive(Clone, Default)]
pub(super) struct Cues {
    turns: BTreeMap<UnitId, Arc<Cued>>,
    units: Posts<Arc<str>, (DateTime<Utc>, UnitId)>,
    bytes: usize,
}

struct Cued {
    observed_at: DateTime<Utc>,
    tag: String,
    cues: Vec<Arc<str>>,
}

impl Cues {
    pub(super) fn put(&mut self, unit: &Unit) {
        self.remove(unit.id);
        let mut cued = Cued {
            observed_at: unit.observed_at.to_utc(),
            tag: unit.tag.clone(),
            cues: Vec::with_capacity(unit.cues.len() + 1),
        };
        let actor = unit.actor.to_lowercase();
        let names = actor.split_whitespace().take(NAME_WORDS);
        let names = names.filter(|name| unit.cues.iter().all(|cue| cue != name));
        for cue in unit.cues.iter().map(String::as_str).chain(names) {
            let known = self.units.keys_from(cue).next().filter(|it| ***it == *cue);
            let cue = known.map_or_else(|| Arc::from(cue), Arc::clone);
            self.units.set(Arc::clone(&cue), (cued.observed_at, unit.id), true);
            cued.cues.push(cue);
        }
        self.bytes += cued.bytes();
        self.turns.insert(unit.id, Arc::new(cued));
    }

    pub(super) fn remove(&mut self, unit: UnitId) {
        let Some(old) = self.turns.remove(&unit) else {
            return;
        };
        for cue in &old.cues {
            self.units.set(Arc::clone(cue), (old.observed_at, unit), false);
        }
        self.bytes -= old.bytes();
    }

    /// Returns when a turn unit was observed.
    pub(super) fn observed(&self, turn: UnitId) -> Option<DateTime<Utc>> {
        self.turns.get(&turn).map(|it| it.observed_at)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.units.bytes()
    }
}

impl Cued {
    fn bytes(&self) -> usize {
        128 + self.tag.len() + 16 * self.cues.len()
    }
}

impl<'a> Known<'a> {
    /// Returns the known cue for a word: the word itself, else the first cue with the same stem. For a name of several
    /// words, returns the cue of the word that leads to the fewest units, since stored cues are single words.
    pub fn cue(self, word: &str) -> Option<&'a str> {
        let Known { memory, .. } = self;
        let word = word.trim().to_lowercase();
        let exact = memory.cues.units.keys_from(word.as_str()).next();
        if let Some(cue) = exact.filter(|it| ***it == *word && self.wakes(it)) {
            return Some(cue);
        }
        let stem = text::stem(&word);
        let near = self.cues_like(&word).find(|it| text::stem(it) == stem);
        near.or_else(|| self.rarest(&word))
    }

    fn rarest(self, name: &str) -> Option<&'a str> {
        let words: Vec<&str> = name.split_whitespace().take(NAME_WORDS).collect();
        // A single word was already looked up.
        if words.len() < 2 {
            return None;
        }
        let cues = words.into_iter().filter_map(|it| self.cue(it));
        cues.min_by_key(|it| self.units_with(it).count())
    }

    /// Returns known cues that begin like a word without its last three letters, by name.
    pub fn cues_like(self, word: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let lower = word.trim().to_lowercase();
        let length = lower.chars().count();
        let start: String = lower.chars().take(length.saturating_sub(3).max(3)).collect();
        let near = self.memory.cues.units.keys_from(start.as_str()).take(NEAR);
        let near = near.take_while(move |it| it.starts_with(&start)).map(|it| &**it);
        near.filter(move |it| self.wakes(it))
    }

    fn wakes(self, cue: &str) -> bool {
        self.units_with(cue).next().is_some()
    }

    /// Returns the turn units that a stored cue leads to, by when they were observed, ties by id.
    pub fn units_with(self, cue: &str) -> impl DoubleEndedIterator<Item = UnitId> + 'a {
        let units: Vec<(DateTime<Utc>, UnitId)> = self.memory.cues.units.get(cue).collect();
        let known = move |(at, unit): (DateTime<Utc>, UnitId)| (self.knows(at) && self.tells(unit)).then_some(unit);
        units.into_iter().filter_map(known)
    }

    /// Returns the tags between a stored cue and its turn units, with the number of units; most units first, ties by
    /// tag.
    pub fn tags(self, cue: &str) -> Vec<(&'a str, usize)> {
        let mut counts: BTreeMap<&'a str, usize> = BTreeMap::new();
        for unit in self.units_with(cue) {
            *counts.entry(self.tag(unit)).or_default() += 1;
        }
        let mut tags: Vec<(&'a str, usize)> = counts.into_iter().collect();
        tags.sort_by_key(|it| (Reverse(it.1), it.0));
        tags
    }

    /// Returns the tag of a turn, event or gist; empty if it has none.
    pub fn tag(self, unit: UnitId) -> &'a str {
        let Known { memory, .. } = self;
        let turn = memory.cues.turns.get(&unit).map(|it| it.tag.as_str());
        let event = || memory.events.get(unit).map(|it| it.tag.as_str());
        let gist = || memory.gists.get(unit).map(|it| it.tag.as_str());
        turn.or_else(event).or_else(gist).unwrap_or_default()
    }

    /// Returns the cues of a turn, event or gist, in the order in which they occur in it.
    pub fn cues_of(self, unit: UnitId) -> Vec<&'a str> {
        let Known { memory, .. } = self;
        if let Some(turn) = memory.cues.turns.get(&unit) {
            return turn.cues.iter().map(|it| &**it).collect();
        }
        let event = memory.events.get(unit).map(|it| &it.cues);
        let gist = || memory.gists.get(unit).map(|it| &it.cues);
        let cues = event.or_else(gist);
        cues.into_iter().flatten().map(String::as_str).collect()
    }
}
