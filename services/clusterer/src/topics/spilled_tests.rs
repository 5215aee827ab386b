//! Tests of which events topics read back from a file.

use chrono::{DateTime, TimeDelta};
use domain::id::{RecordId, SpaceId};
use fixtures::sample_unit;

use super::label::Name;
use super::*;

/// Number of events of the first topic. The last clustering is then at this number, and the next one 70 events later.
const CLUSTERED: i64 = 140;

/// Returns an event `number` hours after the first one.
fn event(number: i64, sentence: &str) -> Unit {
    let space: SpaceId = "s".parse().unwrap();
    let start = DateTime::from_timestamp(1_714_550_400, 0).unwrap();
    let number_text = number.to_string();
    Unit {
        id: UnitId::of_event(RecordId::from_external_id(&space, &number_text)),
        grain: Grain::Event,
        observed_at: (start + TimeDelta::hours(number)).fixed_offset(),
        text: sentence.to_owned(),
        ..sample_unit(&space, &number_text)
    }
}

/// Applies an event of the first topic, or of the second one from [`CLUSTERED`] on, and folds it.
fn fold_event(topics: &mut Topics, number: i64) {
    let sentence = match number {
        141 | 142 => "The cello was late again.",
        _ => "The ferry was late again.",
    };
    let vector: [f32; 3] = match number {
        ..CLUSTERED => [1.0, 0.0, 0.0],
        _ => [0.0, 1.0, 0.0],
    };
    topics.apply_unit(&event(number, sentence), Some(&vector.into()));
    topics.topics_to_look_up();
}

fn spill(topics: &mut Topics) -> (tempfile::TempDir, Arc<SpillFile>) {
    let (folder, file) = SpillFile::create_for_test();
    // What was used since the first call is spilled by the second.
    (0..2).for_each(|_| topics.spill_unused(&file));
    assert!(file.used_bytes() > 0);
    (folder, file)
}

#[test]
fn questions_about_topics_read_no_event_back() {
    let mut topics = Topics::default();
    (0..6).for_each(|it| fold_event(&mut topics, it));
    let subjects = topics.topics_to_look_up();
    topics.apply_readings(&subjects, &[]);
    topics.take_changes(&Acts::default());
    let questions = topics.open_questions(9);
    assert_eq!(questions.iter().map(|it| it.others.len()).collect::<Vec<_>>(), [5]);
    let (_folder, file) = spill(&mut topics);
    file.damage();
    assert_eq!(topics.open_questions(9), questions);
    assert!(!file.is_damaged());
    // An event that arrives again is compared with the one in the file.
    fold_event(&mut topics, 3);
    assert!(file.is_damaged());
}

#[test]
fn a_later_event_of_a_large_topic_reads_no_other_event_back() {
    let mut topics = Topics::default();
    (0..200).for_each(|it| fold_event(&mut topics, it));
    topics.take_changes(&Acts::default());
    let (_folder, file) = spill(&mut topics);
    fold_event(&mut topics, 200);
    assert_eq!(topics.take_changes(&Acts::default()).put.len(), 2);
    let sizes = topics.fold.topics.iter().map(|it| it.units.len());
    assert_eq!(sizes.collect::<Vec<_>>(), [140, 61]);
    assert_eq!(file.read_back_bytes(), 0);
    // An event that arrives again is compared with the one in the file.
    fold_event(&mut topics, 150);
    assert!(file.read_back_bytes() > 0);
}

#[test]
fn a_topic_is_named_again_if_one_of_its_first_events_arrives_late() {
    let second_name = |topics: &Topics| -> Name { topics.fold.topics[1].name.clone() };
    let has_cello = |name: &Name| name.keywords.iter().any(|it| it == "cello");
    let (mut ordered, mut late) = (Topics::default(), Topics::default());
    (0..190).for_each(|it| fold_event(&mut ordered, it));
    (0..190)
        .filter(|it| *it != 142)
        .for_each(|it| fold_event(&mut late, it));
    // Only one event says it.
    assert!(!has_cello(&second_name(&late)));
    fold_event(&mut late, 142);
    assert!(has_cello(&second_name(&late)));
    assert_eq!(second_name(&late), second_name(&ordered));
}
