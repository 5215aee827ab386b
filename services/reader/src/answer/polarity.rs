//! Yes or no, and one of two options.

use super::Found;
use super::lexis::denies;
use crate::pool::{Line, Pool, Sentence};
use crate::question::Question;
use crate::words::Lexicon;

/// A sentence that covers less than this share of the best says nothing about it.
const NEAR: f32 = 0.75;

/// Answers yes or no by what the best sentences of the best turn affirm or deny.
pub(crate) fn find(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Option<Found> {
    let &at = lines.first()?;
    let line = &pool.lines[at];
    let denied = spoken(pool, line).unwrap_or_else(|| denied(line, question));
    let text = if denied == question.negated { "Yes" } else { "No" };
    let share = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    Some(Found {
        text: text.to_owned(),
        lines: vec![at],
        share,
        reason: None,
        conflict: false,
    })
}

/// A reply that opens with yes or no to a question that covers the matter decides.
fn spoken(pool: &Pool<'_>, line: &Line<'_>) -> Option<bool> {
    let asked = pool.lines[line.previous?]
        .sentences
        .iter()
        .rev()
        .find(|it| it.question)?;
    let first = text::words(&line.turn.text).first()?.to_lowercase();
    let own = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    match first.as_str() {
        "no" | "nope" | "nah" | "never" if asked.cover > own => Some(true),
        "yes" | "yeah" | "yep" | "yup" | "absolutely" | "definitely" if asked.cover > own => Some(false),
        _ => None,
    }
}

fn denied(line: &Line<'_>, question: &Question) -> bool {
    let best = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    let telling = line
        .sentences
        .iter()
        .filter(|it| it.cover >= NEAR * best && !it.question);
    telling
        .min_by(|a, b| b.cover.total_cmp(&a.cover))
        .is_some_and(|it| denies_match(it, question))
}

/// Says whether a denial stands in the same clause as a word of the question, before it or right after.
fn denies_match(sentence: &Sentence, question: &Question) -> bool {
    let clauses = sentence
        .text
        .split([',', ';', ':', '—', '。', '，'])
        .flat_map(|it| it.split(" but "));
    clauses.into_iter().any(|clause| {
        let words: Vec<String> = text::words(clause)
            .iter()
            .map(|it| it.to_lowercase().replace('’', "'"))
            .collect();
        let holds = words
            .iter()
            .any(|it| question.words.iter().any(|word| word.stem == text::stem(it)));
        let double = clause.to_lowercase().contains("can't wait") || clause.to_lowercase().contains("not only");
        holds && !double && words.iter().filter(|it| denies(it)).count() % 2 == 1
    })
}

/// Chooses the option that the best turns speak of.
pub(crate) fn choice(question: &Question, pool: &Pool<'_>, lines: &[usize], lexicon: &mut Lexicon) -> Option<Found> {
    let mut best: Option<(f32, usize, usize)> = None;
    for (option, text) in question.options.iter().enumerate() {
        let stems = text::stems(text);
        for (rank, &line) in lines.iter().enumerate() {
            for sentence in &pool.lines[line].sentences {
                let near = stems.iter().map(|stem| {
                    sentence
                        .terms
                        .iter()
                        .map(|it| lexicon.near(stem, &it.stem))
                        .fold(0.0, f32::max)
                });
                let held = near.sum::<f32>() / stems.len().max(1) as f32;
                let sign = if denies_match(sentence, question) { 0.5 } else { 1.0 };
                let worth = sign * held * (1.0 + sentence.cover) * (-0.3 * rank as f32).exp();
                if best.is_none_or(|it| worth > it.0) {
                    best = Some((worth, option, line));
                }
            }
        }
    }
    let (worth, option, line) = best?;
    let text = question.options[option].clone();
    Some(Found {
        text,
        lines: vec![line],
        share: worth.min(1.0),
        reason: None,
        conflict: false,
    })
}
