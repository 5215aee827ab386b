//! What somebody asked and was told not to be so: of "Is the dog called Rex?" and "No, it's Fido" the name is not Rex.

use super::polarity::opens_denying;
use super::score::Scored;
use crate::pool::{Line, Pool};

/// Words of questions that no "no" answers.
const OPEN: [&str; 10] = [
    "what", "who", "whom", "whose", "which", "where", "when", "why", "how", "or",
];
/// Verbs that tell what they ask for: "Did you hear that she moved to Graz?"
const KNOWS: [&str; 8] = ["hear", "heard", "know", "see", "saw", "remember", "notice", "read"];

/// Drops the candidates out of questions that the next turn, by somebody else, opens by denying.
pub(super) fn drop(pool: &Pool<'_>, scored: &mut Vec<Scored>) {
    scored.retain(|it| !is_refuted(pool, it));
}

fn is_refuted(pool: &Pool<'_>, it: &Scored) -> bool {
    let line = &pool.lines[it.span.line];
    let last = line.sentences.iter().rposition(|it| it.question);
    let Some(next) = line.next.filter(|_| last == Some(it.span.sentence)) else {
        return false;
    };
    let answerable = |asked: &str| {
        let lower = text::gloss::english(asked).to_lowercase();
        !text::words(&lower)
            .iter()
            .any(|it| OPEN.contains(it) || KNOWS.contains(it))
    };
    let next = &pool.lines[next];
    next.turn.actor != line.turn.actor && says_no(next) && answerable(&line.sentences[it.span.sentence].text)
}

/// Says whether a turn opens with a no of its own: "no way" and "no idea" are none.
fn says_no(line: &Line<'_>) -> bool {
    let text = line.turn.text.trim_start();
    let first = text::words(text).first().map_or(0, |it| it.len());
    let ends = text
        .get(first..)
        .is_some_and(|it| it.is_empty() || it.starts_with([',', '.', '!', ';', ':']));
    ends && opens_denying(line) == Some(true)
}
