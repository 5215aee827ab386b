//! Choice among candidates: the one that agrees most with all others (minimum Bayes risk), or several for a list.

use domain::anchor::AnswerKind;

use super::lexis::number;
use super::score::{Scored, located};
use super::spans::Shape;
use super::traits::{counts, is_denied, is_old, of_kind};
use super::{Found, change, extent};
use crate::pool::Pool;
use crate::question::{Asked, Question};

/// Candidates that vote.
const VOTERS: usize = 60;
/// Items of a list.
const ITEMS: usize = 6;
/// An item is worth at least this share of the best.
const ITEM_SHARE: f32 = 0.15;
/// ... or this, beside the only one of the kind asked for.
const ALONE_SHARE: f32 = 0.5;
/// A sentence covers about as well if it covers this share of what that of the best one does.
const BESIDE_COVER: f32 = 0.75;
/// A list is one of things of the kind asked for if one of them scores at most the first of these less than the best candidate,
/// and takes those that score at most the second less, or the third in sentences that speak of the matter.
const KIND_NEAR: f32 = 2.0;
const KIND_BEHIND: f32 = 4.0;
const KIND_FAR: f32 = 6.5;
/// A sentence that covers this much speaks of the matter.
const MATTER: f32 = 0.6;

/// Chooses; none if there is no candidate. The votes are a softmax of the scores at temperature `heat`.
pub(crate) fn choose(question: &Question, pool: &Pool<'_>, mut scored: Vec<Scored>, heat: f32) -> Option<Found> {
    let place = |it: &Scored| (it.span.line, it.span.sentence, it.span.start, it.span.end);
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b))));
    scored.truncate(VOTERS);
    let top = scored.first()?.score;
    let weights: Vec<f32> = scored.iter().map(|it| ((it.score - top) / heat).exp()).collect();
    let total: f32 = weights.iter().sum();
    let worth = |at: usize| {
        let agreed: f32 = scored
            .iter()
            .zip(&weights)
            .map(|(it, weight)| weight * agreement(&scored[at].stems, &it.stems))
            .sum();
        agreed / total
    };
    let worths: Vec<f32> = (0..scored.len()).map(worth).collect();
    let mut order: Vec<usize> = (0..scored.len()).collect();
    order.sort_by(|&a, &b| worths[b].total_cmp(&worths[a]).then(a.cmp(&b)));
    let chosen = if question.plural {
        several(question, pool, &scored, (&order, &worths))
    } else {
        vec![order[0]]
    };
    let share = worths[order[0]].clamp(0.0, 1.0);
    if let Some(found) = rival(question, pool, &scored, order[0])
        .or_else(|| change::other_time(question, pool, &scored, order[0]))
        .map(|it| weigh(question, pool, [&scored[order[0]], it]))
    {
        return Some(Found { share, ..found });
    }
    let mut lines: Vec<usize> = Vec::new();
    for &it in &chosen {
        if !lines.contains(&scored[it].span.line) {
            lines.push(scored[it].span.line);
        }
    }
    let shown = chosen.iter().map(|&it| match chosen.len() {
        1 => whole(question, pool, &scored[it]).unwrap_or_else(|| named(question, &scored[it].text)),
        _ => named(question, &item(&scored[it])),
    });
    Some(Found {
        text: shown.collect::<Vec<_>>().join(", "),
        lines,
        share,
        reason: None,
        conflict: false,
        stated: None,
    })
}

/// "Sister Ida" is "Ida" to who asks for a person: what she is, she is to whoever spoke. "Doctor Halloran" stays.
fn named(question: &Question, text: &str) -> String {
    let role = text.split_once(' ').filter(|_| question.kind == AnswerKind::Who);
    let bare = role
        .filter(|(role, name)| name.starts_with(char::is_uppercase) && text::kin::of(role).is_some_and(|it| it.person));
    bare.map_or(text, |it| it.1).to_owned()
}

