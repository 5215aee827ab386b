//! Measures a whole route over synthetic spaces, next to a plain BM25 scan of the same parts in the same run.
//!
//! `cargo bench -p router -- 1000 10000 100000`. The last column is the time of features and heads in it: a glance at
//! all candidates, all features of the best ones, and three heads. The views are in memory. The hits of the index are
//! computed outside of the measured time, since a store would deliver them.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench prints and may stop")]

use std::time::Instant;

use chrono::DateTime;
use domain::id::{SessionId, SpaceId};
use domain::message::RouteV1;
use domain::port::{Hit, SearchResult};
use domain::unit::Unit;
use fixtures::sample_unit;
use router::route;
use router::route::propose::{Gate, propose_candidates};
use router::route::query::Query;
use router::route::scoring::edges::Related;
use router::route::scoring::features::{compute_features, quick_first_scores};
use router::route::scoring::heads::Weights;
use router::route::scoring::matches::Matches;
use router::space::view::View;

const WORDS: &str = "garden violin harbour recipe sister marathon museum puppy meeting budget ferry concert window painting \
    school doctor airport mountain library kitchen guitar birthday novel river bakery camera neighbour contract tennis \
    festival laptop coffee bicycle orchard theatre puzzle dentist market summer project lecture island piano storm letter";
const VERBS: &str =
    "visited bought painted repaired planned forgot loved cooked joined finished lost found started sold";
const HITS: usize = 300;
const QUESTIONS: usize = 60;

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000] } else { sizes };
    println!(
        "{:>8} {:>9} {:>9} {:>10} {:>10} {:>7} {:>10}",
        "units", "p50 ms", "p95 ms", "scan p50", "scan p95", "ratio", "heads p50"
    );
    for size in sizes {
        let view = View::from_units((0..size).map(unit));
        let (mut routes, mut scans, mut heads) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..QUESTIONS {
            let request = request(number);
            let weights = Weights::builtin().expect("the weights fit");
            let query = Query::from_question(&request.question, &view, route::question_moment(&view, &request));
            let start = Instant::now();
            let hits = scan(&view, &query);
            scans.push(start.elapsed().as_secs_f64() * 1e3);
            // Each channel finds half of the hits of the channel before it, and as many new ones.
            let list = |from: usize| hits.iter().skip(from).take(HITS).copied().collect();
            let found = SearchResult {
                words: list(0),
                pieces: list(HITS / 2),
                dense: list(HITS),
            };
            let start = Instant::now();
            let query = Query::from_question(&request.question, &view, route::question_moment(&view, &request));
            let routed = route::route_turns(&view, &query, &found, &Related::new(), &request, weights);
            routes.push(start.elapsed().as_secs_f64() * 1e3);
            assert!(routed.pack.tokens <= request.tokens);
            heads.push(scoring(&view, &query, &found, &request, weights));
        }
        let (route, scan, heads) = (quantiles(routes), quantiles(scans), quantiles(heads));
        let ratio = route.0 / scan.0;
        println!(
            "{size:>8} {:>9.2} {:>9.2} {:>10.2} {:>10.2} {ratio:>7.1} {:>10.2}",
            route.0, route.1, scan.0, scan.1, heads.0
        );
    }
}

/// Returns the milliseconds that features and heads take for the candidates of a question, without matching words and
/// vectors.
fn scoring(view: &View, query: &Query, found: &SearchResult, request: &RouteV1, weights: &Weights) -> f64 {
    let candidates = propose_candidates(view, query, &Gate::from_request(request), found, &Related::new());
    let matches = Matches::match_turns(view, query, candidates.into_keys().collect());
    let start = Instant::now();
    let scores = quick_first_scores(view, query, &matches, weights);
    let mut full: Vec<usize> = (0..scores.len()).collect();
    full.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    full.truncate(route::FULL);
    full.sort_unstable();
    let values = compute_features(view, query, &matches, &full, weights);
    let score = |&it: &usize| weights.support.score(&values[it]) + weights.anchor.score(&values[it]);
    let sum: f32 = full.iter().map(score).sum();
    assert!(sum.is_finite());
    start.elapsed().as_secs_f64() * 1e3
}

/// Returns the best 600 parts by plain BM25 over all parts.
fn scan(view: &View, query: &Query) -> Vec<Hit> {
    let mut hits = Vec::new();
    for turn in view.turns() {
        for (number, part) in turn.parts().enumerate() {
            let norm = 1.2 * (0.8 + 0.2 * part.words.len() as f32 / 8.0);
            let held = query.words.iter().filter(|it| part.words.contains(&it.term));
            let score: f32 = held.map(|it| it.idf * 2.2 / (1.0 + norm)).sum();
            if score > 0.0 {
                hits.push(Hit {
                    unit: turn.unit.id,
                    part: number as u16,
                    score,
                });
            }
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.unit.cmp(&b.unit)));
    hits.truncate(2 * HITS);
    hits
}

fn quantiles(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 95 / 100])
}

/// Returns a word of a list for a number. Words at the end of the list come more often.
fn pick(list: &'static str, seed: usize) -> &'static str {
    let words: Vec<&str> = list.split_whitespace().collect();
    let mixed = (seed.wrapping_mul(0x9e37_79b9) >> 7) % (words.len() * words.len());
    words[(mixed as f64).sqrt() as usize]
}

fn unit(at: usize) -> Unit {
    let space = space();
    let word = |n: usize| pick(WORDS, at * 7 + n);
    let verb = pick(VERBS, at * 3);
    let text = format!(
        "I {verb} the {} with my {} number {}. Then we talked about the {}!",
        word(1),
        word(2),
        at % 997,
        word(3)
    );
    let at_time = DateTime::from_timestamp(1_700_000_000 + at as i64 * 600, 0)
        .unwrap_or_default()
        .fixed_offset();
    Unit {
        session: SessionId::from_name(&space, &(at / 20).to_string()),
        observed_at: at_time,
        ordinal: at as u64,
        actor: if at.is_multiple_of(2) { "Ada" } else { "Ben" }.to_owned(),
        text,
        derived_by: "bench".to_owned(),
        ..sample_unit(&space, &at.to_string())
    }
}

fn request(number: usize) -> RouteV1 {
    let word = |n: usize| pick(WORDS, number * 13 + n);
    let question = format!(
        "When did Ada talk about the {} and the {} near the {}?",
        word(1),
        word(2),
        word(3)
    );
    RouteV1 {
        scenes: 8,
        ..RouteV1::new(space(), question, 512)
    }
}

fn space() -> SpaceId {
    "bench".parse().expect("a valid name")
}
