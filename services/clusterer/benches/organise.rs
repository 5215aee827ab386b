//! Measures the CPU time per unit that each component of a memory needs in spaces of different size, while the space
//! grows by half, and the bytes per unit that each holds at the end. The digest is over all derived objects in the
//! order in which they were reported; it tells whether two builds derive the same.
//!
//! `cargo bench -p clusterer --bench organise -- 1000 10000 100000`. One unit in six is an event; units arrive in
//! batches of twelve, and all changes are requested after each batch. With `spill` among the arguments, what is not in
//! use is moved to a temporary file after every 1,000 units, and the size of that file is printed too.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench prints and may stop")]

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use chrono::DateTime;
use clusterer::{Acts, ChangedObjects, Entities, Events, Facts, Pages, SpillFile, Topics};
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::unit::{Grain, Unit};
use fixtures::{CountingAllocator, sample_unit};

const WORDS: &str = "garden violin harbour recipe sister marathon museum puppy meeting budget ferry concert window painting \
    school doctor airport mountain library kitchen guitar birthday novel river bakery camera neighbour contract tennis \
    festival laptop coffee bicycle orchard theatre puzzle dentist market summer project lecture island piano storm letter";
const VERBS: &str =
    "visited bought painted repaired planned forgot loved cooked joined finished lost found started sold";
const THEMES: usize = 40;
const BATCH: usize = 12;
/// Number of units after which unused parts are spilled.
const SPILLED_AFTER: usize = 1_000;
/// One in this many units is an event.
const EVENTS: usize = 6;

#[global_allocator]
static COUNTED: CountingAllocator = CountingAllocator;

/// A component of a memory.
type Part = fn(&mut World, &Round<'_>, &mut ChangedObjects);

/// A batch of units with their vectors.
struct Round<'a> {
    units: &'a [Unit],
    vectors: &'a [Arc<[f32]>],
}

/// The components of a memory in the order of their calls; the same calls as in `Memory`, each timed.
#[derive(Default)]
struct World {
    entities: Entities,
    facts: Facts,
    events: Events,
    topics: Topics,
    pages: Pages,
    spent: [Duration; PARTS.len()],
    longest: Duration,
    digest: DefaultHasher,
    /// The file to which unused parts are moved, if any, and the number of units since that was last done.
    spilled: Option<Arc<SpillFile>>,
    units_since_spill: usize,
}

const PARTS: [(&str, Part); 5] = [
    ("entities", World::entities),
    ("facts", World::facts),
    ("events", World::events),
    ("topics", World::topics),
    ("pages", World::pages),
];

impl World {
    fn entities(&mut self, round: &Round<'_>, all: &mut ChangedObjects) {
        round.units.iter().for_each(|it| self.entities.apply_unit(it));
        all.append_changes(self.entities.take_changes(&space(), &Acts::default()));
    }

    fn facts(&mut self, round: &Round<'_>, all: &mut ChangedObjects) {
        round.units.iter().for_each(|it| self.facts.apply_unit(it));
        all.append_changes(self.facts.take_changes(&self.entities, &Acts::default()));
    }

    fn events(&mut self, round: &Round<'_>, all: &mut ChangedObjects) {
        for (unit, vector) in round.units.iter().zip(round.vectors) {
            self.events.apply_unit(unit, Some(vector));
        }
        all.append_changes(self.events.take_changes(&Acts::default()));
    }

    fn topics(&mut self, round: &Round<'_>, all: &mut ChangedObjects) {
        for (unit, vector) in round.units.iter().zip(round.vectors) {
            self.topics.apply_unit(unit, Some(vector));
        }
        all.append_changes(self.topics.take_changes(&Acts::default()));
    }

    fn pages(&mut self, round: &Round<'_>, all: &mut ChangedObjects) {
        round.units.iter().for_each(|it| self.pages.apply_unit(it));
        self.pages.share_facts(self.facts.take_shared_facts());
        self.pages.apply_changes(all);
        all.append_changes(self.pages.take_changes(&space(), &BTreeMap::new()));
    }

