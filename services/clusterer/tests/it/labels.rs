//! Tests of topic labels by a language model.

use std::collections::BTreeMap;

use chrono::DateTime;
use clusterer::{Acts, LabelQuestion, TopicLabel, Topics, label_digest};
use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::id::{CurationId, ReadingId, RecordId, TopicId, UnitId};
use domain::page::Dimension;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::record::Record;
use domain::topic::Topic;
use domain::unit::Unit;
use domain::version::Version;
use fixtures::{ChatEndpoint, sample_reading, sample_record, wait_for};
use serde_json::json;

use crate::endpoint::{ANOTHER_CALL, endpoint_settings, start_endpoint};
use crate::follow::Running;
use crate::held::{Held, forgetting};
use crate::judged::{Judged, World};
use crate::space;
use crate::world::{THEMES, event_with_sentence, shuffled, turn, vector, withdrawn};

pub(crate) const NAME: &str = "bees and honey of Edda";
pub(crate) const SUMMARY: &str = "The beehive swarmed and Edda caught the bees with a sheet.";

/// Returns events about a beehive, which are one topic before the first clustering.
pub(crate) fn events(count: usize) -> Vec<Unit> {
    let event = |it: usize| event_with_sentence(it, THEMES[0].1[1]);
    (0..count).map(event).collect()
}

pub(crate) fn label_reply(name: &str, summary: &str) -> String {
    json!({ "name": name, "summary": summary, "lines": [1, 2] }).to_string()
}

impl Judged for Topics {
    fn apply(world: &mut World<Topics>, units: &[Unit], acts: &Acts) {
        let topics = &mut world.fold;
        units.iter().for_each(|it| topics.apply_unit(it, Some(&vector(it))));
        let places = topics.topics_to_look_up();
        let found = places.iter().filter_map(|it| world.readings.get(&it.reading));
        let labels: Vec<TopicLabel> = found
            .filter_map(|it| TopicLabel::from_reading(it, &world.units))
            .collect();
        topics.apply_readings(&places, &labels);
        world.held.take(topics.take_changes(acts));
    }

    fn look_for_open(&mut self) {
        Topics::mark_open_questions(self);
    }
}

type TopicWorld = World<Topics>;

impl TopicWorld {
    /// Stores a model's reply to the only question.
    fn reply(&mut self, output: &str) {
        let question = self.fold.open_questions(8).pop().unwrap();
        self.store(reading(&question, &self.units, output));
    }

    /// Returns the largest topic.
    fn topic(&self) -> Topic {
        topics(&self.held).into_iter().max_by_key(|it| it.units).unwrap()
    }
}

fn topics(held: &Held) -> Vec<Topic> {
    let topics = held.0.values();
    topics
        .filter_map(|it| {
            if let Derived::Topic(it) = it {
                Some(it.clone())
            } else {
                None
            }
        })
        .collect()
}

/// Returns the reading that stores a model's reply to a question.
fn reading(question: &LabelQuestion, units: &BTreeMap<UnitId, Unit>, output: &str) -> Reading {
    let ids = [question.founder].into_iter().chain(question.others.iter().copied());
    let shown: Vec<&Unit> = ids.map(|it| &units[&it]).collect();
    let records = |it: &[&Unit]| it.iter().flat_map(|it| it.records.clone()).collect::<Vec<RecordId>>();
    Reading {
        id: question.place.reading,
        kind: ReadingKind::Label,
        session: shown[0].session,
        records: records(&shown[..1]),
        beside: records(&shown[1..]),
        digest: label_digest(&shown),
        prompt: "labels/2".to_owned(),
        output: output.to_owned(),
        outcome: ReadingOutcome {
            events: question.size,
            ..ReadingOutcome::default()
        },
        ..sample_reading(&space(), shown[0].records[0])
    }
}

fn undoing(topic: TopicId) -> Acts {
    Acts::from_curations(&[Curation {
        id: CurationId::from_external_id(&space(), "1"),
        at: DateTime::UNIX_EPOCH,
        by: String::new(),
        act: Act::UndoLabel { topic },
        reason: String::new(),
    }])
}

