//! One question against one view: pure, and the same every time.

use chrono::{DateTime, FixedOffset};
use domain::evidence::{Channel, RankedUnit, Scene, Scores, Turn as Shown};
use domain::message::{RouteV1, RoutedV1};
use domain::port::SearchResult;

use crate::edges::{Related, edge};
use crate::explain::explain;
use crate::favour::{Favoured, favoured};
use crate::features::{features, glance};
use crate::heads::Weights;
use crate::matches::Matches;
use crate::pack::{Display, Fate, pack};
use crate::propose::{Candidates, Gate, WHOLE, propose};
use crate::query::Query;
use crate::slots::{self, Values};
use crate::view::View;

/// Turns around a candidate that are matched too, in greater spaces.
const AROUND: usize = 3;
/// At most this many candidates get all features; the others are passed over after a glance.
pub const FULL: usize = 800;
/// Scenes beside the best: units that somebody gathered or pinned, or whose facts hold what is asked for.
const WANTED: usize = 4;
/// Best units that get edges, and anchors that the edges start from.
const CHAINED: usize = 64;
const ANCHORS: usize = 3;
/// Names of speakers given out.
const SPEAKERS: usize = 32;

/// A candidate with its scores.
pub struct Scored {
    /// Place in the view.
    pub place: usize,
    /// Scores by head.
    pub scores: Scores,
    /// Softmax of the support scores over all candidates.
    pub probability: f32,
    /// The channels that proposed it.
    pub channels: Vec<Channel>,
    /// Its features.
    pub values: Values,
    /// What was added to its support score because somebody wants it, 0 for most.
    pub favour: f32,
}

/// Returns the moment a question is asked at: `asked_at`, else `as_of`, else `clock` in the zone of the latest observation, else
/// that observation, else 1970.
pub fn now(view: &View, request: &RouteV1) -> DateTime<FixedOffset> {
    let stated = request.asked_at.or(request.as_of);
    stated.unwrap_or_else(|| match (request.clock, latest(view)) {
        (Some(clock), Some(latest)) => clock.with_timezone(latest.offset()),
        (Some(clock), None) => clock.fixed_offset(),
        (None, latest) => latest.unwrap_or_default(),
    })
}

/// Returns when the last turn of a space was observed.
pub fn latest(view: &View) -> Option<DateTime<FixedOffset>> {
    let last = view.sessions().iter().filter_map(|it| view.turns()[it.clone()].last());
    last.map(|it| it.unit.observed_at).max()
}

/// Finds, ranks and packs evidence. `found` are the hits of the index, `related` the relations of the best of them.
pub fn route(
    view: &View,
    query: &Query,
    found: &SearchResult,
    related: &Related,
    request: &RouteV1,
    weights: &Weights,
) -> RoutedV1 {
    let gate = Gate::of(request).without(&view.marks().forgotten);
    within(view, query, &gate, (found, related), weights)
}

/// The same, for what a gate admits.
pub(crate) fn within(
    view: &View,
    query: &Query,
    gate: &Gate<'_>,
    (found, related): (&SearchResult, &Related),
    weights: &Weights,
) -> RoutedV1 {
    let request = gate.request();
    let favoured = favoured(view, query, gate, &request.focus);
    let mut candidates = propose(view, query, gate, found, related);
    for place in favoured.keys() {
        candidates.entry(*place).or_default();
    }
    let scored = score_favoured(view, query, (&candidates, &favoured), related, weights);
    let packed = pack(view, query, &scored, request);
    let ranked = scored
        .iter()
        .take(request.ranked as usize)
        .map(|it| ranked(view, query, it))
        .collect();
    let best = request.scenes as usize;
    let read = |(at, it): &(usize, &Scored)| *at < best || best > 0 && it.favour > 0.0;
    let scenes = scored.iter().enumerate().filter(read).take(best + WANTED);
    RoutedV1 {
        scenes: scenes
            .map(|(at, it)| scene(view, it, packed.fates[at] == Fate::Packed, gate))
            .collect(),
        explained: explain(view, query, &scored, &packed, request.explain as usize, weights),
        anchors: query.anchors.clone(),
        reading: Some(query.reading.clone()),
        pack: packed.pack,
        speakers: view.speakers().names().iter().take(SPEAKERS).cloned().collect(),
        words: query.weights(),
        ranked,
        units: gate.admitted(view) as u64,
        candidates: candidates.len() as u32,
        weights: weights.version.clone(),
        steps: Vec::new(),
        degraded: Vec::new(),
    }
}

/// Scores the candidates that a glance leaves, best first, ties by place.
pub fn score(view: &View, query: &Query, candidates: &Candidates, related: &Related, weights: &Weights) -> Vec<Scored> {
    score_favoured(view, query, (candidates, &Favoured::new()), related, weights)
}

