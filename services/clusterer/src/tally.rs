//! Counts of names over the units of a space, and the entities that follow from them.

use std::collections::{BTreeMap, BTreeSet};

use domain::entity::{Entity, EntityKind};
use domain::id::{EntityId, SessionId, SpaceId, UnitId};
use domain::unit::{Grain, Status, Unit};

use crate::names::{Told, normalised, told};

/// A word is another name for a speaker once the other one of two has called it this often,
const CALLS_MIN: u64 = 3;
/// and this many times as often as the speaker did.
const CALLS_RATIO: u64 = 3;
/// Most other names kept of one entity.
const ALIASES_MAX: usize = 16;

/// What the units of one space tell of names. Equal sets of units give equal tallies, whatever the order they came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    units: BTreeMap<UnitId, Told>,
    names: BTreeMap<String, Count>,
    /// Units by actor, by session.
    sessions: BTreeMap<SessionId, BTreeMap<String, Calls>>,
}

/// How often a name was mentioned, in how many forms and surroundings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    forms: BTreeMap<String, u64>,
    units: u64,
    person: u64,
    place: u64,
}

/// What one actor said in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Calls {
    units: u64,
    called: BTreeMap<String, u64>,
}

impl Tally {
    /// Takes a unit in as it stands now. Event units count nothing: they repeat what their turns tell.
    pub fn apply(&mut self, unit: &Unit) {
        if let Some(before) = self.units.remove(&unit.id) {
            self.count(&before, false);
        }
        if unit.grain == Grain::Turn && unit.status == Status::Active {
            let now = told(unit);
            self.count(&now, true);
            self.units.insert(unit.id, now);
        }
    }

    /// Returns the entities of the space, by id: speakers, then whatever else has a name.
    pub fn entities(&self, space: &SpaceId) -> Vec<Entity> {
        let speakers = self.speakers();
        let owners = self.owners(&speakers);
        let mut found: BTreeMap<String, (EntityKind, Count)> = BTreeMap::new();
        for (key, (name, units)) in &speakers {
            let forms = BTreeMap::from([(name.clone(), u64::MAX / 2)]);
            let count = Count {
                forms,
                units: *units,
                ..Count::default()
            };
            found.insert(key.clone(), (EntityKind::Speaker, count));
        }
        for (key, count) in &self.names {
            let owner = owners.get(key).unwrap_or(key);
            let (_, sum) = found
                .entry(owner.clone())
                .or_insert_with(|| (kind(count), Count::default()));
            sum.units += count.units;
            for (form, times) in &count.forms {
                *sum.forms.entry(form.clone()).or_default() += times;
            }
        }
        for (alias, owner) in &owners {
            if let Some((_, sum)) = found.get_mut(owner).filter(|_| !self.names.contains_key(alias)) {
                let first = speakers.get(owner).and_then(|(name, _)| name.split_whitespace().next());
                let own = first.filter(|it| normalised(it) == *alias).map(str::to_owned);
                sum.forms.entry(own.unwrap_or_else(|| self.written(alias))).or_default();
            }
        }
        let mut out: Vec<Entity> = found.into_iter().map(|(key, it)| entity(space, &key, it)).collect();
        out.sort_by_key(|it| it.id);
        out
    }

    fn count(&mut self, told: &Told, more: bool) {
        let step = |it: &mut u64| *it = if more { *it + 1 } else { it.saturating_sub(1) };
        for name in &told.names {
            let key = normalised(&name.form);
            let count = self.names.entry(key.clone()).or_default();
            step(&mut count.units);
            step(count.forms.entry(name.form.clone()).or_default());
            if name.person {
                step(&mut count.person);
            }
            if name.place {
                step(&mut count.place);
            }
            count.forms.retain(|_, times| *times > 0);
            if count.units == 0 {
                self.names.remove(&key);
            }
        }
        if told.actor.is_empty() {
            return;
        }
        let actors = self.sessions.entry(told.session).or_default();
        let calls = actors.entry(told.actor.clone()).or_default();
        step(&mut calls.units);
        for word in &told.called {
            step(calls.called.entry(word.clone()).or_default());
        }
        calls.called.retain(|_, times| *times > 0);
        if calls.units == 0 {
            actors.remove(&told.actor);
        }
        if actors.is_empty() {
            self.sessions.remove(&told.session);
        }
    }