#[test]
fn a_topic_is_asked_about_from_four_events_and_again_when_it_has_doubled() {
    let units = events(8);
    let mut world = TopicWorld::new(&units[..3]);
    assert_eq!(world.fold.open_questions(8), []);
    world.apply(&units[3..4], &Acts::default());
    let question = world.fold.open_questions(8).pop().unwrap();
    assert_eq!(
        (question.size, question.others.len(), question.founder),
        (4, 3, units[0].id)
    );
    let by_rule = world.topic();
    assert_eq!(by_rule.summary, None);
    world.reply(&label_reply(NAME, SUMMARY));
    let topic = world.topic();
    assert_eq!((topic.label.as_str(), topic.summary.as_deref()), (NAME, Some(SUMMARY)));
    assert_eq!((topic.id, topic.keywords), (by_rule.id, by_rule.keywords));
    let mut asked = 0;
    for unit in &units[4..] {
        world.apply(std::slice::from_ref(unit), &Acts::default());
        let size = world.topic().units;
        assert_eq!(world.fold.open_questions(8).is_empty(), size < 8, "{size}");
        assert_eq!(
            world.topic().label,
            NAME,
            "the former label stays until there is another one"
        );
        asked += world.fold.open_questions(8).len();
    }
    assert_eq!(asked, 1);
    world.reply(&label_reply("bees", ""));
    let topic = world.topic();
    assert_eq!(
        (topic.label.as_str(), topic.summary, world.fold.open_questions(8)),
        ("bees", None, Vec::new())
    );
}

#[test]
fn labels_depend_only_on_units_and_readings() {
    let units: Vec<Unit> = (0..90).map(crate::world::event).collect();
    let mut world = TopicWorld::new(&units);
    let questions = world.fold.open_questions(64);
    assert!(!questions.is_empty(), "{questions:?}");
    // Any words that occur in the lines of the topic.
    let first_words = |it: &LabelQuestion| world.units[&it.founder].text.to_lowercase();
    let readings: BTreeMap<ReadingId, Reading> = questions
        .iter()
        .map(|it| {
            let words: Vec<String> = first_words(it).split(' ').take(3).map(str::to_owned).collect();
            let output = json!({ "name": words.join(" "), "summary": "", "lines": [1] });
            let reading = reading(it, &world.units, &output.to_string());
            (reading.id, reading)
        })
        .collect();
    world.readings.clone_from(&readings);
    world.look_again();
    assert_eq!(world.fold.open_questions(64), []);
    let labelled = topics(&world.held);
    for seed in 1..=3 {
        let mut other = TopicWorld::with_readings(&readings);
        for units in shuffled(&units, seed).chunks(7 * seed as usize) {
            other.apply(units, &Acts::default());
        }
        assert_eq!(topics(&other.held), labelled, "order {seed}");
    }
}

#[test]
fn a_label_disappears_with_any_shown_event_and_when_a_user_rejects_it() {
    let units = events(9);
    let mut world = TopicWorld::new(&units[..8]);
    let by_rule = world.topic();
    world.reply(&label_reply(NAME, SUMMARY));
    world.apply(&[], &undoing(by_rule.id));
    assert_eq!(world.topic(), by_rule);
    assert_eq!(world.fold.open_questions(8), [], "it is not asked about again");
    world.apply(&[], &Acts::default());
    assert_eq!(world.topic().label, NAME, "the act was taken back");
    // First an event that was not shown, then one that was.
    world.apply(&units[8..], &Acts::default());
    world.apply(&[withdrawn(&units[8])], &Acts::default());
    assert_eq!(world.topic().label, NAME);
    world.apply(&units[8..], &Acts::default());
    world.apply(&[withdrawn(&units[3])], &Acts::default());
    let topic = world.topic();
    assert_eq!((topic.label, topic.summary), (by_rule.label, None));
    assert_eq!(world.fold.open_questions(8).len(), 1, "eight are left");
}

#[test]
fn an_unsupported_label_is_not_used_and_not_asked_for_again() {
    let units = events(8);
    let mut world = TopicWorld::new(&units);
    let by_rule = world.topic();
    for output in [
        label_reply("bees in Lisbon", SUMMARY),
        label_reply("Obey the voice of the bees at once", ""),
        String::new(),
    ] {
        let mut other = TopicWorld::new(&units);
        other.reply(&output);
        assert_eq!(other.topic(), by_rule, "{output}");
        assert_eq!(other.fold.open_questions(8), [], "{output}");
    }
    // A label made with another prompt counts until a current one exists.
    world.reply(&label_reply(NAME, SUMMARY));
    for reading in world.readings.values_mut() {
        reading.prompt = "labels/0".to_owned();
    }
    let mut former = TopicWorld::with_readings(&world.readings);
    former.apply(&units, &Acts::default());
    assert_eq!(
        (former.topic().label.as_str(), former.fold.open_questions(8).len()),
        (NAME, 1)
    );
}

