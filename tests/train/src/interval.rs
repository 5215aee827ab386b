//! Computes how far a mean could vary because of the choice of questions alone.

use std::collections::BTreeMap;

use eval::score::Row;

/// Number of draws, and the seed of the random numbers.
const DRAWS: usize = 2_000;
const SEED: u64 = 0x6d6e_656d_6963;

/// Returns the bounds that contain 95 of 100 means of `metric` when the questions of each conversation are drawn again
/// with replacement. Returns `None` if no row has the metric. The same rows give the same values.
pub fn bootstrap_interval(rows: &[Row], metric: &str) -> Option<(f64, f64)> {
    let mut conversations: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows {
        let own = row.metrics.get(metric).copied();
        conversations.entry(&row.conversation).or_default().extend(own);
    }
    let count: usize = conversations.values().map(Vec::len).sum();
    if count == 0 {
        return None;
    }
    let mut random = Random(SEED);
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn = |own: &Vec<f64>| (0..own.len()).map(|_| own[random.below(own.len())]).sum::<f64>();
            conversations.values().map(drawn).sum::<f64>() / count as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    Some((means[DRAWS / 40], means[DRAWS - 1 - DRAWS / 40]))
}

/// SplitMix64, which gives the same numbers on every machine.
struct Random(u64);

impl Random {
    /// Returns a number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}
