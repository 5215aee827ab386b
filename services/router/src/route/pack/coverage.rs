//! Redundancy in a pack: finds units that are already shown in the other form, as turns or as a gist.

use std::collections::BTreeSet;

use domain::unit::Grain;

/// The turns that are already shown by turns or gists. A gist and the turns that it was read from are one piece of
/// evidence. Turns are given by their positions in the view of turns.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    by_turns: BTreeSet<usize>,
    by_gists: BTreeSet<usize>,
}

impl Coverage {
    /// Adds a unit that is shown: a turn, or a gist that was read from `turns`.
    pub fn add_unit(&mut self, grain: Grain, turns: &[usize]) {
        match grain {
            Grain::Gist => self.by_gists.extend(turns),
            Grain::Turn | Grain::Event => self.by_turns.extend(turns),
        }
    }

    /// Returns true if a unit is already shown in the other form: a turn by a gist, or a gist by all of its turns.
    pub fn covers_unit(&self, grain: Grain, turns: &[usize]) -> bool {
        let shown = match grain {
            Grain::Gist => &self.by_turns,
            Grain::Turn | Grain::Event => &self.by_gists,
        };
        !turns.is_empty() && turns.iter().all(|it| shown.contains(it))
    }
}
