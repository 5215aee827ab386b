//! Statements about a property of a person: "my favourite colour is green", "my birthday is on 5 May", "my boss is
//! Ana".

use domain::fact::Aspect;

use crate::Nouns;
use crate::facts::Subject;
use crate::facts::clauses::clause::{Clause, Draft};
use crate::facts::clauses::subject::is_name;
use crate::facts::clauses::token::Gap;
use crate::facts::clauses::verb_group::Shape;
use crate::facts::lexicon::{
    ATTRIBUTES, CALLED, FAVOURITE_PARTS, INTRODUCTIONS, KIN_ADJECTIVES, MANY, NAME_PROPERTIES, NATIONS, NO_NAMES, SOON,
    VAGUE_FAVOURITES,
};

/// Reads "my husband's name is Tom", "my favourite colour is green", "my birthday is on 5 May".
pub(crate) fn read_property(clause: &Clause<'_>) -> Option<(Subject, Draft)> {
    let group = &clause.group;
    if group.base != "be" || group.shape != Shape::Be || !group.positive {
        return None;
    }
    let who = &clause.who.subject;
    let of: Vec<&str> = clause.who.of.iter().map(String::as_str).collect();
    let draft = match of.as_slice() {
        ["favourite" | "favorite", nouns @ ..] if matches!(nouns.len(), 1 | 2) => read_favourite(clause, nouns)?,
        [first, ..] if NAME_PROPERTIES.contains(first) => {
            return read_name(clause, &of.join(" "));
        }
        ["birthday"] => read_birthday(clause)?,
        _ if ATTRIBUTES.contains(of.join("_").as_str()) => {
            let object = clause.read_object(group.next)?;
            Draft::new(Aspect::Attribute, format!("{} is", of.join(" ")), object).with_confidence(0.85)
        }
        _ => return None,
    };
    Some((who.clone(), draft))
}

fn read_favourite(clause: &Clause<'_>, nouns: &[&str]) -> Option<Draft> {
    let from = clause.group.next;
    let first = clause.word_at(from);
    let vague = first.is_empty() || VAGUE_FAVOURITES.contains(first);
    let part = nouns.first().is_some_and(|it| FAVOURITE_PARTS.contains(it));
    let object = clause.read_object(from).filter(|_| !part && !vague)?;
    let predicate = format!("favourite {} is", nouns.join(" "));
    Some(Draft::new(Aspect::Preference, predicate, object))
}

fn read_name(clause: &Clause<'_>, noun: &str) -> Option<(Subject, Draft)> {
    let from = clause.group.next + usize::from(clause.word_at(clause.group.next) == "called");
    let object = clause.read_object(from).filter(|_| clause.is_capitalised_at(from))?;
    let who = &clause.who.subject;
    // "His name is Umbu" is about a person without a known name.
    let known = clause.who.pronoun && matches!(who, Subject::Name(_));
    match who {
        Subject::Name(_) if known => None,
        Subject::Phrase(phrase) if noun == "name" => Some((Subject::Speaker, has_kin(phrase, &object)?)),
        Subject::Speaker | Subject::Name(_) | Subject::Phrase(_) => {
            let predicate = if noun == "name" {
                "is called".to_owned()
            } else {
                format!("{noun} is")
            };
            Some((who.clone(), Draft::new(Aspect::Attribute, predicate, object)))
        }
    }
}

fn read_birthday(clause: &Clause<'_>) -> Option<Draft> {
    let from = clause.group.next;
    let object = clause.read_object_with_times(from)?;
    if clause.times_in_clause().count() == 0 && !object.chars().any(|it| it.is_ascii_digit()) {
        return None;
    }
    let object = object.strip_prefix("on ").map_or(object.clone(), str::to_owned);
    let soon = SOON.iter().any(|it| object.starts_with(it));
    (!soon).then(|| Draft::new(Aspect::Attribute, "birthday is", object))
}

/// Reads "Hi, I'm Ana": the name of the speaker. A known noun counts as a name only after a greeting.
pub(crate) fn read_introduction(clause: &Clause<'_>) -> Option<Draft> {
    let (group, from) = (&clause.group, clause.group.next);
    let plain =
        group.base == "be" && group.shape == Shape::Be && group.positive && clause.who.subject == Subject::Speaker;
    let is_name_at = |at: usize| {
        let word = clause.words.get(at).filter(|_| at < clause.end);
        word.is_some_and(|it| is_name(it) && !it.lower.ends_with("'s") && !NATIONS.contains(&it.lower.as_str()))
    };
    if !plain || !clause.who.of.is_empty() || !is_name_at(from) {
        return None;
    }
    let more = clause.words[from].gap == Gap::None && is_name_at(from + 1);
    let last = from + usize::from(more);
    let ends = clause.words[last].gap != Gap::None || matches!(clause.word_at(last + 1), "" | "from" | "and");
    let greets = INTRODUCTIONS.iter().any(|it| {
        crate::split_words(clause.text)
            .first()
            .is_some_and(|first| first.eq_ignore_ascii_case(it))
    });
    let known = Nouns::builtin().find_kind(&clause.words[from].lower).is_some();
    let name = clause
        .text
        .get(clause.words[from].range.start..clause.words[last].range.end)?;
    (ends && (greets || !known)).then(|| Draft::new(Aspect::Attribute, "is called", name).with_confidence(0.8))
}

/// Reads a possession with its name: "I have a dog called Rex", "I adopted a greyhound, her name is Pepper".
pub(crate) fn read_named_possession(object: &str) -> Option<Draft> {
    let (what, name) = object.split_once(" called ").or_else(|| object.split_once(" named "))?;
    let noun = what.rsplit(' ').next()?;
    let capital = name.starts_with(char::is_uppercase) && name.split(' ').count() < 3;
    capital.then(|| has_kin(&format!("my {noun}"), name)).flatten()
}

/// Reads "my boss is Ana", "my dog is called Rex".
pub(crate) fn read_named_relation(clause: &Clause<'_>) -> Option<Draft> {
    let group = &clause.group;
    let Subject::Phrase(phrase) = &clause.who.subject else {
        return None;
    };
    if group.base != "be"
        || group.shape != Shape::Be
        || !group.positive
        || clause.who.pronoun
        || !clause.who.of.is_empty()
    {
        return None;
    }
    let has_called = matches!(clause.word_at(group.next), "called" | "named");
    let from = group.next + usize::from(has_called);
    let first = clause
        .words
        .get(from)
        .filter(|_| from < clause.end)
        .filter(|it| is_name(it))?;
    let country = NATIONS.contains(&first.lower.as_str()) || NO_NAMES.contains(&first.lower.as_str());
    let object = clause
        .read_object(from)
        .filter(|it| !country && it.split(' ').count() <= 4)?;
    has_kin(phrase, &object)
}

/// Returns the statement that the speaker has a person with this role and name: "my sister" and "Ana".
pub(crate) fn has_kin(phrase: &str, name: &str) -> Option<Draft> {
    let bare = phrase.strip_prefix("my ")?;
    let words: Vec<&str> = bare
        .split(' ')
        .filter(|it| !KIN_ADJECTIVES.contains(it) || *it == "best")
        .collect();
    // One name of several persons says too little.
    if words.last().is_none_or(|it| MANY.contains(it))
        || (words.len() == 1 && CALLED.contains(&words[0]) && bare.is_empty())
    {
        return None;
    }
    Some(Draft::new(Aspect::Relation, format!("has {}", words.join(" ")), name))
}
