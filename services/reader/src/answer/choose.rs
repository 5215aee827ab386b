//! Choice among candidates: the one that agrees most with all others (minimum Bayes risk), or several for a list.

use domain::anchor::AnswerKind;

use super::Found;
use super::score::{Scored, counts};
use crate::pool::Pool;
use crate::question::Question;

/// Candidates that vote.
const VOTERS: usize = 60;
/// Temperature of the votes.
const HEAT: f32 = 0.08;
/// Items of a list.
const ITEMS: usize = 5;
/// An item is worth at least this share of the best.
const ITEM_SHARE: f32 = 0.6;

/// Chooses; none if there is no candidate.
pub(crate) fn choose(question: &Question, pool: &Pool<'_>, mut scored: Vec<Scored>) -> Option<Found> {
    if question.kind == AnswerKind::Number {
        for it in &mut scored {
            let terms = &pool.lines[it.span.line].sentences[it.span.sentence].terms;
            it.score += if counts(terms, it.span.end, &question.head) {
                0.25
            } else {
                0.0
            };
        }
    }
    let place = |it: &Scored| (it.span.line, it.span.sentence, it.span.start, it.span.end);
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b))));
    scored.truncate(VOTERS);
    let top = scored.first()?.score;
    let weights: Vec<f32> = scored.iter().map(|it| ((it.score - top) / HEAT).exp()).collect();
    let total: f32 = weights.iter().sum();
    let worth = |at: usize| {
        let agreed: f32 = scored
            .iter()
            .zip(&weights)
            .map(|(it, weight)| weight * agreement(&scored[at].stems, &it.stems))
            .sum();
        agreed / total + 0.5 * scored[at].score
    };
    let worths: Vec<f32> = (0..scored.len()).map(worth).collect();
    let mut order: Vec<usize> = (0..scored.len()).collect();
    order.sort_by(|&a, &b| worths[b].total_cmp(&worths[a]).then(a.cmp(&b)));
    let chosen = if question.plural {
        several(&scored, &order, &worths)
    } else {
        vec![order[0]]
    };
    let mut lines: Vec<usize> = Vec::new();
    for &it in &chosen {
        if !lines.contains(&scored[it].span.line) {
            lines.push(scored[it].span.line);
        }
    }
    let text = chosen
        .iter()
        .map(|&it| clean(&scored[it].text, chosen.len() > 1))
        .collect::<Vec<_>>()
        .join(", ");
    Some(Found {
        text,
        lines,
        share: worths[order[0]].clamp(0.0, 1.0),
        reason: None,
        conflict: false,
    })
}

fn several(scored: &[Scored], order: &[usize], worths: &[f32]) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    for &it in order {
        if chosen.len() == ITEMS || worths[it] < ITEM_SHARE * worths[order[0]] {
            break;
        }
        let shares = |other: &usize| scored[*other].stems.iter().any(|stem| scored[it].stems.contains(stem));
        if !chosen.iter().any(shares) {
            chosen.push(it);
        }
    }
    chosen
}

/// Inside a list a comma would part an item.
fn clean(text: &str, inside: bool) -> String {
    if inside { text.replace(',', "") } else { text.to_owned() }
}

/// F1 of two bags of words.
fn agreement(a: &[String], b: &[String]) -> f32 {
    let mut rest: Vec<&String> = b.iter().collect();
    let mut same = 0.0;
    for stem in a {
        if let Some(at) = rest.iter().position(|it| *it == stem) {
            rest.swap_remove(at);
            same += 1.0;
        }
    }
    2.0 * same / (a.len() + b.len()) as f32
}
