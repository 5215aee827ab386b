//! A clause as the rules see it: who, the verb, and what comes after.

use std::ops::Range;

use chrono::{DateTime, Utc};
use domain::fact::Aspect;

use super::group::Group;
use super::lexicon::{AUXILIARIES, BREAKERS, CLAUSE_OPENERS, DANGLING, DETERMINERS, STATE_VERBS, STOP_PHRASES, STOPS};
use super::subject::Who;
use super::token::{Gap, Word};
use super::verb::{Form, base_of, base_of_third, forms};
use crate::time::Mention;

/// One clause.
pub(super) struct Said<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    /// The words of the sentence.
    pub(super) words: &'a [Word],
    /// Times named in the text.
    pub(super) mentions: &'a [Mention],
    /// When it is said.
    pub(super) now: DateTime<Utc>,
    /// Index of the first word of the clause, its adverbs included.
    pub(super) from: usize,
    /// Index of the first word of its subject.
    pub(super) at: usize,
    /// Index of the first word after it.
    pub(super) end: usize,
    /// Whom it is about.
    pub(super) who: Who,
    /// Its verb.
    pub(super) group: Group,
}

/// Where the time of a statement comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// It holds now: "since 2019", "for five years".
    State,
    /// Something happened: "in March".
    Event,
    /// Something happened and was over with its time: "has been to Porto in March".
    Visit,
    /// It is meant to happen: it holds until then.
    Plan,
}

/// What a rule makes of a clause.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Its aspect.
    pub(super) aspect: Aspect,
    /// Verb phrase in the third person.
    pub(super) predicate: String,
    /// The value.
    pub(super) object: String,
    /// It is so, and not: it is not so.
    pub(super) positive: bool,
    /// It is over.
    pub(super) ended: bool,
    /// Where its time comes from.
    pub(super) when: When,
    /// 0 to 1, before what the subject takes off.
    pub(super) confidence: f32,
    /// Name of the rule that made it; empty if none of a rule file.
    pub(super) rule: &'static str,
}

impl Draft {
    /// A state that holds, quite sure.
    pub(super) fn new(aspect: Aspect, predicate: impl Into<String>, object: impl Into<String>) -> Draft {
        Draft {
            aspect,
            predicate: predicate.into(),
            object: object.into(),
            positive: true,
            ended: false,
            when: When::State,
            confidence: 0.9,
            rule: "",
        }
    }

    pub(super) fn event(self) -> Draft {
        Draft {
            when: When::Event,
            ..self
        }
    }

    pub(super) fn ended(self, ended: bool) -> Draft {
        Draft { ended, ..self }
    }

    pub(super) fn sure(self, confidence: f32) -> Draft {
        Draft { confidence, ..self }
    }
}

