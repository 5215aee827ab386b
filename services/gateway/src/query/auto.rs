//! Which strategy fits a question, by what it fixes. The first line that fits decides; only for the last but one the reader
//! is asked for the parts.
//!
//! | the question | strategy |
//! | --- | --- |
//! | gathers or compares, or names several speakers | explore |
//! | names a time and asks for something else than a time | recollect |
//! | asks what a speaker likes, has, is or does by habit | recollect |
//! | asks about somebody or something as a whole | navigate |
//! | names something, but no speaker, and does not ask for a time | reconstruct |
//! | falls into two parts and more | explore |
//! | anything else: one fact in one place | route |

use domain::anchor::{Anchors, AnswerKind, HopShape};

use super::walk::Walk;
use crate::api::Strategy;

/// Subgoals, the whole question included, from which on a question is explored.
const PARTS: usize = 3;
/// Stems that ask for what lasts: a preference, an attribute, a possession, a habit.
const LASTING: &[&str] = &[
    "favorit", "favourit", "like", "love", "hate", "dislik", "prefer", "enjoy", "allerg", "allergi", "diet", "hobbi",
    "habit", "usual", "alway", "own", "job", "work", "live", "birthday", "age", "old", "wife", "husband", "sister",
    "brother",
];
/// Openings of a question about the whole of something.
const WHOLE: &[&str] = &[
    "tell me about",
    "tell me everything",
    "what do you know",
    "what do we know",
    "what is known",
    "who is",
    "describe",
    "summarize",
    "summarise",
];

/// Chooses a strategy and tells why.
pub(super) async fn choose(walk: &mut Walk<'_>, anchors: &Anchors) -> Strategy {
    let (strategy, why) = match by_anchors(anchors, &walk.asked.question) {
        Some(found) => found,
        None if walk.plan().await.subgoals.len() >= PARTS => (Strategy::Explore, "falls into several parts"),
        None => (Strategy::Route, "one fact in one place"),
    };
    walk.tell("auto", &format!("{}: {why}", strategy.name()), 0, &[]);
    strategy
}

fn by_anchors(anchors: &Anchors, question: &str) -> Option<(Strategy, &'static str)> {
    if anchors.hops == HopShape::Multi {
        return Some((Strategy::Explore, "gathers several facts"));
    }
    let timed = matches!(
        anchors.answer,
        AnswerKind::When | AnswerKind::Duration | AnswerKind::Message
    );
    if anchors.window.is_some() && !timed {
        return Some((Strategy::Recollect, "names a time"));
    }
    let lasting = || text::stems(question).iter().any(|it| LASTING.contains(&it.as_str()));
    if !timed && anchors.subjects.len() == 1 && lasting() {
        return Some((Strategy::Recollect, "asks for what lasts"));
    }
    let lower = question.trim().to_lowercase();
    if WHOLE.iter().any(|it| lower.starts_with(it)) {
        return Some((Strategy::Navigate, "asks about something as a whole"));
    }
    let named = anchors.subjects.is_empty() && !anchors.names.is_empty() && !timed;
    named.then_some((Strategy::Reconstruct, "names something"))
}