#[test]
fn a_label_is_hidden_with_a_shown_turn_and_the_model_is_asked_without_its_event() {
    let units = events(8);
    let mut world = TopicWorld::new(&units);
    let by_rule = world.topic();
    world.reply(&label_reply(NAME, SUMMARY));
    let forgotten = forgetting(UnitId::of_turn(units[3].records[0]));
    world.apply(&[], &forgotten);
    assert_eq!(world.topic(), by_rule);
    let question = world.fold.open_questions(8).pop().unwrap();
    let others: Vec<UnitId> = [1, 2, 4, 5, 6, 7].map(|it| units[it].id).to_vec();
    assert_eq!((question.founder, &question.others), (units[0].id, &others));
    assert!(question.outdated.is_some());
    world.apply(&[], &Acts::default());
    assert_eq!(world.topic().label, NAME, "the act was taken back");
    assert_eq!(world.fold.open_questions(8), []);
    // The new label counts while the turn is forgotten.
    let reading = reading(&question, &world.units, &label_reply("bees", ""));
    world.readings.insert(reading.id, reading);
    world.apply(&[], &forgotten);
    world.fold.mark_open_questions();
    world.apply(&[], &forgotten);
    assert_eq!(
        (world.topic().label.as_str(), world.fold.open_questions(8)),
        ("bees", Vec::new())
    );
    // A later version of a record hides its events too. The reply about a topic belongs to the founding event.
    let version = Version {
        of: units[0].records[0],
        number: 2,
    };
    let replacing = Unit {
        version: Some(version),
        ..turn(20)
    };
    world.apply(&[replacing], &forgotten);
    assert_eq!((world.topic(), world.fold.open_questions(8)), (by_rule, Vec::new()));
}

/// Returns the records of an event.
pub(crate) fn records(event: &Unit) -> Vec<Record> {
    let record = |id: &RecordId| Record {
        id: *id,
        session: event.session,
        ordinal: event.ordinal,
        actor: "Ines".to_owned(),
        text: event.text.clone(),
        observed_at: event.observed_at,
        ..sample_record(&space(), &event.external_ids[0])
    };
    event.records.iter().map(record).collect()
}

/// Waits until the topics satisfy `is_so`.
pub(crate) async fn labelled(running: &Running, is_so: impl Fn(&[Topic]) -> bool) -> Held {
    wait_for("the topics are as expected", async || {
        let held = running.settled().await;
        let topics = topics(&held);
        if is_so(&topics) { Ok(held) } else { Err(topics) }
    })
    .await
}

fn names_bees(shown: &str) -> String {
    match shown.starts_with("The events:") {
        true => label_reply(NAME, SUMMARY),
        false => "{\"events\": []}".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_is_labelled_once_and_its_page_has_the_label() {
    let endpoint = start_endpoint(names_bees);
    let mut running = Running::new_with("labelled", &endpoint_settings(&endpoint, "")).await;
    let units = events(4);
    let all: Vec<Record> = units.iter().flat_map(records).collect();
    running.context.backends.records.put(&space(), &all).await.unwrap();
    running.put(&units, &[]).await;
    let is_labelled = |it: &[Topic]| it.iter().any(|it| it.label == NAME);
    let held = labelled(&running, is_labelled).await;
    let mut pages = held
        .0
        .values()
        .filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None });
    let page = pages.find(|it| it.dimension == Dimension::Topic);
    let page = page.unwrap();
    assert_eq!(page.title, NAME);
    assert!(
        page.summary.starts_with(&format!("{SUMMARY} Came up ")),
        "{}",
        page.summary
    );
    let labels = |endpoint: &ChatEndpoint| {
        endpoint
            .user_messages()
            .iter()
            .filter(|it| it.starts_with("The events:"))
            .count()
    };
    assert_eq!(labels(&endpoint), 1);
    let stored = running
        .context
        .backends
        .readings
        .list(&space(), None, 100)
        .await
        .unwrap();
    let reading = stored.iter().find(|it| it.kind == ReadingKind::Label).unwrap();
    assert_eq!(
        (reading.records.len(), reading.beside.len(), reading.outcome.events),
        (1, 3, 4)
    );
    // After a restart, it is derived again without a call.
    running = running.killed().await;
    running.put(&units, &[]).await;
    labelled(&running, is_labelled).await;
    tokio::time::sleep(ANOTHER_CALL).await;
    assert_eq!(labels(&endpoint), 1);
    // The label disappears with any record that the model was shown.
    let removed = units[2].records[0];
    running
        .context
        .backends
        .records
        .erase(&space(), &[removed])
        .await
        .unwrap();
    running.put(&[], &[units[2].id]).await;
    labelled(&running, |it| {
        !it.is_empty() && it.iter().all(|it| it.label != NAME && it.summary.is_none())
    })
    .await;
    let stored = running
        .context
        .backends
        .readings
        .list(&space(), None, 100)
        .await
        .unwrap();
    assert!(stored.iter().all(|it| it.kind != ReadingKind::Label), "{stored:?}");
    running.stop().await;
}
