//! Undecided pairs of names, a language model's judgements of them, and the questions that it still has to answer.

use std::collections::BTreeSet;

use domain::id::{EntityId, MergeId, SpaceId, UnitId};

use crate::entities::merging::candidates;
use crate::entities::merging::merge_rules::Link;
use crate::entities::{Entities, Mentioned};
use crate::judgements::people::{AskedName, MentionedName, NamePair, PeopleJudgement, PeopleQuestion, PeopleSubject};

/// Number of units that a model is shown about a name: the first ones (`UNITS_FIRST`) and the last ones.
const UNITS_FIRST: usize = 2;
const UNITS_LAST: usize = 2;
/// The reason of a merge that a language model judged.
const WHY: &str = "a language model judged them to be one person";

impl Entities {
    /// Returns the pairs of names whose readings have to be looked up before [`Entities::take_changes`] is called. It may
    /// take a second in a large space, so do not call it on an async thread.
    pub fn name_pairs_to_look_up(&mut self, space: &SpaceId) -> Vec<PeopleSubject> {
        self.note_unsure(space);
        self.pairs.subjects_to_look_up()
    }

    /// Marks all pairs of names about which the model has to be asked, so that their readings are looked up again:
    /// another process or an import may have stored one.
    pub fn mark_open_questions(&mut self) {
        self.pairs.mark_open_questions();
    }

    /// Applies the judgements that were found for `places`; a pair without one is left to the rules.
    pub fn apply_readings(&mut self, places: &[PeopleSubject], verdicts: &[PeopleJudgement]) {
        let changed = self.pairs.apply_readings(places, verdicts);
        self.dirty.extend(changed.into_iter().map(|it| it.shorter));
    }

    /// Returns at most `limit` questions about names for a language model, in alphabetical order. They cover pairs
    /// that were looked up, have no reading, were not separated by a user, and whose names are both in units that are
    /// not hidden, as of the last call of [`Entities::take_changes`].
    pub fn open_questions(&self, space: &SpaceId, limit: usize) -> Vec<PeopleQuestion> {
        let mut out: Vec<PeopleQuestion> = Vec::new();
        let mut last = None;
        for (place, ()) in self.pairs.subjects_to_ask_about() {
            let pair = &place.of;
            if self.is_undone(space, pair) {
                continue;
            }
            let open_pair = self
                .build_mentioned_name(&pair.longer)
                .zip(self.build_mentioned_name(&pair.shorter));
            let Some((longer, shorter)) = open_pair else { continue };
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
    pub(crate) fn note_mention(&mut self, class: &str, mention: Mentioned, more: bool) {
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
    pub(crate) fn mark_for_lookup(&mut self, unit: UnitId) {
        let shown = self.pairs.mark_for_lookup(unit);
        self.dirty.extend(shown.into_iter().map(|it| it.shorter));
    }

    /// Finds the pairs of all changed names and of names that depend on them again, and keeps these names for the
    /// next round.
    pub(crate) fn note_unsure(&mut self, space: &SpaceId) {
        let affected = self.take_affected_classes();
        for class in &affected {
            let now = candidates::find_longer_names(&self.forms, &self.nickname_counts, class);
            let pair = |longer: &String| NamePair {
                shorter: class.clone(),
                longer: longer.clone(),
            };
            let before = self.unsure.remove(class).unwrap_or_default();
            for longer in before.iter().filter(|it| !now.contains(it)) {
                self.pairs.remove(&pair(longer));
            }
            for longer in &now {
                self.pairs.set_subject(pair(longer).into_place(space), ());
            }
            if !now.is_empty() {
                self.unsure.insert(class.clone(), now);
            }
        }
        self.pending.extend(affected);
    }

    /// Returns the name that, according to a language model, belongs to the same person as a class. Returns none if
    /// the model chose several.
    pub(crate) fn find_link_by_model(&self, class: &str) -> Option<Link> {
        let is_same = |longer: &&String| {
            let pair = NamePair {
                shorter: class.to_owned(),
                longer: (*longer).clone(),
            };
            let verdict = self.pairs.find_content(&pair);
            verdict.is_some_and(|it| it.is_same_person(|unit| self.units.contains_id(unit)))
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
        let [remaining, merged] = [&pair.longer, &pair.shorter].map(|it| EntityId::from_name(space, it).uuid());
        self.acts.is_parted(MergeId::from_pair(remaining, merged))
    }

    /// Returns the main form of a name and the units that a model is shown about it, or none if all units that mention
    /// it are hidden.
    fn build_mentioned_name(&self, class: &str) -> Option<MentionedName> {
        let mentions = self.mentions.get(class)?;
        let is_visible = |it: &&Mentioned| !self.hidden.hides(it.1);
        let first = mentions.keys().filter(is_visible).take(UNITS_FIRST);
        let last = mentions.keys().rev().filter(is_visible).take(UNITS_LAST);
        let shown: BTreeSet<_> = first.chain(last).collect();
        if shown.is_empty() {
            return None;
        }
        Some(MentionedName {
            name: self.main_form(class)?.clone(),
            units: shown.into_iter().map(|it| it.1).collect(),
        })
    }
}
