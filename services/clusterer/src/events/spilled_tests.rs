//! Tests of which events are read back from a file.

use chrono::TimeDelta;
use domain::id::{RecordId, SessionId, SpaceId};
use fixtures::sample_unit;

use super::*;

/// Returns one of several walks a week apart; the rules cannot decide whether two of them are one event.
fn walk(number: i64) -> Unit {
    let space: SpaceId = "s".parse().unwrap();
    let text = "We walked with Rex around the lake.";
    let number_text = number.to_string();
    Unit {
        id: UnitId::of_event(RecordId::from_external_id(&space, &number_text)),
        grain: Grain::Event,
        session: SessionId::from_name(&space, &number_text),
        observed_at: (DateTime::UNIX_EPOCH + TimeDelta::weeks(number)).fixed_offset(),
        participants: vec!["Rex".to_owned()],
        text: text.to_owned(),
        summary: format!("[1 January 1970] Ana, Tom\nAna: {text}"),
        cues: text::stem_words(text),
        ..sample_unit(&space, &number_text)
    }
}

#[test]
fn questions_read_events_back_only_if_units_are_hidden() {
    let mut events = Events::default();
    (0..2).for_each(|it| events.apply_unit(&walk(it), Some(&[0.6_f32, 0.8].into())));
    let pairs = events.pairs_to_look_up();
    events.apply_readings(&pairs, &[]);
    events.take_changes(&Acts::default());
    let questions = events.open_questions(9);
    assert_eq!(questions.len(), 1);
    let (_folder, file) = SpillFile::create_for_test();
    // What was used since the first call is spilled by the second.
    (0..2).for_each(|_| events.spill_unused(&file));
    file.damage();
    assert_eq!((events.open_questions(9), file.is_damaged()), (questions, false));
    events.hidden.set_forgotten([walk(2).id].into_iter());
    assert_eq!(events.open_questions(9).len(), 1);
    assert!(file.is_damaged());
}
