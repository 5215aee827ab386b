//! Computes the features of candidates.

mod context;

use domain::anchor::AnswerKind;
use domain::time::Precision;
use text::meaning::patterns as p;

use crate::route::query::Query;
use crate::route::query_word::Word;
use crate::route::scoring::feature_slots as s;
use crate::route::scoring::feature_slots::{N, Values};
use crate::route::scoring::heads::Weights;
use crate::route::scoring::matches::{Matches, Row, weighted_similarity};
use crate::space::view::{Part, Turn, View};
use context::{fill_context_features, fill_relative_features};

/// Days after which closeness in time has fallen to 1/e, about a third.
const DAYS: f32 = 8.0;
/// Rarity that is added to the rarity of each text, so that a question does not easily cover a very short one.
const COVERED_BASE: f32 = 4.0;

/// Returns the features of each row of `matches`, in its order. The rows `full` (ascending) get all features, the
/// others only those that the first head reads.
pub fn compute_features(
    view: &View,
    query: &Query,
    matches: &Matches,
    full: &[usize],
    weights: &Weights,
) -> Vec<Values> {
    let mut out = vec![[0.0; N]; matches.turns.len()];
    let totals = QuestionTotals::from_query(view, query);
    let mut window = Vec::new();
    for (row, values) in out.iter_mut().enumerate() {
        let turn = &view.turns()[matches.turns[row]];
        fill_text_features(&totals, &matches.rows[row], values);
        fill_neighbour_features(view, matches, query, row, values, &mut window);
        fill_basic_features(&totals, query, turn, values);
        values[s::ENCODED] = query.encoded.scaled_cosine(matches.turns[row]);
        values[s::ENCODED_TOP] = query.encoded.over_best(matches.turns[row]);
    }
    for &row in full {
        let turn = &view.turns()[matches.turns[row]];
        let values = &mut out[row];
        fill_answer_kind_features(query, turn, values);
        let place = matches.turns[row];
        fill_prior_features(query, turn, view.rarity_of_turn(place), values);
        values[s::OPENS] = f32::from(u8::from(view.session_ranges()[view.session_of(place)].start == place));
        fill_speaker_features(view, query, turn, matches.rows[row].owner, values);
        fill_coverage_features(view, query, turn, values);
        fill_standing_wish_features(query, turn, values);
        values[s::MATTER] = shared_frame_score(query, matches.word_similarities(row), turn);
    }
    fill_relative_features(query, matches, &mut out, full);
    for values in &mut out {
        values[s::FIRST] = weights.first.score(values);
    }
    fill_context_features(view, query, matches, &mut out, full);
    out
}

/// Returns the first head's score of each row, computed without the neighbours of the row. The caller uses it to choose
/// the rows that get all features.
pub fn quick_first_scores(view: &View, query: &Query, matches: &Matches, weights: &Weights) -> Vec<f32> {
    let totals = QuestionTotals::from_query(view, query);
    let rows = matches.rows.iter().zip(&matches.turns);
    let score = |(row, &place): (&Row, &usize)| {
        let mut values = [0.0; N];
        fill_text_features(&totals, row, &mut values);
        values[s::WINDOW] = values[s::LATE];
        values[s::DENSE_WINDOW] = values[s::DENSE];
        fill_basic_features(&totals, query, &view.turns()[place], &mut values);
        weights.first.score(&values)
    };
    rows.map(score).collect()
}

/// The values of a question that are the same for every row.
struct QuestionTotals {
    /// Rarity of the rarest word.
    rarest: f32,
    /// Stems of the names in the question, each with its rarity. `all_names` is the sum of the rarities.
    names: Vec<(u32, f32)>,
    all_names: f32,
}

impl QuestionTotals {
    fn from_query(view: &View, query: &Query) -> QuestionTotals {
        let rarity = |&it: &u32| (it, view.idf(view.name_turns(it)));
        let names: Vec<(u32, f32)> = query.names.iter().map(rarity).collect();
        QuestionTotals {
            rarest: query.words.iter().map(|it| it.idf).fold(1e-6, f32::max),
            all_names: names.iter().map(|it| it.1).sum::<f32>().max(1e-6),
            names,
        }
    }
}

