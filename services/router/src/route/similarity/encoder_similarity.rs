//! Similarity of turns to a question as a whole, if the embedder is a sentence encoder.

use domain::port::Hit;
use rustc_hash::FxHashMap;

use crate::space::view::View;

/// Steps per unit to which cosines are rounded. Stores add products in different orders, and rounding removes the
/// difference.
const STEPS: f32 = 1e4;

/// The hits that the index found by the vector of the question. The cosines of unrelated texts differ between models,
/// so features only use the position of a hit between the least and the best hit.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// The cosine of the best part of each turn, by position in the view.
    cosines: FxHashMap<usize, f32>,
    least: f32,
    best: f32,
}

impl Encoded {
    /// Builds the similarities from hits of the index, best first.
    pub fn from_hits(view: &View, hits: &[Hit]) -> Encoded {
        let mut cosines: FxHashMap<usize, f32> = FxHashMap::default();
        for hit in hits {
            if let Some(place) = view.position_of_unit(hit.unit) {
                let cosine = (hit.score * STEPS).round() / STEPS;
                let best = cosines.entry(place).or_insert(cosine);
                *best = cosine.max(*best);
            }
        }
        Encoded {
            least: cosines.values().copied().reduce(f32::min).unwrap_or_default(),
            best: cosines.values().copied().reduce(f32::max).unwrap_or_default(),
            cosines,
        }
    }

    /// Returns true if there is no encoder or no hit.
    pub fn is_empty(&self) -> bool {
        self.cosines.is_empty()
    }

    /// Returns the position of the cosine of a turn between the least hit (0) and the best hit (1); 0 if the turn is
    /// not a hit.
    pub fn scaled_cosine(&self, place: usize) -> f32 {
        (self.cosine_of_turn(place) - self.least) / (self.best - self.least).max(1e-6)
    }

    /// Returns the cosine of a turn divided by the best cosine. A turn that is not a hit counts like the least hit.
    pub fn over_best(&self, place: usize) -> f32 {
        self.cosine_of_turn(place) / self.best.max(1e-6)
    }

    fn cosine_of_turn(&self, place: usize) -> f32 {
        self.cosines.get(&place).copied().unwrap_or(self.least)
    }
}

#[cfg(test)]
mod tests {
    use domain::id::UnitId;

    use super::*;

    #[test]
    fn both_features_are_zero_without_hits() {
        let hit = Hit {
            unit: UnitId::from_uuid(uuid::Uuid::nil()),
            part: 0,
            score: 0.9,
        };
        for hits in [&[][..], &[hit]] {
            let encoded = Encoded::from_hits(&View::default(), hits);
            assert_eq!((encoded.scaled_cosine(3), encoded.over_best(3)), (0.0, 0.0));
        }
    }
}
