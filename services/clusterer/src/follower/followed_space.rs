//! The in-memory state of one space.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::port::Change;
use domain::unit::{Grain, Status, Unit};

use crate::Acts;
use crate::follower::memory::Memory;
use crate::follower::stored_digests::StoredDigests;
use crate::space::spill_file::SpillFile;

/// The state of a space between two changes.
pub(crate) struct Followed {
    /// Distinguishes a space from an erased space of the same name.
    pub(super) created_at: DateTime<Utc>,
    /// Sequence number of the last change that was applied.
    pub(super) sequence: u64,
    /// Number of curations that were read; `acts` holds their decisions.
    pub(super) curations: u64,
    pub(super) acts: Acts,
    pub(super) memory: Memory,
    /// Holds the parts of a large memory that are not in use.
    pub(super) spilled: Option<Arc<SpillFile>>,
    /// Number of units applied since the memory was last spilled.
    pub(super) units_since_spill: usize,
    /// Number of units applied since changes were last derived.
    pub(super) units_in_round: usize,
    pub(super) stored: StoredDigests,
    /// Turn of the store in which the next derived data is written.
    pub(super) turn: u64,
}

impl Followed {
    /// Applies changes of units.
    pub(super) fn apply_units(&mut self, changes: &[Change]) {
        self.units_since_spill += changes.len();
        self.units_in_round += changes.len();
        for Change { unit, .. } in changes {
            self.memory.apply_unit(unit, embed_event(unit).as_ref());
        }
    }

    /// Returns a rough estimate of the memory used, in bytes.
    pub(super) fn estimated_bytes(&self) -> usize {
        let Some(file) = &self.spilled else {
            return self.memory.estimated_bytes();
        };
        let moved = usize::try_from(file.moved_bytes()).unwrap_or(usize::MAX);
        let rest = self.memory.estimated_bytes().saturating_sub(moved);
        rest.max(self.memory.estimated_bytes_if_spilled())
    }

    /// Returns true if a part of the state could not be read back from its file.
    pub(super) fn is_damaged(&self) -> bool {
        self.spilled.as_ref().is_some_and(|it| it.is_damaged())
    }
}

/// Returns the vector of the summary of an event unit that is active or merged; otherwise none. It always uses the
/// built-in word table, whatever embedder the index uses, because the thresholds for "same event" and "same topic"
/// were measured with that table.
fn embed_event(unit: &Unit) -> Option<Arc<[f32]>> {
    let stands = unit.grain == Grain::Event && matches!(unit.status, Status::Active | Status::Merged);
    stands.then(|| text::EmbeddingTable::builtin().embed_text(&unit.summary).into())
}
