//! What stands beside a turn in what is derived: in its event, its topic, the sections of pages on which it has a line, behind
//! its relations and its names.

use std::collections::BTreeMap;

use domain::id::{TopicId, UnitId};

use super::context::{ranked, reciprocal};
use crate::leads::Leads;
use crate::matches::{Matches, cover};
use crate::memory::Shelf;
use crate::query::Query;
use crate::slots::{self as s, Values};
use crate::view::View;

/// Sections looked at of one turn.
const SHELVES_MAX: usize = 24;
/// A name in more turns than this ties nothing, and turns this near stand beside each other anyway.
const NAMED_MAX: u32 = 24;
const NEAR: usize = 3;

/// Fills in what stands beside the rows `full`; the first head's scores must be there.
pub(super) fn grouped(
    view: &View,
    query: &Query,
    leads: Leads<'_>,
    matches: &Matches,
    (all, full): (&mut [Values], &[usize]),
) {
    let known = leads.known;
    let top = all.iter().map(|it| it[s::FIRST]).fold(1e-6, f32::max);
    let mut events: Groups<UnitId> = Groups::default();
    let mut topics: Groups<TopicId> = Groups::default();
    let mut sections: Groups<Shelf> = Groups::default();
    for &row in full {
        let unit = view.turns()[matches.turns[row]].unit.id;
        let first = all[row][s::FIRST] / top;
        let event = known.event_of(unit).unwrap_or(unit);
        events.add(event, (row, unit, first));
        if let Some(member) = known.member(event) {
            // Turns of one event stand beside each other anyway.
            topics.add(member.topic, (row, event, first));
        }
        let shelves = known.shelves(unit).take(SHELVES_MAX);
        let shelves = shelves.map(|it| sections.add(it, (row, unit, first))).count();
        all[row][s::PAGED] = (1.0 + shelves as f32).ln() / 2.0;
    }
    let others = |groups: Vec<(usize, f32)>, slot: usize, all: &mut [Values]| {
        for (row, best) in groups {
            all[row][slot] = all[row][slot].max(best);
        }
    };
    others(events.others(), s::EVENT_BEST, all);
    others(topics.others(), s::TOPIC_BEST, all);
    others(sections.others(), s::PAGE_BEST, all);
    others(named(view, matches, (all, full), top), s::ENTITY_BEST, all);
    others(related(view, leads, matches, (all, top)), s::RELATED_BEST, all);
    for (rank, (_, members)) in events.ranked().into_iter().enumerate() {
        let covers = covered(query, matches, members);
        let dense = members.iter().map(|it| matches.rows[it.0].dense).sum::<f32>() / members.len() as f32;
        for (row, ..) in members {
            all[*row][s::EVENT_RANK] = reciprocal(rank);
            all[*row][s::EVENT_COVER] = covers;
            all[*row][s::EVENT_DENSE] = dense;
        }
    }
    for (rank, (topic, members)) in topics.ranked().into_iter().enumerate() {
        let covers = known.topic_wording(*topic).map_or(0.0, |it| cover(query, it));
        for (row, ..) in members {
            all[*row][s::TOPIC_RANK] = reciprocal(rank);
            all[*row][s::TOPIC_COVER] = covers;
        }
    }
}

/// Returns rows with the best score over the best of all, further away, that speaks of somebody or something of the same name.
fn named(view: &View, matches: &Matches, (all, full): (&[Values], &[usize]), top: f32) -> Vec<(usize, f32)> {
    let mut named: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for &row in full {
        let names = view.turns()[matches.turns[row]].names.iter();
        for name in names.filter(|it| (2..=NAMED_MAX).contains(&view.name_turns(**it))) {
            named.entry(*name).or_default().push(row);
        }
    }
    let mut out = Vec::new();
    for rows in named.values() {
        for &row in rows {
            let apart = |it: &&usize| matches.turns[**it].abs_diff(matches.turns[row]) > NEAR;
            let best = rows.iter().filter(apart).map(|it| all[*it][s::FIRST] / top);
            out.push((row, best.fold(0.0, f32::max)));
        }
    }
    out
}

/// Returns rows with the score over the best of all of what they are related to.
fn related(view: &View, leads: Leads<'_>, matches: &Matches, (all, top): (&[Values], f32)) -> Vec<(usize, f32)> {
    let row = |it| matches.turns.binary_search(&view.place(it)?).ok();
    let pairs = leads.related.iter().filter_map(|(a, b)| Some((row(*a)?, row(*b)?)));
    let both = pairs.flat_map(|(a, b)| [(a, b), (b, a)]);
    both.map(|(from, to)| (to, all[from][s::FIRST] / top)).collect()
}

/// Weight of the question's words by likeness to the best word of all members.
fn covered(query: &Query, matches: &Matches, members: &[Placed]) -> f32 {
    let like = |word: usize| members.iter().map(|it| matches.soft(it.0)[word]).fold(0.0, f32::max);
    let words = query.words.iter().enumerate();
    words.map(|(at, word)| word.weight * like(at)).sum()
}

/// Row, what it may not be compared with, first score over the best.
type Placed = (usize, UnitId, f32);

/// Rows by what they belong to.
struct Groups<K>(BTreeMap<K, Vec<Placed>>);

impl<K> Default for Groups<K> {
    fn default() -> Groups<K> {
        Groups(BTreeMap::new())
    }
}

impl<K: Ord> Groups<K> {
    fn add(&mut self, key: K, placed: Placed) {
        self.0.entry(key).or_default().push(placed);
    }

    /// Returns each row with the best score beside it in its group, 0 if it is alone.
    fn others(&self) -> Vec<(usize, f32)> {
        let mut out = Vec::new();
        for members in self.0.values() {
            let mut best: Option<(UnitId, f32)> = None;
            for &(_, unit, score) in members {
                if best.is_none_or(|it| score > it.1) {
                    best = Some((unit, score));
                }
            }
            let Some((unit, score)) = best else { continue };
            let second = members
                .iter()
                .filter(|it| it.1 != unit)
                .map(|it| it.2)
                .fold(0.0, f32::max);
            let beside = |it: &Placed| if it.1 == unit { second } else { score };
            out.extend(members.iter().map(|it| (it.0, beside(it))));
        }
        out
    }

    /// Returns the groups, those whose three best rows score most first, ties by key.
    fn ranked(&self) -> Vec<(&K, &[Placed])> {
        let groups: Vec<(&K, &[Placed])> = self.0.iter().map(|it| (it.0, it.1.as_slice())).collect();
        let means: Vec<f32> = groups.iter().map(|it| mean(it.1)).collect();
        let numbers: Vec<usize> = (0..groups.len()).collect();
        ranked(&numbers, |it| means[it])
            .into_iter()
            .map(|it| groups[it])
            .collect()
    }
}

/// The mean of the three best.
fn mean(members: &[Placed]) -> f32 {
    let mut scores: Vec<f32> = members.iter().map(|it| it.2).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores.iter().take(3).sum::<f32>() / 3.0
}
