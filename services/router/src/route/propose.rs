//! Hybrid search: eight channels (meaning, words, names, times and others) propose candidates. They only collect; the
//! heads score.

use std::collections::{BTreeMap, BTreeSet};

use domain::evidence::Channel;
use domain::id::UnitId;
use domain::message::RouteV1;
use domain::port::{Hit, SearchResult, Sparse};

use crate::route::query::Query;
use crate::route::scoring::edges::Related;
use crate::space::scope::Scope;
use crate::space::unit_filter::UnitFilter;
use crate::space::view::{Marks, SoughtStems, Turn, UnitHead, View, stem_bits};

/// In a space with at most this many parts, all turns are candidates.
pub const WHOLE: usize = 1_500;
/// Maximum number of candidates in a larger space.
pub const CANDIDATES: usize = 1_000;
/// Maximum number of candidates from each channel that reads the view.
const EACH: usize = 100;
/// Maximum number of candidates from the view if a filter that the index cannot apply excludes most of its hits.
const REFILLED: usize = 300;
/// Number of the best hits whose neighbours become candidates too.
const STRONG: usize = 60;

/// Candidates by position in the view, with the channels that proposed them.
pub type Candidates = BTreeMap<usize, Vec<Channel>>;

/// Decides which turns or gists may be evidence.
pub struct Gate<'a> {
    request: &'a RouteV1,
    filter: UnitFilter,
    marks: Option<&'a Marks>,
    except: Option<&'a BTreeSet<UnitId>>,
    only: Option<&'a BTreeSet<UnitId>>,
    scope: Option<&'a Scope>,
    /// The view of turns, in a gate for gists; `None` in a gate for turns.
    turns: Option<&'a View>,
}

