//! Corrections of earlier values, and facts in random texts.

use chrono::DateTime;
use proptest::prelude::*;
use text::facts::{Telling, apply_correction, read_correction, stated_in_reply, statements_of_turn};

/// The earlier value, the correction, and the corrected value; empty if nothing is corrected.
const CASES: &[(&str, &str, &str)] = &[
    ("the dentist on Monday", "No, it was Tuesday.", "the dentist on Tuesday"),
    (
        "the dentist on Monday",
        "Sorry, I meant Tuesday.",
        "the dentist on Tuesday",
    ),
    (
        "the dentist on Monday",
        "It's Tuesday, not Monday.",
        "the dentist on Tuesday",
    ),
    (
        "the dentist on Monday",
        "No, not Monday but Thursday.",
        "the dentist on Thursday",
    ),
    ("two cats", "Oops, make that three.", "three cats"),
    ("a flat in Porto", "*Braga", "a flat in Braga"),
    ("a flat in Porto", "no wait, it's Braga", "a flat in Braga"),
    ("a flat by the sea", "No, it was Tuesday.", ""),
    ("Porto and Braga", "No, it was Faro.", ""),
    ("the dentist on Monday", "Was it Tuesday?", ""),
    ("the dentist on Monday", "It was lovely.", ""),
    ("the dentist on Monday", "No, it was not.", ""),
    ("the dentist on Monday", "It was Tuesday.", ""),
];

#[test]
fn a_correction_changes_the_value_of_its_kind() {
    for (before, correction, after) in CASES {
        let right = read_correction(correction, "").and_then(|it| apply_correction(before, &it));
        assert_eq!(right.as_deref().unwrap_or_default(), *after, "{before} / {correction}");
    }
}

/// The question before a correction, the correction, and the corrected form of "Porto with two cats".
const ANSWERS: &[(&str, &str, &str)] = &[
    ("Is that dog called Rex?", "No, it's Fido.", ""),
    ("Is it warm there?", "No, it's 5 degrees here.", ""),
    ("Is it 2 degrees there?", "Nope, it's 5 degrees here.", ""),
    ("You live in Porto, right?", "No, it's Braga.", "Braga with two cats"),
    ("Is that Porto?", "No, it's Braga, not Porto.", "Braga with two cats"),
    ("Is it warm there?", "Sorry, I meant Braga.", "Braga with two cats"),
    ("Is it warm there?", "No wait, it's Braga.", "Braga with two cats"),
    ("", "No, it's Braga.", "Braga with two cats"),
];

#[test]
fn a_denial_that_answers_a_question_corrects_the_value_that_was_asked_about() {
    for (question, correction, after) in ANSWERS {
        let right = read_correction(correction, question).and_then(|it| apply_correction("Porto with two cats", &it));
        assert_eq!(
            right.as_deref().unwrap_or_default(),
            *after,
            "{question} / {correction}"
        );
    }
}

/// The statement, the question that it answers, and true if it corrects an earlier statement.
const IN_FULL: &[(&str, &str, bool)] = &[
    ("No, I live in Braga.", "", true),
    ("No, I live in Braga.", "Do you still live in Porto?", false),
    ("No wait, I live in Braga.", "Where do you live?", true),
    ("Actually, I live in Braga.", "", true),
    ("Actually, I live in Braga now.", "", false),
    ("No, I live in Braga these days.", "", false),
    ("Sorry, I don't live in Braga any more.", "", false),
];

#[test]
fn a_change_or_an_answer_corrects_no_earlier_statement() {
    for (text, question, corrects) in IN_FULL {
        let telling = Telling {
            text,
            speaker: "Nora",
            addressee: "Ben",
            observed_at: DateTime::parse_from_rfc3339("2024-05-10T12:00:00Z").expect("a time"),
        };
        let stated = stated_in_reply(&telling, question);
        assert!(!stated.is_empty(), "{text}");
        assert!(stated.iter().all(|it| it.corrects == *corrects), "{text}: {stated:?}");
    }
}

proptest! {
    #[test]
    fn facts_are_read_from_any_text(text in any_text(), speaker in "[A-Za-zé]{0,6}") {
        let telling = Telling {
            text: &text,
            speaker: &speaker,
            addressee: "",
            observed_at: DateTime::parse_from_rfc3339("2024-02-29T23:59:59+05:30").expect("a time"),
        };
        let first = statements_of_turn(&telling);
        prop_assert!(first.len() <= 24);
        for it in &first {
            prop_assert!((0.0..=1.0).contains(&it.confidence) && !it.object.is_empty() && !it.predicate.is_empty());
        }
        prop_assert_eq!(first, statements_of_turn(&telling));
        if let Some(it) = read_correction(&text, &speaker) {
            let _ = apply_correction(&text, &it);
        }
    }
}

/// Returns texts of known words in any order, with marks and letters of any script between them.
fn any_text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "I",
        "my",
        "sister",
        "lives",
        "in",
        "Porto",
        "am",
        "is",
        "not",
        "never",
        "every",
        "İlze",
        "Ana's",
        "moved",
        "to",
        "two",
        "cats",
        "have",
        "no",
        "it",
        "was",
        "Tuesday",
        "because",
        "on",
        "and",
        "“",
        "”",
        "—",
        "…",
        "*",
        "ß",
        "from",
        "2019",
        "until",
        "for",
        "1000000",
        "years",
        "allergic",
        "I'm",
        "’s",
        "birthday",
        "favourite",
        "colour",
        "of",
    ]);
    let piece = prop_oneof![8 => words.prop_map(str::to_owned), 1 => "\\PC{0,4}", 1 => "[.,;!?\\n ]{1,3}"];
    prop::collection::vec(piece, 0..40).prop_map(|it| it.join(" "))
}
