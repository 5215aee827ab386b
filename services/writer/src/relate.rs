//! Relations between units, by rule; each names the records that support it, none is there for its own sake.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;

use chrono::{DateTime, Utc};
use domain::id::{RecordId, UnitId};
use domain::record::{Modality, Record};
use domain::relation::{Relation, RelationKind};
use domain::time::{Precision, TimeSpan};

use crate::segment::Stretch;
use crate::speech::{self, REACH};
use crate::{act, marker, state};

/// Returns the relations between turn units that touch one of the places.
pub(crate) fn relations(stretch: &Stretch, places: &BTreeSet<usize>) -> Vec<Relation> {
    let length = stretch.records.len();
    let later: BTreeSet<usize> = places.iter().flat_map(|&it| it..length.min(it + REACH + 1)).collect();
    let told = Told::new(&stretch.records);
    later
        .into_iter()
        .flat_map(|at| of_turn(&told, at))
        .map(|it| it.relation(&stretch.records))
        .collect()
}

/// Returns what the events are made of, and how each stands to the one beside it.
pub(crate) fn of_events(stretch: &Stretch, events: &[Range<usize>], visible: &[Range<usize>]) -> Vec<Relation> {
    let records = &stretch.records;
    let told = Told::new(records);
    let mut out = Vec::new();
    for event in events.iter().filter(|it| it.len() > 1) {
        let whole = UnitId::event(records[event.start].id);
        out.extend(records[event.clone()].iter().map(|it| Relation {
            source: UnitId::turn(it.id),
            target: whole,
            kind: RelationKind::PartOf,
            label: String::new(),
            weight: 1.0,
            evidence: vec![it.id],
        }));
    }
    for pair in visible.windows(2) {
        let bears = events.contains(&pair[0]) || events.contains(&pair[1]);
        if bears && pair[0].end == pair[1].start && pair.iter().all(|it| it.len() > 1) {
            out.extend(between(&told, &pair[0], &pair[1]));
        }
    }
    out
}

/// Two places of a window and how they stand to each other.
struct Link {
    source: usize,
    target: usize,
    kind: RelationKind,
    weight: f32,
}

impl Link {
    fn relation(&self, records: &[Record]) -> Relation {
        let (first, last) = (self.source.min(self.target), self.source.max(self.target));
        Relation {
            source: UnitId::turn(records[self.source].id),
            target: UnitId::turn(records[self.target].id),
            kind: self.kind,
            label: String::new(),
            weight: self.weight,
            evidence: vec![records[first].id, records[last].id],
        }
    }
}

/// Records with the times they tell, each read once.
struct Told<'a> {
    records: &'a [Record],
    times: Vec<OnceCell<Option<Happened>>>,
}

/// When something happened, and how exactly that is known.
type Happened = (Range<DateTime<Utc>>, Precision);

impl Told<'_> {
    fn new(records: &[Record]) -> Told<'_> {
        Told {
            records,
            times: vec![OnceCell::new(); records.len()],
        }
    }

    /// The time of the first thing that the record at `at` tells with a time.
    fn happened(&self, at: usize) -> Option<&Happened> {
        let read = || {
            let record = &self.records[at];
            let head = &record.text[..record.text.floor_char_boundary(2_000)];
            let placed = |it: &TimeSpan| it.precision != Precision::Unknown;
            let mut spans = text::time::find(head, record.observed_at).into_iter().map(|it| it.span);
            spans.find(placed).map(|it| (it.start..it.end, it.precision))
        };
        self.times[at].get_or_init(read).as_ref()
    }
}

/// What the turn at `at` has to do with turns up to [`REACH`] before it.
fn of_turn(told: &Told<'_>, at: usize) -> Vec<Link> {
    let records = told.records;
    let mut out = Vec::new();
    let asked = speech::asked(records, at).map(|(place, _)| place);
    if let Some(place) = asked {
        out.push(Link {
            source: place,
            target: at,
            kind: RelationKind::FollowsUp,
            weight: 0.9,
        });
    }
    out.extend(marked(records, at, asked));
    out.extend(in_time(told, at));
    out.extend(enabled(records, at));
    out
}

