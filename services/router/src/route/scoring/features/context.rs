//! Features from a turn's neighbours and its session, and from its rank among all candidates.

use std::collections::BTreeMap;

use text::meaning::patterns as p;

use crate::route::query::Query;
use crate::route::scoring::feature_slots::{self as s, Values};
use crate::route::scoring::matches::Matches;
use crate::space::view::View;

/// Fills in the features that are relative to the best candidate, and the ranks of the rows in `full`.
pub(super) fn fill_relative_features(query: &Query, matches: &Matches, all: &mut [Values], full: &[usize]) {
    let best = |slot: usize| all.iter().map(|it| it[slot]).fold(1e-6, f32::max);
    let (bm25, late, dense) = (best(s::BM25_RAW), best(s::LATE), best(s::DENSE));
    let (sentence, covered) = (best(s::SENTENCE), best(s::COVERED));
    let least = matches.rows.iter().map(|it| it.dense).fold(dense, f32::min);
    for values in all.iter_mut() {
        values[s::BM25] = values[s::BM25_RAW] / bm25;
        values[s::LATE_TOP] = values[s::LATE] / late;
        values[s::DENSE_TOP] = (values[s::DENSE] - least) / (dense - least).max(1e-6);
        values[s::SENTENCE_TOP] = values[s::SENTENCE] / sentence;
        values[s::COVERED_TOP] = values[s::COVERED] / covered;
    }
    let ranks = [
        (s::LATE, s::LATE_RANK),
        (s::DENSE, s::DENSE_RANK),
        (s::ENCODED, s::ENCODED_RANK),
    ];
    for (from, to) in ranks
        .into_iter()
        .filter(|it| it.0 != s::ENCODED || !query.encoded.is_empty())
    {
        for (rank, row) in rank_by_score(full, |row| all[row][from]).into_iter().enumerate() {
            all[row][to] = reciprocal_rank(rank);
        }
    }
}

/// Fills in the features that depend on the first head: ranks, neighbours, sessions.
pub(super) fn fill_context_features(view: &View, query: &Query, matches: &Matches, all: &mut [Values], full: &[usize]) {
    let first: Vec<f32> = all.iter().map(|it| it[s::FIRST]).collect();
    let top = first.iter().copied().fold(1e-6, f32::max);
    let sessions = Sessions::from_matches(view, query, matches, all);
    for (rank, row) in rank_by_score(full, |row| first[row]).into_iter().enumerate() {
        let session = sessions.rows.get(&view.session_of(matches.turns[row]));
        if let Some(session) = session {
            session.fill_features(&sessions, first[row], &mut all[row]);
        }
        fill_neighbour_scores(view, matches, row, &first, all);
        let turn = &view.turns()[matches.turns[row]];
        let values = &mut all[row];
        values[s::FIRST_TOP] = first[row] / top;
        values[s::FIRST_RANK] = reciprocal_rank(rank);
        values[s::EXPECTED_FIRST] = values[s::EXPECTED] * values[s::FIRST_TOP];
        values[s::BY_NAMED_FIRST] = values[s::BY_NAMED] * values[s::FIRST_TOP];
        values[s::BY_OTHER_FIRST] = values[s::BY_OTHER] * values[s::FIRST_TOP];
        values[s::OTHER_TO_YOU] = values[s::BY_OTHER] * half_of_count(turn.patterns[p::YOU]);
        values[s::NAMED_OF_I] = values[s::BY_NAMED] * half_of_count(turn.patterns[p::I]);
        values[s::USER_FIRST] = values[s::USER] * values[s::FIRST_TOP];
        values[s::ENCODED_FIRST] = values[s::ENCODED] * values[s::FIRST_TOP];
        values[s::STANDING_FIRST] = values[s::STANDING] * values[s::FIRST_TOP];
        values[s::LATER] = matches.turns[row] as f32 / view.turns().len().max(1) as f32;
        if query.anchors.window.is_some() {
            values[s::IN_TIME_FIRST] = values[s::IN_TIME] * values[s::FIRST_TOP];
        }
    }
}

/// Returns half of a count, at most 1.
fn half_of_count(count: u8) -> f32 {
    f32::from(count.min(2)) / 2.0
}

