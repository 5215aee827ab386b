//! Relations of events: to their turns, and to other events.

use std::cmp::Reverse;
use std::ops::Range;

use domain::id::UnitId;
use domain::record::Record;
use domain::relation::{Relation, RelationKind};

use super::{Link, RecordFeatures, TURN_MAX, of_turn, time_order};
use crate::segments::stretch::Stretch;

/// Two events are compared only if all their records lie within this many consecutive records, so that a window
/// around a new record contains both.
const RUN_MAX: usize = 36;

/// Returns the relations of events to their turns, and of each event to events near it.
pub(crate) fn of_events(stretch: &Stretch, events: &[Range<usize>], visible: &[Range<usize>]) -> Vec<Relation> {
    let records = &stretch.records;
    let features = RecordFeatures::new(records);
    let mut out = Vec::new();
    for event in events.iter().filter(|it| it.len() > 1) {
        out.extend(part_relations(records, event));
    }
    for (place, later) in visible.iter().enumerate().filter(|(_, it)| it.len() > 1) {
        let near = visible[..place]
            .iter()
            .rev()
            .take_while(|it| later.end - it.start <= RUN_MAX);
        let near: Vec<&Range<usize>> = near.filter(|it| it.len() > 1).collect();
        if !near.is_empty() && (events.contains(later) || near.iter().any(|it| events.contains(it))) {
            out.extend(of_event(&features, &near, later));
        }
    }
    out
}

fn part_relations(records: &[Record], event: &Range<usize>) -> Vec<Relation> {
    let event_unit = UnitId::of_event(records[event.start].id);
    let parts = records[event.clone()].iter().map(|it| Relation {
        source: UnitId::of_turn(it.id),
        target: event_unit,
        kind: RelationKind::PartOf,
        label: String::new(),
        weight: 1.0,
        evidence: vec![it.id],
    });
    parts.collect()
}

/// Returns the relations of an event to earlier events: the best [`TURN_MAX`] relations between their turns.
fn of_event(features: &RecordFeatures<'_>, near: &[&Range<usize>], later: &Range<usize>) -> Vec<Relation> {
    let home = |place: usize| near.iter().find(|it| it.contains(&place)).map(|it| it.start);
    let mut found: Vec<(Link, usize, usize)> = Vec::new();
    for at in later.clone() {
        let lifted = of_turn(features, at)
            .into_iter()
            .filter(|it| it.kind != RelationKind::Before);
        found.extend(lifted.filter_map(|link| {
            let before = home(link.source.min(link.target))?;
            let (source, target) = if link.source == at {
                (later.start, before)
            } else {
                (before, later.start)
            };
            Some((link, source, target))
        }));
    }
    for before in near {
        let Some(link) = time_order::link_events(features, before, later) else {
            continue;
        };
        let first = before.contains(&link.source);
        let (source, target) = if first {
            (before.start, later.start)
        } else {
            (later.start, before.start)
        };
        found.push((link, source, target));
    }
    found.sort_by_key(|(link, source, target)| {
        (
            Reverse(link.percent),
            source.abs_diff(*target),
            link.kind,
            link.ordered_ends(),
            *source,
        )
    });
    let mut out: Vec<(usize, usize, RelationKind)> = Vec::new();
    let best = found.into_iter().filter(|(link, source, target)| {
        let key = (*source, *target, link.kind);
        let fresh = out.len() < TURN_MAX && !out.contains(&key);
        if fresh {
            out.push(key);
        }
        fresh
    });
    let relation = |(link, source, target): (Link, usize, usize)| Relation {
        source: UnitId::of_event(features.records[source].id),
        target: UnitId::of_event(features.records[target].id),
        weight: f32::from(link.percent) * 0.8 / 100.0,
        ..link.between_turns(features.records)
    };
    best.map(relation).collect()
}
