//! Facts by rule files: `data/en/facts/*.rule`.
//!
//! A rule begins with `rule NAME`. Its lines follow; each is a key, a colon and a value:
//!
//! | key | value |
//! | --- | --- |
//! | `verb` | Base forms of verbs, each with its own forms if they differ: `have get:perfect`; `*` for any verb. A rule without a verb is tried at the start of a clause. |
//! | `form` | Forms of the verb: `present past perfect lasted progressive lasting future going be was been can`; `lasted` is the perfect with a length of time ("has lived here for ten years"). |
//! | `from` | `verb`: the pattern begins at the last word of the verb instead of after it. |
//! | `pattern` | The words after the verb; of several lines, the first one that matches counts. |
//! | `without` | A pattern that no position after the verb may match. |
//! | `unless-turn` | A list of `words.txt`; the rule makes no fact of a turn that contains one of its words. |
//! | `adverb` | A word that must be between the start of the subject and the end of the verb. |
//! | `negated` | `no` (the default), `must`, or `ends`: "any more" with a negation means that the fact has ended. |
//! | `times` | Condition on the times of the clause: `none`, `since` (no others), `lasting` (no hour, day or week that is not over, but for "since"), `ahead`, `day` (a future day), `month` (a future day or month), `long` (a month, a season or a year). |
//! | `who` | `others` (not the speaker), `role` (not a name), `assistant` (the clause addresses an assistant). |
//! | `says-not` | `yes`: the fact is negative, although the clause has no "not". |
//! | `over` | `yes`: the fact has ended. |
//! | `when` | Meaning of the times: `state` (the default), `event`, `visit`, `plan`. |
//! | `fact` | Aspect, predicate and, if it is not the captured phrase, the object, separated by bars. `$verb` is the third person of the verb, `$base` its base form, `$1` the marked words, `$object` the captured phrase. |
//! | `sure` | Confidence, 0 to 1. |
//! | `says` | A sentence, an equals sign, and the fact that the rule makes of it; at least three. `@` before a sentence: a user says it to an assistant. |
//! | `silent` | A sentence of which the rule makes no fact; at least two. |
//!
//! A pattern is a sequence of these parts:
//!
//! | written | matches |
//! | --- | --- |
//! | `word` | The word. Contractions are split: "I'm" is `i am`. |
//! | `<class>` | A phrase that `let NAME = PATTERN` has defined, a list of `words.txt`, or: `name` `capital` `number` `figure` `food` `foreign` `ing` `owner` (Ana's) `plural` `stop` `time` `verb`. |
//! | `(a \| b)`, `[a]` | One of several; an optional part. |
//! | `*`, `*3`, `**` | Any word; up to three words without a pause between them; any number of words. `*3!<class>`: no word of the class. |
//! | `!x`, `&x` | No words; requires that `x` does not follow, or that it does. |
//! | `=x` | The same as `x`, and marks the words. |
//! | `{x}`, `{+x}`, `{-x}`, `{>x}` | The object: a phrase that begins with `x`; the same including times; only the match of `x`; all words up to the end of the clause. |
//! | `/`, `$` | A pause (a comma, a dash or the end) before the next word; the end of the clause. |

mod pattern;
mod rule_files;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use domain::fact::Aspect;
use domain::time::Precision;

use super::Subject;
use super::lexicon::{LASTING_AMOUNTS, LASTING_OPENERS, LASTING_SIGNS, LASTING_UNITS, POLITE, is_number};
use crate::facts::clauses::clause::{Clause, Draft, TimeReading};
use crate::facts::clauses::token::{Gap, Word};
use crate::facts::clauses::verb_group::{Group, Shape};
use crate::time::{Kind, Mention};
use pattern::{Choice, Extent, State, find_matches};

/// A rule file. The rules of a family are tried together, and the first one that matches a clause makes the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Family {
    Activity,
    Instruction,
    Later,
    Place,
    Plan,
    Possession,
    Preference,
    Sentence,
    State,
    Trade,
    Work,
}

