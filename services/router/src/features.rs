//! The features of candidates.

use domain::anchor::AnswerKind;
use domain::time::Precision;
use text::patterns as p;

use crate::heads::Weights;
use crate::matches::{Matches, Row};
use crate::query::{Query, is_role, is_user};
use crate::slots::{self as s, N, Values};
use crate::view::{Turn, View};

/// Days until nearness in time has fallen to a third.
const DAYS: f32 = 8.0;

/// Returns the features of each row of `matches`, in its order.
pub fn features(view: &View, query: &Query, matches: &Matches, weights: &Weights) -> Vec<Values> {
    let mut out = vec![[0.0; N]; matches.turns.len()];
    for (row, values) in out.iter_mut().enumerate() {
        let turn = &view.turns()[matches.turns[row]];
        own(query, &matches.rows[row], values);
        around(view, matches, query, row, values);
        typed(query, turn, values);
        prior(view, query, turn, values);
        subject(view, query, turn, (matches.rows[row].owner, values));
    }
    relative(&mut out, matches);
    for values in &mut out {
        values[s::FIRST] = weights.first.score(values);
    }
    context(view, query, matches, &mut out);
    out
}

/// What the turn alone says.
fn own(query: &Query, row: &Row, values: &mut Values) {
    let rarest = query.words.iter().map(|it| it.idf).fold(1e-6, f32::max);
    values[s::BM25_RAW] = row.bm25 / 10.0;
    values[s::COVER] = row.cover;
    values[s::HITS] = row.hits.min(4.0) / 4.0;
    values[s::RARE] = row.rare / rarest;
    values[s::BIGRAM] = row.bigram;
    values[s::LATE] = row.late;
    values[s::SENTENCE] = row.sentence;
    values[s::STRONG] = row.strong;
    values[s::NOUNS] = row.nouns;
    values[s::DENSE] = row.dense;
}

/// What the turn says together with its neighbours.
fn around(view: &View, matches: &Matches, query: &Query, row: usize, values: &mut Values) {
    let beside = [(-1, 0.7), (-2, 0.4), (1, 0.5)].map(|(by, share)| (matches.beside(view, row, by), share));
    let mut window = matches.soft(row).to_vec();
    let (mut dense, mut length) = (matches.rows[row].dense, 1.0);
    for (other, share) in beside {
        let Some(other) = other else { continue };
        window
            .iter_mut()
            .zip(matches.soft(other))
            .for_each(|(a, b)| *a = a.max(share * b));
        dense += share * matches.rows[other].dense;
        length += share;
    }
    values[s::WINDOW] = query
        .words
        .iter()
        .zip(&window)
        .map(|(word, like)| word.weight * like)
        .sum();
    values[s::GAIN] = values[s::WINDOW] - values[s::LATE];
    values[s::DENSE_WINDOW] = dense / length;
}

fn typed(query: &Query, turn: &Turn, values: &mut Values) {
    let has = |pattern: usize| f32::from(turn.patterns[pattern].min(1));
    let likes = has(p::PREFERENCE);
    values[s::EXPECTED] = match query.anchors.answer {
        AnswerKind::When => has(p::DATE),
        AnswerKind::Duration => has(p::DURATION),
        AnswerKind::Number => has(p::NUMBER).max(has(p::MONEY)),
        AnswerKind::Where => has(p::PLACE),
        AnswerKind::Who => has(p::KIN).max(has(p::CAPITAL)),
        AnswerKind::Why => has(p::REASON).max(0.5 * has(p::FEELING)),
        AnswerKind::How => has(p::FEELING),
        AnswerKind::Kind => has(p::LIST).max(likes).max(has(p::QUOTE)),
        AnswerKind::WhatIs => has(p::CAPITAL).max(has(p::QUOTE)),
        AnswerKind::WhatDoes => has(p::PAST).max(likes),
        AnswerKind::Message => has(p::I),
        AnswerKind::YesNo | AnswerKind::Other => 0.0,
    };
    let past = query.past && turn.patterns[p::PAST] > 0;
    let future = query.future && turn.patterns[p::PLAN] > 0;
    values[s::TENSE] = f32::from(u8::from(past || future));
    let advice = query.anchors.answer == AnswerKind::Message || query.speech;
    values[s::HABIT] = if advice { likes } else { 0.0 };
    values[s::WISH] = has(p::INSTRUCTION);
    values[s::IN_TIME] = in_time(query, turn);
}

