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

use crate::segment::Stretch;
use crate::speech::{self, REACH};

mod done;
mod events;
mod happened;
mod said;

pub(crate) use events::of_events;
use happened::Happened;

/// Maximum number of relations of a turn to earlier turns (`TURN_MAX`), and of each kind (`KIND_MAX`).
const TURN_MAX: usize = 4;
const KIND_MAX: usize = 2;

/// Returns the relations between turn units that involve one of the places.
pub(crate) fn relations(stretch: &Stretch, places: &BTreeSet<usize>) -> Vec<Relation> {
    let length = stretch.records.len();
    let later: BTreeSet<usize> = places.iter().flat_map(|&it| it..length.min(it + REACH + 1)).collect();
    let told = Told::new(&stretch.records);
    later
        .into_iter()
        .flat_map(|at| of_turn(&told, at))
        .map(|it| it.between_turns(&stretch.records))
        .collect()
}

/// Returns the relations of the turn at `at` to turns at most [`REACH`] places before it, best first.
fn of_turn(told: &Told<'_>, at: usize) -> Vec<Link> {
    let mut out = said::links(told, at);
    for place in at.saturating_sub(REACH)..at {
        out.extend(happened::link(told, place, at));
        out.extend(done::link(told, place, at));
    }
    best(out, told.records)
}

/// Returns the best links of one turn: by weight, then distance, then kind, then record.
fn best(mut links: Vec<Link>, records: &[Record]) -> Vec<Link> {
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
        let pair = |it: &&Link| it.kind == link.kind && it.ends() == link.ends();
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

    fn ends(&self) -> (usize, usize) {
        (self.source.min(self.target), self.source.max(self.target))
    }

    /// Returns the records that support it, in session order.
    fn evidence(&self, records: &[Record]) -> Vec<RecordId> {
        let places: BTreeSet<usize> = [self.source, self.target].into_iter().chain(self.through).collect();
        places.into_iter().map(|it| records[it].id).collect()
    }

    fn between_turns(&self, records: &[Record]) -> Relation {
        Relation {
            source: UnitId::turn(records[self.source].id),
            target: UnitId::turn(records[self.target].id),
            kind: self.kind,
            label: String::new(),
            weight: f32::from(self.percent) / 100.0,
            evidence: self.evidence(records),
        }
    }
}

/// Records, with features that are computed once.
struct Told<'a> {
    records: &'a [Record],
    times: Vec<OnceCell<Option<Happened>>>,
    stems: Vec<OnceCell<BTreeSet<String>>>,
}

impl Told<'_> {
    fn new(records: &[Record]) -> Told<'_> {
        Told {
            records,
            times: vec![OnceCell::new(); records.len()],
            stems: vec![OnceCell::new(); records.len()],
        }
    }

    /// Returns when the content of the record at `at` happened, if it says so.
    fn happened(&self, at: usize) -> Option<&Happened> {
        self.times[at]
            .get_or_init(|| happened::read(&self.records[at]))
            .as_ref()
    }

    /// Returns the stems of the text of the record at `at`.
    fn stems(&self, at: usize) -> &BTreeSet<String> {
        self.stems[at].get_or_init(|| stems(&self.records[at].text))
    }

    /// Returns true if two records share a word that can connect them.
    fn share(&self, one: usize, other: usize) -> bool {
        !self.stems(one).is_disjoint(self.stems(other))
    }

    /// Returns the place of the record whose question the one at `at` answers, and the question.
    fn asked(&self, at: usize) -> Option<(usize, String)> {
        speech::asked(self.records, at)
    }
}

/// Returns the stems that can connect two texts.
fn stems(text: &str) -> BTreeSet<String> {
    let head = &text[..text.floor_char_boundary(4_000)];
    let stems = text::stems(head).into_iter();
    stems
        .filter(|it| it.chars().count() > 2 && !COMMON.contains(&it.as_str()) && !text::time::words::is_date_stem(it))
        .collect()
}

/// Stems that occur everywhere and connect nothing.
const COMMON: [&str; 81] = [
    "go",
    "get",
    "make",
    "say",
    "know",
    "think",
    "come",
    "take",
    "want",
    "see",
    "look",
    "like",
    "need",
    "good",
    "day",
    "time",
    "year",
    "today",
    "tomorrow",
    "yesterday",
    "week",
    "month",
    "last",
    "next",
    "well",
    "one",
    "two",
    "three",
    "first",
    "back",
    "new",
    "tell",
    "still",
    "ask",
    "laugh",
    "whole",
    "without",
    "behind",
    "somebody",
    "everybody",
    "nobody",
    "hour",
    "minut",
    "morn",
    "night",
    "even",
    "put",
    "keep",
    "let",
    "give",
    "call",
    "work",
    "feel",
    "love",
    "start",
    "peopl",
    "way",
    "lot",
    "home",
    "long",
    "big",
    "small",
    "old",
    "littl",
    "much",
    "mani",
    "never",
    "alway",
    "alreadi",
    "again",
    "right",
    "left",
    "leav",
    "news",
    "name",
    "word",
    "hand",
    "date",
    "sorri",
    "nice",
    "great",
];