const FILES: &[(Family, &str)] = &[
    (Family::Activity, include_str!("../../data/en/facts/activity.rule")),
    (
        Family::Instruction,
        include_str!("../../data/en/facts/instruction.rule"),
    ),
    (Family::Later, include_str!("../../data/en/facts/later.rule")),
    (Family::Place, include_str!("../../data/en/facts/place.rule")),
    (Family::Plan, include_str!("../../data/en/facts/plan.rule")),
    (Family::Possession, include_str!("../../data/en/facts/possession.rule")),
    (Family::Preference, include_str!("../../data/en/facts/preference.rule")),
    (Family::Sentence, include_str!("../../data/en/facts/sentence.rule")),
    (Family::State, include_str!("../../data/en/facts/state.rule")),
    (Family::Trade, include_str!("../../data/en/facts/trade.rule")),
    (Family::Work, include_str!("../../data/en/facts/work.rule")),
];
/// Named patterns that all files may use.
const PHRASES: &str = include_str!("../../data/en/facts/phrases.rule");

/// The rules by family and verb. The name `*` has the rules of any verb, and the empty name those without a verb.
type ByVerb = HashMap<(Family, &'static str), Vec<Rule>>;

static RULES: LazyLock<ByVerb> = LazyLock::new(|| match rule_files::read_rule_files() {
    Ok(rules) => by_verb(rules),
    // The files are compiled into the program, and a test reads all of them, so they are valid here.
    Err(wrong) => panic!("the rules for facts cannot be read: {wrong}"),
});

fn by_verb(rules: Vec<Rule>) -> ByVerb {
    let mut out: ByVerb = HashMap::new();
    for rule in rules {
        let bases: Vec<&str> = rule.verbs.iter().map(|it| it.0).collect();
        for base in if bases.is_empty() { vec![""] } else { bases } {
            out.entry((rule.family, base)).or_default().push(rule.clone());
        }
    }
    out.values_mut().for_each(|it| it.sort_by_key(|it| it.number));
    out
}

/// The negations that a rule accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Negated {
    No,
    Must,
    Ends,
}

/// The times that a clause must name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Any,
    None,
    Since,
    Lasting,
    Ahead,
    Day,
    Month,
    Long,
}

/// The subject or the addressee that a rule requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequiredSubject {
    Anybody,
    Others,
    Role,
    Assistant,
}

#[derive(Clone, Debug)]
struct Rule {
    name: &'static str,
    family: Family,
    number: usize,
    verbs: Vec<(&'static str, Vec<&'static str>)>,
    from_verb: bool,
    patterns: Choice,
    without: Choice,
    unless_turn: HashSet<&'static str>,
    adverb: &'static str,
    negated: Negated,
    times: Times,
    whose: RequiredSubject,
    says_not: bool,
    over: bool,
    when: TimeReading,
    aspect: Aspect,
    predicate: &'static str,
    object: &'static str,
    sure: f32,
    says: Vec<(&'static str, &'static str)>,
    silent: Vec<&'static str>,
}

/// Returns the draft of the first rule of the families that matches a clause. `assistant` is true if the clause
/// addresses an assistant.
pub(super) fn apply_rules(clause: &Clause<'_>, families: &[Family], assistant: bool) -> Option<Draft> {
    let verb = clause.group.base.as_str();
    let verbs = if families == [Family::Instruction] || families == [Family::Sentence] {
        vec![""]
    } else {
        vec![verb, "*"]
    };
    families.iter().find_map(|family| {
        let mut rules = verbs.iter().filter_map(|it| RULES.get(&(*family, *it))).flatten();
        rules.find_map(|rule| rule.draft_clause(clause, assistant))
    })
}

