//! Tests of topic labels by a language model.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::DateTime;
use clusterer::{Acts, LabelQuestion, TopicLabel, Topics, label_digest};
use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::id::{CurationId, RecordId, TopicId, UnitId};
use domain::page::Dimension;
use domain::port::ModelCost;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::record::{Modality, Record};
use domain::topic::Topic;
use domain::unit::Unit;
use serde_json::json;

use crate::endpoint::Endpoint;
use crate::follow::Running;
use crate::held::Held;
use crate::space;
use crate::world::{THEMES, shuffled, told, vector, withdrawn};

const NAME: &str = "bees and honey of Edda";
const SUMMARY: &str = "The beehive swarmed and Edda caught the bees with a sheet.";

/// Returns events about a beehive, which are one topic before the first clustering.
fn events(count: usize) -> Vec<Unit> {
    let event = |it: usize| told(it, THEMES[0].1[1]);
    (0..count).map(event).collect()
}

fn said(name: &str, summary: &str) -> String {
    json!({ "name": name, "summary": summary, "lines": [1, 2] }).to_string()
}

/// Topics, with stored readings, and the derived data.
struct World {
    topics: Topics,
    units: BTreeMap<UnitId, Unit>,
    readings: Vec<Reading>,
    held: Held,
}

impl World {
    fn new(units: &[Unit], readings: Vec<Reading>) -> World {
        let mut world = World {
            topics: Topics::default(),
            units: BTreeMap::new(),
            readings,
            held: Held::default(),
        };
        world.apply(units, &Acts::default());
        world
    }

    /// Applies units and looks readings up, as the follower does.
    fn apply(&mut self, units: &[Unit], acts: &Acts) {
        for unit in units {
            self.units.insert(unit.id, unit.clone());
            self.topics.apply(unit, Some(&vector(unit)));
        }
        let places = self.topics.unlooked();
        let wanted = |it: &&Reading| places.iter().any(|place| place.reading == it.id);
        let readings = self.readings.iter().filter(wanted);
        let labels: Vec<TopicLabel> = readings.filter_map(|it| TopicLabel::of(it, &self.units)).collect();
        self.topics.take_in(&places, &labels);
        self.held.take(self.topics.changed(acts));
    }

    /// Stores a model's reply to the only question.
    fn reply(&mut self, output: &str) {
        let question = self.topics.questions(8).pop().unwrap();
        let reading = reading(&question, &self.units, output);
        self.readings.retain(|it| it.id != reading.id);
        self.readings.push(reading);
        self.topics.look_for_open();
        self.apply(&[], &Acts::default());
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
        earlier: Vec::new(),
        digest: label_digest(&shown),
        prompt: "labels/1".to_owned(),
        model: "parrot".to_owned(),
        at: DateTime::UNIX_EPOCH,
        output: output.to_owned(),
        failure: None,
        outcome: ReadingOutcome {
            events: question.size,
            ..ReadingOutcome::default()
        },
        spent: ModelCost::default(),
    }
}

fn undoing(topic: TopicId) -> Acts {
    Acts::of(&[Curation {
        id: CurationId::derive(&space(), "1"),
        at: DateTime::UNIX_EPOCH,
        by: String::new(),
        act: Act::UndoLabel { topic },
        reason: String::new(),
    }])
}

#[test]
fn a_topic_is_asked_about_from_four_events_and_again_when_it_has_doubled() {
    let units = events(8);
    let mut world = World::new(&units[..3], Vec::new());
    assert_eq!(world.topics.questions(8), []);
    world.apply(&units[3..4], &Acts::default());
    let question = world.topics.questions(8).pop().unwrap();
    assert_eq!(
        (question.size, question.others.len(), question.founder),
        (4, 3, units[0].id)
    );
    let by_rule = world.topic();
    assert_eq!(by_rule.summary, None);
    world.reply(&said(NAME, SUMMARY));
    let topic = world.topic();
    assert_eq!((topic.label.as_str(), topic.summary.as_deref()), (NAME, Some(SUMMARY)));
    assert_eq!((topic.id, topic.keywords), (by_rule.id, by_rule.keywords));
    let mut asked = 0;
    for unit in &units[4..] {
        world.apply(std::slice::from_ref(unit), &Acts::default());
        let size = world.topic().units;
        assert_eq!(world.topics.questions(8).is_empty(), size < 8, "{size}");
        assert_eq!(
            world.topic().label,
            NAME,
            "the former label stays until there is another one"
        );
        asked += world.topics.questions(8).len();
    }
    assert_eq!(asked, 1);
    world.reply(&said("bees", ""));
    let topic = world.topic();
    assert_eq!(
        (topic.label.as_str(), topic.summary, world.topics.questions(8)),
        ("bees", None, Vec::new())
    );
}

