//! Tests of names that may belong to one person, and a language model's judgements of them.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::DateTime;
use clusterer::{Acts, Entities, MentionedName, PeopleQuestion, PeopleVerdict};
use domain::id::{ReadingId, UnitId};
use domain::merge::Merge;
use domain::port::ModelCost;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::unit::Unit;
use serde_json::{Value, json};

use crate::endpoint::Endpoint;
use crate::entities::talk;
use crate::follow::Running;
use crate::held::{Held, parting};
use crate::labels::records;
use crate::space;
use crate::world::{shuffled, withdrawn};

const TALK: [&str; 5] = [
    "Ana: My friend Tom is back at the bakery in Leeds.",
    "Ana: I told my friend Tom that the oven is hot.",
    "Ana: My boss Thomas Reed bakes the best bread in Leeds.",
    "Ana: My boss Thomas Reed says hello to the bakery.",
    "Ana: We met my friend Tom and his dog.",
];

/// Returns the stored reply that both names belong to one person, or that they do not.
fn said(same_person: bool) -> String {
    json!({ "same_person": same_person, "lines": [1, 4], "reasoning": "Both bake in Leeds.", "cites_both": true })
        .to_string()
}

/// Entities, with stored readings, and the derived data.
#[derive(Default)]
struct World {
    entities: Entities,
    units: BTreeMap<UnitId, Unit>,
    readings: BTreeMap<ReadingId, Reading>,
    held: Held,
}

impl World {
    fn new(units: &[Unit]) -> World {
        let mut world = World::default();
        world.apply(units, &Acts::default());
        world
    }

    /// Applies units and looks readings up, as the follower does.
    fn apply(&mut self, units: &[Unit], acts: &Acts) {
        for unit in units {
            self.units.insert(unit.id, unit.clone());
            self.entities.apply(unit);
        }
        let places = self.entities.unlooked(&space());
        let found = places.iter().filter_map(|it| self.readings.get(&it.reading));
        let found: Vec<PeopleVerdict> = found.filter_map(PeopleVerdict::of).collect();
        self.entities.take_in(&places, &found);
        self.held.take(self.entities.changed(&space(), acts));
    }

    /// Stores a model's judgement of each pair of the only question.
    fn reply(&mut self, output: &str) {
        let question = self.entities.questions(&space(), 9).pop().unwrap();
        let reading = self.reading(&question, output);
        self.readings.insert(reading.id, reading);
        self.entities.look_for_open();
        self.apply(&[], &Acts::default());
    }

    /// Returns the reading in which a model judges the first pair of a question.
    fn reading(&self, question: &PeopleQuestion, output: &str) -> Reading {
        let other = &question.others[0];
        let records = |it: &MentionedName| {
            it.units
                .iter()
                .flat_map(|it| self.units[it].records.clone())
                .collect::<Vec<_>>()
        };
        let (own, others) = (records(&question.shorter), records(&other.named));
        Reading {
            id: other.place.reading,
            kind: ReadingKind::People,
            session: self.units[&question.shorter.units[0]].session,
            records: own[..1].to_vec(),
            beside: own[1..].iter().chain(&others).copied().collect(),
            earlier: Vec::new(),
            digest: "0".repeat(64),
            prompt: "people/1".to_owned(),
            model: "parrot".to_owned(),
            at: DateTime::UNIX_EPOCH,
            output: output.to_owned(),
            failure: None,
            outcome: ReadingOutcome::default(),
            spent: ModelCost::default(),
        }
    }

    fn merge(&self) -> Option<Merge> {
        merge(&self.held)
    }
}

fn merge(held: &Held) -> Option<Merge> {
    held.merge("Thomas Reed", "Tom")
}

fn names(question: &PeopleQuestion) -> (&str, Vec<&str>) {
    let others = question.others.iter().map(|it| it.named.name.as_str());
    (&question.shorter.name, others.collect())
}

#[test]
fn a_nickname_is_merged_into_the_name_that_the_model_chose() {
    let units = talk(&TALK);
    let mut world = World::new(&units);
    let questions = world.entities.questions(&space(), 9);
    assert_eq!(
        questions.iter().map(names).collect::<Vec<_>>(),
        [("Tom", vec!["Thomas Reed"])]
    );
    assert_eq!(questions[0].shorter.units, [units[0].id, units[1].id, units[4].id]);
    assert_eq!(world.merge(), None);
    world.reply(&said(true));
    let merge = world.merge().unwrap();
    assert!(!merge.undone && merge.reason.contains("a language model"), "{merge:?}");
    let entity = world.held.entity("Thomas Reed");
    assert!(entity.aliases.contains(&"Tom".to_owned()), "{entity:?}");
    assert_eq!(
        (entity.mentions, world.entities.questions(&space(), 9)),
        (5, Vec::new())
    );
    // A user decides that they are two people.
    world.apply(&[], &parting(merge.id));
    assert!(world.merge().unwrap().undone);
    assert_eq!(world.held.entity("Tom").mentions, 3);
    assert_eq!(world.entities.questions(&space(), 9), [], "it is not asked about again");
    world.apply(&[], &Acts::default());
    assert_eq!(world.merge(), Some(merge), "the act was taken back");
}

