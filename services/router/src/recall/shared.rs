//! Names in a message that several people share. It keeps facts about one of them away from the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::entity::Bearer;
use domain::fact::Fact;

use super::heard::Heard;
use crate::memory::{Known, Meant, normalised};
use crate::view::Turn;

/// The names of a message that several people share.
pub(super) struct Shared<'a> {
    known: Known<'a>,
    /// The speaker of the message, and its text.
    said: (&'a str, &'a str),
    names: Vec<Name>,
}

struct Name {
    written: String,
    /// Stems of the name.
    stems: Vec<String>,
    meant: Meant,
    bearers: Vec<Bearer>,
    is_scoped: bool,
}

/// How a known fact or turn relates to the people that a message names.
#[derive(Debug, PartialEq)]
pub(super) enum Bears {
    /// It is about nobody with a shared name, or about the person that the message means.
    Nothing,
    /// It is about another person with the same name.
    Other,
    /// It may be about the person that the message means. The text says who it is.
    One(String),
}

impl<'a> Shared<'a> {
    pub(super) fn of(known: Known<'a>, heard: &'a Heard, actor: &'a str) -> Shared<'a> {
        let said = (actor, heard.text.as_str());
        // A name at the start of a sentence is not among the names of `heard`.
        let capital = |it: &&str| it.starts_with(char::is_uppercase);
        let named = heard.named.iter().map(String::as_str);
        let written: BTreeSet<&str> = named
            .chain(text::words(&heard.text).into_iter().filter(capital))
            .collect();
        let names = written.into_iter().filter_map(|written| {
            let meant = known.meant(written, said);
            let bearers = known.called(written).iter().flat_map(|it| it.bearers.clone()).collect();
            (meant != Meant::One).then(|| Name {
                written: written.to_owned(),
                stems: text::stems(written),
                meant,
                bearers,
                is_scoped: known.scope().is_some(),
            })
        });
        Shared {
            known,
            said,
            names: names.collect(),
        }
    }

    /// Returns the facts about the person that the message means by a name; none if several people are possible.
    pub(super) fn facts_about(&self, name: &str) -> Vec<Arc<Fact>> {
        facts_about(self.known, name, self.said)
    }

    /// Returns whether a fact is about the person that the message means or about another one.
    pub(super) fn fact(&self, fact: &Fact) -> Bears {
        if fact.entity.is_some() && self.names.iter().all(|it| !it.is(&fact.object)) {
            return Bears::Nothing;
        }
        let subject = normalised(&fact.subject);
        let about = |name: &Name| {
            let called = name.bearers.iter().find(|it| is_called(it, &subject));
            let bare = || name.is(&fact.subject) || name.is(&fact.object);
            match called {
                Some(bearer) => Some(name.bears(Some(bearer))),
                None => bare().then(|| name.bears(name.told_by(&fact.told_by))),
            }
        };
        worst(self.names.iter().filter_map(about))
    }

    /// Returns whether a turn is about the person that the message means or about another one.
    pub(super) fn turn(&self, turn: &Turn) -> Bears {
        if self.names.is_empty() {
            return Bears::Nothing;
        }
        // A name at the start of a sentence is not among the names of the view.
        let said = text::stems(&turn.unit.text);
        let named = |it: &&Name| !it.stems.is_empty() && it.stems.iter().all(|it| said.contains(it));
        let bears = |it: &Name| {
            let said = self.known.meant(&it.written, (&turn.unit.actor, &turn.unit.text));
            match &said {
                Meant::This(bearer) => it.bears(Some(bearer)),
                Meant::One | Meant::Several(_) => it.bears(None),
            }
        };
        worst(self.names.iter().filter(named).map(bears))
    }
}

impl Name {
    fn is(&self, name: &str) -> bool {
        normalised(name) == normalised(&self.written)
    }

    fn told_by(&self, teller: &str) -> Option<&Bearer> {
        let teller = normalised(teller);
        let mut tell = self
            .bearers
            .iter()
            .filter(|it| it.tellers.iter().any(|it| normalised(it) == teller));
        tell.next().filter(|_| tell.next().is_none())
    }

    /// Compares the person that something is about with the person that the message means.
    fn bears(&self, about: Option<&Bearer>) -> Bears {
        let name = &self.written;
        match (&self.meant, about) {
            (Meant::One, _) => Bears::Nothing,
            (Meant::This(meant), Some(about)) if meant == about => Bears::Nothing,
            (Meant::This(_), Some(_)) => Bears::Other,
            // The other name of the person may come from outside of the scope.
            (Meant::Several(_), Some(about)) if !self.is_scoped => Bears::One(format!("{name} is {} here", about.name)),
            (Meant::Several(_), Some(_)) | (Meant::This(_) | Meant::Several(_), None) => {
                Bears::One(format!("{name} may be another one here"))
            }
        }
    }
}

/// Returns the facts about the person that a speaker means by a name in a text; none if several people are possible.
pub(super) fn facts_about(known: Known<'_>, name: &str, said: (&str, &str)) -> Vec<Arc<Fact>> {
    match known.meant(name, said) {
        Meant::One => known.facts_about(name),
        Meant::This(bearer) => known.facts_about(&bearer.name),
        Meant::Several(_) => Vec::new(),
    }
}

fn is_called(bearer: &Bearer, name: &str) -> bool {
    let mut names = bearer.roles.iter().chain([&bearer.name]);
    names.any(|it| normalised(it) == name)
}

/// Returns the most restrictive of some results: `Other`, then `One`, then `Nothing`.
fn worst(all: impl Iterator<Item = Bears>) -> Bears {
    all.fold(Bears::Nothing, |worst, it| match (&worst, &it) {
        (Bears::Other, _) | (_, Bears::Nothing) => worst,
        (Bears::Nothing | Bears::One(_), Bears::Other | Bears::One(_)) => it,
    })
}
