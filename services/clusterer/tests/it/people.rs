//! Tests of names that may belong to one person, and a language model's judgements of them.

use chrono::DateTime;
use clusterer::{Acts, Entities, MentionedName, PeopleJudgement, PeopleQuestion};
use domain::curation::{Act, Curation};
use domain::id::CurationId;
use domain::merge::Merge;
use domain::reading::{Reading, ReadingKind};
use domain::unit::Unit;
use fixtures::{ChatEndpoint, sample_reading, wait_for};
use serde_json::{Value, json};

use crate::endpoint::{ANOTHER_CALL, endpoint_settings, start_endpoint};
use crate::entities::talk;
use crate::follow::Running;
use crate::held::{Held, forgetting, parting};
use crate::judged::{Judged, World};
use crate::labels::records;
use crate::space;
use crate::world::{shuffled, withdrawn};

pub(crate) const TALK: [&str; 5] = [
    "Ana: My friend Tom is back at the bakery in Leeds.",
    "Ana: I told my friend Tom that the oven is hot.",
    "Ana: My boss Thomas Reed bakes the best bread in Leeds.",
    "Ana: My boss Thomas Reed says hello to the bakery.",
    "Ana: We met my friend Tom and his dog.",
];

/// Returns the stored reply that both names belong to one person, or that they do not.
fn judgement_reply(same_person: bool) -> String {
    json!({ "same_person": same_person, "lines": [1, 4], "reasoning": "Both bake in Leeds.", "cites_both": true })
        .to_string()
}

impl Judged for Entities {
    fn apply(world: &mut World<Entities>, units: &[Unit], acts: &Acts) {
        units.iter().for_each(|it| world.fold.apply_unit(it));
        let places = world.fold.name_pairs_to_look_up(&space());
        let found = places.iter().filter_map(|it| world.readings.get(&it.reading));
        let found: Vec<PeopleJudgement> = found.filter_map(PeopleJudgement::from_reading).collect();
        world.fold.apply_readings(&places, &found);
        world.held.take(world.fold.take_changes(&space(), acts));
    }

    fn look_for_open(&mut self) {
        Entities::mark_open_questions(self);
    }
}

type PeopleWorld = World<Entities>;

