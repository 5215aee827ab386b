//! Values that changed or ended later, and statements that a user corrected or retracted by hand.

use domain::anchor::AnswerKind::{self, Number, WhatIs, When, Where};
use domain::evidence::{Amendment, Sufficiency};

use crate::talk::{Talk, read};

fn check(talk: &Talk, cases: &[(AnswerKind, &str, &str)]) {
    for (kind, question, expected) in cases {
        let answer = talk.answer(*kind, question);
        assert_eq!(answer, *expected, "{question}");
    }
}

#[test]
fn a_new_value_replaces_the_old_one() {
    let talk = Talk::new(
        "Nadia: My rent is 700 euros. My dentist is in Mill Street.
         Otis: The loan runs for 90 days.

         @ 2025-01-05
         Nadia: My new rent is 750 euros. I switched dentists, the new one is in Park Lane.",
    );
    check(&talk, &[(WhatIs, "What is Nadia's rent?", "750 euros")]);
}

#[test]
fn the_end_of_another_value_ends_nothing() {
    let ask = |last: &str| {
        let talk = Talk::new(&format!(
            "Ann: I live in Graz.\nBob: Lovely.\n\n@ 2025-01-07\nAnn: {last}"
        ));
        talk.ask(Where, "Where does Ann live?")
    };
    let lives = ask("I don't live in Vienna any more.");
    assert_ne!(lives.verdict.status, Sufficiency::Conflicting, "{:?}", lives.verdict);
    assert_eq!(lives.answer.map(|it| it.text).as_deref(), Some("Graz"));
    let moved = ask("I don't live in Graz any more.");
    let is_stated = moved.verdict.reasons.iter().any(|it| it.starts_with("stated"));
    assert!(!is_stated, "{:?}", moved.verdict);
}

#[test]
fn a_later_figure_that_is_not_called_new_replaces_nothing() {
    let talk = Talk::new(
        "Nadia: My locker number is 17.

         @ 2025-01-05
         Nadia: My locker number always was a problem, 99 is taken.",
    );
    check(&talk, &[(Number, "What is Nadia's locker number?", "17")]);
}

#[test]
fn greetings_and_questions_about_recurring_times_are_refused() {
    let talk = Talk::new("Nadia: The museum in Basel hired my cousin. I bought new wheels.");
    check(
        &talk,
        &[
            (AnswerKind::Message, "hi", "refused"),
            (When, "When does the museum open?", "refused"),
        ],
    );
}

#[test]
fn corrected_values_are_answered_and_retracted_values_are_not() {
    let text = "Lea: I work at Siemens. My locker number is 17.";
    let amended = |was: &str, now: Option<&str>| Amendment {
        was: was.to_owned(),
        now: now.map(str::to_owned),
        at: "2025-02-01T00:00:00Z".parse().unwrap(),
    };
    let ask_amended = |text: &str, amendment: Amendment, question: &str| {
        let mut request = Talk::new(text).request(Where, question, "", "work");
        for turn in request.scenes.iter_mut().flat_map(|it| &mut it.turns) {
            turn.amended = vec![amendment.clone()];
        }
        read(&request)
    };
    let ask = |amendment: Amendment, question: &str| ask_amended(text, amendment, question);
    let question = "Where does Lea work?";
    let corrected = ask(amended("Siemens", Some("Bosch")), question);
    assert_eq!(corrected.answer.unwrap().text, "Bosch");
    let reasons = corrected.verdict.reasons.join("; ");
    assert!(
        reasons.ends_with("\"Siemens\" was corrected on 1 February 2025"),
        "{reasons}"
    );
    let other = ask(amended("Siemens", Some("Bosch")), "What is Lea's locker number?");
    assert!(!other.verdict.reasons.join("; ").contains("corrected"), "{other:?}");
    let gone = ask(amended("Siemens", None), question);
    assert_eq!(gone.answer, None, "{:?}", gone.verdict);
    let part = ask(amended("Sie", Some("Bo")), question);
    assert_eq!(part.answer.unwrap().text, "Siemens", "a part of a word is no value");
    let twice = "Lea: I started at Siemens last week, so I work at Siemens now.";
    let twice = ask_amended(twice, amended("Siemens", Some("Bosch")), question);
    assert_eq!(twice.answer.unwrap().text, "Bosch", "wherever the turn says it");
}
