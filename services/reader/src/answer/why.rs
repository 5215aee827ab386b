//! Reasons that are told in reply: "I handed in my notice." "Why?" "The early shifts were killing me."

use domain::anchor::AnswerKind;
use text::gloss;

use super::Found;
use crate::pool::{Pool, Sentence};
use crate::question::Question;

/// Longest question that asks for nothing but the reason of what was just said, in words.
const BARE: usize = 4;
/// Longest reason that is shown, in words; a longer one is not said shortly.
const WORDS_MAX: usize = 25;
/// A shorter sentence only opens a reply: "Oh, well."
const WORDS_MIN: usize = 3;

/// Finds what is replied to who asks for the reason of the matter; none if nobody asks, or if the reply itself says where its
/// reason stands.
pub(super) fn replied(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Option<Found> {
    let &told = lines.first().filter(|_| question.kind == AnswerKind::Why)?;
    let asks = pool.lines[told].next?;
    let reply = pool.lines[asks].next?;
    let actor = |line: usize| pool.lines[line].turn.actor.as_str();
    let bare = pool.lines[asks].sentences.iter().any(asks_why);
    if !bare || actor(asks) == actor(told) || actor(reply) != actor(told) {
        return None;
    }
    let says = |it: &&Sentence| !it.question && !it.caption && words(&it.text) >= WORDS_MIN;
    let reason = pool.lines[reply].sentences.iter().find(says)?;
    let inner = |it: &str| matches!(it, "because" | "since" | "so");
    let marked = text::words(&reason.text.to_lowercase()).into_iter().skip(1).any(inner);
    (words(&reason.text) <= WORDS_MAX && !marked).then(|| Found {
        text: shown(&reason.text),
        lines: vec![reply, told],
        share: pool.lines[told].cover,
        reason: None,
        conflict: false,
        stated: None,
    })
}

fn asks_why(sentence: &Sentence) -> bool {
    let lower = gloss::english(&sentence.text).to_lowercase();
    let words = text::words(&lower);
    let opens = words.first() == Some(&"why") || words.starts_with(&["how", "come"]);
    sentence.question && opens && words.len() <= BARE
}

fn words(text: &str) -> usize {
    text::words(text).len()
}

/// The sentence without its full stop and the word that says a reason follows.
fn shown(text: &str) -> String {
    let text = text.trim().trim_end_matches(['.', '!', '。']);
    let bare = text.split_once(' ').filter(|(first, _)| {
        let first = gloss::english(first).to_lowercase();
        matches!(first.trim(), "because" | "cause" | "cuz")
    });
    bare.map_or(text, |it| it.1).to_owned()
}
