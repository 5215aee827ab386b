//! Compares records, units and points of every space, and derives again what is missing.
//!
//! The records are the truth. A record without its turn unit, a turn unit without its points, a turn unit or points
//! without a record: all of it is drift, and all of it can be mended from the records.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SpaceId, UnitId};
use domain::unit::{Grain, Status};
use host::{Context, clock};

/// Records and units read at once.
const PAGE: usize = 1_000;

/// What a space holds.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) space: SpaceId,
    pub(crate) records: usize,
    pub(crate) units: usize,
    /// Records without a turn unit.
    unwritten: usize,
    /// Turn units in use whose record is gone.
    orphans: Vec<UnitId>,
    /// Points the turn units should have, and those there are.
    due: u64,
    pub(crate) points: u64,
}

impl Held {
    /// Says what is wrong; none if all agrees.
    pub(crate) fn drift(&self) -> Option<String> {
        let mut wrong = Vec::new();
        if self.unwritten > 0 {
            wrong.push(format!("{} records without a unit", self.unwritten));
        }
        if !self.orphans.is_empty() {
            wrong.push(format!("{} units without a record", self.orphans.len()));
        }
        if self.points < self.due {
            wrong.push(format!("{} points missing", self.due - self.points));
        }
        if self.points > self.due {
            wrong.push(format!("{} points too many", self.points - self.due));
        }
        (!wrong.is_empty()).then(|| format!("{}: {}", self.space, wrong.join(", ")))
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

async fn held(ctx: &Context, space: &SpaceId) -> anyhow::Result<Held> {
    let mut records = BTreeSet::<RecordId>::new();
    let mut cursor = Some(0);
    while let Some(after) = cursor {
        let (page, next) = ctx.backends.records.list(space, after, PAGE).await?;
        records.extend(page.iter().map(|it| it.id));
        cursor = next;
    }
    // A unit may change while it is counted; its last change tells how it is.
    let mut units = BTreeMap::new();
    let mut after = 0;
    loop {
        let changes = ctx.backends.graph.changes(space, after, PAGE).await?;
        let Some(last) = changes.last() else { break };
        after = last.sequence;
        for unit in changes
            .into_iter()
            .map(|it| it.unit)
            .filter(|it| it.grain == Grain::Turn)
        {
            let orphan = unit.records.iter().all(|it| !records.contains(it));
            let due = (unit.status == Status::Active).then(|| (writer::points_of(&unit), orphan));
            units.insert(unit.id, due);
        }
    }
    let active: BTreeMap<UnitId, (usize, bool)> = units.into_iter().filter_map(|(id, due)| Some((id, due?))).collect();
    let orphans = active.iter().filter(|(_, it)| it.1).map(|(id, _)| *id);
    let due: usize = active.values().map(|it| it.0).sum();
    let lacks_unit = |it: &&RecordId| !active.contains_key(&UnitId::turn(**it));
    Ok(Held {
        space: space.clone(),
        records: records.len(),
        units: active.len(),
        unwritten: records.iter().filter(lacks_unit).count(),
        orphans: orphans.collect(),
        due: u64::try_from(due)?,
        points: ctx.backends.index.count(space).await?,
    })
}

/// Removes what has no record and has the writer derive the space again from its records. Where points have to go, the
/// space is searched without those that are not yet back.
pub(crate) async fn repair(ctx: &Context, held: &Held) -> anyhow::Result<()> {
    let space = &held.space;
    if !held.orphans.is_empty() {
        ctx.backends.graph.put_units(space, &[], &held.orphans).await?;
        ctx.backends.index.put(space, &[], &held.orphans).await?;
    }
    if held.points > held.due {
        ctx.backends.index.erase(space).await?;
    }
    let run = format!("repair-{}", clock::now().timestamp_micros());
    gateway::rederive(ctx, space, &run, |_| ()).await?;
    Ok(())
}
