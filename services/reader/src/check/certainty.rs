//! Calibration: the probability that an answer is right, from a logistic regression over features of the answer. It was
//! fitted to answers that were compared with the right ones. An answer below the configured probability is not given.

use std::path::Path;
use std::sync::LazyLock;

use domain::anchor::AnswerKind;
use text::people::role::is_assistant;

use crate::answer::FoundAnswer;
use crate::check::judge::Case;
use crate::evidence::evidence_lines::Pool;
use crate::evidence::line::Line;
use crate::evidence::question::Question;
use crate::feature_weights::weighted_sum;
use crate::weights::{Logistic, WeightsError, text_of};

/// Version of the features. Weights that were fitted to another version are rejected.
pub const VERSION: &str = "certainty-4";

/// Values of [`NAMES`], each about -1 to 1.
pub type Features = Vec<f32>;

/// Names of the features, in their order.
pub const NAMES: [&str; 31] = [
    "stated",
    "stated_confidence",
    "time",
    "number",
    "duration",
    "what_is",
    "share",
    "share_squared",
    "share_of_time",
    "evidence_cover",
    "share_and_cover",
    "least_match",
    "refusal",
    "own",
    "own_of_many",
    "line_probability",
    "exact",
    "all_exact",
    "verb_exact",
    "rival",
    "several_lines",
    "one_word",
    "long",
    "capital",
    "code",
    "repeats_question",
    "subject",
    "many_speakers",
    "assistant_line",
    "window",
    "words_of_question",
];

/// Allowed sign of each weight; 0 allows both. A fit with another sign has learned an accident of its data.
pub const SIGNS: [i8; NAMES.len()] = [
    1, 1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, -1, 1, 1, 1, 1, 1, 1, -1, 0, 0, -1, 0, -1, -1, 0, 0, 0, 0, 0,
];

/// Weights of the features that predict whether an answer is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Certainty(Logistic);

static BUILTIN: LazyLock<Result<Certainty, WeightsError>> =
    LazyLock::new(|| Certainty::from_json(include_str!("../../weights/certainty.json")));

impl Certainty {
    /// Returns the built-in weights.
    ///
    /// # Errors
    /// If they do not fit the features; a test fails before such weights can be shipped.
    pub fn builtin() -> Result<&'static Certainty, &'static WeightsError> {
        BUILTIN.as_ref()
    }

    /// Reads weights from a file.
    ///
    /// # Errors
    /// If the file cannot be read, and the errors of [`Certainty::from_json`].
    pub fn from_path(path: &Path) -> Result<Certainty, WeightsError> {
        Certainty::from_json(&text_of(path)?)
    }

    /// Reads weights from JSON: `version`, `features` (their version), `bias`, and `weights` by feature.
    ///
    /// # Errors
    /// If the form, the version or a name is wrong.
    pub fn from_json(json: &str) -> Result<Certainty, WeightsError> {
        let fitted = Logistic::from_json(json, VERSION, &NAMES)?;
        match fitted.threshold {
            None => Ok(Certainty(fitted)),
            Some(_) => Err(WeightsError::Form("unknown field `threshold`".to_owned())),
        }
    }

    /// Returns the probability, 0 to 1, that an answer with these features is right.
    pub fn probability_right(&self, features: &Features) -> f32 {
        let Logistic { bias, weights, .. } = &self.0;
        1.0 / (1.0 + (-bias - weighted_sum(features, weights)).exp())
    }
}

/// Returns the features of an answer, in the order of [`NAMES`].
pub(crate) fn compute_answer_features(case: &Case<'_>, found: &FoundAnswer) -> Features {
    let mut values = Vec::with_capacity(NAMES.len());
    values.extend(of_way(case.question, found));
    values.extend(of_evidence(case, found));
    values.extend(of_answer(case, found));
    values
}

fn of_way(question: &Question, found: &FoundAnswer) -> [f32; 9] {
    let is_stated = found.stated.is_some();
    let kind = |kinds: &[AnswerKind]| f32::from(!is_stated && kinds.contains(&question.kind));
    let is_time = kind(&[AnswerKind::When]);
    [
        f32::from(is_stated),
        found.stated.unwrap_or_default(),
        is_time,
        kind(&[AnswerKind::Number]),
        kind(&[AnswerKind::Duration]),
        kind(&[AnswerKind::WhatIs]),
        found.share,
        found.share * found.share,
        found.share * is_time,
    ]
}