impl Rule {
    fn draft_clause(&self, clause: &Clause<'_>, assistant: bool) -> Option<Draft> {
        let group = &clause.group;
        let from = if self.verbs.is_empty() {
            clause.at
        } else {
            group.next.saturating_sub(usize::from(self.from_verb))
        };
        let is_ended = group.ended || (!group.positive && clause.any_more());
        let negation = match self.negated {
            Negated::No => group.positive,
            Negated::Must => !group.positive,
            Negated::Ends => group.positive || is_ended,
        };
        if !(negation && self.has_form(clause) && self.speaks_of(clause, assistant) && self.has_times(clause)) {
            return None;
        }
        let adverb = || {
            clause.words[clause.at..group.next]
                .iter()
                .any(|it| it.lower == self.adverb)
        };
        if !(self.adverb.is_empty() || adverb()) || self.is_ruled_out_by_turn(clause.text) {
            return None;
        }
        let begins = |at: usize| State {
            at,
            object: None,
            mark: None,
        };
        if (from..clause.end).any(|it| !find_matches(clause, &self.without, &begins(it)).is_empty()) {
            return None;
        }
        let state = find_matches(clause, &self.patterns, &begins(from)).into_iter().next()?;
        let captured = match &state.object {
            Some((words, Extent::Rest)) => format_instruction(clause, words.clone())?,
            Some((words, Extent::Phrase | Extent::Timed | Extent::Exact)) => clause.text_of_words(words.clone())?,
            None => String::new(),
        };
        let marked = state.mark.map_or_else(String::new, |it| {
            let words: Vec<&str> = it.map(|at| clause.word_at(at)).collect();
            words.join(" ")
        });
        let filled = |template: &str| {
            let verb = crate::facts::clauses::verb::third_person(&group.base);
            let out = template.replace("$verb", &verb).replace("$base", &group.base);
            out.replace("$1", &marked).replace("$object", &captured)
        };
        Some(Draft {
            aspect: self.aspect,
            predicate: filled(self.predicate),
            object: filled(self.object),
            positive: !(self.says_not || self.negated == Negated::Must),
            ended: self.over || self.negated != Negated::Must && is_ended,
            when: self.when,
            confidence: self.sure,
            rule: self.name,
        })
    }

    /// Returns true if the text of a turn has a word with which the rule makes no fact.
    fn is_ruled_out_by_turn(&self, turn: &str) -> bool {
        let is_listed = |it: &&str| self.unless_turn.contains(it.to_lowercase().as_str());
        !self.unless_turn.is_empty() && crate::split_words(turn).iter().any(is_listed)
    }

    fn has_form(&self, clause: &Clause<'_>) -> bool {
        let form = form_name(&clause.group);
        let base = |it: &&(&str, Vec<&str>)| it.0 == clause.group.base || it.0 == "*";
        let fits = |forms: &[&str]| {
            forms.contains(&form) || form == "perfect" && forms.contains(&"lasted") && has_lasted(clause)
        };
        self.verbs.is_empty() || self.verbs.iter().find(base).is_some_and(|it| fits(&it.1))
    }

    fn speaks_of(&self, clause: &Clause<'_>, assistant: bool) -> bool {
        match self.whose {
            RequiredSubject::Anybody => true,
            RequiredSubject::Others => clause.who.subject != Subject::Speaker,
            RequiredSubject::Role => !matches!(clause.who.subject, Subject::Name(_)),
            RequiredSubject::Assistant => assistant,
        }
    }

