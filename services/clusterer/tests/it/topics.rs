use std::collections::{BTreeMap, BTreeSet};

use clusterer::{Acts, Topics};
use domain::derived::Derived;
use domain::id::{TopicId, UnitId};
use domain::topic::Topic;
use domain::unit::Unit;

use crate::world::{Stored, THEMES, event, event_with_sentence, shuffled, store, vector, withdrawn};

/// Applies units in batches of `batch` and returns the stored data at the end.
fn fed(units: &[Unit], batch: usize) -> Stored {
    let (mut topics, mut stored) = (Topics::default(), Stored::new());
    for units in units.chunks(batch) {
        units.iter().for_each(|it| topics.apply_unit(it, Some(&vector(it))));
        store(&mut stored, &topics.take_changes(&Acts::default()));
    }
    stored
}

fn topics(stored: &Stored) -> Vec<&Topic> {
    let topics = stored.values();
    topics
        .filter_map(|it| if let Derived::Topic(it) = it { Some(it) } else { None })
        .collect()
}

fn places(stored: &Stored) -> BTreeMap<UnitId, TopicId> {
    let members = stored.values();
    members
        .filter_map(|it| {
            if let Derived::Member(it) = it {
                Some((it.unit, it.topic))
            } else {
                None
            }
        })
        .collect()
}

#[test]
fn topics_depend_only_on_the_set_of_units() {
    let units: Vec<Unit> = (0..150).map(event).collect();
    let rest: Vec<Unit> = units
        .iter()
        .enumerate()
        .filter(|it| it.0 % 11 != 5)
        .map(|it| it.1.clone())
        .collect();
    let whole = fed(&units, 1);
    let without = fed(&rest, 1);
    for seed in 1..=5 {
        // Some units first arrive in another form, and some are withdrawn in the end.
        let mut order = shuffled(&units, seed);
        let before: Vec<Unit> = order
            .iter()
            .take(20)
            .map(|it| changed(it, "The train to the coast was late again."))
            .collect();
        order.splice(0..0, before);
        assert_eq!(fed(&order, 1 + 9 * seed as usize), whole, "order {seed}");
        let removed: Vec<Unit> = units.iter().filter(|it| !rest.contains(it)).map(withdrawn).collect();
        order.extend(shuffled(&removed, seed));
        assert_eq!(
            fed(&order, 1 + 13 * seed as usize),
            without,
            "order {seed}, some withdrawn"
        );
    }
}

fn changed(unit: &Unit, sentence: &str) -> Unit {
    Unit {
        text: sentence.to_owned(),
        summary: format!("[1 May 2024] Ines, Joar\nInes: {sentence}"),
        ..unit.clone()
    }
}

#[test]
fn topics_group_similar_events_and_have_fitting_labels() {
    let units: Vec<Unit> = (0..90).map(event).collect();
    let stored = fed(&units, 7);
    let topics = topics(&stored);
    let places = places(&stored);
    assert_eq!(places.len(), units.len());
    let mut labels: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    let mut pure = 0;
    for topic in &topics {
        let members: Vec<usize> = (0..90)
            .filter(|it| places[&units[*it].id] == topic.id)
            .map(|it| it % THEMES.len())
            .collect();
        let most = (0..THEMES.len())
            .max_by_key(|theme| members.iter().filter(|it| *it == theme).count())
            .unwrap();
        pure += members.iter().filter(|it| **it == most).count();
        assert_eq!(topic.units as usize, members.len());
        assert!((1..=5).contains(&topic.label.split(' ').count()), "{}", topic.label);
        assert!(topic.keywords.len() <= 8 && !topic.label.contains("Ines"), "{topic:?}");
        labels.entry(most).or_default().insert(&topic.label);
    }
    assert!(pure >= 85, "{pure} of 90 stand with their like");
    for (theme, (word, _)) in THEMES.iter().enumerate() {
        let labels = labels.get(&theme).unwrap();
        assert!(labels.iter().any(|it| it.contains(word)), "{word}: {labels:?}");
    }
}

