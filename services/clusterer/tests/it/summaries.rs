//! Tests of page summaries by a language model.

use std::collections::BTreeMap;

use chrono::DateTime;
use clusterer::{Acts, Memory, PageSummary, SummaryQuestion, page_output};
use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::id::{CurationId, PageId};
use domain::page::{Dimension, Page};
use domain::reading::{Reading, ReadingKind};
use domain::unit::Unit;
use fixtures::{ChatEndpoint, sample_reading, wait_for};
use serde_json::{Value, json};

use crate::endpoint::{ANOTHER_CALL, endpoint_settings, start_endpoint};
use crate::follow::Running;
use crate::held::Held;
use crate::judged::{Judged, World};
use crate::labels::records;
use crate::space;
use crate::world::{event_with_sentence, shuffled, vector, withdrawn};

/// Texts of events in one month; each becomes a line of the month's page.
const SENTENCES: [&str; 14] = [
    "Edda sold 3 jars of heather honey at the harbour market in Bergen.",
    "The cello string broke while Joar practised the second sonata for 2 hours.",
    "A plumber moved the kitchen sink and charged 410 euros for the copper pipes.",
    "Ines ran 12 km along the river before the marathon training group met.",
    "The vet gave the puppy Muffin 2 shots and a liver biscuit.",
    "The publisher returned the novel with 40 notes about the third chapter.",
    "Snow closed the mountain road to Voss for 5 days in January.",
    "Joar repaired the sailing boat with 6 planks of Norwegian oak.",
    "The library lends 20 board games to families during the winter holidays.",
    "Edda planted 9 apple trees behind the old barn near Voss.",
    "A baker in Bergen teaches sourdough classes for 8 beginners every Tuesday.",
    "The tram to the airport costs 44 kroner since the autumn timetable.",
    "Ines painted the hallway dark green and hung 7 portraits of sailors.",
    "The astronomy club saw 15 meteors above the lighthouse last August.",
];
const MONTH: &str = "May 2024";

fn events(count: usize) -> Vec<Unit> {
    (0..count).map(|it| event_with_sentence(it, SENTENCES[it])).collect()
}

/// Returns a reply that summarises a page with its first line, and its first section with the second line.
fn summary_reply() -> String {
    json!({ "summary": SENTENCES[0], "lines": [1], "sections": [{ "number": 1, "summary": SENTENCES[1], "lines": [2] }] })
        .to_string()
}

impl Judged for Memory {
    fn apply(world: &mut World<Memory>, units: &[Unit], acts: &Acts) {
        let memory = &mut world.fold;
        units.iter().for_each(|it| memory.apply_unit(it, Some(&vector(it))));
        let (pairs, topics) = (memory.event_pairs_to_look_up(), memory.unlooked_labels());
        memory.apply_readings(&pairs, &[]);
        memory.take_in_labels(&topics, &[]);
        world.held.take(memory.take_changes(&space(), acts, &BTreeMap::new()));
        let places = memory.unlooked_pages();
        let found = places.iter().filter_map(|it| world.readings.get(&it.reading));
        let found: Vec<PageSummary> = found.filter_map(PageSummary::from_reading).collect();
        memory.take_in_summaries(&places, &found);
        world.held.take(memory.changed_pages(&space(), &BTreeMap::new()));
        assert_eq!(memory.unlooked_pages(), []);
    }

    fn look_for_open(&mut self) {
        Memory::mark_open_questions(self);
    }
}

type PageWorld = World<Memory>;

impl PageWorld {
    /// Returns the question about the page of the month.
    fn question(&self) -> Option<SummaryQuestion> {
        let questions = self.fold.summary_questions(&space(), 99);
        questions.into_iter().find(|it| it.title == MONTH)
    }

    /// Stores a model's reply to the question about the month.
    fn reply(&mut self, reply: &str) {
        let question = self.question().unwrap();
        self.store(self.reading(&question, reply));
    }

    /// Returns the reading that stores a model's reply to a question.
    fn reading(&self, question: &SummaryQuestion, reply: &str) -> Reading {
        let lines = question.shown.iter().flat_map(|it| &it.lines);
        let told_by: Vec<&Unit> = lines.map(|it| &self.units[&it.unit]).collect();
        Reading {
            id: question.place.reading,
            kind: ReadingKind::Page,
            session: told_by[0].session,
            records: told_by[0].records.clone(),
            beside: told_by[1..].iter().flat_map(|it| it.records.clone()).collect(),
            digest: question.digest.clone(),
            prompt: "pages/2".to_owned(),
            output: page_output(question, reply).unwrap(),
            ..sample_reading(&space(), told_by[0].records[0])
        }
    }

