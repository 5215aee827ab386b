//! Moves parts of large spaces from memory to a temporary file.

use std::path::PathBuf;
use std::sync::Arc;

use tracing::warn;

use crate::follower::followed_space::Followed;
use crate::space::spill_file::SpillFile;

/// A space is spilled if its state takes more than this part of the limit on all spaces.
const SHARE: usize = 4;
/// Minimum number of units that are applied to a space before it is spilled again. What they use is read back only
/// once.
const UNITS_BETWEEN: usize = 1_000;
/// Also, at least one unit in this many has to be new or changed. Spilling looks at all parts of a space, so without
/// this its cost for a unit would grow with the space.
const UNITS_SHARE: usize = 256;
/// The number of units instead if much of the file is in memory again, for example because a user's decision affected
/// the whole space: at least one byte in `READ_BACK_SHARE`, and `READ_BACK_MIN` bytes.
const UNITS_BETWEEN_IF_READ_BACK: usize = 64;
const READ_BACK_MIN: u64 = 64 << 20;
const READ_BACK_SHARE: u64 = 4;
/// Minimum number of bytes that a call moves to the file for freed memory to be returned to the system.
const RETURNED_MIN: u64 = 8 << 20;

/// Which spaces are spilled, and to which folder.
#[derive(Clone, Debug)]
pub(crate) struct Spilling {
    folder: Arc<PathBuf>,
    /// Minimum estimated size of a space that is spilled, in bytes.
    bytes_min: usize,
}

impl Spilling {
    /// Returns the settings for spaces whose states may take `memory_max` bytes in all.
    pub(crate) fn new(folder: PathBuf, memory_max: usize) -> Spilling {
        Spilling {
            folder: Arc::new(folder),
            bytes_min: memory_max / SHARE,
        }
    }

    /// Spills a large space if many units were applied to it since it was last spilled, or much of it was read back.
    pub(crate) fn spill_after_many_units(&self, followed: &mut Followed) {
        let between = if is_read_back(followed) {
            UNITS_BETWEEN_IF_READ_BACK
        } else {
            UNITS_BETWEEN.max(followed.memory.count_units() / UNITS_SHARE)
        };
        if followed.units_since_spill >= between {
            self.spill_large_space(followed);
        }
    }

    /// Spills a large space after changes were derived from it. `used_all` is true if that used nearly everything.
    pub(crate) fn spill_after_changes(&self, followed: &mut Followed, used_all: bool) {
        self.spill_after_many_units(followed);
        // A decision of a user may read the whole space back without any new unit.
        let few_units = std::mem::take(&mut followed.units_in_round) < UNITS_BETWEEN_IF_READ_BACK;
        if used_all || (few_units && is_read_back(followed)) {
            // What was used since the first call is spilled by the second.
            (0..2).for_each(|_| self.spill_large_space(followed));
        }
    }

    /// Spills what was not used since the last call, if the space is large. The file is created with the first call
    /// that needs one. If there can be no file, everything stays in memory.
    pub(crate) fn spill_large_space(&self, followed: &mut Followed) {
        if followed.memory.estimated_bytes() < self.bytes_min {
            return;
        }
        followed.units_since_spill = 0;
        if followed.spilled.is_none() {
            followed.spilled = self.create_file();
        }
        if let Some(file) = &followed.spilled {
            file.retry_writing();
            let moved_before = file.moved_bytes();
            followed.memory.spill_unused(file);
            if file.moved_bytes().saturating_sub(moved_before) >= RETURNED_MIN {
                host::return_free_memory();
            }
        }
    }

    fn create_file(&self) -> Option<Arc<SpillFile>> {
        let key = host::random::generate_secret();
        let key = key
            .inspect_err(|error| warn!(%error, "a large space stays in memory"))
            .ok()?;
        let file = SpillFile::create_in(&self.folder, key);
        let file = file.inspect_err(|error| {
            let folder = self.folder.display();
            warn!(%error, %folder, "a large space stays in memory, because no temporary file can be created");
        });
        file.ok().map(Arc::new)
    }
}

/// Returns true if much of the file is in memory again.
fn is_read_back(followed: &Followed) -> bool {
    let file = followed.spilled.as_ref();
    file.is_some_and(|it| it.read_back_bytes() >= READ_BACK_MIN.max(it.used_bytes() / READ_BACK_SHARE))
}