fn fill_neighbour_scores(view: &View, matches: &Matches, row: usize, first: &[f32], all: &mut [Values]) {
    let turn = &view.turns()[matches.turns[row]];
    let around = matches.neighbour_rows(view, row);
    let score = |row: Option<usize>| row.map_or(0.0, |it| first[it]);
    let encoded = |row: Option<usize>| row.map_or(0.0, |it| all[it][s::ENCODED]);
    let [previous, before_that, _] = around.before;
    let [next, after_that, _] = around.after;
    let other = previous.map(|it| &view.turns()[matches.turns[it]]);
    let same = other.is_some_and(|it| it.unit.actor == turn.unit.actor);
    let is_reply = other.is_some_and(|it| it.asks) && !same;
    let encoded = [encoded(previous), encoded(next)];
    let names = around
        .existing_rows()
        .map(|it| all[it][s::NAMES_HERE])
        .fold(0.0, f32::max);
    let words = turn.words().len();
    let given = |it: bool| if it { score(previous) } else { 0.0 };
    let values = &mut all[row];
    values[s::NEAR] = around.existing_rows().map(|it| first[it]).fold(0.0, f32::max);
    values[s::BEFORE] = score(previous);
    values[s::BEFORE_2] = score(before_that);
    values[s::AFTER] = score(next);
    values[s::AFTER_2] = score(after_that);
    values[s::REPLY] = given(is_reply);
    values[s::BACK] = given(turn.patterns[p::ANAPHOR] > 0);
    values[s::BEFORE_SAME] = given(same);
    values[s::BEFORE_SHORT] = given(words < 8);
    [values[s::ENCODED_BEFORE], values[s::ENCODED_AFTER]] = encoded;
    values[s::NAMES_NEAR] = names.max(values[s::NAMES_HERE]);
}

/// How well a session matches as a whole.
#[derive(Default)]
struct Session {
    best: f32,
    mean: f32,
    cover: f32,
    dense: f32,
    names: f32,
    encoded: f32,
    encoded_best: f32,
    rank: usize,
}

impl Session {
    fn fill_features(&self, all: &Sessions, first: f32, values: &mut Values) {
        values[s::FIRST_SESSION] = if self.best > 0.0 { first / self.best } else { 0.0 };
        values[s::SESSION] = self.mean - all.mean;
        values[s::SESSION_COVER] = self.cover;
        values[s::SESSION_RANK] = reciprocal_rank(self.rank);
        values[s::SESSION_BEST] = self.best / all.best;
        values[s::SESSION_DENSE] = self.dense;
        values[s::SESSION_NAMES] = self.names;
        values[s::ENCODED_SESSION] = self.encoded;
        values[s::ENCODED_SESSION_BEST] = self.encoded_best;
    }
}

struct Sessions {
    rows: BTreeMap<usize, Session>,
    best: f32,
    mean: f32,
}

impl Sessions {
    fn from_matches(view: &View, query: &Query, matches: &Matches, all: &[Values]) -> Sessions {
        let mut rows = BTreeMap::new();
        let mut start = 0;
        while start < all.len() {
            let session = view.session_of(matches.turns[start]);
            let end = (start..all.len())
                .find(|&it| view.session_of(matches.turns[it]) != session)
                .unwrap_or(all.len());
            let own = &all[start..end];
            let descending = |slot: usize| {
                let mut values: Vec<f32> = own.iter().map(|it| it[slot]).collect();
                values.sort_by(|a, b| b.total_cmp(a));
                values
            };
            let mean = |slot: usize| own.iter().map(|it| it[slot]).sum::<f32>() / own.len() as f32;
            let best_three = |values: &[f32]| values.iter().take(3).sum::<f32>() / 3.0;
            let scores = descending(s::FIRST);
            let like = |word: usize| {
                (start..end)
                    .map(|row| matches.word_similarities(row)[word])
                    .fold(0.0, f32::max)
            };
            let words = query.words.iter().enumerate();
            let features_of_session = Session {
                best: scores[0],
                mean: best_three(&scores),
                cover: words.map(|(at, word)| word.weight * like(at)).sum(),
                dense: mean(s::DENSE),
                encoded: mean(s::ENCODED),
                encoded_best: best_three(&descending(s::ENCODED)),
                names: own.iter().map(|it| it[s::NAMES_HERE]).fold(0.0, f32::max),
                rank: 0,
            };
            rows.insert(session, features_of_session);
            start = end;
        }
        let numbers: Vec<usize> = rows.keys().copied().collect();
        for (rank, session) in rank_by_score(&numbers, |it| rows[&it].mean).into_iter().enumerate() {
            rows.entry(session).or_default().rank = rank;
        }
        Sessions {
            best: rows.values().map(|it| it.best).fold(1e-6, f32::max),
            mean: rows.values().map(|it| it.mean).fold(0.0, f32::max),
            rows,
        }
    }
}

/// Returns the numbers sorted by score, best first, ties by number.
fn rank_by_score(numbers: &[usize], score: impl Fn(usize) -> f32) -> Vec<usize> {
    let mut scored: Vec<(f32, usize)> = numbers.iter().map(|&it| (score(it), it)).collect();
    scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().map(|it| it.1).collect()
}

/// Returns 5 / (6 + `rank`), with ranks counted from 0.
fn reciprocal_rank(rank: usize) -> f32 {
    5.0 / (6.0 + rank as f32)
}
