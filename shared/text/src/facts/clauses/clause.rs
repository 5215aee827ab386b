//! A clause as the rules see it: subject, verb and the words after it.

use std::ops::Range;

use chrono::{DateTime, Utc};
use domain::fact::Aspect;

use crate::facts::clauses::subject::ClauseSubject;
use crate::facts::clauses::token::{Gap, Word};
use crate::facts::clauses::verb::{Form, base_of, base_of_third, verbs_with_form};
use crate::facts::clauses::verb_group::Group;
use crate::facts::lexicon::{
    AUXILIARIES, BREAKERS, CLAUSE_OPENERS, DANGLING, DETERMINERS, OBJECT_PRONOUNS, STATE_VERBS, STOP_PHRASES, STOPS,
    SUBJECT_ENDERS, SUBJECT_PRONOUNS, WEAK_BREAKERS,
};
use crate::time::Mention;

/// One clause.
pub(crate) struct Clause<'a> {
    /// The whole text.
    pub(crate) text: &'a str,
    /// The words of the sentence.
    pub(crate) words: &'a [Word],
    /// Times that the text names.
    pub(crate) mentions: &'a [Mention],
    /// Time of the turn.
    pub(crate) now: DateTime<Utc>,
    /// Index of the first word of the clause, including its adverbs.
    pub(crate) from: usize,
    /// Index of the first word of its subject.
    pub(crate) at: usize,
    /// Index of the first word after the clause.
    pub(crate) end: usize,
    /// Subject of the clause.
    pub(crate) who: ClauseSubject,
    /// Verb of the clause.
    pub(crate) group: Group,
}

/// How the times of a statement are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeReading {
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
pub(crate) struct Draft {
    /// Aspect of the statement.
    pub(crate) aspect: Aspect,
    /// Verb phrase in the third person.
    pub(crate) predicate: String,
    /// The value.
    pub(crate) object: String,
    /// False for a negative statement.
    pub(crate) positive: bool,
    /// True if it no longer holds.
    pub(crate) ended: bool,
    /// The meaning of its times.
    pub(crate) when: TimeReading,
    /// Confidence, 0 to 1, before it is reduced for its subject.
    pub(crate) confidence: f32,
    /// Name of the rule that made the statement; empty if it is not from a rule file.
    pub(crate) rule: &'static str,
}

impl Draft {
    /// Returns a positive state that holds, with a confidence of 0.9.
    pub(crate) fn new(aspect: Aspect, predicate: impl Into<String>, object: impl Into<String>) -> Draft {
        Draft {
            aspect,
            predicate: predicate.into(),
            object: object.into(),
            positive: true,
            ended: false,
            when: TimeReading::State,
            confidence: 0.9,
            rule: "",
        }
    }

    pub(crate) fn into_event(self) -> Draft {
        Draft {
            when: TimeReading::Event,
            ..self
        }
    }

    pub(crate) fn with_ended(self, ended: bool) -> Draft {
        Draft { ended, ..self }
    }

    pub(crate) fn with_confidence(self, confidence: f32) -> Draft {
        Draft { confidence, ..self }
    }
}