    fn feed(&mut self, numbers: std::ops::Range<usize>) {
        let units: Vec<Unit> = numbers.clone().map(unit).collect();
        let vectors: Vec<Arc<[f32]>> = numbers.map(|it| vector(it).into()).collect();
        let round = Round {
            units: &units,
            vectors: &vectors,
        };
        let mut all = ChangedObjects::default();
        let spills = self.units_since_spill >= SPILLED_AFTER;
        let begin = cpu();
        for (at, (_, part)) in PARTS.iter().enumerate() {
            let start = cpu();
            part(self, &round, &mut all);
            if let Some(file) = self.spilled.clone().filter(|_| spills) {
                self.spill(at, &file);
            }
            self.spent[at] += cpu().saturating_sub(start);
        }
        self.units_since_spill = if spills {
            0
        } else {
            self.units_since_spill + units.len()
        };
        self.longest = self.longest.max(cpu().saturating_sub(begin));
        let lines = serde_json::to_vec(&(&all.put, &all.removed)).expect("derived objects can be written");
        self.digest.write(&lines);
    }

    fn spill(&mut self, part: usize, file: &Arc<SpillFile>) {
        match part {
            0 => self.entities.spill_unused(file),
            1 => self.facts.spill_unused(file),
            2 => self.events.spill_unused(file),
            3 => self.topics.spill_unused(file),
            _ => self.pages.spill_unused(file),
        }
    }

    /// Drops the components and returns the bytes that each of them held. The pages share the facts, so they are
    /// dropped first.
    fn count_held_bytes(mut self) -> [usize; PARTS.len()] {
        let mut held = [0; PARTS.len()];
        for (at, held) in held.iter_mut().enumerate().rev() {
            let before = CountingAllocator::allocated_bytes();
            match at {
                0 => drop(std::mem::take(&mut self.entities)),
                1 => drop(std::mem::take(&mut self.facts)),
                2 => drop(std::mem::take(&mut self.events)),
                3 => drop(std::mem::take(&mut self.topics)),
                _ => drop(std::mem::take(&mut self.pages)),
            }
            *held = before.saturating_sub(CountingAllocator::allocated_bytes());
        }
        held
    }
}

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let spills = std::env::args().any(|it| it == "spill");
    let sizes = if sizes.is_empty() {
        vec![1_000, 10_000, 100_000]
    } else {
        sizes
    };
    println!("microseconds a unit, the longest round of {BATCH} units in milliseconds, and bytes a unit at the end");
    let names: String = PARTS.iter().map(|it| format!("{:>10}", it.0)).collect();
    println!(
        "{:>8}{names}{:>10}{:>10}{names}{:>10}  digest",
        "units", "sum", "longest", "sum"
    );
    for size in sizes {
        let folder = std::env::temp_dir();
        let file = spills.then(|| SpillFile::create_in(&folder, [7; 32]).expect("a temporary file"));
        let mut world = World {
            spilled: file.map(Arc::new),
            ..World::default()
        };
        for start in (0..size).step_by(600) {
            world.feed(start..(start + 600).min(size));
        }
        (world.spent, world.longest) = Default::default();
        let more = (size / 2).max(BATCH);
        for start in (size..size + more).step_by(BATCH) {
            world.feed(start..(start + BATCH).min(size + more));
        }
        let micros = |it: Duration| it.as_secs_f64() * 1e6 / more as f64;
        let each: String = world.spent.iter().map(|it| format!("{:>10.1}", micros(*it))).collect();
        let sum = micros(world.spent.iter().sum());
        let longest = world.longest.as_secs_f64() * 1e3;
        let digest = world.digest.finish();
        let file_bytes = world.spilled.as_ref().map_or(0, |it| it.used_bytes());
        let held = world.count_held_bytes().map(|it| it / (size + more));
        let bytes: String = held.iter().map(|it| format!("{it:>10}")).collect();
        let all_bytes: usize = held.iter().sum();
        println!("{size:>8}{each}{sum:>10.1}{longest:>10.1}{bytes}{all_bytes:>10}  {digest:016x}");
        if spills {
            println!("{:>8}{:.1} MB in the file", "", file_bytes as f64 / 1e6);
        }
    }
}

/// Returns the CPU time of this thread, which excludes other work on the machine; on systems other than Linux, the
/// elapsed time.
fn cpu() -> Duration {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|it| it.parse().ok());
    nanos.map_or_else(|| BEGIN.elapsed(), Duration::from_nanos)
}

fn space() -> SpaceId {
    "bench".parse().expect("a name of a space")
}

fn mixed(seed: usize) -> usize {
    (seed as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(31)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9) as usize
        >> 20
}

