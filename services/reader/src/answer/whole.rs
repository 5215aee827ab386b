//! A whole sentence as the answer, where nothing shorter is of the kind that was asked for.

use domain::anchor::AnswerKind;
use text::{is_auxiliary, is_stop, words};

use super::Found;
use crate::pool::{Line, Pool, Sentence};
use crate::question::{Question, identity};

/// Words of a sentence that are shown.
const WORDS_MAX: usize = 30;
/// A sentence that covers less of the question is no answer to it.
const COVER: f32 = 0.5;

/// Returns the sentence that tells most of the matter; none if none tells enough of it.
pub(crate) fn find(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Option<Found> {
    if let Some(found) = question.identity.as_ref().and_then(|it| introduced(pool, it)) {
        return Some(found);
    }
    let top = pool.lines[*lines.first()?].order;
    let first = lines.iter().map(|it| pool.lines[*it].turn.observed_at).min()?;
    let told = |line: usize| (pool.lines[line].turn.observed_at - first).num_seconds() as f32;
    let mut best: Option<(f32, f32, usize, usize)> = None;
    for &line in lines {
        for (at, it) in pool.lines[line]
            .sentences
            .iter()
            .enumerate()
            .filter(|it| !it.1.question && question.identity.as_ref().is_none_or(|name| tells_of(&it.1.text, name)))
        {
            // Who somebody is is said when they are met first.
            let worth = match question.identity {
                Some(_) => -told(line),
                None => pool.lines[line].order - top + 2.0 * it.cover,
            };
            if it.cover >= COVER && best.is_none_or(|it| worth > it.0) {
                best = Some((worth, it.cover, line, at));
            }
        }
    }
    let (_, cover, line, at) = best?;
    let sought = match question.kind {
        AnswerKind::Where => "place",
        AnswerKind::Who => "person",
        AnswerKind::Duration => "length of time",
        AnswerKind::Number => "figure",
        AnswerKind::Message
        | AnswerKind::When
        | AnswerKind::Why
        | AnswerKind::How
        | AnswerKind::Kind
        | AnswerKind::YesNo
        | AnswerKind::WhatDoes
        | AnswerKind::WhatIs
        | AnswerKind::Other => "short answer",
    };
    Some(Found {
        text: shown(&pool.lines[line].sentences[at].text),
        lines: vec![line],
        share: 0.3 * cover,
        reason: Some(format!(
            "no {sought} is named for sure; this is the sentence that tells of it"
        )),
        conflict: false,
        stated: None,
    })
}

/// Says whether a sentence says more than a name, and does not ask without a mark: "can I bring Ann".
fn tells_of(sentence: &str, name: &str) -> bool {
    let (name, lower) = (name.to_lowercase(), sentence.to_lowercase());
    let said = words(&lower);
    let more = said.iter().any(|it| !is_stop(it) && !words(&name).contains(it));
    more && !said.first().is_some_and(|it| is_auxiliary(it))
}

/// "Who's Ann?" "My aunt.": what is replied to the same question.
fn introduced(pool: &Pool<'_>, name: &str) -> Option<Found> {
    let asks = |it: &Sentence| it.question && identity(&it.text).is_some_and(|it| it == name);
    let replied = |it: &Line<'_>| it.next.filter(|_| it.sentences.iter().any(asks));
    let line = pool.lines.iter().find_map(replied)?;
    let reply = pool.lines[line]
        .sentences
        .iter()
        .find(|it| !it.question && !it.caption)?;
    Some(Found {
        text: shown(&reply.text),
        lines: vec![line],
        share: 0.5,
        reason: None,
        conflict: false,
        stated: None,
    })
}

/// The sentence without its full stop, cut behind [`WORDS_MAX`] words.
fn shown(text: &str) -> String {
    let words = words(text);
    let end = words
        .get(WORDS_MAX.min(words.len()).saturating_sub(1))
        .map_or(text.len(), |it| {
            it.as_ptr() as usize - text.as_ptr() as usize + it.len()
        });
    let shown = if words.len() > WORDS_MAX { &text[..end] } else { text };
    shown.trim().trim_end_matches(['.', '。']).to_owned()
}
