//! Undecided pairs of names: which ones there are, how a language model judged them, and what it has to be asked.

use std::collections::BTreeSet;

use domain::id::{EntityId, MergeId, SpaceId, UnitId};

use super::one::Link;
use super::{Entities, unsure};
use crate::people::{AskedName, MentionedName, NamePair, PeoplePlace, PeopleQuestion, PeopleVerdict};

/// Number of units that a model is shown about a name: the first ones (`UNITS_FIRST`) and the last ones.
const UNITS_FIRST: usize = 2;
const UNITS_LAST: usize = 2;
/// The reason of a merge that a language model judged.
const WHY: &str = "a language model takes them for one person";

impl Entities {
    /// Returns the pairs of names whose readings have to be looked up before [`Entities::changed`] is called. It may
    /// take a second in a large space, so do not call it on an async thread.
    pub fn unlooked(&mut self, space: &SpaceId) -> Vec<PeoplePlace> {
        self.note_unsure(space);
        self.pairs.unlooked()
    }

    /// Marks all pairs of names about which the model has to be asked, so that their readings are looked up again:
    /// another process or an import may have stored one.
    pub fn look_for_open(&mut self) {
        self.pairs.look_for_open();
    }

    /// Applies the judgements that were found for `places`; a pair without one is left to the rules.
    pub fn take_in(&mut self, places: &[PeoplePlace], verdicts: &[PeopleVerdict]) {
        let changed = self.pairs.take_in(places, verdicts);
        self.dirty.extend(changed.into_iter().map(|it| it.shorter));
    }

    /// Returns at most `limit` questions about names for a language model, in alphabetical order. They cover pairs
    /// that were looked up, have no reading, and were not separated by a user, as of the last call of
    /// [`Entities::changed`].
    pub fn questions(&self, space: &SpaceId, limit: usize) -> Vec<PeopleQuestion> {
        let mut out: Vec<PeopleQuestion> = Vec::new();
        let mut last = None;
        for (place, ()) in self.pairs.due() {
            let pair = &place.of;
            if self.is_undone(space, pair) {
                continue;
            }
            let asked = self.mentioned(&pair.longer).zip(self.mentioned(&pair.shorter));
            let Some((longer, shorter)) = asked else { continue };
            if last.as_ref() != Some(&pair.shorter) {
                if out.len() == limit {
                    break;
                }
                last = Some(pair.shorter.clone());
                out.push(PeopleQuestion {
                    shorter,
                    others: Vec::new(),
                });
            }
            if let Some(question) = out.last_mut() {
                question.others.push(AskedName { place, named: longer });
            }
        }
        out
    }

    /// Adds a unit that mentions a name, or removes it if `more` is false.
    pub(super) fn note_mention(&mut self, class: &str, mention: super::Mentioned, more: bool) {
        let mentions = self.mentions.entry(class.to_owned()).or_default();
        if more {
            mentions.insert(mention, ());
        } else {
            mentions.remove(&mention);
        }
        if mentions.is_empty() {
            self.mentions.remove(class);
        }
    }

    /// Marks the names for which a model was shown this unit: their readings are looked up and their merges found
    /// again.
    pub(super) fn look_again(&mut self, unit: UnitId) {
        let shown = self.pairs.look_again(unit);
        self.dirty.extend(shown.into_iter().map(|it| it.shorter));
    }

    /// Finds the pairs of all changed names and of names that depend on them again, and keeps these names for the
    /// next round.
    pub(super) fn note_unsure(&mut self, space: &SpaceId) {
        let affected = self.affected();
        for class in &affected {
            let now = unsure::longer(&self.forms, &self.calls, class);
            let pair = |longer: &String| NamePair {
                shorter: class.clone(),
                longer: longer.clone(),
            };
            let before = self.unsure.remove(class).unwrap_or_default();
            for longer in before.iter().filter(|it| !now.contains(it)) {
                self.pairs.remove(&pair(longer));
            }
            for longer in &now {
                self.pairs.set(pair(longer).place(space), ());
            }
            if !now.is_empty() {
                self.unsure.insert(class.clone(), now);
            }
        }
        self.pending.extend(affected);
    }

    /// Returns the name that, according to a language model, belongs to the same person as a class. Returns none if
    /// the model chose several.
    pub(super) fn judged(&self, class: &str) -> Option<Link> {
        let is_same = |longer: &&String| {
            let pair = NamePair {
                shorter: class.to_owned(),
                longer: (*longer).clone(),
            };
            let verdict = self.pairs.saying(&pair);
            verdict.is_some_and(|it| it.joins(|unit| self.units.contains_key(&unit)))
        };
        let mut same = self.unsure.get(class)?.iter().filter(is_same);
        let (parent, other) = (same.next()?, same.next());
        other.is_none().then(|| Link {
            parent: parent.clone(),
            why: WHY,
        })
    }

    /// Returns true if a user decided that two names are different people.
    fn is_undone(&self, space: &SpaceId, pair: &NamePair) -> bool {
        let [kept, merged] = [&pair.longer, &pair.shorter].map(|it| EntityId::derive(space, it).uuid());
        self.acts.is_parted(MergeId::derive(kept, merged))
    }

    /// Returns the main form of a name and the units that a model is shown about it.
    fn mentioned(&self, class: &str) -> Option<MentionedName> {
        let mentions = self.mentions.get(class)?;
        let first = mentions.keys().take(UNITS_FIRST);
        let last = mentions.keys().rev().take(UNITS_LAST);
        let shown: BTreeSet<_> = first.chain(last).collect();
        Some(MentionedName {
            name: self.name(class)?.clone(),
            units: shown.into_iter().map(|it| it.1).collect(),
        })
    }
}
