//! How probable it is that an answer is right: a logistic regression over what is known about the answer, fitted to answers
//! that were compared with the right ones. An answer that is not certain enough is not given.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use domain::anchor::AnswerKind;
use domain::message::AnswerV1;
use serde::Deserialize;
use serde::de::IgnoredAny;
use text::role::is_assistant;

use crate::answer::Found;
use crate::judge::Judgement;
use crate::pool::{Line, Pool};
use crate::question::Question;
use crate::weights::{WeightsError, dot, fits, ordered, text_of};

/// Version of the features; a fit to others is of no use.
pub const VERSION: &str = "certainty-1";

/// Values of [`NAMES`], each about -1 to 1.
pub type Features = Vec<f32>;

/// Names of the features, in their order.
pub const NAMES: [&str; 43] = [
    "stated",
    "stated_confidence",
    "time",
    "option",
    "yes",
    "no",
    "who",
    "where",
    "number",
    "duration",
    "why_how",
    "kind_of",
    "what_is",
    "share",
    "share_squared",
    "share_of_time",
    "evidence_cover",
    "line_cover",
    "sentence_cover",
    "sentence_cover_of_time",
    "sentence_cover_of_yes_no",
    "share_and_cover",
    "least_match",
    "unknown_words",
    "refusal",
    "own",
    "own_of_many",
    "first_line",
    "line_probability",
    "order_margin",
    "line_asks",
    "several_lines",
    "one_word",
    "long",
    "capital",
    "code",
    "repeats_question",
    "subject",
    "many_speakers",
    "assistant_line",
    "plural",
    "window",
    "words_of_question",
];

/// What each feature may say, by the sign of its weight; 0 where it may say either. A fit that turns one round has learned an
/// accident of its data.
pub const SIGNS: [i8; NAMES.len()] = [
    1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, -1, -1, 1, 1, 1, 1, 1, -1, 0, 0, -1, 0, -1,
    -1, 0, 0, 0, -1, 0, 0,
];

/// A logistic regression as `mnemic-train certainty` writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Name of the weights; for people.
    #[serde(rename = "version")]
    _version: IgnoredAny,
    /// How they were made; for people.
    #[serde(default, rename = "about")]
    _about: IgnoredAny,
    features: String,
    bias: f32,
    weights: BTreeMap<String, f32>,
}

/// Weights of what speaks for an answer being right.
#[derive(Clone, Debug, PartialEq)]
pub struct Certainty {
    bias: f32,
    /// In the order of the features.
    weights: Vec<f32>,
}

static BUILTIN: LazyLock<Result<Certainty, WeightsError>> =
    LazyLock::new(|| Certainty::read(include_str!("../weights/certainty.json")));

impl Certainty {
    /// Returns the weights that are built in.
    ///
    /// # Errors
    /// If they do not fit the features; a test keeps that from being shipped.
    pub fn builtin() -> Result<&'static Certainty, &'static WeightsError> {
        BUILTIN.as_ref()
    }

    /// Reads weights from a file.
    ///
    /// # Errors
    /// If there is no such file, or as [`Certainty::read`].
    pub fn load(path: &Path) -> Result<Certainty, WeightsError> {
        Certainty::read(&text_of(path)?)
    }

    /// Reads weights from JSON: `version`, `features` (their version), `bias`, and `weights` by feature.
    ///
    /// # Errors
    /// If the form, the version or a name is wrong.
    pub fn read(json: &str) -> Result<Certainty, WeightsError> {
        let file: File = serde_json::from_str(json).map_err(|it| WeightsError::Form(it.to_string()))?;
        fits(&file.features, VERSION)?;
        Ok(Certainty {
            bias: file.bias,
            weights: ordered(&file.weights, &NAMES)?,
        })
    }

    /// Returns the probability, 0 to 1, that an answer with these features is right.
    pub fn probability(&self, features: &Features) -> f32 {
        1.0 / (1.0 + (-self.bias - dot(features, &self.weights)).exp())
    }
}

/// What an answer is judged by.
pub(crate) struct Case<'a> {
    pub(crate) request: &'a AnswerV1,
    pub(crate) question: &'a Question,
    pub(crate) judgement: &'a Judgement,
    pub(crate) pool: &'a Pool<'a>,
    pub(crate) found: &'a Found,
    /// Logit of the check whether to refuse, above its threshold.
    pub(crate) refusal: f32,
}

/// Returns the features of an answer.
pub(crate) fn features(case: &Case<'_>) -> Features {
    let mut values = Vec::with_capacity(NAMES.len());
    values.extend(of_way(case));
    values.extend(of_evidence(case));
    values.extend(of_answer(case));
    values
}

fn flag(it: bool) -> f32 {
    f32::from(u8::from(it))
}