/// Half without a time in the question; else by the least gap between the time asked about and any time of the turn.
fn in_time(query: &Query, turn: &Turn) -> f32 {
    let Some(window) = &query.anchors.window else {
        return 0.5;
    };
    let observed = turn.unit.observed_at.to_utc();
    let spans = turn
        .unit
        .times
        .iter()
        .filter(|it| it.precision != Precision::Unknown)
        .map(|it| (it.start, it.end))
        .chain([(observed, observed)]);
    let gap = spans.map(|(start, end)| {
        let after = (start - window.end).num_minutes().max(0) as f32;
        let before = (window.start - end).num_minutes().max(0) as f32;
        (after + 1.5 * before) / 1440.0
    });
    (-gap.fold(f32::MAX, f32::min) / DAYS).exp()
}

fn prior(view: &View, query: &Query, turn: &Turn, values: &mut Values) {
    let words: usize = turn.sentences.iter().map(|it| it.words.len()).sum();
    let flag = |it: bool| f32::from(u8::from(it));
    values[s::LENGTH] = (turn.tokens.max(1) as f32).ln() / 5.0;
    values[s::SHORT] = flag(words < 4);
    // What a user asks an assistant for tells what the user is about.
    values[s::QUESTIONS] = if is_user(&turn.unit.actor) { 0.0 } else { turn.questions };
    values[s::GREETING] = f32::from(turn.patterns[p::GREETING]);
    values[s::CAPTION] = flag(!turn.unit.caption.is_empty());
    values[s::CAPTION_ASKED] = flag(!turn.unit.caption.is_empty() && query.picture);
    let assistant = is_role(&turn.unit.actor) && !is_user(&turn.unit.actor);
    values[s::ASSISTANT] = flag(assistant);
    if assistant && turn.tokens > 100 {
        let half = if query.addresses { 0.5 } else { 1.0 };
        values[s::ASSISTANT_LONG] = half * (turn.tokens as f32 / 100.0).ln();
    }
    let names: f32 = query.names.iter().map(|&it| view.idf(view.name_turns(it))).sum();
    let here = query.names.iter().filter(|it| turn.names.binary_search(it).is_ok());
    values[s::NAMES_HERE] = here.map(|&it| view.idf(view.name_turns(it))).sum::<f32>() / names.max(1e-6);
}

/// Who says it, and of whom.
fn subject(view: &View, query: &Query, turn: &Turn, (owner, values): (f32, &mut Values)) {
    let names = view.speakers().names();
    let named = query.subjects.iter().any(|&it| names[it] == turn.unit.actor);
    values[s::BY_NAMED] = f32::from(u8::from(named));
    values[s::BY_OTHER] = f32::from(u8::from(!named && !query.subjects.is_empty()));
    let Some(subject) = query.subject() else { return };
    let pair = names.len() <= 2 || turn.unit.addressee == names[subject];
    let mut own = if named {
        owner
    } else if pair {
        -owner
    } else {
        -0.5 - 0.5 * owner.abs()
    };
    if query.speech {
        own = 0.5 * own + if named { 0.5 } else { -0.5 };
    }
    values[s::OWNED] = f32::midpoint(own, 1.0).max(0.05).ln();
}

/// What depends on the best of all.
fn relative(all: &mut [Values], matches: &Matches) {
    let best = |slot: usize| all.iter().map(|it| it[slot]).fold(1e-6, f32::max);
    let (bm25, late, dense) = (best(s::BM25_RAW), best(s::LATE), best(s::DENSE));
    let least = matches.rows.iter().map(|it| it.dense).fold(dense, f32::min);
    for values in all {
        values[s::BM25] = values[s::BM25_RAW] / bm25;
        values[s::LATE_TOP] = values[s::LATE] / late;
        values[s::DENSE_TOP] = (values[s::DENSE] - least) / (dense - least).max(1e-6);
    }
}

