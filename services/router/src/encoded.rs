//! How near turns are to a question as a whole, where the embedder is a sentence encoder.

use domain::port::Hit;
use rustc_hash::FxHashMap;

use crate::view::View;

/// Stores add up products in different orders; what their cosines differ by is rounded away.
const STEPS: f32 = 1e4;

/// What the index found by the vector of the question. Models differ in how near they say that unlike texts are, so only
/// what lies between the least and the best of the hits is told.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// By place in the view: the cosine of the best part of the turn.
    cosines: FxHashMap<usize, f32>,
    least: f32,
    best: f32,
}

impl Encoded {
    /// Reads hits of the index, best first.
    pub fn of(view: &View, hits: &[Hit]) -> Encoded {
        let mut cosines: FxHashMap<usize, f32> = FxHashMap::default();
        for hit in hits {
            if let Some(place) = view.place(hit.unit) {
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

    /// Says whether there is nothing to tell: no encoder, or no hit.
    pub fn is_empty(&self) -> bool {
        self.cosines.is_empty()
    }

    /// Returns where a turn stands between the least hit and the best, 0 to 1; 0 if it is no hit.
    pub fn between(&self, place: usize) -> f32 {
        (self.cosine(place) - self.least) / (self.best - self.least).max(1e-6)
    }

    /// Returns the cosine of a turn over the best; that of the least hit if it is none.
    pub fn over_best(&self, place: usize) -> f32 {
        self.cosine(place) / self.best.max(1e-6)
    }

    fn cosine(&self, place: usize) -> f32 {
        self.cosines.get(&place).copied().unwrap_or(self.least)
    }
}

#[cfg(test)]
mod tests {
    use domain::id::UnitId;

    use super::*;

    #[test]
    fn without_hits_nothing_is_told() {
        let hit = Hit {
            unit: UnitId::from_uuid(uuid::Uuid::nil()),
            part: 0,
            score: 0.9,
        };
        for hits in [&[][..], &[hit]] {
            let encoded = Encoded::of(&View::default(), hits);
            assert_eq!((encoded.between(3), encoded.over_best(3)), (0.0, 0.0));
        }
    }
}