impl PeopleWorld {
    /// Stores a model's judgement of each pair of the only question.
    fn reply(&mut self, output: &str) {
        let question = self.fold.open_questions(&space(), 9).pop().unwrap();
        self.store(self.reading(&question, output));
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
            digest: "0".repeat(64),
            prompt: "people/1".to_owned(),
            output: output.to_owned(),
            ..sample_reading(&space(), own[0])
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
    let mut world = PeopleWorld::new(&units);
    let questions = world.fold.open_questions(&space(), 9);
    assert_eq!(
        questions.iter().map(names).collect::<Vec<_>>(),
        [("Tom", vec!["Thomas Reed"])]
    );
    assert_eq!(questions[0].shorter.units, [units[0].id, units[1].id, units[4].id]);
    assert_eq!(world.merge(), None);
    world.reply(&judgement_reply(true));
    let merge = world.merge().unwrap();
    assert!(!merge.undone && merge.reason.contains("a language model"), "{merge:?}");
    let entity = world.held.entity("Thomas Reed");
    assert!(entity.aliases.contains(&"Tom".to_owned()), "{entity:?}");
    assert_eq!(
        (entity.mentions, world.fold.open_questions(&space(), 9)),
        (5, Vec::new())
    );
    // A user decides that they are two people.
    world.apply(&[], &parting(merge.id));
    assert!(world.merge().unwrap().undone);
    assert_eq!(world.held.entity("Tom").mentions, 3);
    assert_eq!(
        world.fold.open_questions(&space(), 9),
        [],
        "it is not asked about again"
    );
    world.apply(&[], &Acts::default());
    assert_eq!(world.merge(), Some(merge), "the act was taken back");
}

#[test]
fn two_names_stay_separate_unless_the_model_joins_them_and_cites_both() {
    let units = talk(&TALK);
    let one_side = json!({ "same_person": true, "lines": [1], "reasoning": "", "cites_both": false });
    for output in [judgement_reply(false), one_side.to_string(), "They are one.".to_owned()] {
        let mut world = PeopleWorld::new(&units);
        world.reply(&output);
        assert_eq!(world.merge(), None, "{output}");
        assert_eq!(world.fold.open_questions(&space(), 9), [], "{output}");
    }
    // The model is not asked about a name mentioned only once, nor about names that the rules decide.
    let once = talk(&[TALK[0], TALK[2], TALK[3]]);
    assert_eq!(PeopleWorld::new(&once).fold.open_questions(&space(), 9), []);
    let short = talk(&[
        "Ana: My friend Thomas is back.",
        "Ana: I told my friend Thomas.",
        TALK[2],
        TALK[3],
    ]);
    let world = PeopleWorld::new(&short);
    assert_eq!(world.fold.open_questions(&space(), 9), []);
    assert!(world.held.merge("Thomas Reed", "Thomas").is_some());
}

#[test]
fn the_model_is_not_shown_hidden_units_that_mention_a_name() {
    let units = talk(&TALK);
    let mut world = PeopleWorld::new(&units);
    world.apply(&[], &forgetting(units[1].id));
    let question = world.fold.open_questions(&space(), 9).pop().unwrap();
    assert_eq!(question.shorter.units, [units[0].id, units[4].id]);
    world.apply(&[], &Acts::default());
    let question = world.fold.open_questions(&space(), 9).pop().unwrap();
    assert_eq!(question.shorter.units.len(), 3, "the act was taken back");
    // Nothing is left to show of the other name.
    let forgotten = [2, 3].map(|number| Curation {
        id: CurationId::from_external_id(&space(), &number.to_string()),
        at: DateTime::UNIX_EPOCH,
        by: String::new(),
        act: Act::ForgetUnit { unit: units[number].id },
        reason: String::new(),
    });
    world.apply(&[], &Acts::from_curations(&forgotten));
    assert_eq!(world.fold.open_questions(&space(), 9), []);
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
    let mut world = PeopleWorld::new(&units);
    let questions = world.fold.open_questions(&space(), 9);
    let expected = [("Thomas", vec!["Thomas Hall", "Thomas Reed"])];
    assert_eq!(questions.iter().map(names).collect::<Vec<_>>(), expected);
    for other in &questions[0].others {
        let pair = PeopleQuestion {
            others: vec![other.clone()],
            ..questions[0].clone()
        };
        let reading = world.reading(&pair, &judgement_reply(true));
        world.readings.insert(reading.id, reading);
    }
    world.look_again();
    let merged = world.held.merges().into_iter().filter(|it| it.names[1] == "Thomas");
    assert_eq!(merged.count(), 0, "nobody can be both");
    world.readings.remove(&questions[0].others[0].place.reading);
    let mut world = PeopleWorld::with_readings(&world.readings);
    world.apply(&units, &Acts::default());
    assert!(world.held.merge("Thomas Reed", "Thomas").is_some());
}

#[test]
fn merged_names_depend_only_on_units_and_readings() {
    let units = talk(&TALK);
    let mut world = PeopleWorld::new(&units);
    world.reply(&judgement_reply(true));
    let without = {
        let mut other = PeopleWorld::with_readings(&world.readings);
        other.apply(&units[1..], &Acts::default());
        other.held
    };
    assert_eq!(merge(&without), None, "a unit that was shown is not there");
    for seed in 1..=5 {
        let mut other = PeopleWorld::with_readings(&world.readings);
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

pub(crate) fn joins_names(shown: &str) -> String {
    match shown.starts_with("The names:") {
        true => {
            let entry = json!({ "number": 1, "same_person": true, "lines": [1, 4], "reasoning": "Both bake." });
            json!({ "people": [entry] }).to_string()
        }
        false => "{\"events\": [], \"sections\": []}".to_owned(),
    }
}

/// Waits until the names are merged, or are not.
pub(crate) async fn wait_for_merge(running: &Running, is_there: bool) {
    wait_for(&format!("a merge of the names is there: {is_there}"), async || {
        let found = merge(&running.settled().await);
        if found.is_some() == is_there {
            Ok(())
        } else {
            Err(found)
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_judged_once_and_the_judgement_disappears_with_its_records() {
    let endpoint = start_endpoint(joins_names);
    let mut running = Running::new_with("people", &endpoint_settings(&endpoint, "")).await;
    let units = talk(&TALK);
    let all: Vec<_> = units.iter().flat_map(records).collect();
    running.context.backends.records.put(&space(), &all).await.unwrap();
    running.put(&units, &[]).await;
    wait_for_merge(&running, true).await;
    let asked = |endpoint: &ChatEndpoint| -> Vec<String> {
        let shown = endpoint.user_messages().into_iter();
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
    wait_for_merge(&running, true).await;
    tokio::time::sleep(ANOTHER_CALL).await;
    assert_eq!(asked(&endpoint).len(), 1);
    // The judgement disappears with any record that the model was shown.
    let removed = units[3].records[0];
    running
        .context
        .backends
        .records
        .erase(&space(), &[removed])
        .await
        .unwrap();
    running.put(&[], &[units[3].id]).await;
    wait_for_merge(&running, false).await;
    running.stop().await;
}