impl Said<'_> {
    /// Returns the word at an index inside the clause, lower case; empty outside.
    pub(super) fn at(&self, index: usize) -> &str {
        if index < self.end {
            self.words.get(index).map_or("", |it| it.lower.as_str())
        } else {
            ""
        }
    }

    /// Returns the words after the verb, lower case.
    pub(super) fn rest(&self) -> Vec<&str> {
        (self.group.next..self.end).map(|it| self.at(it)).collect()
    }

    /// Says whether the word at an index begins with a capital.
    pub(super) fn capital(&self, index: usize) -> bool {
        index < self.end && self.words.get(index).is_some_and(|it| it.capital)
    }

    /// Returns what is written from word `from` to the end of the phrase, times left out; none if nothing is left.
    pub(super) fn object(&self, from: usize) -> Option<String> {
        self.written(self.phrase(from, false)?)
    }

    /// Like `object`, with the times in it.
    pub(super) fn timed(&self, from: usize) -> Option<String> {
        self.written(self.phrase(from, true)?)
    }

    /// Returns what is written from the first to the last of some words.
    pub(super) fn written(&self, words: Range<usize>) -> Option<String> {
        let (first, last) = (self.words.get(words.start)?, self.words.get(words.end.checked_sub(1)?)?);
        self.text.get(first.range.start..last.range.end).map(str::to_owned)
    }

    /// Returns true if the clause ends with "any more", "any longer" or "anymore".
    pub(super) fn any_more(&self) -> bool {
        (self.group.next..self.end).any(|it| {
            self.at(it) == "anymore" || (self.at(it) == "any" && matches!(self.at(it + 1), "more" | "longer"))
        })
    }

    /// Returns the words of the phrase that begins at `from`, as [`Self::object`] or, if `timed`, as [`Self::timed`] has it.
    pub(super) fn phrase(&self, from: usize, timed: bool) -> Option<Range<usize>> {
        // "Me gusta el jazz": other languages say the article of things at large.
        let article = self.words.get(from).is_some_and(|it| it.foreign && it.lower == "the");
        let from = from + usize::from(article);
        let mut to = from;
        while to < self.end && to < from + OBJECT_MAX {
            let word = &self.words[to];
            let pair = |it: &&str| it.split('_').enumerate().all(|(n, part)| self.at(to + n) == part);
            let time = !timed
                && self
                    .times()
                    .any(|it| it.range.start <= word.range.start && word.range.start < it.range.end);
            let more = word.foreign && word.lower == "more" && to > from;
            if more
                || (word.on(&STOPS) && !(word.capital && to > from))
                || STOP_PHRASES.iter().any(pair)
                || (time && to > from)
            {
                break;
            }
            to += 1;
            if word.gap == Gap::Strong || (word.gap == Gap::Comma && !self.list(to)) {
                break;
            }
        }
        if to == from + OBJECT_MAX {
            return None;
        }
        while to > from && self.words[to - 1].on(&DANGLING) && !self.words[to - 1].capital {
            to -= 1;
        }
        (to > from).then_some(from..to)
    }

    /// Says whether a list goes on at `from`, after a comma: short items, and an "and" before the last.
    fn list(&self, from: usize) -> bool {
        // "come and see" begins an order.
        if base_of(self.at(from), Form::Present).is_some() && !self.capital(from) {
            return false;
        }
        let mut item = 0;
        for i in from..self.end.min(from + LIST_MAX) {
            let word = &self.words[i];
            if word.is(&["and", "or"]) {
                // "and Ben's moved" begins a clause.
                let verb = self.at(i + 1).ends_with("'s") && self.capital(i + 1);
                return i + 1 < self.end && !word_of_person(self.at(i + 1)) && !verb;
            }
            item += 1;
            if item > ITEM_MAX
                || word_of_person(&word.lower)
                || word.is(&["me", "us", "him"])
                || word.on(&BREAKERS)
                || word.gap == Gap::Strong
            {
                return false;
            }
            if word.gap == Gap::Comma {
                item = 0;
            }
        }
        false
    }

    /// Returns the times of the clause.
    pub(super) fn times(&self) -> impl Iterator<Item = &Mention> {
        let bytes = self.bytes();
        self.mentions
            .iter()
            .filter(move |it| bytes.start <= it.range.start && it.range.end <= bytes.end)
    }

    fn bytes(&self) -> Range<usize> {
        let start = self.words.get(self.from).map_or(0, |it| it.range.start);
        let end = self
            .end
            .checked_sub(1)
            .and_then(|it| self.words.get(it))
            .map_or(start, |it| it.range.end);
        start..end
    }
}

