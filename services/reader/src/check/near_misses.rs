//! Lines that come near to an answer, shown with a refusal.

use domain::evidence::NearMiss;

use crate::evidence::evidence_lines::Pool;
use crate::evidence::line::Line;

/// Maximum number of characters of a near miss that are shown.
const SHOWN: usize = 200;

/// Returns the first two of the given lines as near misses.
pub(crate) fn near_misses(pool: &Pool<'_>, lines: &[usize], reason: &str) -> Vec<NearMiss> {
    lines
        .iter()
        .take(2)
        .map(|&it| near_miss(&pool.lines[it], reason))
        .collect()
}

fn near_miss(line: &Line<'_>, reason: &str) -> NearMiss {
    let turn = line.turn;
    let text_or_caption = if turn.text.is_empty() {
        &turn.caption
    } else {
        &turn.text
    };
    NearMiss {
        unit: turn.unit,
        external_ids: turn.external_ids.clone(),
        text: text_or_caption.chars().take(SHOWN).collect(),
        reason: reason.to_owned(),
    }
}
