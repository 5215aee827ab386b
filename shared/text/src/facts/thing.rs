//! Statements about a property of a person: "my favourite colour is green", "my birthday is on 5 May", "my boss is
//! Ana".

use domain::fact::Aspect;

use super::Subject;
use super::group::Shape;
use super::lexicon::{ATTRIBUTES, CALLED, KIN_ADJECTIVES, MANY, NATIONS, NO_NAMES};
use super::said::{Draft, Said};
use super::subject::is_name;
use super::token::Gap;
use crate::Nouns;

/// Reads "my husband's name is Tom", "my favourite colour is green", "my birthday is on 5 May".
pub(super) fn thing(said: &Said<'_>) -> Option<(Subject, Draft)> {
    let group = &said.group;
    if group.base != "be" || group.shape != Shape::Be || !group.positive {
        return None;
    }
    let who = &said.who.subject;
    let of: Vec<&str> = said.who.of.iter().map(String::as_str).collect();
    let draft = match of.as_slice() {
        ["favourite" | "favorite", nouns @ ..] if matches!(nouns.len(), 1 | 2) => favourite(said, nouns)?,
        ["name" | "full" | "first" | "last" | "real" | "nickname" | "middle", ..] => {
            return name(said, &of.join(" "));
        }
        ["birthday"] => birthday(said)?,
        _ if ATTRIBUTES.contains(of.join("_").as_str()) => {
            let object = said.object(group.next)?;
            Draft::new(Aspect::Attribute, format!("{} is", of.join(" ")), object).sure(0.85)
        }
        _ => return None,
    };
    Some((who.clone(), draft))
}

fn favourite(said: &Said<'_>, nouns: &[&str]) -> Option<Draft> {
    let from = said.group.next;
    let vague = [
        "", "this", "that", "when", "how", "what", "where", "probably", "still", "it", "one",
    ];
    let part = matches!(nouns, ["part" | "bit" | "thing" | "one" | "so", ..]);
    let object = said.object(from).filter(|_| !part && !vague.contains(&said.at(from)))?;
    let predicate = format!("favourite {} is", nouns.join(" "));
    Some(Draft::new(Aspect::Preference, predicate, object))
}

fn name(said: &Said<'_>, noun: &str) -> Option<(Subject, Draft)> {
    let from = said.group.next + usize::from(said.at(said.group.next) == "called");
    let object = said.object(from).filter(|_| said.capital(from))?;
    let who = &said.who.subject;
    // "His name is Umbu" is about a person without a known name.
    let known = said.who.pronoun && matches!(who, Subject::Name(_));
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

fn birthday(said: &Said<'_>) -> Option<Draft> {
    let from = said.group.next;
    let object = said.timed(from)?;
    if said.times().count() == 0 && !object.chars().any(|it| it.is_ascii_digit()) {
        return None;
    }
    let object = object.strip_prefix("on ").map_or(object.clone(), str::to_owned);
    let soon = ["today", "tomorrow", "next week", "soon", "coming"]
        .iter()
        .any(|it| object.starts_with(it));
    (!soon).then(|| Draft::new(Aspect::Attribute, "birthday is", object))
}

/// Reads "Hi, I'm Ana": the name of the speaker. A known noun counts as a name only after a greeting.
pub(super) fn introduced(said: &Said<'_>) -> Option<Draft> {
    let (group, from) = (&said.group, said.group.next);
    let plain =
        group.base == "be" && group.shape == Shape::Be && group.positive && said.who.subject == Subject::Speaker;
    let named = |at: usize| {
        let word = said.words.get(at).filter(|_| at < said.end);
        word.is_some_and(|it| is_name(it) && !it.lower.ends_with("'s") && !NATIONS.contains(&it.lower.as_str()))
    };
    if !plain || !said.who.of.is_empty() || !named(from) {
        return None;
    }
    let more = said.words[from].gap == Gap::None && named(from + 1);
    let last = from + usize::from(more);
    let ends = said.words[last].gap != Gap::None || matches!(said.at(last + 1), "" | "from" | "and");
    let greets = ["hi", "hello", "hey"].iter().any(|it| {
        crate::words(said.text)
            .first()
            .is_some_and(|first| first.eq_ignore_ascii_case(it))
    });
    let known = Nouns::builtin().kind(&said.words[from].lower).is_some();
    let name = said
        .text
        .get(said.words[from].range.start..said.words[last].range.end)?;
    (ends && (greets || !known)).then(|| Draft::new(Aspect::Attribute, "is called", name).sure(0.8))
}

/// Reads a possession with its name: "I have a dog called Rex", "I adopted a greyhound, her name is Pepper".
pub(super) fn named(object: &str) -> Option<Draft> {
    let (what, name) = object.split_once(" called ").or_else(|| object.split_once(" named "))?;
    let noun = what.rsplit(' ').next()?;
    let capital = name.starts_with(char::is_uppercase) && name.split(' ').count() < 3;
    capital.then(|| has_kin(&format!("my {noun}"), name)).flatten()
}

/// Reads "my boss is Ana", "my dog is called Rex".
pub(super) fn called(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let Subject::Phrase(phrase) = &said.who.subject else {
        return None;
    };
    if group.base != "be" || group.shape != Shape::Be || !group.positive || said.who.pronoun || !said.who.of.is_empty()
    {
        return None;
    }
    let named = matches!(said.at(group.next), "called" | "named");
    let from = group.next + usize::from(named);
    let first = said
        .words
        .get(from)
        .filter(|_| from < said.end)
        .filter(|it| is_name(it))?;
    let country = NATIONS.contains(&first.lower.as_str()) || NO_NAMES.contains(&first.lower.as_str());
    let object = said.object(from).filter(|it| !country && it.split(' ').count() <= 4)?;
    has_kin(phrase, &object)
}

/// Returns the statement that the speaker has a person with this role and name: "my sister" and "Ana".
pub(super) fn has_kin(phrase: &str, name: &str) -> Option<Draft> {
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
