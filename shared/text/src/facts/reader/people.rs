//! The persons that a sentence mentions, as referents of a later pronoun.

use super::super::lexicon::{CALLED, GREETINGS, JOBS, KIN, KIN_ADJECTIVES, OWNERS, PERSONS, PLACED, REPORTS, TITLES};
use super::super::subject::{Who, agrees, is_name, subject};
use super::super::token::{Gap, Word, quotes, words};
use super::super::{Statement, Subject};

/// A person that a text mentions.
#[derive(Clone, Debug)]
pub(super) struct Person {
    /// The person.
    pub(super) subject: Subject,
    /// The role of a named person to the speaker: "my sister".
    pub(super) role: Option<String>,
    /// Index of the first word after the mention.
    pub(super) next: usize,
    /// True if the person is the subject of a clause.
    pub(super) acts: bool,
}

impl Person {
    fn of(who: Who) -> Person {
        Person {
            subject: who.subject,
            role: who.role,
            next: who.next,
            acts: false,
        }
    }

    /// Returns a person with this name.
    pub(super) fn named(name: &str) -> Person {
        Person::of(Who::of(Subject::Name(name.to_owned()), 0))
    }

    /// Returns the person that a statement names as one of the speaker's people: "has sister", "is together with".
    fn told(it: &Statement) -> Option<Person> {
        let relation = it.aspect == domain::fact::Aspect::Relation && it.subject == Subject::Speaker && !it.ended;
        let role = it.predicate.strip_prefix("has ").map(|it| format!("my {it}"));
        let name = it.object.starts_with(char::is_uppercase) && it.object.split(' ').count() < 3;
        (relation && name).then(|| Person {
            subject: Subject::Name(it.object.clone()),
            role,
            next: 0,
            acts: false,
        })
    }

    fn agrees(&self, pronoun: &str) -> bool {
        let role = self.role.clone().map(Subject::Phrase);
        agrees(&self.subject, pronoun) && role.is_none_or(|it| agrees(&it, pronoun))
    }

    /// Returns true if both are the same person: "my sister" and "Ana" are, if Ana's role is "my sister".
    fn is(&self, other: &Person) -> bool {
        let role = |it: &Person| match (&it.role, &it.subject) {
            (Some(role), _) | (None, Subject::Phrase(role)) => Some(role.clone()),
            (None, Subject::Speaker | Subject::Name(_)) => None,
        };
        self.subject == other.subject || role(self).is_some_and(|it| role(other) == Some(it))
    }
}

/// Returns the speaker's people that the words before `end` mention, in order.
pub(super) fn people(text: &str, words: &[Word], end: usize) -> Vec<Person> {
    let mut out = Vec::new();
    // "She said, for my brother": it is unclear whose brother he is.
    let said = words.iter().position(|it| it.on(&REPORTS) && it.gap != Gap::None);
    for at in 0..end.min(said.unwrap_or(words.len())) {
        let (word, before) = (&words[at], at.checked_sub(1).map(|it| &words[it]));
        // "Old Petra, she teaches pottery": after a greeting, the name would be the addressee.
        let topic = is_name(word)
            && word.gap == Gap::Comma
            && words.get(at + 1).is_some_and(|it| it.is(&["he", "she"]))
            && before.is_some_and(|it| it.gap == Gap::None && !it.on(&GREETINGS) && !is_name(it));
        let titled = word.on(&TITLES) && word.capital;
        let who = if word.quoted {
            None
        } else if topic && !word.quoted {
            text.get(word.range.clone())
                .map(|it| Who::of(Subject::Name(it.to_owned()), at + 1))
        } else if titled {
            let name = words.get(at + 1).filter(|it| is_name(it));
            let name = name.and_then(|it| text.get(word.range.start..it.range.end));
            name.map(|it| Who::of(Subject::Name(it.trim_end_matches("'s").to_owned()), at + 2))
        } else if word.is(&["my", "our"]) {
            subject(text, words, at, None).or_else(|| owner(words, at))
        } else if word.is(&["his", "her"]) {
            // "His name is Emil, he's a nurse."
            let is = words.get(at + 1).is_some_and(|it| it.lower == "name")
                && words.get(at + 2).is_some_and(|it| it.lower == "is");
            let name = words.get(at + 3).filter(|it| is && is_name(it));
            let name = name.and_then(|it| text.get(it.range.clone()));
            name.map(|it| Who::of(Subject::Name(it.to_owned()), at + 4))
        } else {
            let bare = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
            let own = before.is_none_or(|it| {
                it.gap != Gap::None || !(it.on(&KIN_ADJECTIVES) || it.on(&OWNERS) || it.lower.ends_with("'s"))
            });
            let called = CALLED.contains(&bare) && own;
            called.then(|| Who::of(Subject::Phrase(format!("my {bare}")), at + 1))
        };
        out.extend(who.filter(|it| it.subject != Subject::Speaker).map(Person::of));
    }
    out
}

