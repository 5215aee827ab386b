//! Derives the event units and relations of a stretch of a session, by local rules.
//!
//! Whether an event begins at a record depends on a few neighbours only (time gap, change of topic, no stronger
//! border nearby). When a record arrives, a window around it is therefore enough to derive everything that it may
//! have changed. Events have the size of those in CompassMem: one topic or one exchange, three to a dozen turns.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use domain::id::{RecordId, UnitId};
use domain::relation::{Relation, RelationKind};
use domain::unit::Unit;

use crate::segments::stretch::Stretch;
use crate::segments::{boundary, relate};
use crate::units::speech::{self, REACH};
use crate::units::{act, event};
use crate::write_turn_units;

/// Number of records that must be known on each side of a new one.
pub const MARGIN: usize = 60;

/// The parts of a stretch that new records may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Places whose turn units depend on a new record.
    pub turns: BTreeSet<usize>,
    /// The events that contain one of `turns`, as ranges of record indices. Borders of events depend on fewer
    /// neighbours.
    pub events: Vec<Range<usize>>,
    /// All events that are completely visible.
    visible: Vec<Range<usize>>,
}

impl Plan {
    /// Returns the units that are compared with the stored ones: turns, members of events, and possible former
    /// events.
    pub fn unit_ids(&self, stretch: &Stretch) -> Vec<UnitId> {
        let members: BTreeSet<usize> = self.events.iter().cloned().flatten().collect();
        let id = |it: &usize| stretch.records[*it].id;
        let turns = self.turns.union(&members).map(|it| UnitId::of_turn(id(it)));
        turns.chain(members.iter().map(|it| UnitId::of_event(id(it)))).collect()
    }
}

/// The data to store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segments {
    /// Units that are new or differ from the stored ones.
    pub units: Vec<Unit>,
    /// Event units that are no longer derived.
    pub retired: Vec<UnitId>,
    /// All relations that concern `touched`; see `concerns_units`.
    pub relations: Vec<Relation>,
    /// The units whose relations were derived.
    pub touched: BTreeSet<UnitId>,
}

/// Returns the parts of the stretch that the `fresh` records may have changed.
pub fn plan_segments(stretch: &Stretch, fresh: &BTreeSet<RecordId>) -> Plan {
    let length = stretch.records.len();
    let places = (0..length).filter(|&at| fresh.contains(&stretch.records[at].id));
    let turns: BTreeSet<usize> = places
        .flat_map(|at| at.saturating_sub(REACH)..length.min(at + REACH + 1))
        .collect();
    let Some((&first, &last)) = turns.first().zip(turns.last()) else {
        return Plan {
            turns,
            events: Vec::new(),
            visible: Vec::new(),
        };
    };
    let around = first.saturating_sub(MARGIN)..length.min(last + MARGIN);
    let visible = boundary::find_events(stretch, around);
    let events = visible
        .iter()
        .filter(|it| turns.range((*it).clone()).next().is_some())
        .cloned()
        .collect();
    Plan { turns, events, visible }
}

/// Derives turn units, events and relations again, as the plan says. `stored` holds the existing units of
/// [`Plan::unit_ids`]. Turn units that do not exist yet are left to the task that writes them first.
pub fn derive_segments(stretch: &Stretch, plan: &Plan, stored: &BTreeMap<UnitId, Unit>) -> Segments {
    let mut out = Segments::default();
    let mut turns = BTreeMap::new();
    for &at in &plan.turns {
        let id = UnitId::of_turn(stretch.records[at].id);
        out.touched.insert(id);
        for turn in stored
            .get(&id)
            .into_iter()
            .flat_map(|it| refresh_turn_units(stretch, at, it))
        {
            turns.insert(turn.id, turn);
        }
    }
    for members in &plan.events {
        let records = &stretch.records[members.clone()];
        let ids = records.iter().map(|it| UnitId::of_turn(it.id));
        let known: Vec<&Unit> = ids
            .filter_map(|it| turns.get(&it).or_else(|| stored.get(&it)))
            .collect();
        let event = event::build_event(records, &known);
        let id = event.as_ref().map(|it| it.id);
        out.touched.extend(id);
        out.units.extend(event.filter(|it| stored.get(&it.id) != Some(it)));
        let others = records
            .iter()
            .map(|it| UnitId::of_event(it.id))
            .filter(|it| Some(*it) != id);
        out.retired.extend(others.filter(|it| stored.contains_key(it)));
    }
    out.units.extend(turns.into_values());
    out.relations = relate::relations_of_turns(stretch, &plan.turns);
    out.relations
        .extend(relate::of_events(stretch, &plan.events, &plan.visible));
    out.relations.retain(|it| concerns_units(it, &out.touched));
    out.relations.sort_by_key(relation_key);
    out.relations.dedup_by_key(|it| relation_key(it));
    out
}

/// Returns true if a relation is derived whenever the `touched` units are: it begins or ends at one of them. A
/// `part_of` relation is derived with its event.
pub(crate) fn concerns_units(relation: &Relation, touched: &BTreeSet<UnitId>) -> bool {
    let starts = relation.kind != RelationKind::PartOf && touched.contains(&relation.source);
    starts || touched.contains(&relation.target)
}

/// Returns the key of a relation.
pub(crate) fn relation_key(relation: &Relation) -> (UnitId, UnitId, RelationKind, String) {
    (relation.source, relation.target, relation.kind, relation.label.clone())
}

/// Returns the turn units at `at` if they depend on neighbours that have changed since they were written; otherwise
/// none. The first unit of the record decides.
fn refresh_turn_units(stretch: &Stretch, at: usize, stored: &Unit) -> Vec<Unit> {
    let same = stored.addressee == speech::find_addressee(&stretch.records, at)
        && stored.question == speech::answered_question_text(&stretch.records, at)
        && stored.step == act::find_step(&stretch.records, at);
    if same {
        Vec::new()
    } else {
        write_turn_units(&stretch.records, &[at])
    }
}
