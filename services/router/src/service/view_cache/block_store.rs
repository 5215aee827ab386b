//! Blocks of units in the store: they are read instead of units after a start.

use bytes::Bytes;
use domain::PortError;
use domain::id::SpaceId;
use domain::port::{BlockGap, Change, UnitBlock, UnitDigest};
use domain::unit::{Grain, Status};
use host::Backends;
use tracing::debug;

use super::{SpaceSnapshot, Spaces};
use crate::error::to_port_error;
use crate::space::view::{BlockWriter, TurnChange, VERSION, decode_block};

/// Maximum number of units in a block.
const UNITS_MAX: usize = 256;
/// Least number of units in a block that is the last one of a space. Fewer units wait for the next ones.
const UNITS_LEAST: usize = 64;
/// Number of the latest changes of a space that are left out while it is being written. Events change as long as their
/// session goes on, and each change deletes a block.
const UNSETTLED: u64 = 512;

impl Spaces {
    /// Stores blocks of the units of a space that are in no block, if the space is cached, and uses blocks in mapped files
    /// where the graph has such files. If `is_settled` is false,
    /// the latest changes are left out. If the store fails, the remaining units are read one by one after the next
    /// start.
    pub(super) async fn store_blocks(&self, stores: &Backends, space: &SpaceId, is_settled: bool) {
        let stored = async {
            self.store_gaps(stores, space, is_settled).await?;
            match is_settled {
                true => self.map_blocks(stores, space).await,
                // Each change of a unit would make its file outdated.
                false => Ok(()),
            }
        };
        if let Err(error) = stored.await {
            debug!(error = &error as &dyn std::error::Error, %space, "blocks of units were not stored");
        }
    }

    async fn store_gaps(&self, stores: &Backends, space: &SpaceId, is_settled: bool) -> Result<(), PortError> {
        let mut at = 0;
        while let Some(gap) = stores.graph.block_gap(space, at, UNITS_MAX, VERSION).await? {
            let Some(block) = self.encode_gap(space, gap, is_settled).await? else {
                return Ok(());
            };
            // If a unit has changed in the meantime, its block is stored after the next reading.
            stores
                .graph
                .put_block(space, VERSION, &block.unit_block, &block.digests)
                .await?;
            at = block.unit_block.last;
        }
        Ok(())
    }

    /// Returns the block of the units of a gap, as far as they are settled; `None` if the gap stays open. The space is
    /// held only while they are encoded, since a change to a space that is held copies all of it.
    async fn encode_gap(
        &self,
        space: &SpaceId,
        gap: BlockGap,
        is_settled: bool,
    ) -> Result<Option<EncodedGap>, PortError> {
        let Some(snapshot) = self.cached_space(space).await else {
            return Ok(None);
        };
        let until = match is_settled {
            true => snapshot.sequence(),
            false => snapshot.sequence().saturating_sub(UNSETTLED),
        };
        let BlockGap {
            after,
            mut changes,
            mut digests,
            is_end,
        } = gap;
        // Later changes are not in this state of the space.
        let count = changes.len();
        changes.retain(|it| it.sequence <= until);
        digests.truncate(changes.len());
        let is_open = is_end || changes.len() < count;
        let last = changes.last().map(|it| it.sequence);
        let Some(last) = last.filter(|_| !is_open || changes.len() >= UNITS_LEAST) else {
            return Ok(None);
        };
        let body = tokio::task::spawn_blocking(move || snapshot.encode_block(&changes));
        let body = body.await.map_err(to_port_error)?;
        let unit_block = UnitBlock {
            after,
            last,
            body: Bytes::from(body),
            file: None,
        };
        Ok(Some(EncodedGap { unit_block, digests }))
    }
}

/// A block that was computed, and the digests of the units that it was computed from.
struct EncodedGap {
    unit_block: UnitBlock,
    digests: Vec<UnitDigest>,
}

/// Returns the units of some blocks, in order; `None` if one of the blocks cannot be read.
pub(super) fn decode_blocks(blocks: &[UnitBlock]) -> Option<Vec<TurnChange>> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = blocks.len().div_ceil(cores).max(1);
    let decode = |blocks: &[UnitBlock]| -> Option<Vec<Vec<TurnChange>>> { blocks.iter().map(decode_block).collect() };
    std::thread::scope(|scope| {
        let shares: Vec<_> = blocks.chunks(share).map(|it| scope.spawn(move || decode(it))).collect();
        let mut all = Vec::new();
        for share in shares {
            match share.join() {
                Ok(units) => all.extend(units?.into_iter().flatten()),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Some(all)
    })
}

impl SpaceSnapshot {
    fn encode_block(&self, changes: &[Change]) -> Vec<u8> {
        let mut block = BlockWriter::default();
        for change in changes {
            let unit = &change.unit;
            let view = match unit.grain {
                Grain::Turn => Some(&self.view),
                Grain::Gist => Some(&self.gists),
                Grain::Event => None,
            };
            let view = view.filter(|_| unit.status == Status::Active);
            // A space that was deleted and created again may still be cached as it was before.
            let turn = view.and_then(|it| it.find_turn(unit.id));
            block.push_unit(change, turn.filter(|it| it.has_texts_of(unit)));
        }
        block.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fixtures::sample_unit;

    use super::*;
    use crate::space::view::View;

    #[test]
    fn a_block_never_has_the_texts_of_an_earlier_unit_with_the_same_id() {
        let former = sample_unit(&"blocks".parse().unwrap(), "1");
        let mut unit = former.clone();
        unit.text.push_str(" And it rained.");
        let snapshot = SpaceSnapshot {
            view: Arc::new(View::from_units([former.clone()])),
            ..SpaceSnapshot::default()
        };
        for (unit, has_turn) in [(unit, false), (former, true)] {
            let change = Change {
                sequence: 1,
                unit: unit.clone(),
            };
            let block = UnitBlock {
                after: 0,
                last: 1,
                body: Bytes::from(snapshot.encode_block(&[change])),
                file: None,
            };
            let [read] = decode_block(&block).unwrap().try_into().unwrap();
            let text = read.turn.as_ref().map_or(&*read.change.unit.text, |it| it.unit.text());
            assert_eq!((read.turn.is_some(), text), (has_turn, &*unit.text));
        }
    }
}
