//! Computes the turns that a view does not have yet, on all cores.

use std::num::NonZero;

use domain::port::Change;

use super::Turn;

/// Minimum number of units for which a thread is started.
const SHARE_LEAST: usize = 64;

/// Computes the turns of the changes at `places` that have none yet, on all cores. The first question to a space waits
/// for this step.
pub(crate) fn compute_missing_turns(changes: &[Change], turns: &mut [Option<Turn>], places: &[usize]) {
    let missing: Vec<usize> = places.iter().copied().filter(|it| turns[*it].is_none()).collect();
    let compute = |places: &[usize]| -> Vec<Turn> { places.iter().map(|it| Turn::new(&changes[*it].unit)).collect() };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = missing.len().div_ceil(cores).max(SHARE_LEAST);
    let computed: Vec<Turn> = std::thread::scope(|scope| {
        let mut shares = missing.chunks(share);
        let own = shares.next().unwrap_or_default();
        let others: Vec<_> = shares.map(|it| scope.spawn(move || compute(it))).collect();
        let mut all = compute(own);
        for other in others {
            match other.join() {
                Ok(turns) => all.extend(turns),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    for (place, turn) in missing.into_iter().zip(computed) {
        turns[place] = Some(turn);
    }
}
