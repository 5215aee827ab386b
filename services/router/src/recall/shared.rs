//! Names in a message that several people bear: what is known of one of them is not said of another.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::entity::Bearer;
use domain::fact::Fact;

use super::heard::Heard;
use crate::memory::{Known, Meant, normalised};
use crate::view::Turn;

/// The names of a message that several bear.
pub(super) struct Shared<'a> {
    known: Known<'a>,
    /// Who says the message, and the message.
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

/// How something that is known stands to the names of a message.
#[derive(Debug, PartialEq)]
pub(super) enum Bears {
    /// It tells of nobody whose name is shared, or of the one who is meant.
    Nothing,
    /// It tells of somebody else of the name.
    Other,
    /// It may or may not be the one who is meant; in words, who it is.
    One(String),
}

impl<'a> Shared<'a> {
    pub(super) fn of(known: Known<'a>, heard: &'a Heard, actor: &'a str) -> Shared<'a> {
        let said = (actor, heard.text.as_str());
        // A name that opens a sentence is none to whoever listens.
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

    /// Returns the facts about whom the message means by a name; none if it may be several.
    pub(super) fn facts_about(&self, name: &str) -> Vec<Arc<Fact>> {
        facts_about(self.known, name, self.said)
    }

    /// Says whether a fact tells of another one than the message means.
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

    /// Says whether a turn names another one than the message means.
    pub(super) fn turn(&self, turn: &Turn) -> Bears {
        if self.names.is_empty() {
            return Bears::Nothing;
        }
        // A name that opens a sentence is none to the view.
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

    /// Compares who something is about with who is meant.
    fn bears(&self, about: Option<&Bearer>) -> Bears {
        let name = &self.written;
        match (&self.meant, about) {
            (Meant::One, _) => Bears::Nothing,
            (Meant::This(meant), Some(about)) if meant == about => Bears::Nothing,
            (Meant::This(_), Some(_)) => Bears::Other,
            // How the other one is called may come from outside of the scope.
            (Meant::Several(_), Some(about)) if !self.is_scoped => Bears::One(format!("{name} is {} here", about.name)),
            (Meant::Several(_), Some(_)) | (Meant::This(_) | Meant::Several(_), None) => {
                Bears::One(format!("{name} may be another one here"))
            }
        }
    }
}

/// Returns the facts about whom somebody means by a name in what they say; none if it may be several.
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

/// Another one of any name is another one; then whoever it is is to be said.
fn worst(all: impl Iterator<Item = Bears>) -> Bears {
    all.fold(Bears::Nothing, |worst, it| match (&worst, &it) {
        (Bears::Other, _) | (_, Bears::Nothing) => worst,
        (Bears::Nothing | Bears::One(_), Bears::Other | Bears::One(_)) => it,
    })
}