/// Fills in the features that the text of the turn alone decides.
fn fill_text_features(totals: &QuestionTotals, row: &Row, values: &mut Values) {
    values[s::BM25_RAW] = row.bm25 / 10.0;
    values[s::COVER] = row.cover;
    values[s::HITS] = row.hits.min(4.0) / 4.0;
    values[s::RARE] = row.rare / totals.rarest;
    values[s::BIGRAM] = row.bigram;
    values[s::LATE] = row.late;
    values[s::SENTENCE] = row.sentence;
    values[s::STRONG] = row.strong;
    values[s::NOUNS] = row.nouns;
    values[s::DENSE] = row.dense;
    values[s::LATE_SHARP] = row.sharp;
    values[s::LATE_RARE] = row.rarest;
    values[s::WEAKER] = row.weaker;
    values[s::DENSE_SENTENCE] = row.dense_sentence;
}

/// Fills in those features of the turn itself that the first head and the neighbours need.
fn fill_basic_features(totals: &QuestionTotals, query: &Query, turn: &Turn, values: &mut Values) {
    // A request of the user to an assistant also says what the user is interested in.
    values[s::QUESTIONS] = if turn.user { 0.0 } else { turn.questions };
    values[s::IN_TIME] = in_time(query, turn);
    let here = totals
        .names
        .iter()
        .filter(|it| turn.names().binary_search(&it.0).is_ok());
    values[s::NAMES_HERE] = here.map(|it| it.1).sum::<f32>() / totals.all_names;
}

/// Fills in how well the turn matches together with its neighbours; `window` is a buffer that is reused.
fn fill_neighbour_features(
    view: &View,
    matches: &Matches,
    query: &Query,
    row: usize,
    values: &mut Values,
    window: &mut Vec<f32>,
) {
    let beside = [(-1, 0.7), (-2, 0.4), (1, 0.5)].map(|(by, share)| (matches.find_row_at_offset(view, row, by), share));
    window.clear();
    window.extend_from_slice(matches.word_similarities(row));
    let (mut dense, mut length) = (matches.rows[row].dense, 1.0);
    for (other, share) in beside {
        let Some(other) = other else { continue };
        window
            .iter_mut()
            .zip(matches.word_similarities(other))
            .for_each(|(a, b)| *a = a.max(share * b));
        dense += share * matches.rows[other].dense;
        length += share;
    }
    values[s::WINDOW] = weighted_similarity(query, window);
    values[s::GAIN] = values[s::WINDOW] - values[s::LATE];
    let question_before = matches
        .find_row_at_offset(view, row, -1)
        .filter(|_| view.follows_question(matches.turns[row]));
    values[s::ASKED] = question_before.map_or(0.0, |it| {
        window.clear();
        window.extend(
            matches
                .word_similarities(row)
                .iter()
                .zip(matches.word_similarities(it))
                .map(|(own, other)| own.max(*other)),
        );
        weighted_similarity(query, window) - values[s::LATE]
    });
    values[s::DENSE_WINDOW] = dense / length;
}

fn fill_answer_kind_features(query: &Query, turn: &Turn, values: &mut Values) {
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
    for (slot, pattern) in [
        (s::SAME_PLAN, p::PLAN),
        (s::SAME_LIKING, p::PREFERENCE),
        (s::SAME_FEELING, p::FEELING),
        (s::SAME_KIN, p::KIN),
    ] {
        values[slot] = if query.patterns[pattern] > 0 { has(pattern) } else { 0.0 };
    }
}

/// Returns 0.5 if the question names no time. Otherwise returns a value that falls with the least gap between the time
/// asked about and any time of the turn.
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