/// The word with which a turn takes up the one before it.
fn marked(records: &[Record], at: usize, asked: Option<usize>) -> Option<Link> {
    let place = asked.or_else(|| at.checked_sub(1))?;
    let (record, before) = (&records[at], &records[place]);
    let Some(found) = marker::of(&record.text) else {
        let kind = asked.and_then(|_| marker::wanted(&before.text))?;
        return Some(Link {
            source: at,
            target: place,
            kind,
            weight: 0.6,
        });
    };
    let same = record.actor == before.actor;
    let tied = asked.is_some() || found.points_back || same || shares_word(&record.text, &before.text);
    if !tied || before.text.trim().is_empty() {
        return None;
    }
    let (source, target) = if found.from_before { (place, at) } else { (at, place) };
    Some(Link {
        source,
        target,
        kind: found.kind,
        weight: if asked.is_some() { 0.8 } else { 0.6 },
    })
}

/// Which of two turns that name their times happened first, however they were told.
fn in_time(told: &Told<'_>, at: usize) -> Option<Link> {
    let own = told.happened(at)?;
    let before = (at.saturating_sub(REACH)..at).rev();
    let (place, other) = before.into_iter().find_map(|it| Some((it, told.happened(it)?)))?;
    if other == own {
        let known = matches!(own.1, Precision::Instant | Precision::Day);
        let kind = RelationKind::Parallel;
        return known.then_some(Link {
            source: place,
            target: at,
            kind,
            weight: 0.5,
        });
    }
    let (source, target) = order((place, &other.0), (at, &own.0))?;
    Some(Link {
        source,
        target,
        kind: RelationKind::Before,
        weight: 0.7,
    })
}

fn order<T: Copy, U: Ord>(one: (T, &Range<U>), other: (T, &Range<U>)) -> Option<(T, T)> {
    if one.1.end <= other.1.start {
        Some((one.0, other.0))
    } else if other.1.end <= one.1.start {
        Some((other.0, one.0))
    } else {
        None
    }
}

/// What an action got, opened or made that this action uses; the latest one.
fn enabled(records: &[Record], at: usize) -> Option<Link> {
    if records[at].modality != Modality::Action {
        return None;
    }
    let uses = act::shown(&records[at]).to_lowercase();
    let call = uses.split(" -> ").next().unwrap_or_default();
    let made = |it: &usize| {
        let record = &records[*it];
        let usable = |key: &str, after: &str| {
            key == "location" && after == record.actor || matches!(after, "open" | "unlocked" | "on" | "made")
        };
        let mut changes = if record.modality == Modality::Action {
            state::changes(record, "")
        } else {
            Vec::new()
        }
        .into_iter();
        changes
            .any(|it| it.subject.len() > 2 && usable(&it.key, &it.after) && call.contains(&it.subject.to_lowercase()))
    };
    let place = (at.saturating_sub(REACH)..at).rev().find(made)?;
    Some(Link {
        source: place,
        target: at,
        kind: RelationKind::Enables,
        weight: 0.6,
    })
}

/// What the first turn of an event says of the last ones before it holds of the events, and so do their times.
fn between(told: &Told<'_>, before: &Range<usize>, after: &Range<usize>) -> Vec<Relation> {
    let records = told.records;
    let (one, other) = (
        UnitId::event(records[before.start].id),
        UnitId::event(records[after.start].id),
    );
    let lifted = of_turn(told, after.start).into_iter().filter(|it| {
        let place = it.source.min(it.target);
        before.contains(&place) && !matches!(it.kind, RelationKind::Parallel | RelationKind::Before)
    });
    let mut out: Vec<Relation> = lifted
        .map(|it| {
            let (source, target) = if it.source == after.start {
                (other, one)
            } else {
                (one, other)
            };
            Relation {
                source,
                target,
                weight: it.weight * 0.8,
                ..it.relation(records)
            }
        })
        .collect();
    if let Some(((source, first), (target, second))) = times(told, before).zip(times(told, after)).and_then(|(a, b)| {
        let (first, second) = order(((one, a.1), &a.0), ((other, b.1), &b.0))?;
        Some((first, second))
    }) {
        out.push(Relation {
            source,
            target,
            kind: RelationKind::Before,
            label: String::new(),
            weight: 0.6,
            evidence: vec![first, second],
        });
    }
    out
}

/// The time of the first turn of an event that names one, and its record.
fn times(told: &Told<'_>, event: &Range<usize>) -> Option<(Range<DateTime<Utc>>, RecordId)> {
    event
        .clone()
        .find_map(|it| Some((told.happened(it)?.0.clone(), told.records[it].id)))
}

fn shares_word(one: &str, other: &str) -> bool {
    let stems: BTreeSet<String> = text::stems(one).into_iter().collect();
    text::stems(other)
        .iter()
        .any(|it| it.chars().count() > 2 && stems.contains(it))
}