/// What depends on the first head: ranks, neighbours, sessions.
fn context(view: &View, query: &Query, matches: &Matches, all: &mut [Values]) {
    let first: Vec<f32> = all.iter().map(|it| it[s::FIRST]).collect();
    let top = first.iter().copied().fold(1e-6, f32::max);
    let mut order: Vec<usize> = (0..first.len()).collect();
    order.sort_by(|&a, &b| first[b].total_cmp(&first[a]).then(a.cmp(&b)));
    let sessions = Sessions::of(view, query, matches, &first);
    for (rank, &row) in order.iter().enumerate() {
        let turn = &view.turns()[matches.turns[row]];
        let beside = |by: isize| matches.beside(view, row, by);
        let before = beside(-1);
        let asked = before.filter(|&it| {
            let other = &view.turns()[matches.turns[it]];
            other.asks && other.unit.actor != turn.unit.actor
        });
        let near = || [-3, -2, -1, 1, 2, 3].into_iter().filter_map(beside);
        let names_near = near().map(|it| all[it][s::NAMES_HERE]).fold(0.0, f32::max);
        let (best, mean, cover) = sessions.get(view.session_of(matches.turns[row]));
        let values = &mut all[row];
        values[s::FIRST_TOP] = first[row] / top;
        values[s::FIRST_RANK] = 5.0 / (6.0 + rank as f32);
        values[s::FIRST_SESSION] = if best > 0.0 { first[row] / best } else { 0.0 };
        values[s::NEAR] = near().map(|it| first[it]).fold(0.0, f32::max);
        values[s::REPLY] = asked.map_or(0.0, |it| first[it]);
        values[s::BACK] = before
            .filter(|_| turn.patterns[p::ANAPHOR] > 0)
            .map_or(0.0, |it| first[it]);
        values[s::ASKS_AHEAD] = beside(1).filter(|_| turn.asks).map_or(0.0, |it| first[it]);
        values[s::SESSION] = mean - sessions.top;
        values[s::SESSION_COVER] = cover;
        values[s::NAMES_NEAR] = names_near.max(values[s::NAMES_HERE]);
        values[s::EXPECTED_FIRST] = values[s::EXPECTED] * values[s::FIRST_TOP];
        values[s::LATER] = matches.turns[row] as f32 / view.turns().len().max(1) as f32;
        if query.anchors.window.is_some() {
            values[s::IN_TIME_FIRST] = values[s::IN_TIME] * values[s::FIRST_TOP];
        }
    }
}

/// Best first score, mean of the three best, and coverage of the question, by session.
struct Sessions {
    rows: std::collections::BTreeMap<usize, (f32, f32, f32)>,
    top: f32,
}

impl Sessions {
    fn of(view: &View, query: &Query, matches: &Matches, first: &[f32]) -> Sessions {
        let mut rows = std::collections::BTreeMap::new();
        let mut start = 0;
        while start < first.len() {
            let session = view.session_of(matches.turns[start]);
            let end = (start..first.len())
                .find(|&it| view.session_of(matches.turns[it]) != session)
                .unwrap_or(first.len());
            let mut scores = first[start..end].to_vec();
            scores.sort_by(|a, b| b.total_cmp(a));
            let mean = scores.iter().take(3).sum::<f32>() / 3.0;
            let like = |word: usize| (start..end).map(|row| matches.soft(row)[word]).fold(0.0, f32::max);
            let cover = query
                .words
                .iter()
                .enumerate()
                .map(|(at, word)| word.weight * like(at))
                .sum();
            rows.insert(session, (scores[0], mean, cover));
            start = end;
        }
        let top = rows.values().map(|it| it.1).fold(0.0, f32::max);
        Sessions { rows, top }
    }

    fn get(&self, session: usize) -> (f32, f32, f32) {
        self.rows.get(&session).copied().unwrap_or_default()
    }
}
