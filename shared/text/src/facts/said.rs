//! A clause as the rules see it: subject, verb and the words after it.

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
    /// Times that the text names.
    pub(super) mentions: &'a [Mention],
    /// Time of the turn.
    pub(super) now: DateTime<Utc>,
    /// Index of the first word of the clause, including its adverbs.
    pub(super) from: usize,
    /// Index of the first word of its subject.
    pub(super) at: usize,
    /// Index of the first word after the clause.
    pub(super) end: usize,
    /// Its subject.
    pub(super) who: Who,
    /// Its verb.
    pub(super) group: Group,
}

/// How the times of a statement are to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// A state that holds now: "since 2019", "for five years".
    State,
    /// An event: "in March".
    Event,
    /// An event that ended with its time: "has been to Porto in March".
    Visit,
    /// A plan, which holds until its time.
    Plan,
}

/// A statement as a rule made it, before its times are known.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Its aspect.
    pub(super) aspect: Aspect,
    /// Verb phrase in the third person.
    pub(super) predicate: String,
    /// The value.
    pub(super) object: String,
    /// False for a negative statement.
    pub(super) positive: bool,
    /// True if it no longer holds.
    pub(super) ended: bool,
    /// The meaning of its times.
    pub(super) when: When,
    /// Confidence, 0 to 1, before it is reduced for its subject.
    pub(super) confidence: f32,
    /// Name of the rule that made it; empty if no rule file did.
    pub(super) rule: &'static str,
}

impl Draft {
    /// Returns a positive state that holds, with a confidence of 0.9.
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
    /// Returns the word at an index inside the clause, in lower case; empty outside.
    pub(super) fn at(&self, index: usize) -> &str {
        if index < self.end {
            self.words.get(index).map_or("", |it| it.lower.as_str())
        } else {
            ""
        }
    }

    /// Returns the words after the verb, in lower case.
    pub(super) fn rest(&self) -> Vec<&str> {
        (self.group.next..self.end).map(|it| self.at(it)).collect()
    }

    /// Returns true if the word at an index begins with a capital letter.
    pub(super) fn capital(&self, index: usize) -> bool {
        index < self.end && self.words.get(index).is_some_and(|it| it.capital)
    }

    /// Returns the text from word `from` to the end of the phrase, or to the first time in it; `None` if it would be
    /// empty.
    pub(super) fn object(&self, from: usize) -> Option<String> {
        self.written(self.phrase(from, false)?)
    }

    /// Returns the same text as `object`, including the times in it.
    pub(super) fn timed(&self, from: usize) -> Option<String> {
        self.written(self.phrase(from, true)?)
    }

    /// Returns the text of a range of words.
    pub(super) fn written(&self, words: Range<usize>) -> Option<String> {
        let (first, last) = (self.words.get(words.start)?, self.words.get(words.end.checked_sub(1)?)?);
        self.text.get(first.range.start..last.range.end).map(str::to_owned)
    }

    /// Returns true if "any more", "any longer" or "anymore" follows the verb.
    pub(super) fn any_more(&self) -> bool {
        (self.group.next..self.end).any(|it| {
            self.at(it) == "anymore" || (self.at(it) == "any" && matches!(self.at(it + 1), "more" | "longer"))
        })
    }

    /// Returns the words of the phrase that begins at `from`: those of [`Self::timed`] if `timed` is set, otherwise
    /// those of [`Self::object`].
    pub(super) fn phrase(&self, from: usize, timed: bool) -> Option<Range<usize>> {
        // "Me gusta el jazz": other languages use the article for things in general.
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

    /// Returns true if a list continues at `from`, after a comma: short items, and "and" or "or" before the last one.
    fn list(&self, from: usize) -> bool {
        // "come and see" is a request, not part of a list.
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

    /// Returns the times inside the clause.
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

/// Returns the index after the last word of the clause whose verb group ends before `from`.
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

/// Returns true at a name with its verb: "and Henrik bakes".
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

/// Returns true at a name in lower case with its verb, as in chats: "and jo lives in Bremen". A word between "and" and
/// a verb in the third person can only be a name.
fn name_in_lower_case_does(words: &[Word], at: usize) -> bool {
    let name = words
        .get(at)
        .is_some_and(|it| !it.capital && it.gap == Gap::None && it.lower.chars().all(char::is_alphabetic));
    let verb = words.get(at + 1).is_some_and(|it| {
        let third = it.lower.ends_with('s') && forms(&it.lower).iter().any(|it| it.1 == Form::Present);
        // "films and tv shows": most such words are also plurals.
        it.on(&STATE_VERBS) || third && crate::Nouns::builtin().kind(&it.lower).is_none()
    });
    name && verb
}

/// Returns true at a thing with its verb ("and the last train won't wait"), unless a relative clause or a further noun
/// comes between.
fn something_does(words: &[Word], at: usize) -> bool {
    let thing = words.get(at).is_some_and(|it| it.on(&DETERMINERS));
    let near = words.iter().skip(at + 1).take(SUBJECT_MAX);
    let belongs = |it: &&Word| !it.is(&["that", "which", "who", "where", "and", "or"]);
    thing && near.take_while(belongs).any(|it| it.on(&AUXILIARIES))
}

/// Returns true if a clause begins at `at`, after a comma: its subject is one of the next four words.
fn begins(words: &[Word], at: usize) -> bool {
    let subject = |it: &Word| it.is(&["i", "we", "he", "she", "they"]);
    let near = words[at..].iter().take(4).position(subject);
    near.is_some_and(|it| words[at..at + it].iter().all(|word| word.gap != Gap::Strong))
}

/// Returns true if a comma before `at` ends a clause in another language, whose words are unknown: no list continues
/// after it.
fn apart(words: &[Word], at: usize) -> bool {
    let mut near = words[at..].iter().take(ITEM_MAX);
    words[at].foreign && !near.any(|it| it.is(&["and", "or"]))
}

fn word_of_person(word: &str) -> bool {
    CLAUSE_OPENERS.contains(word)
}

/// Number of words of the longest object.
const OBJECT_MAX: usize = 15;
/// Number of words of the longest list that is examined.
const LIST_MAX: usize = 12;
/// Number of words of the longest item of a list.
const ITEM_MAX: usize = 4;
/// Number of words after its determiner in which the verb of a thing must begin.
const SUBJECT_MAX: usize = 4;