/// Returns the index after the last word of the clause whose verb ends before `from`.
pub(super) fn end(words: &[Word], from: usize) -> usize {
    let lower = |at: usize| words.get(at).map_or("", |it| it.lower.as_str());
    let mut to_verb = false;
    for i in from..words.len() {
        let word = &words[i];
        if i > from && words[i - 1].gap == Gap::Strong {
            return i;
        }
        let comma = i > 0 && words[i - 1].gap == Gap::Comma;
        let next = lower(i + 1);
        let breaks = match lower(i) {
            "and" | "or" => {
                let finite = base_of(next, Form::Past).is_some()
                    || crate::verbs::is_past(next)
                    || (base_of(next, Form::Present).is_some()
                        && !to_verb
                        && words.get(i + 1).is_some_and(|it| !it.capital));
                word_of_person(next)
                    || finite
                    || somebody_does(words, i + 1)
                    || something_does(words, i + 1)
                    || name_in_lower_case_does(words, i + 1)
            }
            "so" => comma || word_of_person(next) || next == "that",
            "since" | "as" | "that" | "like" | "cause" | "cos" | "until" | "till" | "before" | "after" => {
                word_of_person(next) && next != "my" && next != "our" || comma && begins(words, i)
            }
            it => {
                BREAKERS.contains(it)
                    || (comma && (word_of_person(it) || begins(words, i) || apart(words, i) || somebody_does(words, i)))
            }
        };
        let joins = word.is(&["and", "but"]) && word_of_person(next);
        if breaks && (i > from || comma || joins || word.on(&BREAKERS)) {
            return i;
        }
        to_verb |= word.lower == "to" || word.lower.ends_with("ing");
    }
    words.len()
}

/// "and Henrik bakes": a name and its verb.
fn somebody_does(words: &[Word], at: usize) -> bool {
    let name = words
        .get(at)
        .is_some_and(|it| it.capital && it.gap == Gap::None && !it.lower.ends_with("'s"));
    let verb = words.get(at + 1).is_some_and(|it| {
        let past = base_of(&it.lower, Form::Past).is_some() || crate::verbs::is_past(&it.lower);
        let known = past && !it.capital || it.on(&AUXILIARIES);
        known || (it.lower.ends_with('s') && !it.capital && base_of_third(&it.lower).is_some())
    });
    name && verb
}

/// "and jo lives in Bremen": in a chat names are written small. Nothing else stands between "and" and a verb in the third person.
fn name_in_lower_case_does(words: &[Word], at: usize) -> bool {
    let name = words
        .get(at)
        .is_some_and(|it| !it.capital && it.gap == Gap::None && it.lower.chars().all(char::is_alphabetic));
    let verb = words.get(at + 1).is_some_and(|it| {
        let third = it.lower.ends_with('s') && forms(&it.lower).iter().any(|it| it.1 == Form::Present);
        // "films and tv shows": most are plurals, too.
        it.on(&STATE_VERBS) || third && crate::Nouns::builtin().kind(&it.lower).is_none()
    });
    name && verb
}

/// "and the last train won't wait": a thing and its verb, with nothing between that belongs to the thing.
fn something_does(words: &[Word], at: usize) -> bool {
    let thing = words.get(at).is_some_and(|it| it.on(&DETERMINERS));
    let near = words.iter().skip(at + 1).take(SUBJECT_MAX);
    let belongs = |it: &&Word| !it.is(&["that", "which", "who", "where", "and", "or"]);
    thing && near.take_while(belongs).any(|it| it.on(&AUXILIARIES))
}

/// Says whether a clause begins at `at`, after a comma: its subject stands there or soon after.
fn begins(words: &[Word], at: usize) -> bool {
    let subject = |it: &Word| it.is(&["i", "we", "he", "she", "they"]);
    let near = words[at..].iter().take(4).position(subject);
    near.is_some_and(|it| words[at..at + it].iter().all(|word| word.gap != Gap::Strong))
}

/// Says whether in other languages, whose words are not known, a comma ends a clause: no list goes on behind it.
fn apart(words: &[Word], at: usize) -> bool {
    let mut near = words[at..].iter().take(ITEM_MAX);
    words[at].foreign && !near.any(|it| it.is(&["and", "or"]))
}

fn word_of_person(word: &str) -> bool {
    CLAUSE_OPENERS.contains(word)
}

/// Longest object in words.
const OBJECT_MAX: usize = 15;
/// Longest list that is looked through, in words.
const LIST_MAX: usize = 12;
/// Longest item of a list, in words.
const ITEM_MAX: usize = 4;
/// Longest subject of a thing, its verb among it, in words.
const SUBJECT_MAX: usize = 4;
