//! The best of a stream of scored slots, without keeping all of them.

use std::cmp::Ordering;

/// A slot of a block and its score.
pub(super) type ScoredSlot = (u32, f32);

/// Returns the best `limit` of scored slots in `order`, which must put greater scores first.
pub(super) fn best_slots(
    scored: impl Iterator<Item = ScoredSlot>,
    limit: usize,
    order: impl Fn(&ScoredSlot, &ScoredSlot) -> Ordering,
) -> Vec<ScoredSlot> {
    if limit == 0 {
        return Vec::new();
    }
    let (mut kept, mut least) = (Vec::new(), f32::NEG_INFINITY);
    for it in scored {
        if it.1 < least {
            continue;
        }
        kept.push(it);
        if kept.len() >= limit * 2 {
            least = kept.select_nth_unstable_by(limit - 1, &order).1.1;
            kept.truncate(limit);
        }
    }
    kept.sort_unstable_by(&order);
    kept.truncate(limit);
    kept
}

/// Keeps the slots whose score is not far below the best ones of those pushed.
pub(super) struct SlotsWithinMargin {
    kept: Vec<ScoredSlot>,
    limit: usize,
    margin: f32,
    /// Slots below this score are not kept.
    least: f32,
    /// Number of kept slots at which those below `least` are removed.
    room: usize,
}

impl SlotsWithinMargin {
    /// Keeps all slots whose score is at most `margin` below the `limit`-th best. `limit` must be positive.
    pub(super) fn new(limit: usize, margin: f32) -> SlotsWithinMargin {
        SlotsWithinMargin {
            kept: Vec::new(),
            limit,
            margin,
            least: f32::NEG_INFINITY,
            room: limit * 2,
        }
    }

    pub(super) fn push(&mut self, scored: ScoredSlot) {
        if scored.1 < self.least {
            return;
        }
        self.kept.push(scored);
        if self.kept.len() >= self.room {
            self.remove_others();
            self.room = self.room.max(self.kept.len() * 2);
        }
    }

    /// Returns all slots within the margin, in any order.
    pub(super) fn into_slots(mut self) -> Vec<ScoredSlot> {
        self.remove_others();
        self.kept
    }

    fn remove_others(&mut self) {
        if self.kept.len() <= self.limit {
            return;
        }
        let best_first = |a: &ScoredSlot, b: &ScoredSlot| b.1.total_cmp(&a.1);
        let (_, last, _) = self.kept.select_nth_unstable_by(self.limit - 1, best_first);
        self.least = last.1 - self.margin;
        self.kept.retain(|it| it.1 >= self.least);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ScoredSlot, SlotsWithinMargin, best_slots};

    fn best_first(a: &ScoredSlot, b: &ScoredSlot) -> std::cmp::Ordering {
        b.1.total_cmp(&a.1).then(b.0.cmp(&a.0))
    }

    proptest! {
        #[test]
        fn the_best_of_a_stream_are_those_of_a_full_sort(
            scores in prop::collection::vec(-4_i8..4, 0..200), limit in 1_usize..20,
        ) {
            let mut all: Vec<ScoredSlot> = (0..).zip(scores.into_iter().map(f32::from)).collect();
            let best = best_slots(all.iter().copied(), limit, best_first);
            all.sort_by(best_first);
            all.truncate(limit);
            prop_assert_eq!(best, all);
        }

        #[test]
        fn all_slots_within_the_margin_are_kept(
            scores in prop::collection::vec(-50_i8..50, 0..200), limit in 1_usize..20, margin in 0_u8..30,
        ) {
            let all: Vec<ScoredSlot> = (0..).zip(scores.into_iter().map(f32::from)).collect();
            let mut best = SlotsWithinMargin::new(limit, f32::from(margin));
            all.iter().for_each(|it| best.push(*it));
            let mut kept: Vec<u32> = best.into_slots().into_iter().map(|it| it.0).collect();
            kept.sort_unstable();
            let mut sorted: Vec<f32> = all.iter().map(|it| it.1).collect();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let least = sorted.get(limit - 1).map_or(f32::NEG_INFINITY, |it| it - f32::from(margin));
            let expected: Vec<u32> = all.iter().filter(|it| it.1 >= least).map(|it| it.0).collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