/// Returns a word of a list by a number; the later words are more frequent.
fn pick(list: &'static str, seed: usize) -> &'static str {
    let words: Vec<&str> = list.split_whitespace().collect();
    let at = mixed(seed) % (words.len() * words.len());
    words[(at as f64).sqrt() as usize]
}

/// Returns the vector of a unit, of length 1; the vectors of one theme are similar.
fn vector(at: usize) -> Vec<f32> {
    let theme = mixed(at) % THEMES;
    let value = |seed: usize| (mixed(seed) % 2_000) as f32 / 1_000.0 - 1.0;
    let mut out: Vec<f32> = (0..128)
        .map(|it| 1.0 + value(theme * 1_009 + it) + 0.7 * value(at * 131 + it * 7 + 3))
        .collect();
    let length = out.iter().map(|it| it * it).sum::<f32>().sqrt();
    out.iter_mut().for_each(|it| *it /= length);
    out
}

/// Returns the name of a person; the number of names grows with the memory.
fn name(at: usize) -> String {
    const OPENING: [&str; 20] = [
        "Ar", "Bel", "Cor", "Dav", "El", "Fen", "Gar", "Hol", "Ir", "Jor", "Kal", "Lin", "Mor", "Ned", "Or", "Pas",
        "Ro", "Sten", "Tor", "Ul",
    ];
    const CLOSING: [&str; 25] = [
        "a", "an", "ben", "da", "dis", "en", "eth", "fa", "gar", "ia", "il", "in", "ka", "la", "lo", "mar", "mund",
        "na", "nik", "o", "ric", "sa", "ta", "vin", "wen",
    ];
    let who = mixed(at) % (at / 50 + 10);
    let (first, last) = (mixed(who), mixed(who + 1_000_003));
    let part = |seed: usize| format!("{}{}", OPENING[seed % 20], CLOSING[seed / 20 % 25]);
    format!("{} {}{}", part(first), part(last), CLOSING[last / 500 % 25])
}

/// Returns the text of a turn: an event, and every other time a statement of a fact.
fn sentence(at: usize) -> String {
    let word = |n: usize| pick(WORDS, at * 7 + n);
    let (one, other, verb, name) = (word(1), word(2), pick(VERBS, at * 3), name(at));
    match mixed(at + 7) % 24 {
        0..3 => format!("I love the {one} {other}."),
        3..5 => format!("{name} hates the {one} {other}."),
        5..7 => format!("My friend {name} works as a {one} teacher."),
        7..9 => format!("I bought a {one} {other} for my {} yesterday.", word(3)),
        9 => format!("{name} lives in {} now.", name_of_place(mixed(at) % 300)),
        10 => format!(
            "I plan to visit {} next week with {name}.",
            name_of_place(mixed(at) % 300)
        ),
        11 => format!("Hi, {}! My {one} is better than the {other}.", actor(at + 1)),
        _ => format!(
            "Today the {one} of my {other} was {verb} with {name} at {} o'clock.",
            at % 12
        ),
    }
}

fn name_of_place(seed: usize) -> String {
    format!("{}stad", name(seed).replace(' ', ""))
}

fn actor(at: usize) -> &'static str {
    if at.is_multiple_of(2) { "Ada" } else { "Ben" }
}

fn unit(at: usize) -> Unit {
    let space = space();
    let record = RecordId::from_external_id(&space, &at.to_string());
    let event = at % EVENTS == EVENTS - 1;
    let actor = actor(at);
    let lines = if event { at + 1 - EVENTS..at } else { at..at + 1 };
    let sentences: Vec<String> = lines.clone().map(sentence).collect();
    let text = sentences.join("\n");
    let cues = text::stem_words(&text);
    let mut names: Vec<String> = lines.map(name).collect();
    names.extend(["Ada", "Ben"].iter().filter(|_| event).map(|it| (*it).to_owned()));
    let sentences: Vec<String> = sentences.iter().map(|it| format!("{actor}: {it}")).collect();
    let at_time = DateTime::from_timestamp(1_600_000_000 + at as i64 * 600, 0).unwrap_or_default();
    Unit {
        id: if event {
            UnitId::of_event(record)
        } else {
            UnitId::of_turn(record)
        },
        grain: if event { Grain::Event } else { Grain::Turn },
        session: SessionId::from_name(&space, &(at / 60).to_string()),
        observed_at: at_time.fixed_offset(),
        ordinal: at as u64,
        actor: if event { String::new() } else { actor.to_owned() },
        text,
        summary: format!("[1 May 2024] {}", sentences.join("\n")),
        participants: names,
        tag: pick(WORDS, at * 7).to_owned(),
        cues,
        derived_by: "bench".to_owned(),
        ..sample_unit(&space, &at.to_string())
    }
}
