//! Names in a message that several people share. It keeps facts about one of them away from the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::entity::Bearer;
use domain::fact::Fact;

use super::message::RecallMessage;
use crate::space::memory::{MemoryAsOf, PersonMatch, normalise_name};
use crate::space::view::Turn;

/// The names of a message that several people share.
pub(super) struct AmbiguousNames<'a> {
    known: MemoryAsOf<'a>,
    /// The speaker of the message.
    speaker: &'a str,
    /// The text of the message.
    text: &'a str,
    names: Vec<Name>,
}

struct Name {
    written: String,
    /// Stems of the name.
    stems: Vec<String>,
    person_match: PersonMatch,
    bearers: Vec<Bearer>,
    is_scoped: bool,
}

/// How a known fact or turn relates to the people that a message names.
#[derive(Debug, PartialEq)]
pub(super) enum NameMatch {
    /// The fact is about nobody with a shared name, or about the person that the message means.
    Nothing,
    /// The fact is about another person with the same name.
    Other,
    /// The fact may be about the person that the message means. The text says which person the fact is about.
    One(String),
}

impl<'a> AmbiguousNames<'a> {
    pub(super) fn from_message(
        known: MemoryAsOf<'a>,
        message: &'a RecallMessage,
        speaker: &'a str,
    ) -> AmbiguousNames<'a> {
        // A name at the start of a sentence is not among the names of `message`.
        let capital = |it: &&str| it.starts_with(char::is_uppercase);
        let named = message.named.iter().map(String::as_str);
        let written: BTreeSet<&str> = named
            .chain(text::split_words(&message.text).into_iter().filter(capital))
            .collect();
        let names = written.into_iter().filter_map(|written| {
            let person_match = known.resolve_person(written, speaker, &message.text);
            let bearers = known
                .entities_called(written)
                .iter()
                .flat_map(|it| it.bearers.clone())
                .collect();
            (person_match != PersonMatch::One).then(|| Name {
                written: written.to_owned(),
                stems: text::stem_words(written),
                person_match,
                bearers,
                is_scoped: known.scope().is_some(),
            })
        });
        AmbiguousNames {
            known,
            speaker,
            text: &message.text,
            names: names.collect(),
        }
    }

    /// Returns the facts about the person that the message means by a name; none if several people are possible.
    pub(super) fn facts_about(&self, name: &str) -> Vec<Arc<Fact>> {
        facts_about(self.known, name, self.speaker, self.text)
    }

    /// Returns whether a fact is about the person that the message means or about another one.
    pub(super) fn compare_fact(&self, fact: &Fact) -> NameMatch {
        if fact.entity.is_some() && self.names.iter().all(|it| !it.matches_name(&fact.object)) {
            return NameMatch::Nothing;
        }
        let subject = normalise_name(&fact.subject);
        let about = |name: &Name| {
            let called = name.bearers.iter().find(|it| is_called(it, &subject));
            let bare = || name.matches_name(&fact.subject) || name.matches_name(&fact.object);
            match called {
                Some(bearer) => Some(name.compare_person(Some(bearer))),
                None => bare().then(|| name.compare_person(name.bearer_known_to(&fact.told_by))),
            }
        };
        most_restrictive(self.names.iter().filter_map(about))
    }

    /// Returns whether a turn is about the person that the message means or about another one.
    pub(super) fn compare_turn(&self, turn: &Turn) -> NameMatch {
        if self.names.is_empty() {
            return NameMatch::Nothing;
        }
        // A name at the start of a sentence is not among the names of the view.
        let turn_stems = text::stem_words(turn.unit.text());
        let is_mentioned = |it: &&Name| !it.stems.is_empty() && it.stems.iter().all(|it| turn_stems.contains(it));
        let bears = |it: &Name| {
            let turn_stems = self
                .known
                .resolve_person(&it.written, &turn.unit.actor, turn.unit.text());
            match &turn_stems {
                PersonMatch::This(bearer) => it.compare_person(Some(bearer)),
                PersonMatch::One | PersonMatch::Several(_) => it.compare_person(None),
            }
        };
        most_restrictive(self.names.iter().filter(is_mentioned).map(bears))
    }
}

impl Name {
    fn matches_name(&self, name: &str) -> bool {
        normalise_name(name) == normalise_name(&self.written)
    }

    fn bearer_known_to(&self, teller: &str) -> Option<&Bearer> {
        let teller = normalise_name(teller);
        let mut tell = self
            .bearers
            .iter()
            .filter(|it| it.tellers.iter().any(|it| normalise_name(it) == teller));
        tell.next().filter(|_| tell.next().is_none())
    }

    /// Compares the person that something is about with the person that the message means.
    fn compare_person(&self, about: Option<&Bearer>) -> NameMatch {
        let name = &self.written;
        match (&self.person_match, about) {
            (PersonMatch::One, _) => NameMatch::Nothing,
            (PersonMatch::This(bearer), Some(about)) if bearer == about => NameMatch::Nothing,
            (PersonMatch::This(_), Some(_)) => NameMatch::Other,
            // The other name of the person may come from outside of the scope.
            (PersonMatch::Several(_), Some(about)) if !self.is_scoped => {
                NameMatch::One(format!("{name} means {} here", about.name))
            }
            (PersonMatch::Several(_), Some(_)) | (PersonMatch::This(_) | PersonMatch::Several(_), None) => {
                NameMatch::One(format!("{name} may mean another person here"))
            }
        }
    }
}

/// Returns the facts about the person that a speaker means by a name in a text; none if several people are possible.
pub(super) fn facts_about(known: MemoryAsOf<'_>, name: &str, speaker: &str, text: &str) -> Vec<Arc<Fact>> {
    match known.resolve_person(name, speaker, text) {
        PersonMatch::One => known.facts_about(name),
        PersonMatch::This(bearer) => known.facts_about(&bearer.name),
        PersonMatch::Several(_) => Vec::new(),
    }
}

fn is_called(bearer: &Bearer, name: &str) -> bool {
    let mut names = bearer.roles.iter().chain([&bearer.name]);
    names.any(|it| normalise_name(it) == name)
}

/// Returns the most restrictive of some results: `Other`, then `One`, then `Nothing`.
fn most_restrictive(all: impl Iterator<Item = NameMatch>) -> NameMatch {
    all.fold(NameMatch::Nothing, |worst, it| match (&worst, &it) {
        (NameMatch::Other, _) | (_, NameMatch::Nothing) => worst,
        (NameMatch::Nothing | NameMatch::One(_), NameMatch::Other | NameMatch::One(_)) => it,
    })
}