fn fill_prior_features(query: &Query, turn: &Turn, rarity: f32, values: &mut Values) {
    let words = turn.words().len();
    let flag = |it: bool| f32::from(u8::from(it));
    values[s::LENGTH] = (turn.tokens.max(1) as f32).ln() / 5.0;
    values[s::SHORT] = flag(words < 4);
    values[s::WORDS] = (1.0 + words as f32).ln() / 3.0;
    values[s::RARITY_SUM] = rarity / 50.0;
    values[s::RARITY_MEAN] = rarity / words.max(1) as f32 / 5.0;
    values[s::PARTS] = (turn.part_count().max(1) as f32).ln();
    values[s::ASKS] = flag(turn.asks);
    values[s::USER] = flag(turn.user);
    values[s::GREETING] = f32::from(turn.patterns[p::GREETING]);
    values[s::CAPTION] = flag(!turn.unit.caption().is_empty());
    values[s::CAPTION_ASKED] = flag(!turn.unit.caption().is_empty() && query.picture);
    values[s::ASSISTANT] = flag(turn.assistant);
    if turn.assistant && turn.tokens > 100 {
        let half = if query.addresses { 0.5 } else { 1.0 };
        values[s::ASSISTANT_LONG] = half * (turn.tokens as f32 / 100.0).ln();
    }
}

/// Fills in the features of standing wishes, if the question asks what to do.
fn fill_standing_wish_features(query: &Query, turn: &Turn, values: &mut Values) {
    if query.to_do {
        values[s::STANDING] = turn.sentences().map(|it| it.standing).fold(0.0, f32::max);
        values[s::STANDING_USER] = if turn.user { values[s::STANDING] } else { 0.0 };
    }
}

/// Returns the contribution of the subject that turn and question share, for words of the question that have no similar
/// word in the turn.
fn shared_frame_score(query: &Query, soft: &[f32], turn: &Turn) -> f32 {
    let shared = |word: &Word| {
        let shared = word.matters.iter().filter(|it| turn.frames.has_topic(it.0));
        shared.map(|it| it.1).fold(0.0, f32::max)
    };
    let words = query.words.iter().zip(soft);
    words
        .map(|(word, like)| word.weight * (shared(word) - like).max(0.0))
        .sum()
}

/// Fills in how far the question covers the text of the turn.
fn fill_coverage_features(view: &View, query: &Query, turn: &Turn, values: &mut Values) {
    if query.likeness.is_empty() {
        return;
    }
    let mut likeness = query.likeness.lock_reader();
    let mut cover = |pieces: &[u32]| {
        let coverage = likeness.measure_coverage(view, pieces);
        coverage.alike / (coverage.all + COVERED_BASE)
    };
    let sentences: Vec<f32> = turn.sentences().map(|it| cover(it.pieces)).collect();
    let part = |it: Part<'_>| match &sentences[it.sentences.clone()] {
        [only] => *only,
        _ => cover(&it.distinct_pieces()),
    };
    let covered = turn.parts().map(part).fold(0.0, f32::max);
    let sentence = sentences.iter().copied().fold(0.0, f32::max);
    values[s::COVERED] = covered;
    values[s::COVERED_SENTENCE] = sentence;
    values[s::COVERED_WISH] = values[s::WISH] * sentence;
    if query.to_do {
        let standing = turn.sentences().zip(&sentences).filter(|it| it.0.standing > 0.0);
        values[s::STANDING_COVERED] = standing.map(|it| it.0.standing * it.1).fold(0.0, f32::max);
    }
    let late = values[s::LATE];
    values[s::BOTH_SIDES] = 2.0 * late * covered / (late + covered).max(1e-6);
}

/// Fills in who says the turn and about whom.
fn fill_speaker_features(view: &View, query: &Query, turn: &Turn, owner: f32, values: &mut Values) {
    let names = view.speakers().names();
    let is_by_subject = query.subjects.iter().any(|&it| *names[it] == *turn.unit.actor);
    values[s::BY_NAMED] = f32::from(u8::from(is_by_subject));
    values[s::BY_OTHER] = f32::from(u8::from(!is_by_subject && !query.subjects.is_empty()));
    let Some(subject) = query.single_subject() else { return };
    let pair = names.len() <= 2 || *turn.unit.addressee == *names[subject];
    let mut own = if is_by_subject {
        owner
    } else if pair {
        -owner
    } else {
        -0.5 - 0.5 * owner.abs()
    };
    if query.speech {
        own = 0.5 * own + if is_by_subject { 0.5 } else { -0.5 };
    }
    values[s::OWNED] = f32::midpoint(own, 1.0).max(0.05).ln();
}
