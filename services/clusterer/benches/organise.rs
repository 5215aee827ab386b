//! CPU time a unit costs topics and pages in spaces of different size, measured while the space grows by half.
//!
//! `cargo bench -p clusterer --bench organise -- 1000 10000 100000`. One unit in six is an event; units arrive in batches
//! of twelve and everything is asked for after each.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench prints and may stop")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::DateTime;
use clusterer::{Changed, Pages, Topics};
use domain::derived::Derived;
use domain::entity::{Entity, EntityKind};
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, FactId, RecordId, SessionId, SpaceId, UnitId};
use domain::record::Modality;
use domain::time::TimeSpan;
use domain::unit::{Grain, Status, Unit};

const WORDS: &str = "garden violin harbour recipe sister marathon museum puppy meeting budget ferry concert window painting \
    school doctor airport mountain library kitchen guitar birthday novel river bakery camera neighbour contract tennis \
    festival laptop coffee bicycle orchard theatre puzzle dentist market summer project lecture island piano storm letter";
const VERBS: &str =
    "visited bought painted repaired planned forgot loved cooked joined finished lost found started sold";
const THEMES: usize = 40;
const BATCH: usize = 12;
/// One of so many units is an event.
const EVENTS: usize = 6;

/// Time spent on taking in and on telling.
#[derive(Default)]
struct Spent {
    taken: Duration,
    told: Duration,
}

impl Spent {
    fn each(&self, units: usize) -> (f64, f64) {
        let micros = |it: Duration| it.as_secs_f64() * 1e6 / units as f64;
        (micros(self.taken), micros(self.told))
    }
}

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let sizes = if sizes.is_empty() {
        vec![1_000, 10_000, 100_000]
    } else {
        sizes
    };
    println!("microseconds a unit: taking in + telling what changed; longest call in milliseconds");
    println!(
        "{:>8} {:>18} {:>18} {:>9} {:>12}",
        "units", "topics", "pages", "sum", "longest ms"
    );
    for size in sizes {
        let mut world = World::default();
        for start in (0..size).step_by(600) {
            world.feed(start..(start + 600).min(size));
        }
        (world.topic, world.page, world.longest) = (Spent::default(), Spent::default(), Duration::ZERO);
        let more = (size / 2).max(BATCH);
        for start in (size..size + more).step_by(BATCH) {
            world.feed(start..(start + BATCH).min(size + more));
        }
        let (topics, pages) = (world.topic.each(more), world.page.each(more));
        let sum = topics.0 + topics.1 + pages.0 + pages.1;
        let longest = world.longest.as_secs_f64() * 1e3;
        println!(
            "{size:>8} {:>8.1} + {:>7.1} {:>8.1} + {:>7.1} {sum:>9.1} {longest:>12.1}",
            topics.0, topics.1, pages.0, pages.1
        );
    }
}

#[derive(Default)]
struct World {
    topics: Topics,
    pages: Pages,
    topic: Spent,
    page: Spent,
    longest: Duration,
    mentions: BTreeMap<String, u64>,
}

impl World {
    fn feed(&mut self, numbers: std::ops::Range<usize>) {
        let units: Vec<Unit> = numbers.clone().map(unit).collect();
        let derived = self.derived(&units);
        let vectors: Vec<Vec<f32>> = numbers.map(vector).collect();
        let start = Instant::now();
        for (unit, vector) in units.iter().zip(&vectors) {
            self.topics.apply(unit, Some(vector));
        }
        let taken = start.elapsed();
        let changed = self.topics.changed(&space());
        let told = start.elapsed();
        self.topic.taken += taken;
        self.topic.told += told - taken;
        let start = Instant::now();
        units.iter().for_each(|it| self.pages.apply_unit(it));
        self.pages.apply(&changed);
        self.pages.apply(&derived);
        let taken = start.elapsed();
        self.pages.changed(&space(), &BTreeMap::new());
        let all = start.elapsed();
        self.page.taken += taken;
        self.page.told += all - taken;
        self.longest = self.longest.max(told).max(all);
    }

