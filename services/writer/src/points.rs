//! What the index holds of a turn unit: a point for each part of what was shown, image included.

use domain::id::UnitId;
use domain::port::{Embedding, Point};
use domain::unit::Unit;

/// Most parts of one unit; the rest is found through its neighbours and the record.
const PARTS_MAX: usize = 64;

/// A part before it has its vector.
pub(crate) struct Part {
    unit: UnitId,
    part: u16,
    observed_at: i64,
    words: domain::port::Sparse,
    pieces: domain::port::Sparse,
    /// What the embedder gets: the part with its actor before it.
    pub(crate) text: String,
}

impl Part {
    /// Adds the vector.
    pub(crate) fn point(self, dense: Embedding) -> Point {
        Point {
            unit: self.unit,
            part: self.part,
            dense,
            words: self.words,
            pieces: self.pieces,
            observed_at: self.observed_at,
        }
    }
}

/// Returns how many points the index holds of a turn unit.
#[must_use]
pub fn points_of(unit: &Unit) -> usize {
    text::parts(&body(unit)).len().min(PARTS_MAX)
}

/// Returns what is embedded of a turn unit: a text for each of its points, in order.
#[must_use]
pub fn embedded(unit: &Unit) -> Vec<String> {
    parts(unit).into_iter().map(|it| it.text).collect()
}

/// Returns the parts of a turn unit, in order.
pub(crate) fn parts(unit: &Unit) -> Vec<Part> {
    let body = body(unit);
    let parts = text::parts(&body).into_iter().take(PARTS_MAX);
    let numbered = parts.zip(0_u16..).map(|(part, number)| Part {
        unit: unit.id,
        part: number,
        observed_at: unit.observed_at.timestamp(),
        words: text::sparse::words(part),
        pieces: text::sparse::pieces(part),
        text: if unit.actor.is_empty() {
            part.to_owned()
        } else {
            format!("{}: {part}", unit.actor)
        },
    });
    numbered.collect()
}

/// The text that is cut into parts: what was shown, then `[image: caption]`.
fn body(unit: &Unit) -> String {
    match (unit.text.is_empty(), unit.caption.is_empty()) {
        (_, true) => unit.text.clone(),
        (true, false) => format!("[image: {}]", unit.caption),
        (false, false) => format!("{} [image: {}]", unit.text, unit.caption),
    }
}
