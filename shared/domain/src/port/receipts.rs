use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::Result;
use crate::erasure::{Erased, Receipt};
use crate::id::{ErasureId, SpaceId};
use crate::position::Position;

/// Receipts of erasures, and counts of the remnants of erased data in the record store.
///
/// Receipts belong to the name of a space, not to the space: they exist before, during and after it.
#[async_trait]
pub trait Receipts: Send + Sync + 'static {
    /// Stores a receipt; if there is one with this id already, it stays unchanged. Only the latest 10,000 receipts of a
    /// space name are kept. Durable on return.
    async fn put_receipt(&self, receipt: &Receipt) -> Result<()>;

    /// Sets the time of completion in the receipts of a space and position that do not have one.
    async fn complete(&self, space: &SpaceId, position: Position, at: DateTime<Utc>) -> Result<()>;

    /// Sets the time of completion in one receipt, unless it has one; nothing happens without the receipt.
    async fn complete_one(&self, space: &SpaceId, id: ErasureId, at: DateTime<Utc>) -> Result<()>;

    /// Returns a receipt, or `None`.
    async fn get(&self, space: &SpaceId, id: ErasureId) -> Result<Option<Receipt>>;

    /// Returns up to `limit` receipts of a space name with ids greater than `after`, by id.
    async fn list(&self, space: &SpaceId, after: Option<ErasureId>, limit: usize) -> Result<Vec<Receipt>>;

    /// Returns up to `limit` receipts of a space name that were completed at or after `since` and whose ids are greater
    /// than `after`, by id.
    async fn completed_since(
        &self,
        space: &SpaceId,
        since: DateTime<Utc>,
        after: Option<ErasureId>,
        limit: usize,
    ) -> Result<Vec<Receipt>>;

    /// Counts, by kind, the data that this store holds of a target, before or after its erasure. For a space, this is
    /// everything. For records, it is only the data that no other port lists: remembered responses that name one of
    /// them. A kind without data is counted as 0.
    async fn count_remaining_data(&self, space: &SpaceId, erased: &Erased) -> Result<BTreeMap<String, u64>>;
}
