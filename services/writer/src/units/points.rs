//! Derives the points in the index for a turn unit: one for each part of its text and caption.

use domain::id::UnitId;
use domain::port::{Embedding, Point};
use domain::unit::Unit;

/// Maximum number of parts of one unit. The rest can be found through its neighbours and its record.
const PARTS_MAX: usize = 64;

/// A part that has no vector yet.
pub(crate) struct Part {
    unit: UnitId,
    part: u16,
    observed_at: i64,
    words: domain::port::Sparse,
    pieces: domain::port::Sparse,
    /// The text for the embedder: the part, preceded by its actor.
    pub(crate) text: String,
}

impl Part {
    /// Returns the point of this part with its vector.
    pub(crate) fn into_point(self, dense: Embedding) -> Point {
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

/// Returns the number of points that the index has for a turn unit.
#[must_use]
pub fn points_of(unit: &Unit) -> usize {
    text::split_into_parts(&indexed_text(unit)).len().min(PARTS_MAX)
}

/// Returns the texts of a turn unit that are embedded, one for each of its points, in order.
#[must_use]
pub fn embedded_texts(unit: &Unit) -> Vec<String> {
    parts_of_unit(unit).into_iter().map(|it| it.text).collect()
}

/// Returns the parts of a turn unit, in order.
pub(crate) fn parts_of_unit(unit: &Unit) -> Vec<Part> {
    let body = indexed_text(unit);
    let parts = text::split_into_parts(&body).into_iter().take(PARTS_MAX);
    let numbered = parts.zip(0_u16..).map(|(part, number)| Part {
        unit: unit.id,
        part: number,
        observed_at: unit.observed_at.timestamp(),
        words: text::meaning::sparse_vectors::stem_vector(part),
        pieces: text::meaning::sparse_vectors::piece_vector(part),
        text: if unit.actor.is_empty() {
            part.to_owned()
        } else {
            format!("{}: {part}", unit.actor)
        },
    });
    numbered.collect()
}

/// Returns the text that is divided into parts: the text of the unit, then `[image: caption]`.
fn indexed_text(unit: &Unit) -> String {
    match (unit.text.is_empty(), unit.caption.is_empty()) {
        (_, true) => unit.text.clone(),
        (true, false) => format!("[image: {}]", unit.caption),
        (false, false) => format!("{} [image: {}]", unit.text, unit.caption),
    }
}
