use std::sync::atomic::{AtomicU32, Ordering};

/// The summed rarity of the words of each turn, computed when a question first needs it. Two concurrent questions
/// compute the same value.
#[derive(Default)]
pub(super) struct Rarities(Vec<AtomicU32>);

impl Rarities {
    /// Makes room for `count` turns without values.
    pub(super) fn of_turns(count: usize) -> Rarities {
        let unknown = || AtomicU32::new(f32::NAN.to_bits());
        Rarities(std::iter::repeat_with(unknown).take(count).collect())
    }

    /// Returns the value of a turn, and computes it with `compute` if it is not known yet.
    pub(super) fn get_or_compute(&self, place: usize, compute: impl FnOnce() -> f32) -> f32 {
        let cell = &self.0[place];
        let known = f32::from_bits(cell.load(Ordering::Relaxed));
        if !known.is_nan() {
            return known;
        }
        let rarity = compute();
        cell.store(rarity.to_bits(), Ordering::Relaxed);
        rarity
    }
}

impl Clone for Rarities {
    fn clone(&self) -> Rarities {
        let copies = self.0.iter().map(|it| AtomicU32::new(it.load(Ordering::Relaxed)));
        Rarities(copies.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarity_of_a_turn_is_computed_once() {
        let rarities = Rarities::of_turns(2);
        assert_eq!(rarities.get_or_compute(1, || 2.5), 2.5);
        let again = || panic!("computed again");
        assert_eq!(rarities.get_or_compute(1, again), 2.5);
        assert_eq!(rarities.clone().get_or_compute(1, again), 2.5);
        assert_eq!(rarities.get_or_compute(0, || 0.0), 0.0);
    }
}