#[test]
fn topics_keep_their_ids_as_a_space_grows() {
    let (mut all, mut stored) = (Topics::default(), Stored::new());
    let mut before: BTreeMap<UnitId, TopicId> = BTreeMap::new();
    let (mut kept, mut asked) = (0, 0);
    for number in 0..400 {
        let unit = event(number);
        all.apply_unit(&unit, Some(&vector(&unit)));
        store(&mut stored, &all.take_changes(&Acts::default()));
        let now = places(&stored);
        // The first topics split for good reason.
        if number > 60 {
            asked += before.len();
            kept += before
                .iter()
                .filter(|(unit, topic)| now.get(*unit) == Some(*topic))
                .count();
        }
        before = now;
    }
    assert!(kept * 100 >= asked * 99, "{kept} of {asked}");
    assert!(topics(&stored).len() <= 64);
}

#[test]
fn a_unit_without_a_usable_vector_has_no_topic() {
    let mut topics = Topics::default();
    let units = [event(0), event(1), event(2)];
    topics.apply_unit(&units[0], None);
    topics.apply_unit(&units[1], Some(&[0.0; 128].into()));
    topics.apply_unit(&units[2], Some(&[f32::NAN; 128].into()));
    assert_eq!(
        topics.take_changes(&Acts::default()),
        clusterer::ChangedObjects::default()
    );
    topics.apply_unit(&units[0], Some(&vector(&units[0])));
    assert_eq!(topics.take_changes(&Acts::default()).put.len(), 1);
    topics.apply_unit(&withdrawn(&units[0]), None);
    assert_eq!(topics.take_changes(&Acts::default()).removed.len(), 1);
}

#[test]
fn a_topic_is_shown_once_two_events_share_a_word_for_its_label() {
    let (mut topics, mut stored) = (Topics::default(), Stored::new());
    let units = [0, 1].map(|it| event_with_sentence(it, "The ferry was late again."));
    topics.apply_unit(&units[0], Some(&vector(&units[0])));
    store(&mut stored, &topics.take_changes(&Acts::default()));
    assert_eq!(self::topics(&stored), Vec::<&Topic>::new());
    topics.apply_unit(&units[1], Some(&vector(&units[1])));
    store(&mut stored, &topics.take_changes(&Acts::default()));
    let labels: Vec<&str> = self::topics(&stored).iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["ferry"]);
}

#[test]
fn units_of_measure_are_in_no_label() {
    for sentence in [
        "Run the hose for 12 min.",
        "The hose ran 40 secs.",
        "The hose leaked at 3 kwh.",
    ] {
        let units: Vec<Unit> = (0..3).map(|it| event_with_sentence(it, sentence)).collect();
        let stored = fed(&units, 3);
        let labels: Vec<&str> = self::topics(&stored).iter().map(|it| it.label.as_str()).collect();
        assert_eq!(labels, ["hose"], "{sentence}");
    }
}

#[test]
fn identical_events_form_one_topic_or_two() {
    let units: Vec<Unit> = (0..100)
        .map(|it| event_with_sentence(it, "The ferry was late again."))
        .collect();
    let stored = fed(&units, 10);
    assert!((1..=2).contains(&topics(&stored).len()), "{:?}", topics(&stored));
    assert_eq!(places(&stored).len(), 100);
}

#[test]
fn many_dissimilar_units_stay_within_the_limit_of_topics() {
    let words = [
        "harbour", "quartz", "violet", "ledger", "compass", "saddle", "lantern", "glacier", "vinegar", "turbine",
    ];
    let units: Vec<Unit> = (0..1_000)
        .map(|it| {
            event_with_sentence(
                it,
                &format!("The {} beside the {} number {it}.", words[it % 10], words[it / 10 % 10]),
            )
        })
        .collect();
    let stored = fed(&units, 100);
    assert!(topics(&stored).len() <= 64);
    assert_eq!(places(&stored).len(), 1_000);
}
