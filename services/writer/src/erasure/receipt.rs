//! Receipts of erasures: the data that an erasure deletes is counted before it is deleted.

use std::collections::{BTreeMap, BTreeSet};

use domain::PortError;
use domain::curation::{Act, Curation};
use domain::derived::{Derived, DerivedKind};
use domain::erasure::{Erased, ErasureKind, Receipt};
use domain::id::{ErasureId, RecordId, SpaceId, UnitId};
use domain::port::{Position, SpaceInfo};
use host::Backends;
use uuid::Uuid;

use crate::erasure::{erase, erasing_acts, redact};
use crate::store_access::unit_lookup;

/// Number of facts read in one request.
const AT_ONCE: usize = 1_000;
/// Maximum number of relations counted.
const RELATIONS_MAX: usize = 10_000;

/// Stores the receipt of the erasures in a batch, if there are any. A batch that is processed again after a failed
/// attempt already has its receipt.
pub(crate) async fn store_receipt(
    backends: &Backends,
    space: &SpaceInfo,
    position: Position,
    acts: &[Curation],
) -> Result<(), PortError> {
    let Some(first) = acts.iter().find(|it| matches!(it.act, Act::EraseRecord { .. })) else {
        return Ok(());
    };
    let records: Vec<RecordId> = erasing_acts::records_to_erase(acts).into_iter().collect();
    let id = ErasureId::of_records(first.id);
    if backends.receipts.get(&space.space, id).await?.is_some() {
        return Ok(());
    }
    let stored = backends.records.get(&space.space, &records).await?;
    let emptied = redact::emptied_sessions(backends, &space.space, &stored).await?;
    let mut erased = count_derived(backends, &space.space, &records).await?;
    erased.insert("records".to_owned(), stored.len() as u64);
    let receipt = Receipt {
        id,
        space: space.space.clone(),
        created_at: space.created_at,
        kind: ErasureKind::Records,
        by: first.by.clone(),
        requested_at: first.at,
        completed_at: None,
        position,
        sessions: emptied.iter().map(|it| it.session).collect(),
        records,
        erased,
    };
    backends.receipts.put_receipt(&receipt).await
}

/// Counts the data derived from records, by kind.
async fn count_derived(
    backends: &Backends,
    space: &SpaceId,
    records: &[RecordId],
) -> Result<BTreeMap<String, u64>, PortError> {
    let mut own: BTreeSet<UnitId> = records.iter().flat_map(|it| erase::units_starting_with(*it)).collect();
    own.extend(unit_lookup::further_units(backends, space, records.iter().copied()).await?);
    let ids: Vec<UnitId> = own.iter().copied().collect();
    let units = backends.graph.units(space, &ids).await?;
    let relations = backends.graph.relations(space, &ids, RELATIONS_MAX).await?;
    let mut facts = 0;
    let mut after: Option<Uuid> = None;
    loop {
        let page = backends
            .graph
            .list_derived(space, DerivedKind::Fact, after, AT_ONCE)
            .await?;
        let is_own_fact = |it: &&Derived| matches!(it, Derived::Fact(fact) if own.contains(&fact.source));
        facts += page.iter().filter(is_own_fact).count();
        match page.last() {
            Some(last) if page.len() == AT_ONCE => after = Some(last.id().id),
            Some(_) | None => break,
        }
    }
    let mut counts = backends
        .receipts
        .count_remaining_data(space, &Erased::Records(records.to_vec()))
        .await?;
    for (kind, count) in [("units", units.len()), ("relations", relations.len()), ("facts", facts)] {
        counts.insert(kind.to_owned(), count as u64);
    }
    Ok(counts)
}
