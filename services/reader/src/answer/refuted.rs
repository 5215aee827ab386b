//! What somebody asked and was told not to be so: of "Is the dog called Rex?" and "No, it's Fido" the name is not Rex.

use super::polarity::opens_denying;
use super::score::Scored;
use crate::pool::Pool;

/// Words of questions that no "no" answers.
const OPEN: [&str; 10] = [
    "what", "who", "whom", "whose", "which", "where", "when", "why", "how", "or",
];

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
    let open = |asked: &str| {
        let lower = text::gloss::english(asked).to_lowercase();
        text::words(&lower).iter().any(|it| OPEN.contains(it))
    };
    pool.lines[next].turn.actor != line.turn.actor
        && opens_denying(&pool.lines[next]) == Some(true)
        && !open(&line.sentences[it.span.sentence].text)
}
