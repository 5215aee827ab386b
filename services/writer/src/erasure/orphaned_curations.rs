//! Redacts curations that arrive after their unit or fact was removed.
//!
//! Before an erasure retires units, it redacts the curations about them (`redact`). It misses a curation that arrives
//! later. The id of a fact does not say which unit stated it, so in a space with an erasure, a curation that arrives
//! when its fact is not stored counts as one about an erased record. Curations that are already stored are not judged in
//! this way: the facts and gists of a passage are removed for a while whenever it is read again.

use std::collections::{BTreeMap, BTreeSet};

use domain::PortError;
use domain::curation::{Act, Corrected, Curation};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{CurationId, FactId, SpaceId, UnitId};
use host::Backends;

use crate::erasure::erasing_acts;

/// Number of facts or units read in one request.
const AT_ONCE: usize = 1_000;

/// What a curation is about, if that is a unit or a fact.
enum Target {
    Unit(UnitId),
    Fact(FactId),
}

/// Redacts those of the stored curations `acts` that arrived after the erasure of their record.
pub(crate) async fn redact_late_curations(
    backends: &Backends,
    space: &SpaceId,
    acts: &[Curation],
) -> Result<(), PortError> {
    let orphaned = find_orphaned_curations(backends, space, acts).await?;
    if orphaned.is_empty() {
        return Ok(());
    }
    let ids: Vec<CurationId> = orphaned.into_iter().collect();
    backends.records.redact_curations(space, &ids).await
}

/// Returns those of `acts` that have words and whose unit or fact is no longer stored. `acts` need not be stored.
pub(crate) async fn find_orphaned_curations(
    backends: &Backends,
    space: &SpaceId,
    acts: &[Curation],
) -> Result<BTreeSet<CurationId>, PortError> {
    if !acts.iter().any(Curation::has_words) || are_targets_stored(backends, space, acts).await? {
        return Ok(BTreeSet::new());
    }
    let all = erasing_acts::read_curations(backends, space).await?;
    find_orphaned_among(backends, space, acts, &all).await
}

/// Returns true if what all acts are about is certainly stored, as it usually is. This reads no other curations.
async fn are_targets_stored(backends: &Backends, space: &SpaceId, acts: &[Curation]) -> Result<bool, PortError> {
    let (mut units, mut facts) = (BTreeSet::new(), BTreeSet::new());
    for act in acts.iter().filter(|it| it.has_words()) {
        match target_of(act, &BTreeMap::new()) {
            Some(Target::Unit(unit)) => units.extend([unit]),
            Some(Target::Fact(fact)) => facts.extend([fact]),
            None if matches!(act.act, Act::Undo { .. }) => return Ok(false),
            None => {}
        }
    }
    let sources = read_fact_sources(backends, space, &facts).await?;
    units.extend(sources.values().copied());
    let count = units.len();
    Ok(sources.len() == facts.len() && find_stored_units(backends, space, units).await?.len() == count)
}

/// Returns the source units of those of the facts that are stored.
pub(crate) async fn read_fact_sources(
    backends: &Backends,
    space: &SpaceId,
    facts: &BTreeSet<FactId>,
) -> Result<BTreeMap<FactId, UnitId>, PortError> {
    let kind = DerivedKind::Fact;
    let ids: Vec<DerivedId> = facts.iter().map(|it| DerivedId { kind, id: it.uuid() }).collect();
    let mut found = BTreeMap::new();
    for some in ids.chunks(AT_ONCE) {
        for it in backends.graph.derived(space, some).await? {
            if let Derived::Fact(fact) = it {
                found.insert(fact.id, fact.source);
            }
        }
    }
    Ok(found)
}

/// Returns the orphaned ones of `acts`; `all` are all stored curations of the space.
async fn find_orphaned_among(
    backends: &Backends,
    space: &SpaceId,
    acts: &[Curation],
    all: &[Curation],
) -> Result<BTreeSet<CurationId>, PortError> {
    let by_id: BTreeMap<CurationId, &Curation> = all.iter().map(|it| (it.id, it)).collect();
    let with_words = acts.iter().filter(|it| it.has_words());
    let targets: BTreeMap<CurationId, Target> = with_words
        .filter_map(|it| Some((it.id, target_of(it, &by_id)?)))
        .collect();
    if targets.is_empty() {
        return Ok(BTreeSet::new());
    }
    let corrected = Corrected::from_curations(all);
    let facts = targets.values().filter_map(|it| match it {
        Target::Fact(fact) => Some(*fact),
        Target::Unit(_) => None,
    });
    let facts: BTreeSet<FactId> = facts.flat_map(|it| [it, corrected.original_fact(it)]).collect();
    let sources = read_fact_sources(backends, space, &facts).await?;
    let unit_of = |target: &Target| match target {
        Target::Unit(unit) => Some(*unit),
        Target::Fact(fact) => {
            let original = corrected.original_fact(*fact);
            sources.get(fact).or_else(|| sources.get(&original)).copied()
        }
    };
    let units: BTreeSet<UnitId> = targets.values().filter_map(unit_of).collect();
    let stored = find_stored_units(backends, space, units).await?;
    // A fact may also vanish because newer rules or another reading no longer state it.
    let has_erasure = all.iter().any(|it| matches!(it.act, Act::EraseRecord { .. }));
    let is_orphaned = |it: &Target| unit_of(it).map_or(has_erasure, |unit| !stored.contains(&unit));
    let orphaned = targets.iter().filter(|(_, it)| is_orphaned(it));
    Ok(orphaned.map(|(id, _)| *id).collect())
}

/// Returns the target of a curation. A curation that undoes another one has the target of that one, because its reason
/// may repeat the words.
fn target_of(curation: &Curation, by_id: &BTreeMap<CurationId, &Curation>) -> Option<Target> {
    let mut act = &curation.act;
    while let Act::Undo { curation: undone } = act {
        act = &by_id.get(undone)?.act;
    }
    match act {
        Act::CorrectFact { fact, .. } | Act::RetireFact { fact } => Some(Target::Fact(*fact)),
        Act::PinUnit { unit } | Act::ForgetUnit { unit } => Some(Target::Unit(*unit)),
        Act::UndoMerge { .. }
        | Act::UndoLabel { .. }
        | Act::UndoSummary { .. }
        | Act::EraseRecord { .. }
        | Act::Undo { .. } => None,
    }
}

async fn find_stored_units(
    backends: &Backends,
    space: &SpaceId,
    units: BTreeSet<UnitId>,
) -> Result<BTreeSet<UnitId>, PortError> {
    let ids: Vec<UnitId> = units.into_iter().collect();
    let mut stored = BTreeSet::new();
    for some in ids.chunks(AT_ONCE) {
        let found = backends.graph.units(space, some).await?;
        stored.extend(found.iter().map(|it| it.id));
    }
    Ok(stored)
}
