use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::{Position, Result};
use crate::erasure::{Erased, Receipt};
use crate::id::{ErasureId, SpaceId};

/// Receipts of erasures, and what the store of the records still holds of what was erased.
///
/// Receipts belong to the name of a space and not to the space: they exist before, during and after it.
#[async_trait]
pub trait Receipts: Send + Sync + 'static {
    /// Keeps a receipt; one that is kept under its id already stays as it is. Of a name of a space the latest 10,000 are kept.
    /// Durable on return.
    async fn keep(&self, receipt: &Receipt) -> Result<()>;

    /// Notes `at` as the moment of completion in the receipts of a space and position that have none yet.
    async fn complete(&self, space: &SpaceId, position: Position, at: DateTime<Utc>) -> Result<()>;

    /// Returns a receipt, or none.
    async fn get(&self, space: &SpaceId, id: ErasureId) -> Result<Option<Receipt>>;

    /// Returns up to `limit` receipts of the name of a space with ids greater than `after`, by id.
    async fn list(&self, space: &SpaceId, after: Option<ErasureId>, limit: usize) -> Result<Vec<Receipt>>;

    /// Returns up to `limit` receipts of the name of a space that were completed at `since` or later and whose ids are greater
    /// than `after`, by id.
    async fn completed_since(
        &self,
        space: &SpaceId,
        since: DateTime<Utc>,
        after: Option<ErasureId>,
        limit: usize,
    ) -> Result<Vec<Receipt>>;

    /// Counts, by kind, what this store holds of something that was or will be erased. Of a space this is everything; of
    /// records it is what no other port can list: remembered responses that name one. A kind of which nothing is held is
    /// counted as 0.
    async fn remnants(&self, space: &SpaceId, erased: &Erased) -> Result<BTreeMap<String, u64>>;
}
