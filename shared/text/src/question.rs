//! The only reading of a question: the kind of the answer, the person in question, and the weights of the words. The
//! router reads the question ([`read`]) and passes its reading on; no other part interprets the words of a question.

mod asked;
mod gap;
mod kind;
mod measure;
pub mod slot;
mod timed;

use domain::anchor::{Anchors, AnswerKind};
use domain::evidence::WordWeight;
use domain::question::{AnswerClass, Question, QuestionWord, Traits};

use crate::lexicon::{Class, is};
use crate::role::role;
use crate::{gloss, is_auxiliary, is_stop, stem, words};

pub use kind::kind;

/// A question and the facts that are known before it is read.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The question, as asked.
    pub question: &'a str,
    /// The anchors in the question.
    pub anchors: &'a Anchors,
    /// Weights of the stems of the bare question.
    pub weights: &'a [WordWeight],
}

/// Returns the reading of a question.
pub fn read(given: &Given<'_>) -> Question {
    let anchors = given.anchors;
    let english = gloss::english(given.question);
    let lower = english.to_lowercase().replace('’', "'");
    let action = asked::action(anchors, &lower);
    let words = content(given, &action);
    let noun = if asked::does(&lower) { "" } else { anchors.head.as_str() };
    let class = asked::class(&lower);
    let kind = if class == Some(AnswerClass::Money) {
        AnswerKind::Number
    } else {
        kind::settled(anchors.answer, &lower)
    };
    let says_so = words.iter().any(|it| is(&it.stem, Class::Speech));
    Question {
        kind,
        class,
        subject: subject(given, &lower),
        identity: asked::identity(&english),
        slot: slot::asked(&lower),
        options: asked::options(&english),
        head: if noun.is_empty() { String::new() } else { stem(noun) },
        gap: gap::gap(&lower),
        tense: timed::tense(&lower),
        recency: asked::recency(&lower),
        traits: Traits {
            converse: converse(given, &lower),
            speech: lower.contains("according to") || says_so,
            plural: asked::plural(anchors, &lower),
            many: lower.contains("how many") && !lower.contains("how many money"),
            clock: lower.contains("what time") || lower.contains("which hour"),
            habitual: asked::habitual(&lower),
            telling: timed::telling(&lower),
            begins: timed::begins(&lower),
            timely: timed::timely(&lower),
            ago: kind == AnswerKind::Duration && crate::words(&lower).contains(&"ago"),
            negated: lower.contains("n't ") || lower.contains(" not ") || lower.contains(" never "),
        },
        words,
        lower,
    }
}

/// Returns the only speaker whom a question is about. Of two names, the one directly after the auxiliary verb is the
/// subject. Returns `None` for a question about both or without a name.
fn subject(given: &Given<'_>, lower: &str) -> Option<String> {
    let subjects = &given.anchors.subjects;
    match subjects.as_slice() {
        [] => None,
        // In a talk with an assistant, one side asks and the other side gives the information, so neither side owns it.
        [only] if role(only).is_some() => None,
        [only] => Some(only.clone()),
        several => {
            let tokens: Vec<&str> = words(lower);
            if tokens.iter().any(|it| is(it, Class::AboutBoth)) {
                return None;
            }
            let first = |name: &str| words(name).first().map(|it| it.to_lowercase()).unwrap_or_default();
            let is = |token: &str, name: &str| token.strip_suffix("'s").unwrap_or(token) == first(name);
            let at = |name: &str| tokens.iter().position(|it| is(it, name));
            let after_auxiliary = |at: usize| at > 0 && is_auxiliary(tokens[at - 1]);
            let joined = |at: usize| matches!(tokens.get(at + 1), Some(&("and" | "or")));
            let mut candidates = several.iter().filter_map(|it| Some((it, at(it)?)));
            let (name, at) = candidates.find(|&(_, at)| after_auxiliary(at))?;
            (!joined(at)).then(|| name.clone())
        }
    }
}

fn converse(given: &Given<'_>, lower: &str) -> bool {
    let names = given.anchors.subjects.iter().map(|it| it.to_lowercase());
    let mut side = names.flat_map(|name| ["from", "to", "by", "for"].map(|it| format!(" {it} {name}")));
    side.any(|it| lower.contains(&it))
}

fn content(given: &Given<'_>, action: &str) -> Vec<QuestionWord> {
    let bare = match given.anchors.bare.as_str() {
        "" => given.question,
        bare => bare,
    };
    let dated = given
        .anchors
        .window
        .as_ref()
        .map(|it| it.words.to_lowercase())
        .unwrap_or_default();
    let dated: Vec<&str> = words(&dated);
    let most = given.weights.iter().map(|it| it.idf).fold(0.0_f32, f32::max);
    let names: Vec<String> = given
        .anchors
        .names
        .iter()
        .flat_map(|it| words(it))
        .map(str::to_lowercase)
        .collect();
    let mut found: Vec<QuestionWord> = Vec::new();
    let mut adjoins = false;
    let pieces = gloss::pieces(given.question).unwrap_or_default();
    let glossed = gloss::content(given.question, &pieces);
    for word in words(bare) {
        let lower = word.to_lowercase();
        if is_stop(word) || is(&lower, Class::Frame) || dated.contains(&lower.as_str()) {
            adjoins = false;
            continue;
        }
        let written = stem(word);
        let weighed = given.weights.iter().find(|it| it.stem == written);
        let english = glossed.iter().find(|it| it.written == word);
        let stem = english.and_then(|it| it.english.as_deref()).map_or(written, stem);
        let known = weighed.is_none_or(|it| it.df > 0);
        let idf = match weighed {
            Some(it) if it.df > 0 => it.idf,
            Some(_) => 0.6 * most,
            None => 1.0,
        };
        if !found.iter().any(|it| it.stem == stem) {
            let specific = names.contains(&lower) || word.starts_with(|it: char| it.is_ascii_digit());
            found.push(QuestionWord {
                specific,
                verb: stem == action,
                stem,
                weight: 0.0,
                idf: idf.max(0.1),
                adjoins,
                known,
            });
        }
        adjoins = true;
    }
    let total: f32 = found.iter().map(|it| it.idf).sum();
    found.iter_mut().for_each(|it| it.weight = it.idf / total);
    found
}
