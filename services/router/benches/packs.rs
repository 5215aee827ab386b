//! Measures memory and time over real conversations, and writes the packs, so that two builds can be compared.
//!
//! `cargo bench -p router --bench packs -- OUT COPIES FOLDER...` makes one space of the conversations in all folders
//! and asks all of their questions. A folder holds `conversations.jsonl` and `questions.jsonl`. With more than one copy,
//! the other copies are distractors: their speakers have other names, and the words of each turn are those of a turn of
//! another conversation. `OUT` receives one line of JSON for each question; `-` writes nothing. The hits of the index
//! are computed outside of the measured time.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench prints and may stop")]

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use chrono::{Duration, NaiveDateTime};
use domain::id::{SessionId, SpaceId, UnitId};
use domain::message::RouteV1;
use domain::port::{Hit, SearchResult};
use domain::unit::Unit;
use fixtures::{CountingAllocator, sample_unit};
use router::route;
use router::route::query::Query;
use router::route::scoring::edges::Related;
use router::route::scoring::heads::Weights;
use router::space::view::View;
use serde_json::{Value, json};
use text::EmbeddingTable;

/// Hits of each channel of the index.
const HITS: usize = 300;
/// Units that are added to the view at once.
const PAGE: usize = 1_000;

#[global_allocator]
static COUNTED: CountingAllocator = CountingAllocator;

/// Data about a unit in the stand-in for the index.
struct Indexed {
    unit: UnitId,
    stems: Vec<u32>,
    pieces: Vec<u32>,
    vector: Vec<f32>,
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|it| it != "--bench");
    let out = arguments.next().expect("a file for the packs");
    let copies: usize = arguments
        .next()
        .and_then(|it| it.parse().ok())
        .expect("a number of copies");
    let folders: Vec<String> = arguments.collect();
    let read = |name: &str| -> Vec<Value> {
        folders
            .iter()
            .flat_map(|it| read_lines(&Path::new(it).join(name)))
            .collect()
    };
    let units = space_of_conversations(&read("conversations.jsonl"), copies);
    let texts: usize = units.iter().map(|it| it.text.len()).sum();
    let index: Vec<Indexed> = units.iter().map(index_unit).collect();
    EmbeddingTable::builtin();
    drop(View::from_units(units.first().cloned()));
    let count = units.len();
    let start = (CountingAllocator::allocated_bytes(), Instant::now());
    let mut view = View::default();
    for page in units.chunks(PAGE) {
        let change = |unit: &Unit| domain::port::Change {
            sequence: 0,
            unit: unit.clone(),
        };
        view.apply_changes(page.iter().map(change));
    }
    let (bytes, built) = (CountingAllocator::allocated_bytes() - start.0, start.1.elapsed());
    println!(
        "{count} turns, {} bytes of text, {} bytes and {:.1} us a turn, the view says {} bytes",
        texts / count,
        bytes / count,
        built.as_secs_f64() * 1e6 / count as f64,
        view.size_in_bytes() / count
    );
    ask_questions(&view, &index, &read("questions.jsonl"), &out);
}

fn ask_questions(view: &View, index: &[Indexed], questions: &[Value], out: &str) {
    let mut file = (out != "-").then(|| std::io::BufWriter::new(std::fs::File::create(out).expect("a file")));
    let weights = Weights::builtin().expect("the weights fit");
    let (mut reads, mut routes) = (Vec::new(), Vec::new());
    for question in questions {
        let mut request = RouteV1::new(
            space(),
            question["question"].as_str().unwrap_or_default().to_owned(),
            512,
        );
        request.scenes = 8;
        let start = cpu_ms();
        let query = Query::from_question(&request.question, view, route::question_moment(view, &request));
        reads.push(cpu_ms() - start);
        let found = search_index(index, &query, view);
        let query = Query::from_question(&request.question, view, route::question_moment(view, &request));
        let start = cpu_ms();
        let routed = route::route_turns(view, &query, &found, &Related::new(), &request, weights);
        routes.push(cpu_ms() - start);
        if let Some(file) = &mut file {
            let best: Vec<UnitId> = routed.scenes.iter().map(|it| it.turns[it.center].unit).collect();
            let line =
                json!({"id": question["id"], "pack": routed.pack, "scenes": best, "evidence": question["evidence"]});
            writeln!(file, "{line}").expect("space on the disk");
        }
    }
    for (name, mut times) in [("read", reads), ("route", routes)] {
        times.sort_by(f64::total_cmp);
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let quantile = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        println!(
            "{name}: mean {mean:.2} ms, p50 {:.2} ms, p95 {:.2} ms",
            quantile(50),
            quantile(95)
        );
    }
}

/// Returns the CPU time of this thread in milliseconds, as Linux counts it; other processes do not change it.
fn cpu_ms() -> f64 {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = counted.split(' ').next().and_then(|it| it.parse::<f64>().ok());
    nanoseconds.unwrap_or_default() / 1e6
}