/// "My mother's visa runs out" mentions the mother.
fn owner(words: &[Word], at: usize) -> Option<Who> {
    let head = (at + 1..words.len().min(at + 4)).find(|&it| !words[it].on(&KIN_ADJECTIVES))?;
    let bare = words[head].lower.strip_suffix("'s").filter(|it| KIN.contains(it))?;
    let mut phrase: Vec<&str> = vec!["my"];
    phrase.extend(words[at + 1..head].iter().map(|it| it.lower.as_str()));
    phrase.push(bare);
    Some(Who::of(Subject::Phrase(phrase.join(" ")), head + 1))
}

/// Returns the persons that a sentence mentions, together with the subjects of its clauses. A person who is mentioned
/// in a clause after its subject is left out: the next "she" refers to the subject.
pub(super) fn spoken_of(mut named: Vec<Person>, mut acting: Vec<Person>) -> Vec<Person> {
    named.retain(|it| {
        let clause = acting.iter().rfind(|other| other.next <= it.next);
        clause.is_none_or(|other| other.subject == Subject::Speaker || other.is(it))
    });
    acting.retain(|it| it.subject != Subject::Speaker);
    named.append(&mut acting);
    named
}

/// Returns the persons that a question is about, as the one who answers would call them: "my sister" for "your sister",
/// "Ana".
pub(super) fn asked(question: &str, speaker: &str) -> Vec<Person> {
    let marks = quotes(question);
    let mut words = words(question, 0..question.len(), &marks);
    for word in &mut words {
        if word.lower == "your" {
            word.lower = "my".to_owned();
        }
    }
    let mut out = people(question, &words, words.len());
    let tells = |it: &Person| {
        words
            .get(it.next)
            .is_some_and(|it| it.on(&REPORTS) || it.is(&["told", "mentioned"]))
    };
    out.retain(|it| !tells(it));
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|it| &words[it]);
        let placed = before.is_some_and(|it| it.on(&PLACED) || it.gap == Gap::None && is_name(it));
        let alone = at == 0 && words.len() > 1 && word.gap != Gap::Strong;
        let bare = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
        let tells = words
            .get(at + 1)
            .is_some_and(|it| it.on(&REPORTS) || it.is(&["told", "tell", "say", "think"]));
        if !is_name(word) || placed || alone || tells || bare == speaker.to_lowercase() || KIN.contains(&bare) {
            continue;
        }
        let more = words.get(at + 1).filter(|it| word.gap == Gap::None && is_name(it));
        let last = more.unwrap_or(word);
        let name = question.get(word.range.start..last.range.end).unwrap_or_default();
        let name = name.trim_end_matches("'s").trim_end_matches("\u{2019}s").to_owned();
        let person = Person::of(Who::of(Subject::Name(name), 0));
        match out.iter_mut().find(|it| it.subject == person.subject) {
            Some(_) => {}
            None => out.push(person),
        }
    }
    out
}

/// Returns the referent of a pronoun: the only person it fits in the sentence; if it fits none there, the only one
/// before.
pub(super) fn meant(pronoun: &str, here: &[Person], before: &[Person], unknown: bool) -> Option<Subject> {
    let one = |people: &[Person]| -> (usize, Option<Person>) {
        let mut distinct: Vec<&Person> = Vec::new();
        for person in people.iter().filter(|it| it.agrees(pronoun)) {
            match distinct.iter_mut().find(|it| it.is(person)) {
                // A name says more than a role.
                Some(known) if matches!(person.subject, Subject::Name(_)) => *known = person,
                Some(_) => {}
                None => distinct.push(person),
            }
        }
        let acts = |it: &Person| people.iter().any(|other| other.acts && it.is(other));
        let only = distinct
            .first()
            .filter(|it| distinct.len() == 1 && (acts(it) || !unknown));
        (distinct.len(), only.map(|it| (*it).clone()))
    };
    match one(here) {
        (0, _) => one(before).1,
        (_, only) => only,
    }
    .map(|it| it.subject)
}

/// Returns true if the words mention a person who is not identified: "a new teacher", "the girl".
pub(super) fn unknown(words: &[Word]) -> bool {
    words.iter().enumerate().skip(1).any(|(at, word)| {
        let role = word.on(&JOBS) || word.on(&KIN) || word.on(&PERSONS);
        let mine = words[at.saturating_sub(3)..at].iter().any(|it| it.is(&["my", "our"]));
        let predicate = (at.saturating_sub(4)..at).any(|it| words[it].is(&["am", "is", "as", "was", "are", "be"]));
        let name = is_name(word)
            && !word.on(&TITLES)
            && words[at - 1].gap == Gap::None
            && !words[at - 1].on(&PLACED)
            && !is_name(&words[at - 1])
            && !words[at - 1].on(&KIN);
        (role && !mine && !predicate) || (name && !mine && !words[at - 1].is(&["called", "named", "is"]))
    })
}

/// Returns the persons that statements name and `named` does not have: "a greyhound called Suse".
pub(super) fn told(statements: &[Statement], named: &[Person]) -> Vec<Person> {
    let people = statements.iter().filter_map(Person::told);
    people.filter(|it| !named.iter().any(|other| other.is(it))).collect()
}
