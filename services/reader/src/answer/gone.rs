//! What is so no more: of the car that was sold and the one that was bought, who asks what there is now hears of the second.

use chrono::{DateTime, FixedOffset};
use domain::anchor::AnswerKind;
use text::{ends_clause, is_auxiliary, is_stop, stem, words};

use super::change::asks_before;
use super::score::Scored;
use crate::pool::{Pool, Sentence};
use crate::question::Question;

/// Verbs whose object is gone, in their past.
const LOSES: [&str; 12] = [
    "sold",
    "scrapped",
    "ditched",
    "dumped",
    "replaced",
    "swapped",
    "traded",
    "donated",
    "cancelled",
    "canceled",
    "gave",
    "got",
];
/// What has to follow of those that mean it only so.
const FULLY: [(&str, &[&str]); 2] = [("gave", &["up", "away"]), ("got", &["rid"])];
/// What ends such an object.
const ENDS: [&str; 12] = [
    "and", "but", "for", "with", "to", "in", "on", "because", "so", "when", "last", "this",
];
/// What the one before them has done who is there no more.
const LEAVES: [&[&str]; 9] = [
    &["moved", "out"],
    &["moved", "away"],
    &["quit"],
    &["resigned"],
    &["retired"],
    &["died"],
    &["passed", "away"],
    &["stepped", "down"],
    &["was", "fired"],
];
/// Words of what is gone that are looked at.
const LENGTH: usize = 4;

/// Something that is gone since it was told.
struct Gone {
    /// Stems of its content words.
    stems: Vec<String>,
    told: DateTime<FixedOffset>,
}

/// Drops the candidates that were gone when they, or anything after them, were told; only for who asks what is so now.
pub(super) fn drop(question: &Question, pool: &Pool<'_>, scored: &mut Vec<Scored>) {
    let present = match words(&question.lower).as_slice() {
        ["who" | "what", verb, ..] => verb.ends_with('s') && !is_auxiliary(verb),
        _ => false,
    };
    let now = question.tense == 0.0 && (question.recency > 0.0 || question.recency == 0.0 && present);
    if !now
        || question.window.is_some()
        || asks_before(question)
        || matches!(question.kind, AnswerKind::Number | AnswerKind::Duration)
    {
        return;
    }
    let asked = |it: &String| question.words.iter().any(|word| word.stem == *it);
    let mut gone: Vec<Gone> = Vec::new();
    for line in &pool.lines {
        let telling = line.sentences.iter().filter(|it| !it.question && !it.caption);
        for stems in telling.flat_map(in_sentence).filter(|it| !it.iter().any(asked)) {
            gone.push(Gone {
                stems,
                told: line.turn.observed_at,
            });
        }
    }
    scored.retain(|it| {
        let line = &pool.lines[it.span.line];
        let told = line.turn.observed_at;
        // What was said of it before went with it.
        let of = |stem: &String| {
            let mut terms = line.sentences[it.span.sentence].terms.iter();
            terms.any(|it| it.stem == *stem)
        };
        let is = |gone: &Gone| {
            let itself = gone.stems.iter().any(|stem| it.stems.contains(stem));
            told <= gone.told && itself || told < gone.told && gone.stems.iter().all(of)
        };
        !gone.iter().any(is)
    });
}

/// Returns the stems of each thing and person that a sentence tells to be gone.
fn in_sentence(sentence: &Sentence) -> Vec<Vec<String>> {
    let text = &sentence.text;
    let written = words(text);
    let lower: Vec<String> = written.iter().map(|it| it.to_lowercase().replace('’', "'")).collect();
    let base = text.as_ptr() as usize;
    let breaks = |at: usize| {
        let end = written[at - 1].as_ptr() as usize - base + written[at - 1].len();
        let gap = &text[end..written[at].as_ptr() as usize - base];
        ends_clause(&text[..end], gap) || gap.contains([',', '(', ')'])
    };
    let kept = |range: &mut dyn Iterator<Item = usize>| -> Vec<String> {
        let content = range.filter(|it| !is_stop(&lower[*it]));
        content.map(|it| stem(&lower[it])).collect()
    };
    let mut out = Vec::new();
    for at in 0..lower.len() {
        if LOSES.contains(&lower[at].as_str()) {
            let full = FULLY.iter().find(|it| it.0 == lower[at]);
            let next = lower.get(at + 1).map_or("", String::as_str);
            if full.is_none_or(|it| it.1.contains(&next)) {
                let from = at + 1 + usize::from(full.is_some());
                let ends = |it: &usize| *it > from && breaks(*it) || ENDS.contains(&lower[*it].as_str());
                let end = (from..lower.len()).find(ends).unwrap_or(lower.len());
                out.push(kept(&mut (from..end.min(from + LENGTH + 1))));
            }
        }
        let leaves = LEAVES
            .iter()
            .any(|it| lower[at..].iter().zip(it.iter()).filter(|(a, b)| a == b).count() == it.len());
        if leaves && at > 0 {
            let opens = |it: &usize| breaks(*it + 1) || lower[*it] == "and" || ENDS.contains(&lower[*it].as_str());
            let helps = lower[..at].iter().rev().take_while(|it| is_auxiliary(it)).count();
            let end = at - helps;
            let capital = |it: &usize| written[*it].starts_with(char::is_uppercase) && *it > 0 && !breaks(*it);
            let named = (0..end).rev().take_while(capital).count();
            let from = (0..end.saturating_sub(1)).rev().find(opens).map_or(0, |it| it + 1);
            let least = end.saturating_sub(if named > 0 { named } else { 2 });
            out.push(kept(&mut (from.max(least)..end)));
        }
    }
    out.retain(|it| !it.is_empty());
    out
}
