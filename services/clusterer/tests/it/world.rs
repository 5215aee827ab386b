//! A small world of conversations about six things, to be organised in any order.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use clusterer::ChangedObjects;
use domain::derived::{Derived, DerivedId};
use domain::id::{RecordId, UnitId};
use domain::unit::{Grain, Unit};

use crate::{space, unit};

/// Themes with their sentences.
pub(crate) const THEMES: [(&str, [&str; 4]); 6] = [
    (
        "beehive",
        [
            "We opened the beehive and the bees were calm. The honey is nearly ready.",
            "The beehive swarmed again, so Edda caught the bees with a sheet.",
            "I bought a second beehive and 3 jars of honey from Edda.",
            "The bees in the beehive need sugar because of the cold.",
        ],
    ),
    (
        "cello",
        [
            "The cello teacher gave me a new sonata and the bow needs hair.",
            "I practised the cello sonata for 2 hours with the metronome.",
            "The orchestra needs a cello for the concert in Bergen.",
            "My cello string broke in the middle of the concert.",
        ],
    ),
    (
        "kitchen",
        [
            "The kitchen tiles arrived and the plumber moved the sink.",
            "The kitchen cabinets cost 4,100 euros with the oven.",
            "The plumber forgot the kitchen tap, so the sink still leaks.",
            "We painted the kitchen walls green and hung the cabinets.",
        ],
    ),
    (
        "marathon",
        [
            "The marathon training starts with 10 km runs along the river.",
            "My running shoes hurt after the marathon training.",
            "The marathon in Bergen is full, the runners wait on a list.",
            "I finished the marathon in 4 hours and my knees hurt.",
        ],
    ),
    (
        "puppy",
        [
            "The puppy chewed the leash and the vet laughed.",
            "The vet gave the puppy 2 shots and a biscuit.",
            "Our puppy Muffin learned to sit at the dog school.",
            "The dog school says the puppy barks at other dogs.",
        ],
    ),
    (
        "novel",
        [
            "The editor returned my novel with notes on the third chapter.",
            "I rewrote the chapter and the novel has 300 pages now.",
            "The publisher wants the novel manuscript before the book fair.",
            "The book club read a chapter of my novel aloud.",
        ],
    ),
];

/// Returns event `number`, four hours after the one before; the number selects its theme and sentence.
pub(crate) fn event(number: usize) -> Unit {
    let (_, sentences) = THEMES[number % THEMES.len()];
    event_with_sentence(number, sentences[number * 7 / 5 % sentences.len()])
}

/// Returns an event with this sentence.
pub(crate) fn event_with_sentence(number: usize, sentence: &str) -> Unit {
    let mut out = dated(unit(number, "", sentence), number);
    out.id = UnitId::of_event(RecordId::from_external_id(&space(), &number.to_string()));
    out.grain = Grain::Event;
    out.participants = ["Ines", "Joar"].map(str::to_owned).to_vec();
    out.participants
        .extend(text::find_names(sentence).into_iter().map(str::to_owned));
    out.summary = format!("[1 May 2024] Ines, Joar\nInes to Joar: {sentence}");
    out
}

/// Returns a turn of the same number and sentence.
pub(crate) fn turn(number: usize) -> Unit {
    let event = event(number);
    let both = if number.is_multiple_of(2) {
        ["Ines", "Joar"]
    } else {
        ["Joar", "Ines"]
    };
    let mut out = dated(unit(number, both[0], &event.text), number);
    out.addressee = both[1].to_owned();
    out.location = ["Bergen"]
        .into_iter()
        .find(|it| out.text.contains(it))
        .unwrap_or_default()
        .to_owned();
    out.summary = format!("[1 May 2024] {}: {}", out.actor, out.text);
    out.tag = THEMES[number % THEMES.len()].0.to_owned();
    out
}

pub(crate) fn dated(mut unit: Unit, number: usize) -> Unit {
    let start = DateTime::from_timestamp(1_714_550_400, 0).unwrap();
    unit.observed_at = (start + TimeDelta::hours(4 * number as i64)).fixed_offset();
    unit
}

pub(crate) fn withdrawn(unit: &Unit) -> Unit {
    unit.without_content()
}

pub(crate) fn vector(unit: &Unit) -> Arc<[f32]> {
    text::EmbeddingTable::builtin().embed_text(&unit.summary).into()
}

/// The stored derived data, by id.
pub(crate) type Stored = BTreeMap<DerivedId, Derived>;

/// Stores a result. It must differ from the stored data.
pub(crate) fn store(stored: &mut Stored, changed: &ChangedObjects) {
    for id in &changed.removed {
        assert!(stored.remove(id).is_some(), "{id:?} was never put");
        assert!(changed.put.iter().all(|it| it.id() != *id), "{id:?} is put and gone");
    }
    for item in &changed.put {
        assert_ne!(stored.insert(item.id(), item.clone()).as_ref(), Some(item), "put again");
    }
}

/// Returns the same items in another order, which depends on `seed`.
pub(crate) fn shuffled<T: Clone>(items: &[T], seed: u64) -> Vec<T> {
    let mut out = items.to_vec();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for place in (1..out.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        out.swap(place, (state >> 33) as usize % (place + 1));
    }
    out
}