    fn has_times(&self, clause: &Clause<'_>) -> bool {
        let ahead = |it: &Mention| it.span.start > clause.now;
        match self.times {
            Times::Any => true,
            Times::None => clause.times_in_clause().count() == 0,
            Times::Since => clause.times_in_clause().all(begins_with_since),
            Times::Lasting => {
                let short =
                    |it: &Mention| matches!(it.span.precision, Precision::Instant | Precision::Day | Precision::Week);
                let passing = |it: &Mention| short(it) && it.span.end > clause.now && !begins_with_since(it);
                !clause.times_in_clause().any(passing)
            }
            Times::Ahead => {
                let soon = clause.now + chrono::TimeDelta::hours(12);
                let near = |it: &Mention| it.span.end > soon && it.span.start + chrono::TimeDelta::days(1) > clause.now;
                clause.times_in_clause().any(near)
            }
            Times::Day => {
                let day = clause.times_in_clause().find(|it| ahead(it));
                day.is_some_and(|it| it.span.precision == Precision::Day && it.kind != Kind::Interval)
            }
            Times::Month => clause
                .times_in_clause()
                .any(|it| ahead(it) && matches!(it.span.precision, Precision::Day | Precision::Month)),
            Times::Long => clause.times_in_clause().any(|it| {
                matches!(
                    it.span.precision,
                    Precision::Month | Precision::Year | Precision::Season
                )
            }),
        }
    }
}

fn begins_with_since(mention: &Mention) -> bool {
    mention.span.words.to_lowercase().starts_with("since")
}

/// Returns true if a clause in the perfect says how long its state has lasted, so that it still holds: "for ten years",
/// "since I was six", "always".
fn has_lasted(clause: &Clause<'_>) -> bool {
    let length = |it: &Mention| it.kind == Kind::Duration || begins_with_since(it);
    // The word at the end may be the "since" that opens the next clause.
    let mut after_verb = clause.group.next..=clause.end;
    clause.group.often.as_deref() == Some("always")
        || clause.times_in_clause().any(length)
        || after_verb.any(|at| is_lasting_sign(clause.words, at))
}

/// Returns true if the word at an index says that a state has lasted: "since", but not after a comma, and the last word
/// of "for many years" and "all my life".
fn is_lasting_sign(words: &[Word], at: usize) -> bool {
    let Some((before, [word, after @ ..])) = words.split_at_checked(at) else {
        return false;
    };
    if word.is_in_list(&LASTING_SIGNS) {
        return before.last().is_some_and(|it| it.gap == Gap::None);
    }
    // "Life" of "a life insurance company" is no length.
    let ends = word.gap != Gap::None || after.first().is_none_or(|it| crate::is_stop(&it.lower));
    let amount = |it: &&Word| it.is_in_list(&LASTING_AMOUNTS) || is_number(&it.lower);
    let opener = before.iter().rev().find(|it| !amount(it));
    ends && word.is_in_list(&LASTING_UNITS) && opener.is_some_and(|it| it.is_in_list(&LASTING_OPENERS))
}

/// Returns the name of a verb form in rules; empty for an uncertain one.
fn form_name(group: &Group) -> &'static str {
    match group.shape {
        Shape::Present => "present",
        Shape::Past => "past",
        Shape::Perfect => "perfect",
        Shape::Progressive => "progressive",
        Shape::Lasting => "lasting",
        Shape::Future => "future",
        Shape::Going => "going",
        Shape::Be => "be",
        Shape::Was => "was",
        Shape::Been => "been",
        Shape::Modal if group.can => "can",
        Shape::Modal => "",
    }
}

/// Returns an instruction as it is stored: without thanks, and with its first letter in lower case unless it begins
/// with "I". Returns `None` if it is too short or too long.
fn format_instruction(clause: &Clause<'_>, words: std::ops::Range<usize>) -> Option<String> {
    let last = words.clone().rev().find(|it| !POLITE.contains(clause.word_at(*it)))?;
    let object = clause.text_of_words(words.start..last + 1)?;
    if object.split_whitespace().count() < ORDER_MIN || object.chars().count() > ORDER_MAX {
        return None;
    }
    let mut chars = object.chars();
    let first = chars.next().map(|it| it.to_lowercase().to_string()).unwrap_or_default();
    let own = object.starts_with("I ") || object.starts_with("I'");
    Some(if own {
        object
    } else {
        format!("{first}{}", chars.as_str())
    })
}

/// Number of words of the shortest instruction.
const ORDER_MIN: usize = 3;
/// Number of characters of the longest instruction.
const ORDER_MAX: usize = 240;
