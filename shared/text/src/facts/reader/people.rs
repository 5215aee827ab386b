//! The persons that a sentence mentions, as referents of a later pronoun.

use super::super::lexicon::{
    BEFORE_GIVEN_NAME, BEFORE_PREDICATE, CALLED, GREETINGS, JOBS, KIN, KIN_ADJECTIVES, OWNERS, PERSONS, PLACED,
    REPORTS, TELLING_VERBS, TITLES,
};
use super::super::{Statement, Subject};
use crate::facts::clauses::subject::{ClauseSubject, agrees_with_pronoun, is_name, read_subject};
use crate::facts::clauses::token::{Gap, Word, quote_ranges, read_words};

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
    fn from_who(who: ClauseSubject) -> Person {
        Person {
            subject: who.subject,
            role: who.role,
            next: who.next,
            acts: false,
        }
    }

    /// Returns a person with this name.
    pub(super) fn from_name(name: &str) -> Person {
        Person::from_who(ClauseSubject::from_subject(Subject::Name(name.to_owned()), 0))
    }

    /// Returns the person that a statement names as one of the speaker's people: "has sister", "is together with".
    fn from_statement(it: &Statement) -> Option<Person> {
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

    fn agrees_with_pronoun(&self, pronoun: &str) -> bool {
        let role = self.role.clone().map(Subject::Phrase);
        agrees_with_pronoun(&self.subject, pronoun) && role.is_none_or(|it| agrees_with_pronoun(&it, pronoun))
    }

    /// Returns true if both are the same person: "my sister" and "Ana" are, if Ana's role is "my sister".
    fn is_same_person(&self, other: &Person) -> bool {
        let role = |it: &Person| match (&it.role, &it.subject) {
            (Some(role), _) | (None, Subject::Phrase(role)) => Some(role.clone()),
            (None, Subject::Speaker | Subject::Name(_)) => None,
        };
        self.subject == other.subject || role(self).is_some_and(|it| role(other) == Some(it))
    }
}

/// Returns the speaker's people that the words before `end` mention, in order.
pub(super) fn find_people(text: &str, words: &[Word], end: usize) -> Vec<Person> {
    let mut out = Vec::new();
    // "She said, for my brother": it is unclear whose brother he is.
    let reporting_verb = words
        .iter()
        .position(|it| it.is_in_list(&REPORTS) && it.gap != Gap::None);
    for at in 0..end.min(reporting_verb.unwrap_or(words.len())) {
        let (word, before) = (&words[at], at.checked_sub(1).map(|it| &words[it]));
        // "Old Petra, she teaches pottery": after a greeting, the name would be the addressee.
        let topic = is_name(word)
            && word.gap == Gap::Comma
            && words.get(at + 1).is_some_and(|it| it.is_any_of(&["he", "she"]))
            && before.is_some_and(|it| it.gap == Gap::None && !it.is_in_list(&GREETINGS) && !is_name(it));
        let titled = word.is_in_list(&TITLES) && word.capital;
        let who = if word.quoted {
            None
        } else if topic && !word.quoted {
            text.get(word.range.clone())
                .map(|it| ClauseSubject::from_subject(Subject::Name(it.to_owned()), at + 1))
        } else if titled {
            let name = words.get(at + 1).filter(|it| is_name(it));
            let name = name.and_then(|it| text.get(word.range.start..it.range.end));
            name.map(|it| ClauseSubject::from_subject(Subject::Name(it.trim_end_matches("'s").to_owned()), at + 2))
        } else if word.is_any_of(&["my", "our"]) {
            read_subject(text, words, at, None).or_else(|| read_genitive_owner(words, at))
        } else if word.is_any_of(&["his", "her"]) {
            // "His name is Emil, he's a nurse."
            let is = words.get(at + 1).is_some_and(|it| it.lower == "name")
                && words.get(at + 2).is_some_and(|it| it.lower == "is");
            let name = words.get(at + 3).filter(|it| is && is_name(it));
            let name = name.and_then(|it| text.get(it.range.clone()));
            name.map(|it| ClauseSubject::from_subject(Subject::Name(it.to_owned()), at + 4))
        } else {
            let bare = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
            let own = before.is_none_or(|it| {
                it.gap != Gap::None
                    || !(it.is_in_list(&KIN_ADJECTIVES) || it.is_in_list(&OWNERS) || it.lower.ends_with("'s"))
            });
            let called = CALLED.contains(&bare) && own;
            called.then(|| ClauseSubject::from_subject(Subject::Phrase(format!("my {bare}")), at + 1))
        };
        out.extend(who.filter(|it| it.subject != Subject::Speaker).map(Person::from_who));
    }
    out
}