    /// Speakers by normalised name: the form used most and the number of their units.
    fn speakers(&self) -> BTreeMap<String, (String, u64)> {
        let mut forms: BTreeMap<String, BTreeMap<&str, u64>> = BTreeMap::new();
        for (actor, calls) in self.sessions.values().flatten() {
            *forms.entry(normalised(actor)).or_default().entry(actor).or_default() += calls.units;
        }
        let best = forms.into_iter().map(|(key, forms)| {
            let sum = forms.values().sum();
            (key, (commonest(forms.into_iter()).to_owned(), sum))
        });
        best.collect()
    }

    /// Other names of speakers, normalised, each with the speaker it belongs to: the first word of a longer name, and what
    /// the other one of two calls a speaker. A name that would belong to two belongs to neither.
    fn owners(&self, speakers: &BTreeMap<String, (String, u64)>) -> BTreeMap<String, String> {
        let mut claims: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
        for key in speakers.keys() {
            if let Some((first, _)) = key.split_once(' ') {
                claims.entry(first.to_owned()).or_default().insert(key);
            }
        }
        for ((caller, called), words) in self.pairs() {
            let (Some((caller, _)), Some((called, _))) =
                (speakers.get_key_value(&caller), speakers.get_key_value(&called))
            else {
                continue;
            };
            let own = |word: &str| caller.split(' ').any(|it| it == word);
            for (word, (by_caller, by_called)) in words {
                if by_caller >= CALLS_MIN && by_caller >= CALLS_RATIO * by_called && !own(&word) {
                    claims.entry(word).or_default().insert(called);
                }
            }
        }
        let free = claims.into_iter().filter(|(word, _)| !speakers.contains_key(word));
        free.filter_map(|(word, owners)| (owners.len() == 1).then_some((word, owners.into_iter().next()?.clone())))
            .collect()
    }

    /// For each two that talk alone with each other, by (caller, called): how often either used a word to call somebody.
    fn pairs(&self) -> BTreeMap<(String, String), BTreeMap<String, (u64, u64)>> {
        let mut out: BTreeMap<(String, String), BTreeMap<String, (u64, u64)>> = BTreeMap::new();
        for actors in self.sessions.values().filter(|it| it.len() == 2) {
            let mut two = actors.iter();
            let (Some(one), Some(other)) = (two.next(), two.next()) else {
                continue;
            };
            for (caller, called) in [(one, other), (other, one)] {
                let words = out.entry((normalised(caller.0), normalised(called.0))).or_default();
                for (word, times) in &caller.1.called {
                    words.entry(normalised(word)).or_default().0 += times;
                }
                for (word, times) in &called.1.called {
                    words.entry(normalised(word)).or_default().1 += times;
                }
            }
        }
        out
    }

    /// The form in which a name was called most; the name itself if it was never called.
    fn written(&self, key: &str) -> String {
        let mut forms: BTreeMap<&str, u64> = BTreeMap::new();
        for (word, times) in self.sessions.values().flatten().flat_map(|(_, calls)| &calls.called) {
            if normalised(word) == key {
                *forms.entry(word).or_default() += times;
            }
        }
        let form = commonest(forms.into_iter());
        if form.is_empty() {
            key.to_owned()
        } else {
            form.to_owned()
        }
    }
}

/// A person if anything says so as often as a place; a place if anything says so.
fn kind(count: &Count) -> EntityKind {
    if count.person > 0 && count.person >= count.place {
        EntityKind::Person
    } else if count.place > 0 {
        EntityKind::Place
    } else {
        EntityKind::Other
    }
}

fn entity(space: &SpaceId, key: &str, (kind, count): (EntityKind, Count)) -> Entity {
    let name = commonest(count.forms.iter().map(|(form, times)| (form.as_str(), *times))).to_owned();
    let aliases = count
        .forms
        .into_keys()
        .filter(|it| *it != name)
        .take(ALIASES_MAX)
        .collect();
    Entity {
        id: EntityId::derive(space, key),
        name,
        kind,
        aliases,
        mentions: count.units,
        first_seen: None,
        roles: Vec::new(),
        synonyms: Vec::new(),
    }
}

/// The form with the greatest number, the first in alphabetical order on ties; empty if there is none.
fn commonest<'a>(forms: impl Iterator<Item = (&'a str, u64)>) -> &'a str {
    forms
        .max_by_key(|(form, times)| (*times, std::cmp::Reverse(*form)))
        .map_or("", |(form, _)| form)
}