    /// A fact for every fourth unit, and the entities with their mentions.
    fn derived(&mut self, units: &[Unit]) -> Changed {
        let mut names: Vec<&String> = units
            .iter()
            .flat_map(|it| it.participants.iter().chain([&it.actor]))
            .collect();
        names.retain(|it| !it.is_empty());
        names
            .iter()
            .for_each(|it| *self.mentions.entry((*it).clone()).or_default() += 1);
        names.sort();
        names.dedup();
        let entities = names
            .iter()
            .map(|name| Derived::Entity(entity(name, self.mentions[*name])));
        let facts = units
            .iter()
            .filter(|it| it.ordinal.is_multiple_of(4) && !it.actor.is_empty());
        Changed {
            put: entities.chain(facts.map(|it| Derived::Fact(fact(it)))).collect(),
            gone: Vec::new(),
        }
    }
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

/// A word of a list by a number, frequent ones more often.
fn pick(list: &'static str, seed: usize) -> &'static str {
    let words: Vec<&str> = list.split_whitespace().collect();
    let at = mixed(seed) % (words.len() * words.len());
    words[(at as f64).sqrt() as usize]
}

/// A direction near that of the theme.
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

fn sentence(at: usize) -> String {
    let word = |n: usize| pick(WORDS, at * 7 + n);
    format!(
        "Today the {} of my {} was {} with Name{} at {} o'clock, because the {} was closed.",
        word(1),
        word(2),
        pick(VERBS, at * 3),
        mixed(at) % (at / 50 + 10),
        at % 12,
        word(3)
    )
}

fn unit(at: usize) -> Unit {
    let space = space();
    let record = RecordId::derive(&space, &at.to_string());
    let event = at % EVENTS == EVENTS - 1;
    let actor = if at.is_multiple_of(2) { "Ada" } else { "Ben" };
    let lines = if event { at + 1 - EVENTS..at } else { at..at + 1 };
    let text: Vec<String> = lines.clone().map(sentence).collect();
    let mut names: Vec<String> = lines.map(|it| format!("Name{}", mixed(it) % (it / 50 + 10))).collect();
    names.extend(["Ada", "Ben"].iter().filter(|_| event).map(|it| (*it).to_owned()));
    let said: Vec<String> = text.iter().map(|it| format!("{actor}: {it}")).collect();
    let at_time = DateTime::from_timestamp(1_600_000_000 + at as i64 * 600, 0).unwrap_or_default();
    Unit {
        id: if event {
            UnitId::event(record)
        } else {
            UnitId::turn(record)
        },
        grain: if event { Grain::Event } else { Grain::Turn },
        session: SessionId::derive(&space, &(at / 60).to_string()),
        records: vec![record],
        external_ids: vec![at.to_string()],
        observed_at: at_time.fixed_offset(),
        ordinal: at as u64,
        modality: Modality::Text,
        actor: if event { String::new() } else { actor.to_owned() },
        addressee: String::new(),
        text: text.join("\n"),
        caption: String::new(),
        summary: format!("[1 May 2024] {}", said.join("\n")),
        times: Vec::new(),
        participants: names,
        location: String::new(),
        action: String::new(),
        step: None,
        changes: Vec::new(),
        tag: pick(WORDS, at * 7).to_owned(),
        cues: Vec::new(),
        question: String::new(),
        derived_by: "bench".to_owned(),
        status: Status::Active,
        confidence: 1.0,
    }
}

fn entity(name: &str, mentions: u64) -> Entity {
    Entity {
        id: EntityId::derive(&space(), &name.to_lowercase()),
        name: name.to_owned(),
        kind: if name.starts_with("Name") {
            EntityKind::Person
        } else {
            EntityKind::Speaker
        },
        aliases: Vec::new(),
        mentions,
        first_seen: None,
        roles: Vec::new(),
        synonyms: Vec::new(),
    }
}

fn fact(unit: &Unit) -> Fact {
    let at = unit.observed_at.to_utc();
    let object = unit.tag.clone();
    Fact {
        id: FactId::derive(unit.id, &unit.actor, "likes", &object),
        subject: unit.actor.clone(),
        entity: Some(EntityId::derive(&space(), &unit.actor.to_lowercase())),
        predicate: if unit.ordinal.is_multiple_of(8) {
            "likes"
        } else {
            "hates"
        }
        .to_owned(),
        object,
        aspect: if unit.ordinal.is_multiple_of(3) {
            Aspect::Habit
        } else {
            Aspect::Preference
        },
        valid_from: TimeSpan::instant(at),
        valid_until: None,
        closed_at: None,
        recorded_at: at,
        source: unit.id,
        told_by: unit.actor.clone(),
        confidence: 0.8,
        retired_by: None,
        withdrawn: false,
    }
}
