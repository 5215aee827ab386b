//! Relations between units, by rule (CompassMem, section 3.2). Each relation names the records that support it.
//!
//! Each pair of turns at most [`REACH`] places apart is considered. That covers all pairs of an event, except in the
//! few events that are longer. A turn keeps its best [`TURN_MAX`] relations to earlier turns, so a session of n turns
//! has at most n times as many. A relation between turns of two events also holds between the events, with less
//! weight.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use domain::id::{RecordId, UnitId};
use domain::record::Record;
use domain::relation::{Relation, RelationKind};

use crate::segments::stretch::Stretch;
use crate::units::speech::REACH;
use crate::word_lists::COMMON_STEMS;

mod action_links;
mod events;
mod statement_links;
mod time_order;

pub(crate) use events::of_events;

use time_order::Happened;

/// Maximum number of relations of a turn to earlier turns (`TURN_MAX`), and of each kind (`KIND_MAX`).
const TURN_MAX: usize = 4;
const KIND_MAX: usize = 2;

/// Returns the relations between turn units that involve one of the places.
pub(crate) fn relations_of_turns(stretch: &Stretch, places: &BTreeSet<usize>) -> Vec<Relation> {
    let length = stretch.records.len();
    let later: BTreeSet<usize> = places.iter().flat_map(|&it| it..length.min(it + REACH + 1)).collect();
    let features = RecordFeatures::new(&stretch.records);
    later
        .into_iter()
        .flat_map(|at| of_turn(&features, at))
        .map(|it| it.between_turns(&stretch.records))
        .collect()
}

/// Returns the relations of the turn at `at` to turns at most [`REACH`] places before it, best first.
fn of_turn(features: &RecordFeatures<'_>, at: usize) -> Vec<Link> {
    let mut out = statement_links::links_of_turn(features, at);
    for place in at.saturating_sub(REACH)..at {
        out.extend(time_order::link_turns(features, place, at));
        out.extend(action_links::link_actions(features, place, at));
    }
    keep_best_links(out, features.records)
}

/// Returns the best links of one turn: by weight, then distance, then kind, then record.
fn keep_best_links(mut links: Vec<Link>, records: &[Record]) -> Vec<Link> {
    links.sort_by_key(|it| {
        let first = it.source.min(it.target);
        let distance = it.source.abs_diff(it.target);
        (
            Reverse(it.percent),
            distance,
            it.kind,
            records[first].id,
            it.source < it.target,
        )
    });
    let mut out: Vec<Link> = Vec::new();
    for link in links {
        let pair = |it: &&Link| it.kind == link.kind && it.ordered_ends() == link.ordered_ends();
        let alike = out.iter().filter(|it| it.kind == link.kind).count();
        if out.len() < TURN_MAX && alike < KIND_MAX && !out.iter().any(|it| pair(&it)) {
            out.push(link);
        }
    }
    out
}

/// A relation between two places of a window.
struct Link {
    source: usize,
    target: usize,
    kind: RelationKind,
    /// Confidence in hundredths: the share of the judged relations of its rule that were right.
    percent: u8,
    /// A third record that supports it.
    through: Option<usize>,
}

impl Link {
    fn new(source: usize, kind: RelationKind, target: usize, percent: u8) -> Link {
        Link {
            source,
            target,
            kind,
            percent,
            through: None,
        }
    }

    fn ordered_ends(&self) -> (usize, usize) {
        (self.source.min(self.target), self.source.max(self.target))
    }

    /// Returns the records that support it, in session order.
    fn evidence_records(&self, records: &[Record]) -> Vec<RecordId> {
        let places: BTreeSet<usize> = [self.source, self.target].into_iter().chain(self.through).collect();
        places.into_iter().map(|it| records[it].id).collect()
    }

    fn between_turns(&self, records: &[Record]) -> Relation {
        Relation {
            source: UnitId::of_turn(records[self.source].id),
            target: UnitId::of_turn(records[self.target].id),
            kind: self.kind,
            label: String::new(),
            weight: f32::from(self.percent) / 100.0,
            evidence: self.evidence_records(records),
        }
    }
}

/// Records, with features that are computed once.
struct RecordFeatures<'a> {
    records: &'a [Record],
    times: Vec<OnceCell<Option<Happened>>>,
    stems: Vec<OnceCell<BTreeSet<String>>>,
}

impl RecordFeatures<'_> {
    fn new(records: &[Record]) -> RecordFeatures<'_> {
        RecordFeatures {
            records,
            times: vec![OnceCell::new(); records.len()],
            stems: vec![OnceCell::new(); records.len()],
        }
    }

    /// Returns the time at which the content of the record at `at` happened, if the record states it.
    fn happened_at(&self, at: usize) -> Option<&Happened> {
        self.times[at]
            .get_or_init(|| time_order::read_happened(&self.records[at]))
            .as_ref()
    }

    /// Returns the stems of the text of the record at `at`.
    fn stems_at(&self, at: usize) -> &BTreeSet<String> {
        self.stems[at].get_or_init(|| connecting_stems(&self.records[at].text))
    }

    /// Returns true if two records share a word that can connect them.
    fn share_stems(&self, one: usize, other: usize) -> bool {
        !self.stems_at(one).is_disjoint(self.stems_at(other))
    }
}

/// Returns the stems that can connect two texts.
fn connecting_stems(text: &str) -> BTreeSet<String> {
    let head = &text[..text.floor_char_boundary(4_000)];
    let stems = text::stem_words(head).into_iter();
    stems
        .filter(|it| {
            it.chars().count() > 2 && !COMMON_STEMS.contains(it.as_str()) && !text::time::words::is_date_stem(it)
        })
        .collect()
}
