//! Turns in mapped files. Their texts and columns are used in place, so the files are memory that the system can take
//! back at any time. A file is destroyed when no turn uses it any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::id::UnitId;
use domain::port::BlockFileId;

use super::View;
use super::turn::Turn;

/// The number of turns in each mapped file.
#[derive(Clone, Default)]
pub(super) struct UsedFiles(BTreeMap<BlockFileId, usize>);

impl UsedFiles {
    /// Adds a turn, or removes it if `add` is false.
    pub(super) fn count_turn(&mut self, turn: &Turn, add: bool) {
        let Some(file) = turn.file else { return };
        let count = self.0.entry(file).or_default();
        *count = if add { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            self.0.remove(&file);
        }
    }
}

impl View {
    /// Returns the mapped files that turns use, ascending.
    pub(crate) fn used_files(&self) -> impl Iterator<Item = BlockFileId> + '_ {
        self.files.0.keys().copied()
    }

    /// Copies the turns of some files into memory.
    pub(crate) fn leave_files(&mut self, files: &[BlockFileId]) {
        if self.used_files().all(|it| !files.contains(&it)) {
            return;
        }
        let is_left = |it: &&Arc<Turn>| it.file.is_some_and(|file| files.contains(&file));
        let left = self.units.values().filter(is_left);
        let left: Vec<Arc<Turn>> = left.map(|it| Arc::new(it.to_own())).collect();
        left.into_iter().for_each(|it| self.replace_equal_turn(it));
    }

    /// Makes turns use the mapped file of the equal ones in `mapped`.
    pub(crate) fn use_mapped_turns(&mut self, mapped: &[Turn]) {
        for turn in mapped {
            let known = self.units.get(&turn.unit.id).filter(|it| it.file != turn.file);
            if let Some(replaced) = known.and_then(|it| it.mapped_like(turn)) {
                self.replace_equal_turn(Arc::new(replaced));
            }
        }
    }

    /// Replaces a turn by one that differs only in where its texts and columns are.
    fn replace_equal_turn(&mut self, turn: Arc<Turn>) {
        let id: UnitId = turn.unit.id;
        let Some(former) = self.units.get_mut(&id) else { return };
        // Until the view is arranged, another state of the turn may be visible.
        let shown = self.arrangement.places.get(&id).copied();
        let shown = shown.and_then(|it| self.arrangement.turns.get_mut(it as usize));
        if let Some(shown) = shown.filter(|it| Arc::ptr_eq(it, former)) {
            *shown = Arc::clone(&turn);
        }
        self.files.count_turn(&turn, true);
        self.files.count_turn(former, false);
        self.bytes = self.bytes + turn.size_in_bytes() - former.size_in_bytes();
        *former = turn;
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use domain::port::{Change, UnitBlock};
    use domain::unit::Unit;
    use fixtures::sample_unit;

    use super::*;
    use crate::space::view::{BlockWriter, decode_block};

    /// Returns the turns of units as they are in a mapped file.
    fn map_turns(units: &[Unit], view: &View, file: BlockFileId) -> Vec<Turn> {
        let mut block = BlockWriter::default();
        for (unit, sequence) in units.iter().zip(1..) {
            let change = Change {
                sequence,
                unit: unit.clone(),
            };
            block.push_unit(&change, view.find_turn(unit.id));
        }
        let block = UnitBlock {
            after: 0,
            last: units.len() as u64,
            body: Bytes::from(block.into_bytes()),
            file: Some(file),
        };
        let read = decode_block(&block).unwrap();
        read.into_iter().filter_map(|it| it.turn).collect()
    }

    #[test]
    fn turns_move_to_a_file_and_back_without_a_difference() {
        let space = "files".parse().unwrap();
        let units: Vec<Unit> = (0..9).map(|it| sample_unit(&space, &it.to_string())).collect();
        let mut view = View::from_units(units.clone());
        let describe = |view: &View| {
            let turns: Vec<String> = view.turns().iter().map(|it| format!("{:?}", it.to_own())).collect();
            (turns, view.files.0.clone())
        };
        let before = (describe(&view), view.size_in_bytes());
        let [one, other] = [1, 2].map(BlockFileId);
        let mut mapped = map_turns(&units[..6], &view, one);
        mapped.extend(map_turns(&units[6..8], &view, other));
        // A turn that has changed since is not replaced.
        let mut changed = units[0].clone();
        changed.text.push_str(" Today.");
        mapped.extend(map_turns(
            std::slice::from_ref(&changed),
            &View::from_units([changed.clone()]),
            other,
        ));
        view.use_mapped_turns(&mapped);
        assert_eq!(view.files.0, [(one, 6), (other, 2)].into());
        assert_eq!(describe(&view).0, before.0.0);
        assert!(view.size_in_bytes() < before.1);
        assert!(view.used_files().eq([one, other]));
        view.leave_files(&[other]);
        assert_eq!(view.files.0, [(one, 6)].into());
        view.apply_changes([Change {
            sequence: 0,
            unit: changed,
        }]);
        assert_eq!(view.files.0, [(one, 5)].into());
        view.apply_changes([Change {
            sequence: 0,
            unit: units[0].clone(),
        }]);
        view.leave_files(&[one]);
        assert_eq!((describe(&view), view.size_in_bytes()), before);
    }
}