fn of_evidence(case: &Case<'_>, found: &FoundAnswer) -> [f32; 12] {
    let (request, pool) = (case.request, case.pool);
    let lines = || found.lines.iter().map(|it| &pool.lines[*it]);
    let first = lines().next();
    let covers = lines().flat_map(|line| &line.sentences).map(|it| it.cover);
    let sentence_cover = covers.fold(0.0, f32::max);
    let is_many = request.speakers.len() > 2;
    let own = first.map_or(0.0, |it| it.own);
    let exact = exact_word_share(case.question, first);
    let probability = |line: &Line<'_>| line.rank.map_or(0.0, |it| request.scenes[it].probability);
    [
        case.judgement.parts.cover,
        found.share * sentence_cover,
        least_match(case.question, pool, found),
        (case.opinion.excess / 4.0).clamp(-1.0, 1.0),
        own * f32::from(!is_many),
        own * f32::from(is_many),
        lines().map(probability).fold(0.0, f32::max),
        exact,
        f32::from(exact > 0.99),
        f32::from(says_verb(case.question, first)),
        rival_cover(pool, found),
        f32::from(found.lines.len() > 1),
    ]
}

/// Returns the largest weighted share of the question words that a sentence of a line contains in the same form, 0 to
/// 1.
fn exact_word_share(question: &Question, line: Option<&Line<'_>>) -> f32 {
    let sentences = line.into_iter().flat_map(|it| &it.sentences);
    let matched_weight = |matches: &[f32]| {
        let words = question.words.iter().zip(matches).filter(|it| *it.1 >= 1.0);
        words.map(|it| it.0.weight).sum::<f32>()
    };
    sentences.map(|it| matched_weight(&it.matches)).fold(0.0, f32::max)
}

/// Returns true if a line contains the verb of the question.
fn says_verb(question: &Question, line: Option<&Line<'_>>) -> bool {
    let verb = question.words.iter().position(|it| it.verb);
    verb.zip(line).is_some_and(|(at, line)| line.matches[at] >= 1.0)
}

/// Returns the cover of the best line away from the answer, as a share of the cover of the answer's best line, at most
/// 1.5.
fn rival_cover(pool: &Pool<'_>, found: &FoundAnswer) -> f32 {
    let near: Vec<usize> = found
        .lines
        .iter()
        .flat_map(|&it| pool.window_around(it, 1, 1))
        .collect();
    let cover = |at: usize| pool.lines[at].cover;
    let own = found.lines.iter().map(|&it| cover(it)).fold(0.05, f32::max);
    let others = (0..pool.lines.len()).filter(|it| !near.contains(it));
    (others.map(cover).fold(0.0, f32::max) / own).min(1.5)
}

/// Returns the best match near the answer of the question word that matches worst there, 0 to 1; 1 if the question has
/// no words.
fn least_match(question: &Question, pool: &Pool<'_>, found: &FoundAnswer) -> f32 {
    let near: Vec<usize> = found
        .lines
        .iter()
        .flat_map(|&it| pool.window_around(it, 1, 1))
        .collect();
    let best = |at: usize| near.iter().map(|&it| pool.lines[it].matches[at]).fold(0.0, f32::max);
    (0..question.words.len()).map(best).fold(1.0, f32::min)
}

/// Strings that indicate program text.
const CODE: [&str; 9] = ["::", "()", "{", "}", "=", "/", "_", "<", "`"];

fn of_answer(case: &Case<'_>, found: &FoundAnswer) -> [f32; 10] {
    let Case {
        request,
        question,
        pool,
        ..
    } = case;
    let words = text::split_words(&found.text);
    let stems: Vec<String> = words.iter().map(|it| text::stem_word(&it.to_lowercase())).collect();
    let is_in_question = |stem: &String| question.words.iter().any(|it| it.stem == *stem);
    let actor = found.lines.first().map(|it| pool.lines[*it].turn.actor.as_str());
    [
        f32::from(words.len() == 1),
        f32::from(words.len() > 6),
        f32::from(found.text.starts_with(char::is_uppercase)),
        f32::from(CODE.iter().any(|sign| found.text.contains(sign))),
        f32::from(stems.iter().any(is_in_question)),
        f32::from(question.subject.is_some()),
        f32::from(request.speakers.len() > 2),
        f32::from(actor.is_some_and(is_assistant)),
        f32::from(question.window.is_some()),
        (question.words.len() as f32 / 8.0).min(1.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certainty_weights_for_other_features_or_versions_are_rejected() {
        let shipped = include_str!("../../weights/certainty.json");
        assert!(Certainty::builtin().is_ok(), "{:?}", Certainty::builtin().err());
        let changed = |from: &str, to: &str| Certainty::from_json(&shipped.replacen(from, to, 1)).err();
        let version = WeightsError::Version {
            found: "certainty-0".to_owned(),
            expected: VERSION,
        };
        assert_eq!(changed(&format!("\"{VERSION}\""), "\"certainty-0\""), Some(version));
        let unknown = WeightsError::Unknown("shares".to_owned());
        assert_eq!(changed("\"share\":", "\"shares\":"), Some(unknown));
        assert!(matches!(changed("\"bias\"", "\"bios\""), Some(WeightsError::Form(_))));
    }
}