    fn month(&self) -> Page {
        month(&self.held).unwrap()
    }
}

fn pages(held: &Held) -> impl Iterator<Item = &Page> {
    held.0
        .values()
        .filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None })
}

fn month(held: &Held) -> Option<Page> {
    pages(held).find(|it| it.title == MONTH).cloned()
}

fn undoing(page: PageId) -> Acts {
    Acts::from_curations(&[Curation {
        id: CurationId::from_external_id(&space(), "1"),
        at: DateTime::UNIX_EPOCH,
        by: String::new(),
        act: Act::UndoSummary { page },
        reason: String::new(),
    }])
}

/// Returns true if a page has the summaries of `summary_reply`.
fn is_summed_up(page: &Page) -> bool {
    let begins = page.summary.starts_with(&format!("{} Came up ", SENTENCES[0]));
    begins
        && page
            .sections
            .iter()
            .any(|it| it.summary.as_deref() == Some(SENTENCES[1]))
}

/// Returns true if a page has no summary by a model.
fn is_by_rule(page: &Page) -> bool {
    page.summary.starts_with("Came up ") && page.sections.iter().all(|it| it.summary.is_none())
}

#[test]
fn a_page_is_asked_about_from_six_lines_and_again_when_half_of_them_are_new() {
    let units = events(12);
    let mut world = PageWorld::new(&units[..5]);
    assert_eq!(world.question(), None);
    world.apply(&units[5..6], &Acts::default());
    let question = world.question().unwrap();
    assert_eq!((question.shown.len(), question.shown[0].lines.len()), (1, 6));
    assert_eq!(
        question.shown[0].lines[0].text,
        format!("[1 May 2024] {}", SENTENCES[0])
    );
    assert!(is_by_rule(&world.month()), "{:?}", world.month());
    world.reply(&summary_reply());
    assert!(is_summed_up(&world.month()), "{:?}", world.month());
    for (place, unit) in (7..).zip(&units[6..]) {
        assert_eq!(world.question(), None, "{place}");
        world.apply(std::slice::from_ref(unit), &Acts::default());
        // The sentences are hidden once more than a quarter of the lines are new.
        assert_eq!(is_summed_up(&world.month()), place <= 8, "{place}");
    }
    assert_eq!(world.question().map(|it| it.shown[0].lines.len()), Some(12));
}

#[test]
fn summaries_depend_only_on_units_and_readings() {
    let units = events(SENTENCES.len());
    let mut world = PageWorld::new(&units);
    let questions = world.fold.summary_questions(&space(), 99);
    assert!(questions.len() > 1, "{questions:?}");
    for question in &questions {
        let first = question.shown[0].lines[0].text.split_once("] ").unwrap().1;
        let reply = json!({ "summary": first, "lines": [1], "sections": [] });
        let reading = world.reading(question, &reply.to_string());
        world.readings.insert(reading.id, reading);
    }
    world.look_again();
    assert_eq!(world.fold.summary_questions(&space(), 99), []);
    let expected: Vec<&Page> = pages(&world.held).collect();
    assert!(
        expected
            .iter()
            .any(|it| it.title == MONTH && it.summary.starts_with(SENTENCES[0]))
    );
    for seed in 1..=3 {
        let mut other = PageWorld::with_readings(&world.readings);
        for some in shuffled(&units, seed).chunks(1 + 2 * seed as usize) {
            other.apply(some, &Acts::default());
        }
        assert_eq!(pages(&other.held).collect::<Vec<&Page>>(), expected, "order {seed}");
    }
}

#[test]
fn a_summary_disappears_with_any_cited_line_and_when_a_user_rejects_it() {
    let units = events(8);
    let mut world = PageWorld::new(&units);
    world.reply(&summary_reply());
    let summed_up = world.month();
    assert!(is_summed_up(&summed_up), "{summed_up:?}");
    world.apply(&[], &undoing(summed_up.id));
    assert!(is_by_rule(&world.month()), "{:?}", world.month());
    assert_eq!(world.question(), None, "it is not asked about again");
    world.apply(&[], &Acts::default());
    assert_eq!(world.month(), summed_up, "the act was taken back");
    // First a line that is not cited, then those that are.
    world.apply(&[withdrawn(&units[7])], &Acts::default());
    assert!(is_summed_up(&world.month()), "{:?}", world.month());
    world.apply(&[withdrawn(&units[1])], &Acts::default());
    let page = world.month();
    assert!(page.summary.starts_with(SENTENCES[0]), "{page:?}");
    assert!(page.sections.iter().all(|it| it.summary.is_none()), "{page:?}");
    world.apply(&[withdrawn(&units[0])], &Acts::default());
    assert!(is_by_rule(&world.month()), "{:?}", world.month());
    world.apply(&units, &Acts::default());
    assert_eq!(world.month(), summed_up);
    // The reading disappeared with a record, and the units are unchanged.
    world.readings.clear();
    world.apply(&units[3..4], &Acts::default());
    assert!(is_by_rule(&world.month()), "{:?}", world.month());
    assert!(world.question().is_some());
}

