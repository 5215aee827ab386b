//! Query understanding, by the only reading of a question: the kind of the answer, the person in question, and the
//! weights of the words. The router reads the question ([`read_question`]) and passes its reading on; no other part
//! interprets the words of a question.

mod answer_form;
mod answer_kind;
mod gap;
mod measure;
mod question_times;
pub mod slot;
pub mod wishes;

use domain::anchor::{Anchors, AnswerKind};
use domain::evidence::WordWeight;
use domain::question::{AnswerClass, Question, QuestionWord, Traits};

use crate::lexicon::contractions::{is_bare_negation, split_bare_contraction};
use crate::lexicon::{self, Class, is_in_class};
use crate::people::role::role_of_speaker;
use crate::{gloss, is_auxiliary, is_stop, split_words, stem_word};

pub use answer_kind::answer_kind;

/// A question and the facts that are known before it is read.
#[derive(Clone, Copy, Debug)]
pub struct QuestionInput<'a> {
    /// The question, as asked.
    pub question: &'a str,
    /// The anchors in the question.
    pub anchors: &'a Anchors,
    /// Weights of the stems of the bare question.
    pub weights: &'a [WordWeight],
}

/// Returns the reading of a question.
pub fn read_question(given: &QuestionInput<'_>) -> Question {
    let anchors = given.anchors;
    let english = gloss::to_english(given.question);
    let lower = english.to_lowercase().replace('’', "'");
    let action = answer_form::action_stem(anchors, &lower);
    let words = weigh_content_words(given, &action);
    let noun = if answer_form::asks_for_actor(&lower) {
        ""
    } else {
        anchors.head.as_str()
    };
    let class = answer_form::requested_class(&lower);
    let kind = if class == Some(AnswerClass::Money) {
        AnswerKind::Number
    } else {
        answer_kind::correct_answer_kind(anchors.answer, &lower)
    };
    let says_so = words.iter().any(|it| is_in_class(&it.stem, Class::Speech));
    Question {
        kind,
        class,
        subject: find_subject(given, &lower),
        identity: answer_form::name_to_identify(&english),
        slot: slot::requested_slot(&lower),
        options: answer_form::find_options(&english),
        head: if noun.is_empty() {
            String::new()
        } else {
            stem_word(noun)
        },
        gap: gap::gap_of_question(&lower),
        tense: question_times::tense_sign(&lower),
        recency: answer_form::recency_weight(&lower),
        traits: Traits {
            converse: asks_for_other_party(given, &lower),
            speech: lower.contains("according to") || says_so,
            plural: answer_form::expects_several_answers(anchors, &lower),
            many: lower.contains("how many") && !lower.contains("how many money"),
            clock: lower.contains("what time") || lower.contains("which hour"),
            habitual: answer_form::asks_for_regular_time(&lower),
            telling: question_times::asks_when_told(&lower),
            begins: question_times::asks_for_beginning(&lower),
            timely: question_times::may_have_time_answer(&lower),
            ago: kind == AnswerKind::Duration && crate::split_words(&lower).contains(&"ago"),
            negated: lower.contains("n't ")
                || lower.contains(" not ")
                || lower.contains(" never ")
                || split_words(&lower).into_iter().any(is_bare_negation),
        },
        words,
        lower,
    }
}

/// Returns the only speaker whom a question is about. Of two names, the one directly after the auxiliary verb is the
/// subject. Returns `None` for a question about both or without a name.
fn find_subject(given: &QuestionInput<'_>, lower: &str) -> Option<String> {
    let subjects = &given.anchors.subjects;
    match subjects.as_slice() {
        [] => None,
        // In a talk with an assistant, one side asks and the other side gives the information, so neither side owns it.
        [only] if role_of_speaker(only).is_some() => None,
        [only] => Some(only.clone()),
        several => {
            let tokens: Vec<&str> = split_words(lower);
            if tokens.iter().any(|it| is_in_class(it, Class::AboutBoth)) {
                return None;
            }
            let first = |name: &str| {
                split_words(name)
                    .first()
                    .map(|it| it.to_lowercase())
                    .unwrap_or_default()
            };
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

fn asks_for_other_party(given: &QuestionInput<'_>, lower: &str) -> bool {
    let mut names = given.anchors.subjects.iter().map(|it| it.to_lowercase());
    let sides = lexicon::words_of_class(Class::AsksOtherSide);
    names.any(|name| sides.iter().any(|side| lower.contains(&format!(" {side} {name}"))))
}

fn weigh_content_words(given: &QuestionInput<'_>, action: &str) -> Vec<QuestionWord> {
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
    let dated: Vec<&str> = split_words(&dated);
    let most = given.weights.iter().map(|it| it.idf).fold(0.0_f32, f32::max);
    let names: Vec<String> = given
        .anchors
        .names
        .iter()
        .flat_map(|it| split_words(it))
        .map(str::to_lowercase)
        .collect();
    let mut found: Vec<QuestionWord> = Vec::new();
    let mut adjoins = false;
    let pieces = gloss::split_pieces(given.question).unwrap_or_default();
    let glossed = gloss::content_words(given.question, &pieces);
    for word in split_words(bare) {
        let lower = word.to_lowercase();
        let is_contracted = split_bare_contraction(&lower).is_some();
        if is_stop(word) || is_contracted || is_in_class(&lower, Class::Frame) || dated.contains(&lower.as_str()) {
            adjoins = false;
            continue;
        }
        let written = stem_word(word);
        let weighed = given.weights.iter().find(|it| it.stem == written);
        let english = glossed.iter().find(|it| it.written == word);
        let stem = english.and_then(|it| it.english.as_deref()).map_or(written, stem_word);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contractions_of_not_are_negations_and_no_content_words_with_or_without_an_apostrophe() {
        let read = |question: &str| {
            read_question(&QuestionInput {
                question,
                anchors: &Anchors::default(),
                weights: &[],
            })
        };
        for (question, negated) in [
            ("What don't I eat?", true),
            ("What dont I eat?", true),
            ("Dont I eat?", true),
            ("What do I eat?", false),
        ] {
            let found = read(question);
            let stems: Vec<&str> = found.words.iter().map(|it| it.stem.as_str()).collect();
            assert_eq!((found.traits.negated, stems), (negated, vec!["eat"]), "{question}");
        }
    }
}