/// "My mother's visa runs out" mentions the mother.
fn read_genitive_owner(words: &[Word], at: usize) -> Option<ClauseSubject> {
    let head = (at + 1..words.len().min(at + 4)).find(|&it| !words[it].is_in_list(&KIN_ADJECTIVES))?;
    let bare = words[head].lower.strip_suffix("'s").filter(|it| KIN.contains(it))?;
    let mut phrase: Vec<&str> = vec!["my"];
    phrase.extend(words[at + 1..head].iter().map(|it| it.lower.as_str()));
    phrase.push(bare);
    Some(ClauseSubject::from_subject(Subject::Phrase(phrase.join(" ")), head + 1))
}

/// Returns the persons that a sentence mentions, together with the subjects of its clauses. A person who is mentioned
/// in a clause after its subject is left out: the next "she" refers to the subject.
pub(super) fn spoken_of(mut mentioned: Vec<Person>, mut acting: Vec<Person>) -> Vec<Person> {
    mentioned.retain(|it| {
        let clause = acting.iter().rfind(|other| other.next <= it.next);
        clause.is_none_or(|other| other.subject == Subject::Speaker || other.is_same_person(it))
    });
    acting.retain(|it| it.subject != Subject::Speaker);
    mentioned.append(&mut acting);
    mentioned
}

/// Returns the persons that a question is about, as the one who answers would call them: "my sister" for "your sister",
/// "Ana".
pub(super) fn people_in_question(question: &str, speaker: &str) -> Vec<Person> {
    let marks = quote_ranges(question);
    let mut words = read_words(question, 0..question.len(), &marks);
    for word in &mut words {
        if word.lower == "your" {
            word.lower = "my".to_owned();
        }
    }
    let mut out = find_people(question, &words, words.len());
    let tells = |it: &Person| {
        words
            .get(it.next)
            .is_some_and(|it| it.is_in_list(&REPORTS) || it.is_any_of(&["told", "mentioned"]))
    };
    out.retain(|it| !tells(it));
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|it| &words[it]);
        let placed = before.is_some_and(|it| it.is_in_list(&PLACED) || it.gap == Gap::None && is_name(it));
        let alone = at == 0 && words.len() > 1 && word.gap != Gap::Strong;
        let bare = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
        let tells = words
            .get(at + 1)
            .is_some_and(|it| it.is_in_list(&REPORTS) || it.is_in_list(&TELLING_VERBS));
        if !is_name(word) || placed || alone || tells || bare == speaker.to_lowercase() || KIN.contains(&bare) {
            continue;
        }
        let more = words.get(at + 1).filter(|it| word.gap == Gap::None && is_name(it));
        let last = more.unwrap_or(word);
        let name = question.get(word.range.start..last.range.end).unwrap_or_default();
        let name = name.trim_end_matches("'s").trim_end_matches("\u{2019}s").to_owned();
        let person = Person::from_who(ClauseSubject::from_subject(Subject::Name(name), 0));
        match out.iter_mut().find(|it| it.subject == person.subject) {
            Some(_) => {}
            None => out.push(person),
        }
    }
    out
}

/// Returns the referent of a pronoun: the only person it fits in the sentence; if it fits none there, the only one
/// before.
pub(super) fn resolve_pronoun(pronoun: &str, here: &[Person], before: &[Person], unknown: bool) -> Option<Subject> {
    let one = |people: &[Person]| -> (usize, Option<Person>) {
        let mut distinct: Vec<&Person> = Vec::new();
        for person in people.iter().filter(|it| it.agrees_with_pronoun(pronoun)) {
            match distinct.iter_mut().find(|it| it.is_same_person(person)) {
                // A name says more than a role.
                Some(known) if matches!(person.subject, Subject::Name(_)) => *known = person,
                Some(_) => {}
                None => distinct.push(person),
            }
        }
        let acts = |it: &Person| people.iter().any(|other| other.acts && it.is_same_person(other));
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
pub(super) fn mentions_unknown_person(words: &[Word]) -> bool {
    words.iter().enumerate().skip(1).any(|(at, word)| {
        let role = word.is_in_list(&JOBS) || word.is_in_list(&KIN) || word.is_in_list(&PERSONS);
        let mine = words[at.saturating_sub(3)..at]
            .iter()
            .any(|it| it.is_any_of(&["my", "our"]));
        let predicate = || (at.saturating_sub(4)..at).any(|it| words[it].is_in_list(&BEFORE_PREDICATE));
        let name = is_name(word)
            && !word.is_in_list(&TITLES)
            && words[at - 1].gap == Gap::None
            && !words[at - 1].is_in_list(&PLACED)
            && !is_name(&words[at - 1])
            && !words[at - 1].is_in_list(&KIN);
        (role && !mine && !predicate()) || (name && !mine && !words[at - 1].is_in_list(&BEFORE_GIVEN_NAME))
    })
}

/// Returns the persons that statements name and `mentioned` does not have: "a greyhound called Suse".
pub(super) fn people_in_statements(statements: &[Statement], mentioned: &[Person]) -> Vec<Person> {
    let people = statements.iter().filter_map(Person::from_statement);
    people
        .filter(|it| !mentioned.iter().any(|other| other.is_same_person(it)))
        .collect()
}
