//! Compares records, units and points of every space, and derives missing data again.
//!
//! The records are the source of truth. Drift is: a record without its turn unit, a turn unit without its points, or a
//! turn unit or points without a record. Every kind of drift can be repaired from the records.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SpaceId, UnitId};
use domain::record::Record;
use domain::unit::{Grain, Status};
use host::{Context, clock};

/// Page size for reading records, units and points, and batch size for removing units.
const PAGE: usize = 1_000;

/// The counts and the drift of one space.
#[derive(Debug)]
pub(crate) struct SpaceDrift {
    pub(crate) space: SpaceId,
    pub(crate) records: usize,
    pub(crate) units: usize,
    pub(crate) points: usize,
    /// Turn units in use that were written by other rules than those of this program.
    pub(crate) older: usize,
    /// Records without one of their turn units.
    unwritten: usize,
    /// Turn units in use whose record does not exist.
    orphans: BTreeSet<UnitId>,
    /// Turn units without some of their points.
    lacking: usize,
    /// Points that belong to no turn unit in use.
    strays: usize,
    /// The units named by those points.
    astray: BTreeSet<UnitId>,
}

impl SpaceDrift {
    /// Returns a description of the drift, or `None` if the stores agree.
    pub(crate) fn describe_drift(&self) -> Option<String> {
        let counts = [
            ("records without a unit", self.unwritten),
            ("units without a record", self.orphans.len()),
            ("units without all their vectors", self.lacking),
            ("vectors without a unit", self.strays),
        ];
        let wrong: Vec<String> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(what, count)| format!("{what}: {count}"))
            .collect();
        (!wrong.is_empty()).then(|| format!("{} has {}", self.space, wrong.join(", ")))
    }
}

/// Returns the counts and the drift of every space.
pub(crate) async fn compare_all_spaces(ctx: &Context) -> anyhow::Result<Vec<SpaceDrift>> {
    let (mut all, mut last) = (Vec::new(), None);
    loop {
        let page = ctx.backends.records.spaces(last.as_ref(), PAGE).await?;
        for info in &page {
            all.push(compare_space(ctx, &info.space).await?);
        }
        match page.last() {
            Some(info) if page.len() == PAGE => last = Some(info.space.clone()),
            _ => return Ok(all),
        }
    }
}

/// Compares the stores of a space. Reads the most derived data first (points, then units, then records). Next to a
/// running writer, data may then seem to be missing, and a harmless second derivation follows; but data that were just
/// written never seem to be surplus.
async fn compare_space(ctx: &Context, space: &SpaceId) -> anyhow::Result<SpaceDrift> {
    let points = read_index_points(ctx, space).await?;
    let (due, of, older) = read_expected_turn_units(ctx, space).await?;
    let records = read_expected_units_by_record(ctx, space).await?;
    let unwritten: BTreeMap<UnitId, RecordId> = records
        .iter()
        .flat_map(|(record, units)| (0..*units).map(|number| (UnitId::of_part(*record, number), *record)))
        .filter(|(unit, _)| !due.contains_key(unit))
        .collect();
    let orphan = |it: &&UnitId| {
        of.get(*it)
            .is_none_or(|it| it.iter().all(|it| !records.contains_key(it)))
    };
    let orphans: BTreeSet<UnitId> = due.keys().filter(orphan).copied().collect();
    let lacks = |(unit, parts): &(&UnitId, &usize)| {
        !orphans.contains(*unit) && (0..**parts).any(|part| !has_point(&points, unit, part))
    };
    // The repair replaces the points of a unit that has to be written again.
    let stray = |(unit, part): &&(UnitId, u16)| {
        due.get(unit).is_none_or(|parts| usize::from(*part) >= *parts) && !unwritten.contains_key(unit)
    };
    let strays: Vec<UnitId> = points.iter().filter(stray).map(|it| it.0).collect();
    Ok(SpaceDrift {
        space: space.clone(),
        records: records.len(),
        units: due.len(),
        points: points.len(),
        older: older.len(),
        unwritten: unwritten.values().collect::<BTreeSet<_>>().len(),
        lacking: due.iter().filter(lacks).count(),
        orphans,
        strays: strays.len(),
        astray: strays.into_iter().collect(),
    })
}

