//! Routes one question over one view. It is pure: equal inputs give equal results.

pub mod bonuses;
mod explain;
pub mod pack;
pub mod propose;
pub mod query;
pub mod query_word;
mod reply_lists;
pub mod scoring;
pub mod similarity;

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, FixedOffset};
use domain::evidence::{Channel, Scores};
use domain::id::UnitId;
use domain::message::{RouteV1, RoutedV1};
use domain::port::SearchResult;

use crate::route::bonuses::support_bonus::{Favoured, support_bonuses};
use crate::route::explain::explain_best_units;
use crate::route::pack::{Choice, ScoredUnits, pack_choice};
use crate::route::propose::{Candidates, Gate, WHOLE, propose_candidates};
use crate::route::query::Query;
use crate::route::scoring::edges::{Related, pair_features};
use crate::route::scoring::feature_slots::{self, Values};
use crate::route::scoring::features::{compute_features, quick_first_scores};
use crate::route::scoring::heads::Weights;
use crate::route::scoring::matches::{Matches, Measures};
use crate::space::scope::Scope;
use crate::space::view::View;

/// Number of turns before and after a candidate that are matched too, in larger spaces.
const AROUND: usize = 3;
/// Maximum number of candidates that get all features. A cheap first score (a glance) selects them.
pub const FULL: usize = 800;
/// Number of the best units that get an edge score, and number of the anchors among them.
const CHAINED: usize = 64;
const ANCHORS: usize = 3;
/// Maximum number of names of speakers in the reply.
const SPEAKERS: usize = 32;

/// A candidate with its scores.
pub struct Scored {
    /// Position in the view.
    pub place: usize,
    /// The score of each head.
    pub scores: Scores,
    /// Softmax of the support scores over all candidates.
    pub probability: f32,
    /// The channels that proposed it.
    pub channels: Vec<Channel>,
    /// Features of the candidate.
    pub values: Values,
    /// The bonus in its support score, because it was pinned or gathered; 0 for most.
    pub favour: f32,
}

/// Returns the moment at which a question is asked: `asked_at`, else `as_of`, else `clock` in the time zone of the
/// latest observation, else that observation, else 1970.
pub fn question_moment(view: &View, request: &RouteV1) -> DateTime<FixedOffset> {
    let stated = request.asked_at.or(request.as_of);
    stated.unwrap_or_else(|| match (request.clock, latest_observation(view)) {
        (Some(clock), Some(latest)) => clock.with_timezone(latest.offset()),
        (Some(clock), None) => clock.fixed_offset(),
        (None, latest) => latest.unwrap_or_default(),
    })
}

/// Returns the time at which the latest turn of a space was observed.
pub fn latest_observation(view: &View) -> Option<DateTime<FixedOffset>> {
    let last = view
        .session_ranges()
        .iter()
        .filter_map(|it| view.turns()[it.clone()].last());
    last.map(|it| it.unit.observed_at).max()
}

/// The units of one grain, the question as read against them, and their hits in the index.
#[derive(Clone, Copy)]
pub struct Searched<'a> {
    /// The units.
    pub view: &'a View,
    /// The question, read against `view`.
    pub query: &'a Query,
    /// Hits of the index.
    pub found: &'a SearchResult,
}

/// A question to a space, with all data that is needed to answer it.
#[derive(Clone, Copy)]
pub struct RouteInput<'a> {
    /// The request.
    pub request: &'a RouteV1,
    /// The turns.
    pub turns: Searched<'a>,
    /// The gists, if they may be evidence.
    pub gists: Option<Searched<'a>>,
    /// Relations of the best hits.
    pub related: &'a Related,
    /// The only units that may be evidence; `None` allows all.
    pub only: Option<&'a BTreeSet<UnitId>>,
    /// The only turns that may be used, if the filter has tags or metadata.
    pub scope: Option<&'a Scope>,
}

/// Finds, ranks and packs evidence among turns. `found` are the hits of the index, and `related` are the relations of
/// the best hits.
pub fn route_turns(
    view: &View,
    query: &Query,
    found: &SearchResult,
    related: &Related,
    request: &RouteV1,
    weights: &Weights,
) -> RoutedV1 {
    let input = RouteInput {
        request,
        turns: Searched { view, query, found },
        gists: None,
        related,
        only: None,
        scope: None,
    };
    input.route_question(weights)
}