#[test]
fn labels_depend_only_on_units_and_readings() {
    let units: Vec<Unit> = (0..90).map(crate::world::event).collect();
    let mut world = World::new(&units, Vec::new());
    let questions = world.topics.questions(64);
    assert!(!questions.is_empty(), "{questions:?}");
    // Any words that occur in the lines of the topic.
    let first_words = |it: &LabelQuestion| world.units[&it.founder].text.to_lowercase();
    let readings: Vec<Reading> = questions
        .iter()
        .map(|it| {
            let words: Vec<String> = first_words(it).split(' ').take(3).map(str::to_owned).collect();
            let output = json!({ "name": words.join(" "), "summary": "", "lines": [1] });
            reading(it, &world.units, &output.to_string())
        })
        .collect();
    world.readings.clone_from(&readings);
    world.topics.look_for_open();
    world.apply(&[], &Acts::default());
    assert_eq!(world.topics.questions(64), []);
    let labelled = topics(&world.held);
    for seed in 1..=3 {
        let mut other = World::new(&[], readings.clone());
        for units in shuffled(&units, seed).chunks(7 * seed as usize) {
            other.apply(units, &Acts::default());
        }
        assert_eq!(topics(&other.held), labelled, "order {seed}");
    }
}

#[test]
fn a_label_disappears_with_any_shown_event_and_when_a_user_rejects_it() {
    let units = events(9);
    let mut world = World::new(&units[..8], Vec::new());
    let by_rule = world.topic();
    world.reply(&said(NAME, SUMMARY));
    world.apply(&[], &undoing(by_rule.id));
    assert_eq!(world.topic(), by_rule);
    assert_eq!(world.topics.questions(8), [], "it is not asked about again");
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
    assert_eq!(world.topics.questions(8).len(), 1, "eight are left");
}

#[test]
fn an_unsupported_label_is_not_used_and_not_asked_for_again() {
    let units = events(8);
    let mut world = World::new(&units, Vec::new());
    let by_rule = world.topic();
    for output in [
        said("bees in Lisbon", SUMMARY),
        said("Obey the voice of the bees at once", ""),
        String::new(),
    ] {
        let mut other = World::new(&units, Vec::new());
        other.reply(&output);
        assert_eq!(other.topic(), by_rule, "{output}");
        assert_eq!(other.topics.questions(8), [], "{output}");
    }
    // A label made with another prompt counts until a current one exists.
    world.reply(&said(NAME, SUMMARY));
    world.readings[0].prompt = "labels/0".to_owned();
    let former = World::new(&units, world.readings);
    assert_eq!(
        (former.topic().label.as_str(), former.topics.questions(8).len()),
        (NAME, 1)
    );
}

/// Returns the records of an event.
pub(crate) fn records(event: &Unit) -> Vec<Record> {
    let record = |id: &RecordId| Record {
        id: *id,
        space: space(),
        external_id: event.external_ids[0].clone(),
        session: event.session,
        session_name: "talk".to_owned(),
        ordinal: event.ordinal,
        modality: Modality::Text,
        actor: "Ines".to_owned(),
        text: event.text.clone(),
        image_caption: None,
        image_uri: None,
        version: None,
        tool: None,
        observed_at: event.observed_at,
        tags: Vec::new(),
        metadata: Default::default(),
    };
    event.records.iter().map(record).collect()
}

/// Waits at most a minute until the topics satisfy `is_so`.
async fn labelled(running: &Running, is_so: impl Fn(&[Topic]) -> bool) -> Held {
    let looked = async {
        loop {
            let held = running.settled().await;
            if is_so(&topics(&held)) {
                return held;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), looked).await.unwrap()
}

fn names_bees(shown: &str) -> String {
    match shown.starts_with("The events:") {
        true => said(NAME, SUMMARY),
        false => "{\"events\": []}".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_is_labelled_once_and_its_page_has_the_label() {
    let endpoint = Endpoint::start(names_bees);
    let mut running = Running::new_with("labelled", &endpoint.settings("")).await;
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
    let labels = |endpoint: &Endpoint| {
        endpoint
            .shown()
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
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(labels(&endpoint), 1);
    // It disappears with any record that was shown.
    let gone = units[2].records[0];
    running.context.backends.records.erase(&space(), &[gone]).await.unwrap();
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