/// A place with what it stands by and in, a figure with what it numbers: "platform 7".
fn whole(question: &Question, pool: &Pool<'_>, it: &Scored) -> Option<String> {
    let span = &it.span;
    let sentence = &pool.lines[span.line].sentences[span.sentence];
    let numbers = question.kind == AnswerKind::Kind && number(&it.text).is_some() && !span.before.is_empty();
    if numbers && text::stem(&span.before) == question.head {
        return Some(format!("{} {}", span.before, it.text));
    }
    let asked = question.kind == AnswerKind::Where && span.says.is_none() && sentence.pieces.is_none();
    let (start, end) = extent::chain(sentence, span.start, span.end).filter(|_| asked)?;
    Some(sentence.text[start..end].to_owned())
}

/// Another value in a rival's turn must score and cover nearly as much as the best one.
const RIVAL: f32 = 0.75;
const RIVAL_ORDER: f32 = 1.0;
const RIVAL_COVER: f32 = 0.8;

/// Finds another value for the same: only numbers, durations and colours exclude each other surely enough, and only in
/// turns that the pack shows.
fn rival<'a>(question: &Question, pool: &Pool<'_>, scored: &'a [Scored], best: usize) -> Option<&'a Scored> {
    let sentence = |it: &Scored| &pool.lines[it.span.line].sentences[it.span.sentence];
    let first = &scored[best];
    let value = value(question, pool, first)?;
    // Two sentences that name the same otherwise do so however they are worded.
    let named = question.class == Some(Asked::Name);
    scored.iter().find(|it| {
        let (mine, other) = (&pool.lines[first.span.line], &pool.lines[it.span.line]);
        it.span.line != first.span.line
            && (mine.packed && other.packed)
            && (mine.own >= 0.0 && other.own >= 0.0)
            && (named || it.fit >= first.fit - RIVAL && other.order >= mine.order - RIVAL_ORDER)
            && sentence(it).cover >= RIVAL_COVER * sentence(first).cover.max(0.5)
            && self::value(question, pool, it).is_some_and(|it| it != value)
    })
}

/// Returns what a candidate says for the one slot asked about; none if it could stand beside another value.
fn value(question: &Question, pool: &Pool<'_>, it: &Scored) -> Option<String> {
    let sentence = &pool.lines[it.span.line].sentences[it.span.sentence];
    let plain = || it.stems.join(" ");
    if question.plural {
        None
    } else if question.kind == AnswerKind::Number {
        let number = number(&it.text.to_lowercase())?;
        counts(&sentence.terms, it.span.end, &question.head).then(|| number.to_string())
    } else if question.kind == AnswerKind::Duration || (question.class == Some(Asked::Colour) && it.stems.len() == 1) {
        Some(plain())
    } else if question.class == Some(Asked::Name) && it.span.shape == Shape::Name {
        names(&sentence.text[..it.span.start]).then(plain)
    } else {
        None
    }
}

/// Says whether what follows is what something is called.
fn names(before: &str) -> bool {
    let before: Vec<String> = text::words(before).into_iter().map(str::to_lowercase).collect();
    let last = |at: usize| before.iter().rev().nth(at).map_or("", String::as_str);
    matches!(last(0), "called" | "named" | "name's") || last(1) == "name" && matches!(last(0), "is" | "was")
}

