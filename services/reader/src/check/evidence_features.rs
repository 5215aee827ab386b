//! Features of how well the evidence supports an answer, as named numbers that a fitted check weighs.

use domain::anchor::AnswerKind;
use domain::message::AnswerV1;

use crate::evidence::evidence_lines::Pool;
use crate::evidence::question::Question;
use crate::evidence::rank;

/// Version of the features. Weights that were fitted to another version are rejected.
pub const VERSION: &str = "reader-2";

/// Names of the features, in their order.
pub const NAMES: [&str; 11] = [
    "owned_by_sentence",
    "owned_by_word",
    "owned_by_window",
    "owned_of_many",
    "owned_by_router",
    "subject",
    "subject_of_many",
    "speech",
    "yes_no",
    "time_off",
    "name_missing",
];

/// Allowed sign of each weight for refusal; 0 allows both. A fit with another sign has learned an accident of its data,
/// such as answerable questions that are worded farther from their evidence than the others.
pub const SIGNS: [i8; NAMES.len()] = [-1, -1, -1, -1, -1, 1, 0, -1, -1, 1, 1];

/// Number of features at the front that describe the owner of the evidence.
pub(crate) const OWNED: usize = 5;

/// Values of [`NAMES`], each about -1 to 1; 0 if a feature does not apply.
pub type Features = [f32; NAMES.len()];

/// Minimum match of a word; with a lower match in all lines nearby, the word is missing there.
const MATCHED: f32 = 0.6;
/// Number of the strongest turns around which words are searched.
const TOP: usize = 4;

/// Returns the features. `parts` holds the measures of the judge.
pub(crate) fn compute_evidence_features(
    request: &AnswerV1,
    question: &Question,
    pool: &Pool<'_>,
    parts: &Parts,
) -> Features {
    let many = request.speakers.len() > 2;
    let has_subject = question.subject.is_some();
    let flag = |it: bool| f32::from(u8::from(it));
    let when = |it: bool, value: f32| if it { value } else { 0.0 };
    [
        when(!many, parts.by_sentence),
        when(!many, parts.by_word),
        when(!many, parts.by_window),
        when(many, parts.total_ownership() / 4.0),
        when(has_subject, by_router(request, pool)),
        flag(has_subject),
        flag(has_subject && many),
        flag(question.traits.speech && has_subject),
        flag(question.kind == AnswerKind::YesNo),
        time_off(request, pool),
        flag(name_missing(question, pool)),
    ]
}

/// Returns the mean ownership of the turns that the router found, weighted by their probabilities. In a space of many
/// people, other speakers say more about the same thing than the person in question does.
fn by_router(request: &AnswerV1, pool: &Pool<'_>) -> f32 {
    let found = pool
        .lines
        .iter()
        .filter_map(|it| Some((request.scenes[it.rank?].probability, it.own)));
    let (total, sum) = found.fold((0.0, 0.0), |(total, sum), (p, own)| (total + p, sum + p * own));
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Returns true if a name or number of the question does not occur near the strongest turns.
fn name_missing(question: &Question, pool: &Pool<'_>) -> bool {
    let near = || {
        let strong = pool.by_height.iter().take(TOP);
        strong
            .flat_map(|&it| pool.window_around(it, 2, 2))
            .map(|it| &pool.lines[it])
    };
    let words = question.words.iter().enumerate();
    words
        .filter(|(_, word)| word.specific)
        .any(|(at, _)| near().all(|it| it.matches[at] < MATCHED))
}

/// Returns how far the three strongest turns are from the requested time: 1 minus the best
/// [`rank::score_time_match`] of them, or 0 if no time is requested.
fn time_off(request: &AnswerV1, pool: &Pool<'_>) -> f32 {
    if request.anchors.window.is_none() {
        return 0.0;
    }
    let strong = pool.by_height.iter().take(3);
    let dated = strong.map(|&it| rank::score_time_match(pool.lines[it].turn, request));
    1.0 - dated.fold(0.0, f32::max)
}

/// The separate measures of the judge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    /// Mean ownership of the sentences, -1 to 1; 0 without a subject.
    pub(crate) by_sentence: f32,
    /// Ownership word by word, -1 to 1; 0 without a subject.
    pub(crate) by_word: f32,
    /// Ownership of the turns around the best turns, -1 to 1; 0 without a subject.
    pub(crate) by_window: f32,
    /// Best cover of the question by a window, 0 to 1.
    pub(crate) cover: f32,
}

impl Parts {
    /// Returns the weighted sum of the three kinds of ownership, -4 to 4.
    pub(crate) fn total_ownership(&self) -> f32 {
        self.by_sentence + 2.0 * self.by_word + self.by_window
    }
}