fn has_point(points: &BTreeSet<(UnitId, u16)>, unit: &UnitId, part: usize) -> bool {
    u16::try_from(part).is_ok_and(|part| points.contains(&(*unit, part)))
}

async fn read_index_points(ctx: &Context, space: &SpaceId) -> anyhow::Result<BTreeSet<(UnitId, u16)>> {
    let (mut all, mut after) = (BTreeSet::new(), None);
    loop {
        let (page, next) = ctx.backends.index.points(space, after, PAGE).await?;
        all.extend(page);
        match next {
            Some(_) => after = next,
            None => return Ok(all),
        }
    }
}

type ExpectedPoints = BTreeMap<UnitId, usize>;
type Sources = BTreeMap<UnitId, Vec<RecordId>>;

/// Returns the turn units in use with their expected number of points, the source records of each unit, and the units
/// that were written by other rules.
async fn read_expected_turn_units(
    ctx: &Context,
    space: &SpaceId,
) -> anyhow::Result<(ExpectedPoints, Sources, BTreeSet<UnitId>)> {
    let (mut due, mut of, mut older, mut after) = (ExpectedPoints::new(), Sources::new(), BTreeSet::new(), 0);
    loop {
        let changes = ctx.backends.graph.changes(space, after, PAGE).await?;
        let Some(last) = changes.last() else {
            return Ok((due, of, older));
        };
        after = last.sequence;
        // A unit may change while the pages are read; its last change counts.
        for unit in changes
            .into_iter()
            .map(|it| it.unit)
            .filter(|it| it.grain == Grain::Turn)
        {
            older.remove(&unit.id);
            if unit.status == Status::Active {
                if unit.derived_by != writer::RULES {
                    older.insert(unit.id);
                }
                due.insert(unit.id, writer::points_of(&unit));
                of.insert(unit.id, unit.records);
            } else {
                due.remove(&unit.id);
                of.remove(&unit.id);
            }
        }
    }
}

/// Returns the records with the expected number of turn units of each.
async fn read_expected_units_by_record(ctx: &Context, space: &SpaceId) -> anyhow::Result<BTreeMap<RecordId, u16>> {
    let (mut all, mut cursor) = (BTreeMap::new(), Some(0));
    while let Some(after) = cursor {
        let (page, next) = ctx.backends.records.list(space, after, PAGE).await?;
        let units = |it: &Record| u16::try_from(writer::units_of(it).count()).unwrap_or(u16::MAX);
        all.extend(page.iter().map(|it| (it.id, units(it))));
        cursor = next;
    }
    Ok(all)
}

/// Removes units and points without a record. If data are missing or a unit has surplus vectors, makes the writer
/// derive the space again from its records. All vectors of a unit with surplus ones are removed, so questions do not
/// find the unit until it is derived again.
pub(crate) async fn repair_space(ctx: &Context, drift: &SpaceDrift) -> anyhow::Result<()> {
    let space = &drift.space;
    let orphans: Vec<UnitId> = drift.orphans.iter().copied().collect();
    for some in orphans.chunks(PAGE) {
        ctx.backends.graph.put_units(space, &[], some).await?;
    }
    let removed: Vec<UnitId> = drift.orphans.union(&drift.astray).copied().collect();
    for some in removed.chunks(PAGE) {
        ctx.backends.index.put(space, &[], some).await?;
    }
    if drift.unwritten + drift.lacking + drift.strays > 0 {
        let run = format!("repair-{}", clock::now().timestamp_micros());
        gateway::rederive_space(ctx, space, &run, |_| ()).await?;
    }
    Ok(())
}