impl<'a> RouteInput<'a> {
    /// Finds, ranks and packs evidence. Turns and gists are proposed and scored separately; the packer chooses between
    /// them by probability and price.
    pub fn route_question(&self, weights: &Weights) -> RoutedV1 {
        let RouteInput { request, turns, .. } = *self;
        let gate = self.make_gate(turns.view);
        let gists = self
            .gists
            .map(|gists| (gists, self.make_gate(gists.view).of_gists(turns.view)));
        let ranked = self.rank_units(turns, &gate, weights);
        let mut ranked_gists = gists
            .as_ref()
            .map(|(it, gate)| (*it, self.rank_units(*it, gate, weights)));
        if let Some((searched, gists)) = &mut ranked_gists {
            gists.scale_probabilities(ranked.probability_of_read(turns.view, searched.view, gists));
        }
        let choice = Choice {
            turns: ranked.to_listed(turns),
            gists: ranked_gists.as_ref().map(|(it, ranked)| ranked.to_listed(*it)),
        };
        let packed = pack_choice(&choice, request);
        let of_gists = ranked_gists.as_ref().map_or(0, |it| it.1.candidates);
        let units = gists.map_or(0, |(it, gate)| gate.count_admitted(it.view));
        RoutedV1 {
            scenes: reply_lists::list_scenes(&choice, &packed, &gate),
            explained: explain_best_units(&choice, &packed, request.explain as usize, weights),
            anchors: turns.query.anchors.clone(),
            reading: Some(turns.query.reading.clone()),
            ranked: reply_lists::list_ranked_units(&choice, request.ranked as usize),
            pack: packed.pack,
            speakers: self.speaker_names(&gate),
            words: turns.query.word_weights(),
            units: (gate.count_admitted(turns.view) + units) as u64,
            candidates: (ranked.candidates + of_gists) as u32,
            weights: weights.version.clone(),
            steps: Vec::new(),
            degraded: Vec::new(),
            degraded_codes: Vec::new(),
        }
    }

    /// Returns the names of the speakers who have a turn that may be shown, regardless of the moment and the filter of
    /// the request. The speakers with the most turns in the space come first.
    fn speaker_names(&self, gate: &Gate<'_>) -> Vec<String> {
        let view = self.turns.view;
        let names = view.speakers().names();
        let mut is_heard = vec![!gate.may_hide_turns(); names.len()];
        let mut unheard = is_heard.iter().filter(|it| !**it).count();
        // Usually the first few turns are of all speakers, so the other turns need not be read.
        for (place, turn) in view.turns().iter().enumerate() {
            if unheard == 0 {
                break;
            }
            if let Some(speaker) = view.speaker_of(place).filter(|it| !is_heard[*it])
                && gate.may_be_shown(&turn.unit)
            {
                is_heard[speaker] = true;
                unheard -= 1;
            }
        }
        let heard_names = names.iter().zip(is_heard).filter(|it| it.1);
        heard_names.take(SPEAKERS).map(|it| it.0.clone()).collect()
    }

    /// Returns the gate that decides which units of a view may be evidence.
    fn make_gate(&self, view: &'a View) -> Gate<'a> {
        let gate = Gate::from_request(self.request)
            .with_scope(self.scope)
            .exclude_marked(view.marks());
        match self.only {
            Some(only) => gate.limit_to_units(only),
            None => gate,
        }
    }

    fn rank_units(&self, searched: Searched<'_>, gate: &Gate<'_>, weights: &Weights) -> Ranked {
        let Searched { view, query, found } = searched;
        let favoured = support_bonuses(view, query, gate, &self.request.focus);
        let mut candidates = propose_candidates(view, query, gate, found, self.related);
        for place in favoured.keys() {
            candidates.entry(*place).or_default();
        }
        Ranked {
            scored: score_favoured(view, query, &candidates, &favoured, self.related, weights),
            candidates: candidates.len(),
        }
    }
}

/// The scored units of one grain.
struct Ranked {
    /// The scored units, best first.
    scored: Vec<Scored>,
    /// Number of candidates before the first score.
    candidates: usize,
}

impl Ranked {
    /// Returns the summed probability of the turns that the gists were read from.
    fn probability_of_read(&self, turns: &View, view: &View, gists: &Ranked) -> f32 {
        let gists = gists.scored.iter().map(|it| &view.turns()[it.place].unit);
        let records = gists.flat_map(|it| &it.records);
        let read: HashSet<usize> = records.flat_map(|it| turns.places_of_record(*it)).collect();
        let read = self.scored.iter().filter(|it| read.contains(&it.place));
        read.map(|it| it.probability).sum()
    }

    /// Scales the probabilities of the units by `probability`. Gists of a space that was only read in part hold no more
    /// of the evidence than that part.
    fn scale_probabilities(&mut self, probability: f32) {
        self.scored.iter_mut().for_each(|it| it.probability *= probability);
    }