/// The later of two values holds, unless the question asks for the first; told at one time they conflict, and so do two people
/// of whom neither is the one asked about, unless the later one says that something has changed.
fn weigh(question: &Question, pool: &Pool<'_>, mut pair: [&Scored; 2]) -> Found {
    let told = |it: &Scored| pool.lines[it.span.line].turn.observed_at;
    let actor = |it: &Scored| pool.lines[it.span.line].turn.actor.as_str();
    let tellers = actor(pair[0]) != actor(pair[1]);
    let own = |it: &&Scored| question.subject.as_ref().is_some_and(|name| name == actor(it));
    let last = pair.iter().max_by_key(|it| told(it));
    let anew = last.is_some_and(|it| change::changes(&pool.lines[it.span.line].sentences[it.span.sentence]));
    let conflict = told(pair[0]) == told(pair[1]) || tellers && !anew && !pair.iter().any(own);
    let later = told(pair[1]) > told(pair[0]);
    if !conflict && later != change::asks_before(question) {
        pair.swap(0, 1);
    }
    let by = |it: &Scored| match tellers {
        true => format!(" by {}", actor(it)),
        false => String::new(),
    };
    let said = |it: &Scored| format!("\"{}\" was said{} on {}", it.text, by(it), told(it).format("%-d %B %Y"));
    let how = if conflict { "the evidence disagrees" } else { "updated" };
    Found {
        text: pair[0].text.clone(),
        lines: pair.iter().map(|it| it.span.line).collect(),
        share: 0.0,
        reason: Some(format!("{how}: {}, {}", said(pair[0]), said(pair[1]))),
        conflict,
        stated: None,
    }
}

/// The items of a list: candidates of the kind asked for from turns that are not somebody else's, if there is one that scores
/// nearly as much as the best one; else those worth nearly as much. Without a word for what is listed they stand in sentences
/// that cover the question about as well, and so does what stands beside the only one of a kind.
fn several(question: &Question, pool: &Pool<'_>, scored: &[Scored], (order, worths): (&[usize], &[f32])) -> Vec<usize> {
    let best = order[0];
    let cover = |it: usize| pool.lines[scored[it].span.line].sentences[scored[it].span.sentence].cover;
    let covers = |it: usize| cover(it) >= BESIDE_COVER * cover(best);
    let of_kind = |it: usize, behind: f32| {
        let own = pool.lines[scored[it].span.line].own >= 0.0;
        own && of_kind(&scored[it].row) && scored[it].score >= scored[best].score - behind
    };
    let kind = order.iter().any(|&it| of_kind(it, KIND_NEAR));
    let thing = |it: usize| {
        let row = &scored[it].row;
        !is_denied(row) && !is_old(row) && (verbal(&scored[best]) || !verbal(&scored[it]))
    };
    let fits = |it: usize| {
        if kind {
            of_kind(it, if cover(it) >= MATTER { KIND_FAR } else { KIND_BEHIND })
        } else {
            worths[it] >= ITEM_SHARE * worths[best] && (!question.head.is_empty() || covers(it))
        }
    };
    let things = || order.iter().copied().filter(|it| thing(*it));
    let mut chosen: Vec<usize> = Vec::new();
    add(&mut chosen, scored, things().filter(|it| fits(*it)));
    if chosen.len() == 1 {
        let near = |it: &usize| worths[*it] >= ALONE_SHARE * worths[best] && covers(*it);
        add(&mut chosen, scored, things().filter(near));
    }
    if chosen.is_empty() { vec![best] } else { chosen }
}

/// Says whether a candidate tells what is done, and is no thing among things; "painting by the lake" names one.
fn verbal(it: &Scored) -> bool {
    let named = it.text.split(' ').next().is_some_and(|it| it.ends_with("ing"));
    match it.span.shape {
        Shape::Clause | Shape::Reason => true,
        Shape::Action => !named,
        Shape::Phrase
        | Shape::Extended
        | Shape::Joined
        | Shape::Place
        | Shape::Number
        | Shape::Amount
        | Shape::Duration
        | Shape::Rate
        | Shape::Name
        | Shape::Quote => false,
    }
}

/// Adds items that share no word with another one.
fn add(chosen: &mut Vec<usize>, scored: &[Scored], items: impl Iterator<Item = usize>) {
    for it in items {
        let shares = |other: &usize| scored[*other].stems.iter().any(|stem| scored[it].stems.contains(stem));
        if chosen.len() < ITEMS && !chosen.iter().any(shares) {
            chosen.push(it);
        }
    }
}

/// Inside a list a comma would part an item, and a place is one without what leads to it.
fn item(it: &Scored) -> String {
    let place = it.span.shape == Shape::Place;
    let text = if place { located(&it.text) } else { &it.text };
    text.replace(',', "")
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
