//! Compares records, units and points of every space, and derives again what is missing.
//!
//! The records are the truth. A record without its turn unit, a turn unit without its points, a turn unit or points
//! without a record: all of it is drift, and all of it can be mended from the records.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SpaceId, UnitId};
use domain::record::Record;
use domain::unit::{Grain, Status};
use host::{Context, clock};

/// Records, units and points read at once, and units removed at once.
const PAGE: usize = 1_000;

/// What a space holds.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) space: SpaceId,
    pub(crate) records: usize,
    pub(crate) units: usize,
    pub(crate) points: usize,
    /// Turn units in use that other rules wrote than those of this program.
    pub(crate) older: usize,
    /// Records that lack one of their turn units.
    unwritten: usize,
    /// Turn units in use whose record is gone.
    orphans: BTreeSet<UnitId>,
    /// Turn units that lack some of their points.
    lacking: usize,
    /// Points that belong to no turn unit in use.
    strays: usize,
    /// The units those say they belong to.
    astray: BTreeSet<UnitId>,
}

impl Held {
    /// Says what is wrong; none if all agrees.
    pub(crate) fn drift(&self) -> Option<String> {
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

/// Counts what every space holds.
pub(crate) async fn look(ctx: &Context) -> anyhow::Result<Vec<Held>> {
    let (mut all, mut last) = (Vec::new(), None);
    loop {
        let page = ctx.backends.records.spaces(last.as_ref(), PAGE).await?;
        for info in &page {
            all.push(held(ctx, &info.space).await?);
        }
        match page.last() {
            Some(info) if page.len() == PAGE => last = Some(info.space.clone()),
            _ => return Ok(all),
        }
    }
}

/// Reads first what is derived last: beside a running writer something may seem to be missing, which is derived once more
/// and does no harm, but nothing that has just been written seems to be too much.
async fn held(ctx: &Context, space: &SpaceId) -> anyhow::Result<Held> {
    let points = points(ctx, space).await?;
    let (due, of, older) = turns(ctx, space).await?;
    let records = records(ctx, space).await?;
    let unwritten: BTreeMap<UnitId, RecordId> = records
        .iter()
        .flat_map(|(record, units)| (0..*units).map(|number| (UnitId::part(*record, number), *record)))
        .filter(|(unit, _)| !due.contains_key(unit))
        .collect();
    let orphan = |it: &&UnitId| {
        of.get(*it)
            .is_none_or(|it| it.iter().all(|it| !records.contains_key(it)))
    };
    let orphans: BTreeSet<UnitId> = due.keys().filter(orphan).copied().collect();
    let lacks = |(unit, parts): &(&UnitId, &usize)| {
        !orphans.contains(*unit) && (0..**parts).any(|part| !has(&points, unit, part))
    };
    // What a unit that has to be written again had is replaced then.
    let stray = |(unit, part): &&(UnitId, u16)| {
        due.get(unit).is_none_or(|parts| usize::from(*part) >= *parts) && !unwritten.contains_key(unit)
    };
    let strays: Vec<UnitId> = points.iter().filter(stray).map(|it| it.0).collect();
    Ok(Held {
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

fn has(points: &BTreeSet<(UnitId, u16)>, unit: &UnitId, part: usize) -> bool {
    u16::try_from(part).is_ok_and(|part| points.contains(&(*unit, part)))
}

async fn points(ctx: &Context, space: &SpaceId) -> anyhow::Result<BTreeSet<(UnitId, u16)>> {
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

type Due = BTreeMap<UnitId, usize>;
type Sources = BTreeMap<UnitId, Vec<RecordId>>;

/// Returns the turn units in use, with the number of points each should have and the records each is from, and those of
/// them that other rules wrote.
async fn turns(ctx: &Context, space: &SpaceId) -> anyhow::Result<(Due, Sources, BTreeSet<UnitId>)> {
    let (mut due, mut of, mut older, mut after) = (Due::new(), Sources::new(), BTreeSet::new(), 0);
    loop {
        let changes = ctx.backends.graph.changes(space, after, PAGE).await?;
        let Some(last) = changes.last() else {
            return Ok((due, of, older));
        };
        after = last.sequence;
        // A unit may change while it is read; its last change tells how it is.
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

/// Returns the records, with the number of turn units each should have.
async fn records(ctx: &Context, space: &SpaceId) -> anyhow::Result<BTreeMap<RecordId, u16>> {
    let (mut all, mut cursor) = (BTreeMap::new(), Some(0));
    while let Some(after) = cursor {
        let (page, next) = ctx.backends.records.list(space, after, PAGE).await?;
        let units = |it: &Record| u16::try_from(writer::units_of(it).count()).unwrap_or(u16::MAX);
        all.extend(page.iter().map(|it| (it.id, units(it))));
        cursor = next;
    }
    Ok(all)
}

/// Removes what has no record and, if something is missing, has the writer derive the space again from its records. A unit
/// with vectors too many is not found until it is derived again.
pub(crate) async fn repair(ctx: &Context, held: &Held) -> anyhow::Result<()> {
    let space = &held.space;
    let orphans: Vec<UnitId> = held.orphans.iter().copied().collect();
    for some in orphans.chunks(PAGE) {
        ctx.backends.graph.put_units(space, &[], some).await?;
    }
    let gone: Vec<UnitId> = held.orphans.union(&held.astray).copied().collect();
    for some in gone.chunks(PAGE) {
        ctx.backends.index.put(space, &[], some).await?;
    }
    if held.unwritten + held.lacking + held.strays > 0 {
        let run = format!("repair-{}", clock::now().timestamp_micros());
        gateway::rederive(ctx, space, &run, |_| ()).await?;
    }
    Ok(())
}