/// The same, with what is added to the support scores of some, which no glance passes over.
fn score_favoured(
    view: &View,
    query: &Query,
    (candidates, favoured): (&Candidates, &Favoured),
    related: &Related,
    weights: &Weights,
) -> Vec<Scored> {
    let (matches, full) = glanced(view, query, (candidates, favoured), weights);
    let mut all = features(view, query, &matches, &full, weights);
    chain(view, &matches, (&mut all, &full), related, weights);
    let favour = |row: usize| favoured.get(&matches.turns[row]).copied().unwrap_or_default();
    let support = |row: usize| (weights.support.score(&all[row]) + favour(row), row);
    let mut order: Vec<(f32, usize)> = full.into_iter().map(support).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let scored = order.into_iter().map(|(support, row)| Scored {
        place: matches.turns[row],
        scores: Scores {
            support,
            anchor: weights.anchor.score(&all[row]),
            edge: all[row][slots::CHAINED],
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

/// Matches the candidates that a glance finds best, their neighbours too, and returns the rows of the former.
fn glanced(
    view: &View,
    query: &Query,
    (candidates, favoured): (&Candidates, &Favoured),
    weights: &Weights,
) -> (Matches, Vec<usize>) {
    let matches = Matches::of(view, query, candidates.keys().copied().collect());
    let mut kept = best(&glance(view, query, &matches, weights));
    kept.extend(favoured.keys().filter_map(|it| matches.turns.binary_search(it).ok()));
    kept.sort_unstable();
    kept.dedup();
    if view.parts() <= WHOLE {
        return (matches, kept);
    }
    let kept: Vec<usize> = kept.into_iter().map(|it| matches.turns[it]).collect();
    let matches = matches.widened(view, query, with_neighbours(view, &kept));
    let full = kept
        .iter()
        .filter_map(|it| matches.turns.binary_search(it).ok())
        .collect();
    (matches, full)
}

/// Returns the rows of the best scores, ascending; of equal ones the first.
fn best(scores: &[f32]) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..scores.len()).collect();
    if rows.len() > FULL {
        rows.select_nth_unstable_by(FULL, |&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        rows.truncate(FULL);
        rows.sort_unstable();
    }
    rows
}

fn with_neighbours(view: &View, kept: &[usize]) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::with_capacity(kept.len() * 2);
    for &place in kept {
        let session = &view.sessions()[view.session_of(place)];
        let from = place
            .saturating_sub(AROUND)
            .max(session.start)
            .max(places.last().map_or(0, |it| it + 1));
        places.extend(from..(place + AROUND + 1).min(session.end));
    }
    places
}

/// Gives the best units the edge score to the best anchors among them.
fn chain(view: &View, matches: &Matches, (all, full): (&mut [Values], &[usize]), related: &Related, weights: &Weights) {
    let mut order: Vec<(f32, usize)> = full.iter().map(|&it| (weights.support.score(&all[it]), it)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.truncate(CHAINED);
    let order: Vec<usize> = order.into_iter().map(|it| it.1).collect();
    let mut anchors: Vec<(f32, usize)> = order.iter().map(|&it| (weights.anchor.score(&all[it]), it)).collect();
    anchors.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    anchors.truncate(ANCHORS);
    let anchors: Vec<usize> = anchors.into_iter().map(|it| it.1).collect();
    for row in order {
        let from = anchors.iter().filter(|&&it| it != row);
        let edges = from.map(|&it| {
            let pair = edge(view, related, matches.turns[it], matches.turns[row]);
            weights
                .edge
                .iter()
                .zip(pair)
                .map(|(weight, value)| weight * value)
                .sum::<f32>()
        });
        all[row][slots::CHAINED] = edges.fold(0.0, f32::max);
    }
}

fn ranked(view: &View, query: &Query, scored: &Scored) -> RankedUnit {
    let turn = &view.turns()[scored.place];
    let date = turn.unit.observed_at.format("%-d %b %Y");
    let actor = if turn.unit.actor.is_empty() {
        String::new()
    } else {
        format!(" {}", text::shown_name(&turn.unit.actor))
    };
    RankedUnit {
        unit: turn.unit.id,
        external_ids: turn.unit.external_ids.clone(),
        text: format!(
            "[{date}]{actor}: {}",
            Display::of(query, turn, scored.probability).text(turn)
        ),
        score: scored.scores.support,
        topic: None,
    }
}

fn scene(view: &View, scored: &Scored, packed: bool, gate: &Gate<'_>) -> Scene {
    let session = &view.sessions()[view.session_of(scored.place)];
    let range = scored.place.saturating_sub(3).max(session.start)..(scored.place + 3).min(session.end);
    let places: Vec<usize> = range
        .filter(|it| *it == scored.place || gate.admits(&view.turns()[*it]))
        .collect();
    let turns = places.iter().map(|&it| {
        let unit = &view.turns()[it].unit;
        Shown {
            unit: unit.id,
            external_ids: unit.external_ids.clone(),
            session: unit.session,
            observed_at: unit.observed_at,
            actor: unit.actor.clone(),
            addressee: unit.addressee.clone(),
            text: unit.text.clone(),
            question: unit.question.clone(),
            caption: unit.caption.clone(),
            times: unit.times.clone(),
            amended: view.amended(unit.id, gate.request().as_of).cloned().collect(),
        }
    });
    Scene {
        score: scored.scores.support,
        probability: scored.probability,
        center: places.iter().position(|it| *it == scored.place).unwrap_or_default(),
        turns: turns.collect(),
        packed,
    }
}