impl<'a> Gate<'a> {
    /// Reads the time and the filter of a request.
    pub fn from_request(request: &'a RouteV1) -> Gate<'a> {
        Gate {
            request,
            filter: UnitFilter::new(&request.space, &request.filter),
            marks: None,
            except: None,
            only: None,
            scope: None,
            turns: None,
        }
    }

    /// Also excludes turns outside of a scope.
    #[must_use]
    pub fn with_scope(self, scope: Option<&'a Scope>) -> Gate<'a> {
        Gate { scope, ..self }
    }

    /// Also excludes turns that were forgotten or replaced.
    #[must_use]
    pub fn exclude_marked(self, marks: &'a Marks) -> Gate<'a> {
        Gate {
            marks: Some(marks),
            ..self
        }
    }

    /// Also excludes these units.
    #[must_use]
    pub fn exclude_units(self, units: &'a BTreeSet<UnitId>) -> Gate<'a> {
        Gate {
            except: Some(units),
            ..self
        }
    }

    /// Also excludes all other units.
    #[must_use]
    pub fn limit_to_units(self, units: &'a BTreeSet<UnitId>) -> Gate<'a> {
        Gate {
            only: Some(units),
            ..self
        }
    }

    /// Makes it a gate for gists. A gist is excluded if one of the turns from which it was read does not exist in
    /// `turns` any more or is excluded by the moment or the filter of the request, since the gist may contain what that
    /// turn said.
    #[must_use]
    pub fn of_gists(self, turns: &'a View) -> Gate<'a> {
        Gate {
            turns: Some(turns),
            ..self
        }
    }

    /// Returns true if the gate may exclude a turn for a reason other than the moment and the filter of the request.
    pub fn may_hide_turns(&self) -> bool {
        self.marks.is_some_and(|it| !it.tell_all())
            || self.except.is_some_and(|it| !it.is_empty())
            || self.only.is_some()
            || self.scope.is_some()
    }

    /// Returns the request that the gate was read from.
    pub fn request(&self) -> &'a RouteV1 {
        self.request
    }

    /// Returns the number of turns that may be evidence.
    pub fn count_admitted(&self, view: &View) -> usize {
        let request = self.request;
        let open =
            request.as_of.is_none() && request.filter.is_empty() && !self.may_hide_turns() && self.turns.is_none();
        if open {
            return view.turns().len();
        }
        view.turns().iter().filter(|it| self.may_be_evidence(it)).count()
    }

    /// Returns true if the gate excludes turns that the index does not exclude. The index applies times only.
    fn is_narrower_than_index(&self) -> bool {
        // A small scope narrows the search of the index itself.
        let is_searched = self.scope.is_none_or(|it| it.units_to_search().is_some());
        !(is_searched && self.filter.compares_only_times())
    }

    /// Returns all turns that may be evidence, if they have at most `WHOLE` parts.
    fn admitted_turns_if_few(&self, view: &View) -> Option<Vec<usize>> {
        let (mut few, mut parts) = (Vec::new(), 0);
        for (place, turn) in view.turns().iter().enumerate().filter(|it| self.may_be_evidence(it.1)) {
            parts += turn.part_count();
            if parts > WHOLE {
                return None;
            }
            few.push(place);
        }
        Some(few)
    }

    /// Returns true if a turn or gist may be evidence.
    pub fn may_be_evidence(&self, turn: &Turn) -> bool {
        let unit = &turn.unit;
        self.request_admits(unit) && self.may_be_shown(unit) && self.turns.is_none_or(|it| self.admits_turns(it, unit))
    }

    /// Returns true if a turn may be quoted next to evidence. A filter by actors does not exclude it.
    pub fn may_be_context(&self, turn: &Turn) -> bool {
        self.is_timely(&turn.unit) && self.filter.admits_unit_of_any_actor(&turn.unit) && self.may_be_shown(&turn.unit)
    }

    /// Returns true if a unit may be shown, regardless of the moment and the filter of the request.
    pub fn may_be_shown(&self, unit: &UnitHead) -> bool {
        self.is_told(unit)
            && self.except.is_none_or(|it| !it.contains(&unit.id))
            && self.only.is_none_or(|it| it.contains(&unit.id))
            && self.is_inside(unit)
    }

    /// Returns true if a turn, or all turns of a gist, lie inside of the scope.
    fn is_inside(&self, unit: &UnitHead) -> bool {
        self.scope.is_none_or(|it| match self.turns {
            Some(_) => it.has_records(&unit.records),
            None => it.has_turn(unit.id),
        })
    }

    /// Returns true if a unit was neither forgotten nor replaced at the moment of the request.
    fn is_told(&self, unit: &UnitHead) -> bool {
        let as_of = self.request.as_of.map(|it| it.to_utc());
        self.marks.is_none_or(|it| it.is_evidence_at(unit.id, as_of))
    }

    /// Returns true if the request admits a unit by its moment and its filter, without tags and metadata.
    fn request_admits(&self, unit: &UnitHead) -> bool {
        self.is_timely(unit) && self.filter.admits_unit(unit)
    }

    /// Returns true if a unit was observed by the moment of the request.
    fn is_timely(&self, unit: &UnitHead) -> bool {
        self.request.as_of.is_none_or(|it| unit.observed_at <= it)
    }

    /// Returns true if all turns of a gist exist and the request admits them.
    fn admits_turns(&self, turns: &View, gist: &UnitHead) -> bool {
        gist.records.iter().all(|record| {
            let first = turns.position_of_unit(UnitId::of_turn(*record));
            let as_of = self.request.as_of.map(|it| it.to_utc());
            let is_told = turns.marks().is_evidence_at(UnitId::of_turn(*record), as_of);
            is_told && first.is_some_and(|it| self.request_admits(&turns.turns()[it].unit))
        })
    }
}

/// Collects candidates: hits of the index, turns that the view proposes, and neighbours and relatives of the best hits.
pub fn propose_candidates(
    view: &View,
    query: &Query,
    gate: &Gate<'_>,
    found: &SearchResult,
    related: &Related,
) -> Candidates {
    let mut candidates = Candidates::new();
    let mut strong = Vec::new();
    for (channel, hits) in [
        (Channel::Lexical, &found.words),
        (Channel::Lexical, &found.pieces),
        (Channel::Semantic, &found.dense),
    ] {
        let places = admitted_positions(view, gate, hits);
        strong.extend(places.iter().take(STRONG / 3).copied());
        places
            .into_iter()
            .for_each(|it| add_candidate(&mut candidates, it, channel));
    }
    strong.sort_unstable();
    strong.dedup();
    for (channel, places) in from_view(view, query, gate) {
        places
            .into_iter()
            .for_each(|it| add_candidate(&mut candidates, it, channel));
    }
    for place in &strong {
        let session = &view.session_ranges()[view.session_of(*place)];
        let near = place.saturating_sub(2).max(session.start)..(place + 3).min(session.end);
        near.filter(|it| it != place && gate.may_be_evidence(&view.turns()[*it]))
            .for_each(|it| add_candidate(&mut candidates, it, Channel::Continuity));
        let unit = view.turns()[*place].unit.id;
        let linked = related.iter().filter_map(|(a, b)| {
            if *a == unit {
                Some(*b)
            } else {
                (*b == unit).then_some(*a)
            }
        });
        let linked = linked
            .filter_map(|it| view.position_of_unit(it))
            .filter(|it| gate.may_be_evidence(&view.turns()[*it]));
        linked.for_each(|it| add_candidate(&mut candidates, it, Channel::Causal));
    }
    if let Some(few) = gate.admitted_turns_if_few(view) {
        for place in few {
            candidates.entry(place).or_default();
        }
        return candidates;
    }
    if gate.is_narrower_than_index() {
        let refill = turns_with_most_terms(view, query, gate);
        refill
            .into_iter()
            .for_each(|it| add_candidate(&mut candidates, it, Channel::Lexical));
    }
    limit_candidates(candidates, view, found)
}

/// Returns the stems to search for, each once.
pub fn search_terms(query: &Query) -> Sparse {
    let terms: BTreeMap<u32, f32> = query.words.iter().map(|it| (it.term, 1.0)).collect();
    terms.into_iter().collect()
}

fn add_candidate(candidates: &mut Candidates, place: usize, channel: Channel) {
    let channels = candidates.entry(place).or_default();
    if let Err(at) = channels.binary_search(&channel) {
        channels.insert(at, channel);
    }
}

fn admitted_positions(view: &View, gate: &Gate<'_>, hits: &[Hit]) -> Vec<usize> {
    let known = hits.iter().filter_map(|it| view.position_of_unit(it.unit));
    known.filter(|it| gate.may_be_evidence(&view.turns()[*it])).collect()
}

/// Returns the candidates that the view itself proposes: for each channel the turns with the most words of the
/// question.
fn from_view(view: &View, query: &Query, gate: &Gate<'_>) -> Vec<(Channel, Vec<usize>)> {
    let mut found: [Vec<(usize, usize)>; 4] = Default::default();
    let scan_data = view.scan_data();
    let words = SoughtStems::new(query.words.iter().map(|it| it.term).collect());
    let names = stem_bits(&query.names);
    let by_moment = query.anchors.window.is_some() || query.anchors.step.is_some();
    for (place, turn) in view.turns().iter().enumerate() {
        let is_by_subject = view.speaker_of(place).is_some_and(|it| query.subjects.contains(&it));
        let (has_picture, may_share) = (scan_data.has_picture(place), scan_data.may_name(place, names));
        if !(is_by_subject || has_picture || by_moment || may_share) {
            continue;
        }
        let timely = query.anchors.window.as_ref().is_some_and(|window| {
            let at = turn.unit.observed_at.to_utc();
            (window.start..window.end).contains(&at) || turn.unit.times.iter().any(|it| it.overlaps(window))
        });
        let step = query.anchors.step.is_some() && query.anchors.step == turn.unit.step;
        let shares = may_share && query.names.iter().any(|it| turn.names().binary_search(it).is_ok());
        if !(is_by_subject || timely || step || shares || has_picture) {
            continue;
        }
        let hits = scan_data.count_stems(place, &words);
        let anchored = step || is_by_subject && hits > 0;
        let has_picture = has_picture && (query.picture || hits > 0);
        for (list, takes) in found.iter_mut().zip([anchored, timely, shares, has_picture]) {
            if takes {
                list.push((hits, place));
            }
        }
    }
    let admits = |place: usize| gate.may_be_evidence(&view.turns()[place]);
    let channels = [Channel::Anchor, Channel::Temporal, Channel::Entity, Channel::Visual];
    channels
        .into_iter()
        .zip(found.map(|it| top_positions(it, EACH, admits)))
        .collect()
}

/// Returns the turns with the most words of the question among those that may be evidence.
fn turns_with_most_terms(view: &View, query: &Query, gate: &Gate<'_>) -> Vec<usize> {
    let words = SoughtStems::new(query.words.iter().map(|it| it.term).collect());
    let held = (0..view.turns().len()).map(|it| (view.scan_data().count_stems(it, &words), it));
    let admits = |place: usize| gate.may_be_evidence(&view.turns()[place]);
    top_positions(held.filter(|it| it.0 > 0).collect(), REFILLED, admits)
}

/// Returns the admitted positions with the greatest numbers, at most `count`, ties by position.
///
/// `admits` reads a turn, which is slow, so it is called for the best positions first and not for all of them. Each
/// round takes twice as many positions as the round before.
fn top_positions(mut list: Vec<(usize, usize)>, count: usize, admits: impl Fn(usize) -> bool) -> Vec<usize> {
    let order = |a: &(usize, usize), b: &(usize, usize)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    let (mut kept, mut rest, mut round) = (Vec::new(), list.as_mut_slice(), count);
    while kept.len() < count && !rest.is_empty() {
        if rest.len() > round {
            rest.select_nth_unstable_by(round, order);
        }
        let (best, others) = rest.split_at_mut(round.min(rest.len()));
        best.sort_unstable_by(order);
        let places = best.iter().map(|it| it.1).filter(|it| admits(*it));
        kept.extend(places.take(count - kept.len()));
        (rest, round) = (others, round * 2);
    }
    kept
}

/// Keeps the candidates with the most channels, then the best hits, then the earliest ones.
fn limit_candidates(candidates: Candidates, view: &View, found: &SearchResult) -> Candidates {
    if candidates.len() <= CANDIDATES {
        return candidates;
    }
    let mut ranks: BTreeMap<usize, usize> = BTreeMap::new();
    for hits in [&found.pieces, &found.words, &found.dense] {
        for (rank, place) in hits.iter().filter_map(|it| view.position_of_unit(it.unit)).enumerate() {
            let best = ranks.entry(place).or_insert(rank);
            *best = rank.min(*best);
        }
    }
    let mut all: Vec<(usize, Vec<Channel>)> = candidates.into_iter().collect();
    let rank = |it: &(usize, Vec<Channel>)| ranks.get(&it.0).copied().unwrap_or(usize::MAX);
    all.sort_by(|a, b| {
        b.1.len()
            .cmp(&a.1.len())
            .then(rank(a).cmp(&rank(b)))
            .then(a.0.cmp(&b.0))
    });
    all.truncate(CANDIDATES);
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::top_positions;

    proptest! {
        #[test]
        fn the_best_admitted_positions_are_those_of_a_full_sort(
            numbers in prop::collection::vec(0_usize..5, 0..60), count in 1_usize..8, divisor in 1_usize..9,
        ) {
            let list: Vec<(usize, usize)> = numbers.into_iter().zip(0..).collect();
            let admits = |place: usize| place.is_multiple_of(divisor);
            let mut sorted = list.clone();
            sorted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            let places = sorted.into_iter().map(|it| it.1).filter(|it| admits(*it));
            prop_assert_eq!(top_positions(list, count, admits), places.take(count).collect::<Vec<_>>());
        }
    }
}
