//! An answer is given only if it is certain enough; otherwise the caller gets only the evidence.

use domain::anchor::AnswerKind;
use domain::evidence::Sufficiency;
use reader::{Config, Error, Reader};

use crate::talk::Talk;

fn reader(precision: f32) -> Reader {
    let config = Config {
        precision,
        ..Config::default()
    };
    Reader::new(&config).unwrap()
}

/// One fact that is stated outright, and one that must be guessed from phrases.
const TALK: &str = "Petra: I live in Bremen now, by the way.\n\
                    Sam: the boiler is making that noise again\n\
                    Petra: did jo fix it or does the landlord have to come?\n\
                    Sam: jo says the landlord is doing it friday";

#[test]
fn a_fact_that_is_stated_outright_is_answered() {
    let talk = Talk::new(TALK);
    let stated = talk.request(AnswerKind::Where, "Where does Petra live?", "Petra", "");
    let guessed = talk.request(AnswerKind::When, "When did jo call the landlord?", "", "call");
    let [sure, unsure] =
        [&stated, &guessed].map(|it| reader(0.85).assess_request(it).answered.answer.unwrap().confidence);
    assert!(sure > unsure, "{sure} and {unsure}");
    let answered = reader(sure).answer_request(&stated);
    assert_eq!(answered.verdict.status, Sufficiency::Supported, "{answered:?}");
    let answer = answered.answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.confidence), ("Bremen", sure));
    assert_eq!(reader(sure).answer_request(&guessed).answer, None);
}

#[test]
fn an_uncertain_answer_is_withheld_with_a_reason() {
    let request = Talk::new(TALK).request(AnswerKind::When, "When did jo call the landlord?", "", "call");
    let found = reader(0.85).assess_request(&request).answered;
    let confidence = found.answer.unwrap().confidence;
    assert!(confidence < 0.85, "{confidence}");
    let answered = reader(0.85).answer_request(&request);
    assert_eq!(answered.answer, None);
    assert_eq!(answered.verdict.status, Sufficiency::Partial);
    let reasons = ["the evidence may hold the answer, but no short answer is certain enough"];
    assert_eq!(answered.verdict.reasons, reasons);
    let given = reader(confidence).answer_request(&request);
    assert!(given.answer.is_some(), "at its own probability it is given: {given:?}");
}

#[test]
fn a_precision_that_is_not_a_probability_is_rejected() {
    for precision in [0.0, -1.0, 1.1, f32::NAN, f32::INFINITY] {
        let config = Config {
            precision,
            ..Config::default()
        };
        let error = Reader::new(&config).unwrap_err();
        assert!(matches!(error, Error::Precision { .. }), "{precision}: {error}");
    }
    assert!(
        reader(1.0)
            .answer_request(&Talk::new(TALK).request(AnswerKind::Where, "Where does Petra live?", "Petra", ""))
            .answer
            .is_none()
    );
}