impl Clause<'_> {
    /// Returns the word at an index inside the clause, in lower case; empty outside.
    pub(crate) fn word_at(&self, index: usize) -> &str {
        if index < self.end {
            self.words.get(index).map_or("", |it| it.lower.as_str())
        } else {
            ""
        }
    }

    /// Returns the words after the verb, in lower case.
    pub(crate) fn words_after_verb(&self) -> Vec<&str> {
        (self.group.next..self.end).map(|it| self.word_at(it)).collect()
    }

    /// Returns true if the word at an index begins with a capital letter.
    pub(crate) fn is_capitalised_at(&self, index: usize) -> bool {
        index < self.end && self.words.get(index).is_some_and(|it| it.capital)
    }

    /// Returns the text from word `from` to the end of the phrase, or to the first time in it; `None` if it would be
    /// empty.
    pub(crate) fn read_object(&self, from: usize) -> Option<String> {
        self.text_of_words(self.phrase_range(from, false)?)
    }

    /// Returns the same text as [`Self::read_object`], including the times in it.
    pub(crate) fn read_object_with_times(&self, from: usize) -> Option<String> {
        self.text_of_words(self.phrase_range(from, true)?)
    }

    /// Returns the text of a range of words.
    pub(crate) fn text_of_words(&self, words: Range<usize>) -> Option<String> {
        let (first, last) = (self.words.get(words.start)?, self.words.get(words.end.checked_sub(1)?)?);
        self.text.get(first.range.start..last.range.end).map(str::to_owned)
    }

    /// Returns true if "any more", "any longer" or "anymore" follows the verb.
    pub(crate) fn any_more(&self) -> bool {
        (self.group.next..self.end).any(|it| {
            self.word_at(it) == "anymore"
                || (self.word_at(it) == "any" && matches!(self.word_at(it + 1), "more" | "longer"))
        })
    }

    /// Returns the words of the phrase that begins at `from`: those of [`Self::read_object_with_times`] if `timed` is
    /// set, otherwise those of [`Self::read_object`].
    pub(crate) fn phrase_range(&self, from: usize, timed: bool) -> Option<Range<usize>> {
        // "Me gusta el jazz": other languages use the article for things in general.
        let article = self.words.get(from).is_some_and(|it| it.foreign && it.lower == "the");
        let from = from + usize::from(article);
        let mut to = from;
        while to < self.end && to < from + OBJECT_MAX {
            let word = &self.words[to];
            let pair = |it: &&str| it.split('_').enumerate().all(|(n, part)| self.word_at(to + n) == part);
            let time = !timed
                && self
                    .times_in_clause()
                    .any(|it| it.range.start <= word.range.start && word.range.start < it.range.end);
            let more = word.foreign && word.lower == "more" && to > from;
            if more
                || (word.is_in_list(&STOPS) && !(word.capital && to > from))
                || STOP_PHRASES.iter().any(pair)
                || (time && to > from)
            {
                break;
            }
            to += 1;
            if word.gap == Gap::Strong || (word.gap == Gap::Comma && !self.continues_list(to)) {
                break;
            }
        }
        if to == from + OBJECT_MAX {
            return None;
        }
        while to > from && self.words[to - 1].is_in_list(&DANGLING) && !self.words[to - 1].capital {
            to -= 1;
        }
        (to > from).then_some(from..to)
    }

    /// Returns true if a list continues at `from`, after a comma: short items, and "and" or "or" before the last one.
    fn continues_list(&self, from: usize) -> bool {
        // "come and see" is a request, not part of a list.
        if base_of(self.word_at(from), Form::Present).is_some() && !self.is_capitalised_at(from) {
            return false;
        }
        let mut item = 0;
        for i in from..self.end.min(from + LIST_MAX) {
            let word = &self.words[i];
            if word.is_any_of(&["and", "or"]) {
                // "and Ben's moved" begins a clause.
                let verb = self.word_at(i + 1).ends_with("'s") && self.is_capitalised_at(i + 1);
                return i + 1 < self.end && !word_of_person(self.word_at(i + 1)) && !verb;
            }
            item += 1;
            if item > ITEM_MAX
                || word_of_person(&word.lower)
                || word.is_in_list(&OBJECT_PRONOUNS)
                || word.is_in_list(&BREAKERS)
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
    pub(crate) fn times_in_clause(&self) -> impl Iterator<Item = &Mention> {
        let bytes = self.byte_range();
        self.mentions
            .iter()
            .filter(move |it| bytes.start <= it.range.start && it.range.end <= bytes.end)
    }

    fn byte_range(&self) -> Range<usize> {
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
pub(crate) fn find_clause_end(words: &[Word], from: usize) -> usize {
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
                    || crate::lexicon::verbs::is_past(next)
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
            it if WEAK_BREAKERS.contains(it) => {
                word_of_person(next) && next != "my" && next != "our" || comma && begins_clause(words, i)
            }
            it => {
                BREAKERS.contains(it)
                    || (comma
                        && (word_of_person(it)
                            || begins_clause(words, i)
                            || ends_foreign_clause(words, i)
                            || somebody_does(words, i)))
            }
        };
        let joins = word.is_any_of(&["and", "but"]) && word_of_person(next);
        if breaks && (i > from || comma || joins || word.is_in_list(&BREAKERS)) {
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
        let past = base_of(&it.lower, Form::Past).is_some() || crate::lexicon::verbs::is_past(&it.lower);
        let known = past && !it.capital || it.is_in_list(&AUXILIARIES);
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
        let third = it.lower.ends_with('s') && verbs_with_form(&it.lower).iter().any(|it| it.1 == Form::Present);
        // "films and tv shows": most such words are also plurals.
        it.is_in_list(&STATE_VERBS) || third && crate::Nouns::builtin().find_kind(&it.lower).is_none()
    });
    name && verb
}

/// Returns true at a thing with its verb ("and the last train won't wait"), unless a relative clause or a further noun
/// comes between.
fn something_does(words: &[Word], at: usize) -> bool {
    let thing = words.get(at).is_some_and(|it| it.is_in_list(&DETERMINERS));
    let near = words.iter().skip(at + 1).take(SUBJECT_MAX);
    let belongs = |it: &&Word| !it.is_in_list(&SUBJECT_ENDERS);
    thing && near.take_while(belongs).any(|it| it.is_in_list(&AUXILIARIES))
}

/// Returns true if a clause begins at `at`, after a comma: its subject is one of the next four words.
fn begins_clause(words: &[Word], at: usize) -> bool {
    let subject = |it: &Word| it.is_in_list(&SUBJECT_PRONOUNS);
    let near = words[at..].iter().take(4).position(subject);
    near.is_some_and(|it| words[at..at + it].iter().all(|word| word.gap != Gap::Strong))
}

/// Returns true if a comma before `at` ends a clause in another language, whose words are unknown: no list continues
/// after it.
fn ends_foreign_clause(words: &[Word], at: usize) -> bool {
    let mut near = words[at..].iter().take(ITEM_MAX);
    words[at].foreign && !near.any(|it| it.is_any_of(&["and", "or"]))
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
