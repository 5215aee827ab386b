//! Turns of a cached space move from memory to mapped files when their blocks were written to a file.

use std::sync::Arc;

use domain::PortError;
use domain::id::SpaceId;
use domain::port::{BlockFileId, WrittenBlockFile};
use host::Backends;

use super::block_store::decode_blocks;
use super::{SpaceSnapshot, Spaces};
use crate::error::to_port_error;
use crate::space::view::{Turn, VERSION};

impl Spaces {
    /// Writes the blocks of a cached space to mapped files as long as enough blocks are in none, and makes its turns use
    /// them.
    pub(super) async fn map_blocks(&self, stores: &Backends, space: &SpaceId) -> Result<(), PortError> {
        while let Some(cached) = self.0.find_space(space) {
            let Some(file) = stores.graph.write_block_file(space, VERSION).await? else {
                return Ok(());
            };
            let turns = read_mapped_turns(stores, space, file).await?;
            let content = cached.content();
            content
                .apply_change(move |snapshot| snapshot.use_mapped_turns(&turns))
                .await?;
            // A change that outdated the file in the meantime may have been applied before the turns used it.
            let live = live_files(stores, space).await.unwrap_or_default();
            if !live.contains(&file.id) {
                content
                    .apply_change(move |snapshot| snapshot.leave_files(&[file.id]))
                    .await?;
            }
            let bytes = content.with_snapshot(SpaceSnapshot::size_in_bytes).await;
            self.0.set_size_and_evict(space, bytes);
        }
        Ok(())
    }
}

/// Returns the turns of the blocks in a file, as far as they are still there.
async fn read_mapped_turns(stores: &Backends, space: &SpaceId, file: WrittenBlockFile) -> Result<Vec<Turn>, PortError> {
    let (mut turns, mut at) = (Vec::new(), file.after);
    while at < file.last {
        let feed = stores.graph.unit_feed(space, at, 1, VERSION).await?;
        let Some(last) = feed.blocks.last().map(|it| it.last) else {
            break;
        };
        at = last;
        let mut blocks = feed.blocks;
        blocks.retain(|it| it.file == Some(file.id));
        let decoded = tokio::task::spawn_blocking(move || decode_blocks(&blocks));
        let decoded = decoded.await.map_err(to_port_error)?;
        turns.extend(decoded.into_iter().flatten().filter_map(|it| it.turn));
    }
    Ok(turns)
}

/// Returns the files of `used` that are outdated. `live` are files that were not outdated a moment ago.
pub(super) async fn find_outdated_files(
    stores: &Backends,
    space: &SpaceId,
    mut used: Vec<BlockFileId>,
    live: &[BlockFileId],
) -> Result<Vec<BlockFileId>, PortError> {
    used.retain(|it| !live.contains(it));
    if !used.is_empty() {
        // A file may also be so new that `live` lacks it.
        let live = live_files(stores, space).await?;
        used.retain(|it| !live.contains(it));
    }
    Ok(used)
}

/// Returns the files of a space that are not outdated.
async fn live_files(stores: &Backends, space: &SpaceId) -> Result<Vec<BlockFileId>, PortError> {
    let end = stores.graph.unit_feed(space, u64::MAX, 1, VERSION).await?;
    Ok(end.files)
}

impl SpaceSnapshot {
    /// Makes turns use the mapped file of the equal ones in `turns`.
    fn use_mapped_turns(&mut self, turns: &[Turn]) {
        for view in [&mut self.view, &mut self.gists] {
            if view.is_arranged() && turns.iter().any(|it| view.find_turn(it.unit.id).is_some()) {
                Arc::make_mut(view).use_mapped_turns(turns);
            }
        }
    }

    /// Returns the mapped files that turns use.
    pub(super) fn used_files(&self) -> Vec<BlockFileId> {
        self.view.used_files().chain(self.gists.used_files()).collect()
    }

    /// Copies the turns of some files into memory.
    pub(super) fn leave_files(&mut self, files: &[BlockFileId]) {
        for view in [&mut self.view, &mut self.gists] {
            if view.used_files().any(|it| files.contains(&it)) {
                Arc::make_mut(view).leave_files(files);
            }
        }
    }
}
