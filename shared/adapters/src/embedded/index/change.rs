//! Changes of blocks, in the order of their commits.

use std::sync::Arc;
use std::time::Duration;

use domain::id::{SpaceId, UnitId};
use domain::port::Point;
use tokio::sync::oneshot;

use super::block_place::BlockPlace;
use crate::embedded::mapped_files::{FileDigest, FileNumber};

/// A committed change of the points of a space. `live` are the images of all spaces at its commit; the files of others
/// are destroyed.
pub(super) enum Change {
    Put(ChangedPoints),
    /// Evicts the block; the next search reads it from the file again.
    Forget {
        space: SpaceId,
        live: Vec<FileNumber>,
    },
    Save(Save),
    DestroyImages {
        live: Vec<FileNumber>,
    },
}

/// Points that were put, and units whose points were removed before.
pub(super) struct ChangedPoints {
    pub(super) space: i64,
    pub(super) points: Arc<Vec<Point>>,
    pub(super) retired: Arc<Vec<UnitId>>,
    /// Given if a point has changed that lies in an image.
    pub(super) live: Option<Vec<FileNumber>>,
}

/// The request to write an image of a block. The block holds every point at the commit of this change.
pub(super) struct Save {
    pub(super) place: Arc<BlockPlace>,
    pub(super) image: FileNumber,
    pub(super) saved: oneshot::Sender<Saved>,
}

/// The result of writing an image.
pub(super) enum Saved {
    Written {
        digest: FileDigest,
        elapsed: Duration,
    },
    /// The block is not in memory any more.
    NotLoaded,
    Failed,
}