fn read_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a readable file");
    text.lines()
        .map(|it| serde_json::from_str(it).expect("a line of JSON"))
        .collect()
}

fn space_of_conversations(conversations: &[Value], copies: usize) -> Vec<Unit> {
    let mut units = Vec::new();
    for copy in 0..copies {
        for (number, conversation) in conversations.iter().enumerate() {
            let other = &conversations[(number + copy) % conversations.len()];
            let turns = conversation["turns"].as_array().into_iter().flatten();
            let words: Vec<&str> = texts_of(other).collect();
            for (at, turn) in turns.enumerate() {
                // The second half of one turn and the first half of another: a text that no other copy has.
                let text = match copy {
                    0 => turn["text"].as_str().unwrap_or_default().to_owned(),
                    _ => {
                        let (one, two) = (
                            words[(at * 7 + copy) % words.len()],
                            words[(at * 13 + 5 * copy) % words.len()],
                        );
                        let half = |it: &str| it.split(' ').count().div_ceil(2);
                        let first = one.split(' ').take(half(one));
                        first
                            .chain(two.split(' ').skip(half(two)))
                            .collect::<Vec<&str>>()
                            .join(" ")
                    }
                };
                units.push(unit_of_turn(
                    turn,
                    &format!("{copy}-{}", conversation["conversation_id"]),
                    at,
                    text,
                ));
            }
        }
    }
    units
}

fn texts_of(conversation: &Value) -> impl Iterator<Item = &str> {
    let turns = conversation["turns"].as_array().into_iter().flatten();
    turns.map(|it| it["text"].as_str().unwrap_or_default())
}

fn unit_of_turn(turn: &Value, conversation: &str, at: usize, text: String) -> Unit {
    let space = space();
    let field = |name: &str| turn[name].as_str().unwrap_or_default();
    let external = format!("{conversation}-{}", field("id"));
    let observed = NaiveDateTime::parse_from_str(field("timestamp"), "%Y-%m-%dT%H:%M:%S").unwrap_or_default();
    let copy: i64 = conversation
        .split('-')
        .next()
        .and_then(|it| it.parse().ok())
        .unwrap_or_default();
    let speaker = field("speaker");
    Unit {
        session: SessionId::from_name(&space, &format!("{conversation}-{}", turn["session"])),
        observed_at: (observed - Duration::days(90 * copy)).and_utc().fixed_offset(),
        ordinal: at as u64,
        actor: if copy == 0 || matches!(speaker, "user" | "assistant") {
            speaker.to_owned()
        } else {
            format!("{speaker}{copy}")
        },
        text,
        caption: field("image_caption").to_owned(),
        tag: "some tag".to_owned(),
        derived_by: "bench".to_owned(),
        ..sample_unit(&space, &external)
    }
}

fn index_unit(unit: &Unit) -> Indexed {
    let mut pieces = EmbeddingTable::builtin().piece_rows(&unit.text);
    pieces.sort_unstable();
    pieces.dedup();
    Indexed {
        unit: unit.id,
        stems: text::stem_words(&unit.text)
            .iter()
            .map(|it| text::meaning::sparse_vectors::hash_stem(it))
            .collect(),
        pieces,
        vector: EmbeddingTable::builtin().embed_text(&unit.text),
    }
}

fn search_index(index: &[Indexed], query: &Query, view: &View) -> SearchResult {
    let rarity = |piece: u32| view.idf(view.piece_parts(piece));
    let asked: Vec<(u32, f32)> = query
        .searched
        .iter()
        .map(|&(piece, weight)| (piece, weight * rarity(piece)))
        .collect();
    let words = |it: &Indexed| {
        let norm = 1.2 * (0.8 + 0.2 * it.stems.len() as f32 / 20.0);
        let held = query.words.iter().filter(|word| it.stems.contains(&word.term));
        held.map(|word| word.idf * 2.2 / (1.0 + norm)).sum::<f32>()
    };
    let pieces = |it: &Indexed| {
        let held = asked.iter().filter(|piece| it.pieces.binary_search(&piece.0).is_ok());
        held.map(|piece| piece.1).sum::<f32>() / (10.0 + it.pieces.len() as f32).sqrt()
    };
    let dense = |it: &Indexed| it.vector.iter().zip(&query.vector).map(|(a, b)| a * b).sum::<f32>();
    SearchResult {
        words: best_hits(index, words),
        pieces: best_hits(index, pieces),
        dense: best_hits(index, dense),
    }
}

fn best_hits(index: &[Indexed], score: impl Fn(&Indexed) -> f32) -> Vec<Hit> {
    let hit = |it: &Indexed| Hit {
        unit: it.unit,
        part: 0,
        score: score(it),
    };
    let mut hits: Vec<Hit> = index.iter().map(hit).filter(|it| it.score > 0.0).collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.unit.cmp(&b.unit)));
    hits.truncate(HITS);
    hits
}

fn space() -> SpaceId {
    "bench".parse().expect("a valid name")
}