    fn to_listed<'a>(&'a self, searched: Searched<'a>) -> ScoredUnits<'a> {
        ScoredUnits {
            view: searched.view,
            query: searched.query,
            scored: &self.scored,
        }
    }
}

/// Scores the candidates that the first score selects, best first, ties by position.
pub fn score_candidates(
    view: &View,
    query: &Query,
    candidates: &Candidates,
    related: &Related,
    weights: &Weights,
) -> Vec<Scored> {
    score_favoured(view, query, candidates, &Favoured::new(), related, weights)
}

/// Like [`score_candidates`], with a bonus for the support scores of some candidates. These always get all features.
fn score_favoured(
    view: &View,
    query: &Query,
    candidates: &Candidates,
    favoured: &Favoured,
    related: &Related,
    weights: &Weights,
) -> Vec<Scored> {
    let (matches, full) = match_best_candidates(view, query, candidates, favoured, weights);
    let mut all = compute_features(view, query, &matches, &full, weights);
    set_edge_scores(view, &matches, &mut all, &full, related, weights);
    let favour = |row: usize| favoured.get(&matches.turns[row]).copied().unwrap_or_default();
    let support = |row: usize| (weights.support.score(&all[row]) + favour(row), row);
    let mut order: Vec<(f32, usize)> = full.into_iter().map(support).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let scored = order.into_iter().map(|(support, row)| Scored {
        place: matches.turns[row],
        scores: Scores {
            support,
            anchor: weights.anchor.score(&all[row]),
            edge: all[row][feature_slots::CHAINED],
        },
        probability: 0.0,
        channels: candidates.get(&matches.turns[row]).cloned().unwrap_or_default(),
        values: all[row],
        favour: favour(row),
    });
    let mut scored: Vec<Scored> = scored.collect();
    let top = scored.first().map_or(0.0, |it| it.scores.support);
    let odds: Vec<f32> = scored
        .iter()
        .map(|it| ((it.scores.support - top) / weights.temperature).exp())
        .collect();
    let sum: f32 = odds.iter().sum();
    scored
        .iter_mut()
        .zip(odds)
        .for_each(|(it, odds)| it.probability = odds / sum);
    scored
}

/// Matches the candidates with the best first scores and their neighbours, and returns the rows of these candidates.
fn match_best_candidates(
    view: &View,
    query: &Query,
    candidates: &Candidates,
    favoured: &Favoured,
    weights: &Weights,
) -> (Matches, Vec<usize>) {
    let matches = Matches::match_turns(view, query, candidates.keys().copied().collect());
    let mut rows = best_rows(&quick_first_scores(view, query, &matches, weights));
    rows.extend(favoured.keys().filter_map(|it| matches.turns.binary_search(it).ok()));
    rows.sort_unstable();
    rows.dedup();
    if view.part_count() <= WHOLE {
        return (matches, rows);
    }
    let rows: Vec<usize> = rows.into_iter().map(|it| matches.turns[it]).collect();
    // A neighbour is not packed. It only needs the values that its first score and its session read.
    let neighbours = match weights.first.reads_slot(feature_slots::DENSE_SENTENCE) {
        true => Measures::All,
        false => Measures::WithoutSentenceVectors,
    };
    let matches = matches.match_more_turns(view, query, with_neighbours(view, &rows), neighbours);
    let full = rows
        .iter()
        .filter_map(|it| matches.turns.binary_search(it).ok())
        .collect();
    (matches, full)
}

/// Returns the rows of the best scores, ascending; of equal scores the first rows.
fn best_rows(scores: &[f32]) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..scores.len()).collect();
    if rows.len() > FULL {
        rows.select_nth_unstable_by(FULL, |&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        rows.truncate(FULL);
        rows.sort_unstable();
    }
    rows
}

fn with_neighbours(view: &View, rows: &[usize]) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::with_capacity(rows.len() * 2);
    for &place in rows {
        let session = &view.session_ranges()[view.session_of(place)];
        let from = place
            .saturating_sub(AROUND)
            .max(session.start)
            .max(places.last().map_or(0, |it| it + 1));
        places.extend(from..(place + AROUND + 1).min(session.end));
    }
    places
}

/// Sets for the best units the edge score to the best anchors among them.
fn set_edge_scores(
    view: &View,
    matches: &Matches,
    all: &mut [Values],
    full: &[usize],
    related: &Related,
    weights: &Weights,
) {
    let mut order: Vec<(f32, usize)> = full.iter().map(|&it| (weights.support.score(&all[it]), it)).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.truncate(CHAINED);
    let order: Vec<usize> = order.into_iter().map(|it| it.1).collect();
    let mut anchors: Vec<(f32, usize)> = order.iter().map(|&it| (weights.anchor.score(&all[it]), it)).collect();
    anchors.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    anchors.truncate(ANCHORS);
    let anchors: Vec<usize> = anchors.into_iter().map(|it| it.1).collect();
    for row in order {
        let from = anchors.iter().filter(|&&it| it != row);
        let edges = from.map(|&it| {
            let pair = pair_features(view, related, matches.turns[it], matches.turns[row]);
            weights
                .edge
                .iter()
                .zip(pair)
                .map(|(weight, value)| weight * value)
                .sum::<f32>()
        });
        all[row][feature_slots::CHAINED] = edges.fold(0.0, f32::max);
    }
}
