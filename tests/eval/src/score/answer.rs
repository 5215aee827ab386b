//! Scores of short answers against gold answers, by shared stems.

use super::porter;
use super::words::is_word;
use crate::data::Question;
use crate::run_file::Line;

/// Categories that are scored in a special way.
const LISTS: i64 = 1;
const WITH_REMARK: i64 = 3;

/// Returns the score of a line's answer, 0 to 1.
///
/// An unanswerable question scores 1 if it was refused, and an answerable one scores 0 if it was refused or has an
/// empty answer. A multiple-choice answer scores 0 or 1. Any other answer scores its F1 as LoCoMo computes it for the
/// category.
pub fn score_answer(question: &Question, gold: &str, line: &Line) -> f64 {
    if !question.answerable {
        return f64::from(line.refused());
    }
    let answer = line.answer.as_deref().unwrap_or_default();
    if line.refused() || answer.is_empty() {
        return 0.0;
    }
    if !question.options.is_empty() {
        let wanted = gold.trim_matches(['(', ')', ' ']).to_lowercase().chars().next();
        return f64::from(wanted.is_some() && option_letter(answer) == wanted);
    }
    token_f1(question.category_id, answer, gold)
}

/// Returns the F1 of the stems of an answer as LoCoMo computes it for a category. In a list, each gold part scores the
/// F1 of the part of the answer that fits it best, and the result is the mean over the gold parts. A remark after the
/// gold answer is ignored.
pub(super) fn token_f1(category_id: Option<i64>, answer: &str, gold: &str) -> f64 {
    match category_id {
        Some(LISTS) => list_f1(answer, gold),
        Some(WITH_REMARK) => stem_f1(answer, gold.split(';').next().unwrap_or_default().trim()),
        _ => stem_f1(answer, gold),
    }
}

/// Returns the letter that an answer chooses: `b`, `(b)`, `B) because ...`.
fn option_letter(answer: &str) -> Option<char> {
    let answer = answer.to_lowercase();
    let answer = answer.trim_start();
    let mut letters = answer.strip_prefix('(').unwrap_or(answer).chars();
    let chosen = letters.next().filter(char::is_ascii_lowercase)?;
    letters.next().is_none_or(|next| !is_word(next)).then_some(chosen)
}

fn list_f1(answer: &str, gold: &str) -> f64 {
    let best = |part: &str| answer.split(',').map(|it| stem_f1(it, part)).fold(0.0, f64::max);
    let parts: Vec<f64> = gold.split(',').map(best).collect();
    parts.iter().sum::<f64>() / parts.len() as f64
}

/// Returns the F1 of the stems of two texts; a stem counts as often as it occurs.
fn stem_f1(answer: &str, gold: &str) -> f64 {
    let (answer, mut gold) = (stem_tokens(answer), stem_tokens(gold));
    let wanted = gold.len();
    let mut shared = 0;
    for stem in &answer {
        if let Some(at) = gold.iter().position(|it| it == stem) {
            gold.swap_remove(at);
            shared += 1;
        }
    }
    if shared == 0 {
        return 0.0;
    }
    let precision = f64::from(shared) / answer.len() as f64;
    let recall = f64::from(shared) / wanted as f64;
    2.0 * precision * recall / (precision + recall)
}

/// Returns the stems of [`plain_words`].
pub(super) fn stem_tokens(text: &str) -> Vec<String> {
    plain_words(text).iter().map(|it| porter::stem_word(it)).collect()
}

/// Returns the words of a text in lower case, without ASCII punctuation and without "a", "an", "the", "and".
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let plain: String = text
        .to_lowercase()
        .chars()
        .filter(|c| !c.is_ascii_punctuation())
        .collect();
    let mut kept = String::with_capacity(plain.len());
    for run in plain.split_inclusive(|c| !is_word(c)) {
        let word = run.trim_end_matches(|c| !is_word(c));
        if matches!(word, "a" | "an" | "the" | "and") {
            kept.push(' ');
            kept.push_str(&run[word.len()..]);
        } else {
            kept.push_str(run);
        }
    }
    kept.split_whitespace().map(str::to_owned).collect()
}