#[test]
fn two_names_stay_separate_unless_the_model_joins_them_and_cites_both() {
    let units = talk(&TALK);
    let one_side = json!({ "same_person": true, "lines": [1], "reasoning": "", "cites_both": false });
    for output in [said(false), one_side.to_string(), "They are one.".to_owned()] {
        let mut world = World::new(&units);
        world.reply(&output);
        assert_eq!(world.merge(), None, "{output}");
        assert_eq!(world.entities.questions(&space(), 9), [], "{output}");
    }
    // The model is not asked about a name mentioned only once, nor about names that the rules decide.
    let once = talk(&[TALK[0], TALK[2], TALK[3]]);
    assert_eq!(World::new(&once).entities.questions(&space(), 9), []);
    let short = talk(&[
        "Ana: My friend Thomas is back.",
        "Ana: I told my friend Thomas.",
        TALK[2],
        TALK[3],
    ]);
    let world = World::new(&short);
    assert_eq!(world.entities.questions(&space(), 9), []);
    assert!(world.held.merge("Thomas Reed", "Thomas").is_some());
}

#[test]
fn a_first_name_of_several_people_is_asked_about_once_with_all_of_them() {
    let units = talk(&[
        "Ana: My friend Thomas is back at the bakery.",
        "Ana: I told my friend Thomas that the oven is hot.",
        TALK[2],
        TALK[3],
        "Ana: My teacher Thomas Hall says goodbye.",
        "Ana: My teacher Thomas Hall reads a lot.",
    ]);
    let mut world = World::new(&units);
    let questions = world.entities.questions(&space(), 9);
    let expected = [("Thomas", vec!["Thomas Hall", "Thomas Reed"])];
    assert_eq!(questions.iter().map(names).collect::<Vec<_>>(), expected);
    for other in &questions[0].others {
        let pair = PeopleQuestion {
            others: vec![other.clone()],
            ..questions[0].clone()
        };
        let reading = world.reading(&pair, &said(true));
        world.readings.insert(reading.id, reading);
    }
    world.entities.look_for_open();
    world.apply(&[], &Acts::default());
    let merged = world.held.merges().into_iter().filter(|it| it.names[1] == "Thomas");
    assert_eq!(merged.count(), 0, "nobody can be both");
    world.readings.remove(&questions[0].others[0].place.reading);
    let mut world = World {
        readings: world.readings,
        ..World::default()
    };
    world.apply(&units, &Acts::default());
    assert!(world.held.merge("Thomas Reed", "Thomas").is_some());
}

#[test]
fn merged_names_depend_only_on_units_and_readings() {
    let units = talk(&TALK);
    let mut world = World::new(&units);
    world.reply(&said(true));
    let without = {
        let mut other = World {
            readings: world.readings.clone(),
            ..World::default()
        };
        other.apply(&units[1..], &Acts::default());
        other.held
    };
    assert_eq!(merge(&without), None, "a unit that was shown is not there");
    for seed in 1..=5 {
        let mut other = World {
            readings: world.readings.clone(),
            ..World::default()
        };
        for some in shuffled(&units, seed).chunks(1 + seed as usize % 3) {
            other.apply(some, &Acts::default());
        }
        assert_eq!(other.held, world.held, "order {seed}");
        other.apply(&[withdrawn(&units[0])], &Acts::default());
        assert_eq!(other.held, without, "order {seed}, one withdrawn");
        other.apply(&units[..1], &Acts::default());
        assert_eq!(other.held, world.held, "order {seed}, and back");
        // The reading disappeared with a record, and the units are unchanged.
        other.readings.clear();
        other.apply(&units[2..3], &Acts::default());
        assert_eq!(other.merge(), None, "order {seed}");
    }
}

fn joins_names(shown: &str) -> String {
    match shown.starts_with("The names:") {
        true => {
            let entry = json!({ "number": 1, "same_person": true, "lines": [1, 4], "reasoning": "Both bake." });
            json!({ "people": [entry] }).to_string()
        }
        false => "{\"events\": [], \"sections\": []}".to_owned(),
    }
}

/// Waits at most a minute until the names are merged, or are not, and returns the merge.
async fn merge_where(running: &Running, is_there: bool) -> Option<Merge> {
    let looked = async {
        loop {
            let found = merge(&running.settled().await);
            if found.is_some() == is_there {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), looked).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_judged_once_and_the_judgement_disappears_with_its_records() {
    let endpoint = Endpoint::start(joins_names);
    let mut running = Running::new_with("people", &endpoint.settings("")).await;
    let units = talk(&TALK);
    let all: Vec<_> = units.iter().flat_map(records).collect();
    running.context.backends.records.put(&space(), &all).await.unwrap();
    running.put(&units, &[]).await;
    merge_where(&running, true).await;
    let asked = |endpoint: &Endpoint| -> Vec<String> {
        let shown = endpoint.shown().into_iter();
        shown.filter(|it| it.starts_with("The names:")).collect()
    };
    let shown = asked(&endpoint);
    assert_eq!(shown.len(), 1);
    let lines: Vec<&str> = shown[0].lines().collect();
    assert_eq!(
        (lines[2], lines[6], lines.len()),
        ("first name: Tom", "name 1: Thomas Reed", 10),
        "{}",
        shown[0]
    );
    assert_eq!(lines[3], format!("1. [1 January 1970] {}", TALK[0]));
    let readings = &running.context.backends.readings;
    let mut stored = readings.list(&space(), None, 100).await.unwrap();
    stored.retain(|it| it.kind == ReadingKind::People);
    assert_eq!(
        (stored.len(), stored[0].records.len(), stored[0].beside.len()),
        (1, 1, 4)
    );
    let output: Value = serde_json::from_str(&stored[0].output).unwrap();
    assert_eq!(output["cites_both"], true);
    // After a restart, it is derived again without a call.
    running = running.killed().await;
    running.put(&units, &[]).await;
    merge_where(&running, true).await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(asked(&endpoint).len(), 1);
    // It disappears with any record that was shown.
    let gone = units[3].records[0];
    running.context.backends.records.erase(&space(), &[gone]).await.unwrap();
    running.put(&[], &[units[3].id]).await;
    merge_where(&running, false).await;
    running.stop().await;
}
