//! Corrections and retractions by hand: several of one turn, of values that a reply leaves out, and of times.

use domain::anchor::AnswerKind::{self, WhatDoes, WhatIs, When, Where, YesNo};
use domain::evidence::Amendment;
use domain::message::AnsweredV1;

use crate::talk::{Talk, read};

/// Returns the reply to a question after amendments of all turns of a speaker: the old value, and the new one if there
/// is one.
fn ask_amended(
    talk: &Talk,
    speaker: &str,
    amended: &[(&str, Option<&str>)],
    kind: AnswerKind,
    question: &str,
) -> AnsweredV1 {
    let mut request = talk.request(kind, question, "", "");
    let turns = request.scenes.iter_mut().flat_map(|it| &mut it.turns);
    for turn in turns.filter(|it| it.actor == speaker) {
        let amended = amended.iter().map(|(was, now)| Amendment {
            was: (*was).to_owned(),
            now: now.map(str::to_owned),
            at: "2025-02-01T00:00:00Z".parse().unwrap(),
        });
        turn.amended = amended.collect();
    }
    read(&request)
}

fn answer_of(answered: AnsweredV1) -> String {
    answered.answer.map_or("refused".to_owned(), |it| it.text)
}

#[test]
fn an_inserted_correction_is_not_corrected_again() {
    let talk = Talk::new("Lea: I live in Graz.");
    for amended in [
        [("Graz", Some("Linz")), ("Linz", Some("Wels"))],
        [("Linz", Some("Wels")), ("Graz", Some("Linz"))],
    ] {
        let answered = ask_amended(&talk, "Lea", &amended, Where, "Where does Lea live?");
        assert_eq!(answer_of(answered), "Linz");
    }
}

#[test]
fn a_value_that_a_reply_leaves_out_is_amended() {
    let talk = Talk::new(
        "Sam: Still allergic to cats?
         Nora: Sadly yes.",
    );
    for (amended, expected) in [
        (&[][..], "cats"),
        (&[("cats", None)], "refused"),
        (&[("Cats", None)], "refused"),
        (&[("cats", Some("dogs"))], "dogs"),
        (&[("birds", None)], "cats"),
        (&[("cat", None)], "cats"),
    ] {
        let answered = ask_amended(&talk, "Nora", amended, WhatIs, "What is Nora allergic to?");
        assert_eq!(answer_of(answered), expected, "{amended:?}");
    }
}

#[test]
fn a_value_at_the_beginning_of_a_reply_is_amended() {
    let talk = Talk::new(
        "Sam: What do you do for a living?
         Nora: A nurse.",
    );
    for (amended, expected) in [
        (&[][..], "nurse"),
        (&[("a nurse", None)], "refused"),
        (&[("a nurse", Some("a midwife"))], "midwife"),
    ] {
        let answered = ask_amended(&talk, "Nora", amended, WhatDoes, "What does Nora do for a living?");
        assert_eq!(answer_of(answered), expected, "{amended:?}");
    }
}

#[test]
fn a_corrected_time_is_the_answer() {
    let talk = Talk::new(
        "@ 2025-05-01
         Ona: The dentist sees me on 12 April and on 20 May.
         Ruth: Poor you.",
    );
    for (amended, expected) in [
        (&[][..], "12 April 2025"),
        (&[("12 April", Some("14 April"))], "14 April 2025"),
    ] {
        let answered = ask_amended(&talk, "Ona", amended, When, "When did the dentist see Ona?");
        assert_eq!(answer_of(answered), expected, "{amended:?}");
    }
}

#[test]
fn only_a_correction_to_the_words_of_an_answer_is_a_reason() {
    let talk = Talk::new("Theo: I play the cello. I don't eat meat. I live in Nantes.");
    let reasons = |now: &str, kind: AnswerKind, question: &str| {
        let answered = ask_amended(&talk, "Theo", &[("Nantes", Some(now))], kind, question);
        assert!(answered.answer.is_some(), "{question}: {answered:?}");
        answered.verdict.reasons.join("; ")
    };
    let denied = reasons("Norma", YesNo, "Does Theo eat meat?");
    assert!(!denied.contains("was corrected on"), "{denied}");
    let corrected = reasons("Norma", Where, "Where does Theo live?");
    assert!(corrected.contains("\"Nantes\" was corrected on"), "{corrected}");
}
