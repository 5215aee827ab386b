//! Questions that get no answer although the evidence has similar words, in chat as people type it.

use domain::anchor::AnswerKind::{self, Number, Where, YesNo};
use domain::evidence::{ReasonCode, Sufficiency};
use domain::message::AnsweredV1;
use reader::{Config, Reader};

use crate::talk::{Talk, read};

fn chat() -> Talk {
    Talk::new(
        "@ 2025-03-02
         rae: omg the boiler again, no hot water since friday
         mo: boiler guy came at 3, fixed it lol
         rae: yesss. btw i quit the bakery, starting at the ferry office monday
         mo: WAIT what. did you tell jo?
         rae: nope, later haha

         @ 2025-03-20
         mo: jo says rae hates the ferry office
         rae: jo is wrong, i love it
         mo: might sell the kayak, jo would buy it
         rae: nooo keep it
         mo: i live in Kiel btw",
    )
}

fn asked(talk: &Talk, kind: AnswerKind, verb: &str, question: &str) -> AnsweredV1 {
    read(&talk.request(kind, question, "", verb))
}

#[test]
fn statements_of_others_do_not_replace_a_persons_own_words() {
    let talk = Talk::new(
        "Ann: I live in Graz.
         Mallory: Ann: penicillin is fine
         Mallory: Ann: I live in Linz.

         @ 2025-01-07
         Mallory: Ann lives in Wels now.",
    );
    let reply = asked(&talk, YesNo, "say", "Did Ann say penicillin is fine?");
    assert_eq!(reply.answer, None, "{:?}", reply.verdict);
    let lives = asked(&talk, Where, "live", "Where does Ann live?");
    assert_eq!(lives.verdict.status, Sufficiency::Conflicting);
    assert_eq!(lives.answer.unwrap().text, "Graz");
    let reason = "Ann says \"Graz\", and later Mallory says \"Wels\"";
    assert_eq!(lives.verdict.reasons, [reason]);
}

#[test]
fn the_end_of_another_value_is_no_contradiction() {
    let answer_to_bob = |statement: &str| {
        let talk = Talk::new(&format!(
            "Ann: I live in Graz.\nBob: Lovely.\n\n@ 2025-01-07\nBob: {statement}"
        ));
        asked(&talk, Where, "live", "Where does Ann live?")
    };
    let lives = answer_to_bob("Ann doesn't live in Vienna any more.");
    assert_ne!(lives.verdict.status, Sufficiency::Conflicting, "{:?}", lives.verdict);
    assert_eq!(lives.answer.map(|it| it.text).as_deref(), Some("Graz"));
    let lives = answer_to_bob("Ann lives in Vienna now.");
    assert_eq!(lives.verdict.status, Sufficiency::Conflicting);
}

#[test]
fn the_reason_names_the_speaker() {
    let talk = chat();
    let reply = asked(&talk, Where, "live", "Where does mo live?");
    assert_eq!(reply.answer.map(|it| it.text).as_deref(), Some("Kiel"));
    let whole = Talk::new("Ann: The red car cost 900 euros.\nCleo: Good for him.");
    let cost = asked(&whole, Number, "cost", "How much did the red car cost?");
    assert_eq!(cost.verdict.reasons, ["Ann says so"], "{:?}", cost.answer);
}

#[test]
fn a_question_about_an_unknown_name_is_refused() {
    let talk = chat();
    let request = talk.request(Where, "Where does Zorblax live?", "", "live");
    let answered = Reader::new(&Config::default()).unwrap().answer_request(&request);
    assert_eq!(
        (answered.answer, answered.verdict.status),
        (None, Sufficiency::Insufficient)
    );
}

#[test]
fn statements_of_others_about_a_person_are_withheld_and_name_the_speaker() {
    for (own, question, reason) in [
        (
            "i finally sold the golf!",
            "How much did leo sell the golf for?",
            "the best evidence is what mia said, but leo speaks of this too",
        ),
        (
            "what a day",
            "How much did leo say he sold the golf for?",
            "the question asks what leo said, but the best evidence is what mia said",
        ),
    ] {
        let talk = Talk::new(&format!("leo: {own}\nmia: leo sold the golf for 3500 euros"));
        let reply = asked(&talk, Number, "sell", question);
        assert_eq!(reply.answer, None, "{question}");
        assert_eq!(
            reply.verdict.code,
            Some(ReasonCode::ToldByAnother),
            "{:?}",
            reply.verdict
        );
        assert_eq!(reply.verdict.reasons, [reason]);
    }
}

#[test]
fn the_speaker_who_states_the_value_is_named_and_not_the_one_who_asks() {
    for (lines, named) in [
        (
            "nora: what did leo sell the golf for, 3500 euros?\nsven: yes, leo sold the golf for 3500 euros",
            "sven",
        ),
        (
            "sven: leo sold the golf for 3500 euros\nnora: leo sold the golf for 3500 euros?",
            "sven",
        ),
        ("nora: leo sold the golf for 3500 euros\nsven: nice!", "nora"),
    ] {
        let talk = Talk::new(&format!("leo: what a day\n{lines}"));
        let reply = asked(&talk, Number, "sell", "How much did leo say he sold the golf for?");
        assert_eq!(
            reply.verdict.code,
            Some(ReasonCode::ToldByAnother),
            "{:?}",
            reply.verdict
        );
        let reason = format!("the question asks what leo said, but the best evidence is what {named} said");
        assert_eq!(reply.verdict.reasons, [reason], "{lines}");
    }
}

#[test]
fn a_line_written_in_the_name_of_another_person_is_no_answer() {
    let question = "How much did the red car cost?";
    let own = Talk::new("Mallory: The red car cost 900 euros.\nAnn: Good for him.");
    let answered = asked(&own, Number, "cost", question);
    assert_eq!(answered.answer.map(|it| it.text).as_deref(), Some("900 euros"));
    let forged = Talk::new("Mallory: Ann: The red car cost 900 euros.\nAnn: Good for him.");
    let answered = asked(&forged, Number, "cost", question);
    assert_eq!(
        (answered.answer, answered.verdict.code),
        (None, Some(ReasonCode::WrittenAsAnother))
    );
    assert_eq!(answered.verdict.reasons, ["only Mallory says this, writing as Ann"]);
}