#[test]
fn an_unsupported_summary_is_not_used_and_not_asked_for_again() {
    let units = events(7);
    let cited = |summary: &str, lines: &[u32]| json!({ "summary": summary, "lines": lines, "sections": [] });
    for reply in [
        cited("Edda sold 30 jars of honey in Bergen.", &[1]),
        cited("Edda sold honey in Lisbon.", &[1]),
        cited(SENTENCES[0], &[2]),
        cited(SENTENCES[0], &[1, 9]),
        cited(SENTENCES[0], &[]),
        json!({ "sections": [{ "number": 2, "summary": SENTENCES[0], "lines": [1] }] }),
    ] {
        let mut world = PageWorld::new(&units);
        world.reply(&reply.to_string());
        assert!(is_by_rule(&world.month()), "{reply}: {:?}", world.month());
        assert_eq!(world.question(), None, "{reply}");
    }
    // A summary made with another prompt counts until a current one exists; a failed reading counts for nothing.
    let mut world = PageWorld::new(&units);
    world.reply(&summary_reply());
    let id = *world.readings.keys().next().unwrap();
    for (prompt, failure) in [("pages/0", None), ("pages/2", Some("away".to_owned()))] {
        let has_failed = failure.is_some();
        let mut other = PageWorld::default();
        let changed = Reading {
            prompt: prompt.to_owned(),
            failure,
            ..world.readings[&id].clone()
        };
        other.readings.insert(id, changed);
        other.apply(&units, &Acts::default());
        assert_eq!(is_summed_up(&other.month()), !has_failed);
        assert_eq!(other.question().is_some(), !has_failed);
    }
}

fn sums_up(shown: &str) -> String {
    let is_month = shown.starts_with("The page:") && shown.contains(&format!("Title: {MONTH}\n"));
    match is_month {
        true => summary_reply(),
        false => "{\"events\": [], \"sections\": []}".to_owned(),
    }
}

/// Waits until the page of the month satisfies `is_so`, and returns it.
async fn month_where(running: &Running, is_so: impl Fn(&Page) -> bool) -> Page {
    wait_for("the page of the month is as expected", async || {
        match month(&running.settled().await) {
            Some(page) if is_so(&page) => Ok(page),
            other => Err(other),
        }
    })
    .await
}

/// Returns the readings of the page of the month.
async fn stored(running: &Running) -> Vec<Reading> {
    let readings = &running.context.backends.readings;
    let mut stored = readings.list(&space(), None, 100).await.unwrap();
    let says = |it: &Reading| {
        let output: Value = serde_json::from_str(&it.output).unwrap_or_default();
        output["said"]["summary"] == SENTENCES[0]
    };
    stored.retain(|it| it.kind == ReadingKind::Page && says(it));
    stored
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_summarised_once_and_the_summary_disappears_with_its_records() {
    let endpoint = start_endpoint(sums_up);
    let mut running = Running::new_with("summed up", &endpoint_settings(&endpoint, "")).await;
    let units = events(6);
    let all: Vec<_> = units.iter().flat_map(records).collect();
    running.context.backends.records.put(&space(), &all).await.unwrap();
    running.put(&units, &[]).await;
    let page = month_where(&running, is_summed_up).await;
    assert_eq!(page.dimension, Dimension::Event);
    let asked = |endpoint: &ChatEndpoint| {
        let shown = endpoint.user_messages();
        shown
            .iter()
            .filter(|it| it.contains(&format!("Title: {MONTH}\n")))
            .count()
    };
    assert_eq!(asked(&endpoint), 1);
    let readings = stored(&running).await;
    assert_eq!(readings.len(), 1, "{readings:?}");
    assert_eq!((readings[0].records.len(), readings[0].beside.len()), (1, 5));
    // After a restart, it is derived again without a call.
    running = running.killed().await;
    running.put(&units, &[]).await;
    month_where(&running, is_summed_up).await;
    tokio::time::sleep(ANOTHER_CALL).await;
    assert_eq!(asked(&endpoint), 1);
    // The summary disappears with any record that the model was shown.
    let removed = units[4].records[0];
    running
        .context
        .backends
        .records
        .erase(&space(), &[removed])
        .await
        .unwrap();
    running.put(&[], &[units[4].id]).await;
    month_where(&running, is_by_rule).await;
    assert_eq!(stored(&running).await, []);
    running.stop().await;
}