fn of_way(Case { question, found, .. }: &Case<'_>) -> [f32; 16] {
    let is_stated = found.stated.is_some();
    let kind = |kinds: &[AnswerKind]| flag(!is_stated && kinds.contains(&question.kind));
    let says = |at: usize| flag(question.kind == AnswerKind::YesNo && found.text == question.replies[at]);
    let is_time = kind(&[AnswerKind::When]);
    [
        flag(is_stated),
        found.stated.unwrap_or_default(),
        is_time,
        flag(question.options.len() == 2),
        says(0),
        says(1),
        kind(&[AnswerKind::Who]),
        kind(&[AnswerKind::Where]),
        kind(&[AnswerKind::Number]),
        kind(&[AnswerKind::Duration]),
        kind(&[AnswerKind::Why, AnswerKind::How]),
        kind(&[AnswerKind::Kind]),
        kind(&[AnswerKind::WhatIs]),
        found.share,
        found.share * found.share,
        found.share * is_time,
    ]
}

fn of_evidence(case: &Case<'_>) -> [f32; 16] {
    let Case {
        request,
        question,
        judgement,
        pool,
        found,
        refusal,
    } = case;
    let lines = || found.lines.iter().map(|it| &pool.lines[*it]);
    let first = lines().next();
    let best = |value: fn(&Line<'_>) -> f32| lines().map(value).fold(0.0, f32::max);
    let sentence_cover = best(|line| line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max));
    let line_cover = best(|line| line.cover);
    let is_many = request.speakers.len() > 2;
    let own = first.map_or(0.0, |it| it.own);
    let probability = |line: &Line<'_>| line.rank.map_or(0.0, |it| request.scenes[it].probability);
    let rank = lines().filter_map(|it| it.rank).min();
    let order = first.map_or(0.0, |it| it.order);
    let others = pool.lines.iter().enumerate().filter(|it| !found.lines.contains(&it.0));
    let rival = others.map(|it| it.1.order).fold(f32::MIN, f32::max);
    [
        judgement.parts.cover,
        line_cover,
        sentence_cover,
        sentence_cover * flag(question.kind == AnswerKind::When),
        sentence_cover * flag(question.kind == AnswerKind::YesNo),
        found.share * sentence_cover,
        least_match(question, pool, found),
        question.words.iter().filter(|it| !it.known).map(|it| it.weight).sum(),
        (refusal / 4.0).clamp(-1.0, 1.0),
        own * flag(!is_many),
        own * flag(is_many),
        flag(rank == Some(0)),
        lines().map(probability).fold(0.0, f32::max),
        ((order - rival) / 4.0).clamp(-1.0, 1.0),
        flag(lines().any(|it| it.sentences.iter().all(|it| it.question))),
        flag(found.lines.len() > 1),
    ]
}

/// Returns how well the worst matched content word of the question is matched near the answer, 0 to 1; 1 without words.
fn least_match(question: &Question, pool: &Pool<'_>, found: &Found) -> f32 {
    let near: Vec<usize> = found.lines.iter().flat_map(|&it| pool.window(it, 1, 1)).collect();
    let best = |at: usize| near.iter().map(|&it| pool.lines[it].matches[at]).fold(0.0, f32::max);
    (0..question.words.len()).map(best).fold(1.0, f32::min)
}

/// Signs of program text.
const CODE: [&str; 9] = ["::", "()", "{", "}", "=", "/", "_", "<", "`"];

fn of_answer(case: &Case<'_>) -> [f32; 11] {
    let Case {
        request,
        question,
        pool,
        found,
        ..
    } = case;
    let words = text::words(&found.text);
    let stems: Vec<String> = words.iter().map(|it| text::stem(&it.to_lowercase())).collect();
    let asked = |stem: &String| question.words.iter().any(|it| it.stem == *stem);
    let actor = found.lines.first().map(|it| pool.lines[*it].turn.actor.as_str());
    [
        flag(words.len() == 1),
        flag(words.len() > 6),
        flag(found.text.starts_with(char::is_uppercase)),
        flag(CODE.iter().any(|sign| found.text.contains(sign))),
        flag(stems.iter().any(asked)),
        flag(question.subject.is_some()),
        flag(request.speakers.len() > 2),
        flag(actor.is_some_and(is_assistant)),
        flag(question.plural),
        flag(question.window.is_some()),
        (question.words.len() as f32 / 8.0).min(1.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_fit_the_features() {
        let shipped = include_str!("../weights/certainty.json");
        assert!(Certainty::builtin().is_ok(), "{:?}", Certainty::builtin().err());
        let changed = |from: &str, to: &str| Certainty::read(&shipped.replacen(from, to, 1)).err();
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
