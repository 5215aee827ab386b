//! The reasons for which a question gets no answer: each check of the reader has its code.

use domain::anchor::AnswerKind::{self, Duration, Message, WhatIs, When, Where, Who, YesNo};
use domain::evidence::{ReasonCode, Sufficiency};
use reader::{Config, Reader};

use crate::talk::{Talk, read};

fn chat() -> Talk {
    Talk::new(
        "@ 2025-03-02
         rae: omg the boiler again, no hot water since friday
         mo: boiler guy came at 3, fixed it lol
         rae: yesss. btw i quit the bakery, starting at the ferry office monday
         mo: WAIT what. did you tell jo?

         @ 2025-03-20
         mo: might sell the kayak, jo would buy it
         rae: nooo keep it
         mo: i live in Kiel btw",
    )
}

#[test]
fn questions_that_need_more_than_a_short_answer_get_none() {
    for (kind, verb, question) in [
        (YesNo, "fix", "Did mo fix the boiler?"),
        (YesNo, "quit", "Did rae quit the bakery?"),
        (Who, "quit", "Who quit the bakery?"),
        (Where, "start", "Where is rae starting?"),
    ] {
        let answered = read(&chat().request(kind, question, "", verb));
        assert_eq!(answered.answer, None, "{question}");
        assert!(answered.verdict.code.is_some(), "{question} {:?}", answered.verdict);
    }
    assert_eq!(chat().answer(Where, "Where does mo live?"), "Kiel");
}

fn code(kind: AnswerKind, question: &str) -> Option<ReasonCode> {
    read(&chat().request(kind, question, "", "")).verdict.code
}

#[test]
fn each_refusal_has_its_code() {
    assert_eq!(code(Message, "hi"), Some(ReasonCode::NothingAsked));
    assert_eq!(
        code(WhatIs, "What was the verdict of the insurance tribunal?"),
        Some(ReasonCode::NothingKnown)
    );
    assert_eq!(
        code(Where, "Where does mo's sister live?"),
        Some(ReasonCode::NobodyInRole)
    );
    assert_eq!(code(Who, "Who told jo?"), Some(ReasonCode::NoShortAnswer));
    let mut empty = chat().request(When, "When did rae quit?", "", "quit");
    empty.scenes.clear();
    assert_eq!(read(&empty).verdict.code, Some(ReasonCode::NoEvidence));
    let lives = read(&chat().request(Where, "Where does mo live?", "", "live"));
    assert_eq!(lives.verdict.code, None, "an answer has no code: {:?}", lives.verdict);
}

#[test]
fn an_uncertain_answer_is_withheld_with_a_code() {
    let config = Config {
        precision: 1.0,
        ..Config::default()
    };
    let reader = Reader::new(&config).unwrap();
    let withheld = reader.answer_request(&chat().request(Where, "Where does mo live?", "", "live"));
    assert_eq!(
        (withheld.answer, withheld.verdict.code),
        (None, Some(ReasonCode::Uncertain))
    );
}

#[test]
fn the_readers_result_follows_the_reading_of_the_router() {
    let mut request = chat().request(Where, "Where does mo live?", "", "live");
    let computed = read(&request);
    let reading = text::question::read_question(&text::question::QuestionInput {
        question: &request.question,
        anchors: &request.anchors,
        weights: &request.words,
    });
    request.reading = Some(reading.clone());
    assert_eq!(
        read(&request),
        computed,
        "a message without a reading is read the same way"
    );
    request.reading = Some(domain::question::Question { slot: None, ..reading });
    assert_eq!(read(&request).verdict.code, Some(ReasonCode::NoShortAnswer));
}

#[test]
fn an_event_that_is_mentioned_without_a_time_is_withheld_but_not_refused() {
    let talk = Talk::new(
        "@ 2025-03-02
         mia: exam went ok, no results yet
         leo: fingers crossed!

         @ 2025-03-09
         mia: the plumber comes on 12 March
         leo: about time",
    );
    let mine = talk.ask(When, "when are mias results?");
    assert_eq!((mine.answer, mine.verdict.status), (None, Sufficiency::Partial));
    assert_eq!(mine.verdict.code, Some(ReasonCode::Uncertain));
    let others = talk.ask(When, "when are leos results?");
    assert_eq!(
        (others.answer, others.verdict.status),
        (None, Sufficiency::Insufficient)
    );
}

#[test]
fn a_duration_is_no_answer_to_a_question_how_long_ago() {
    let talk = Talk::new(
        "rae: i worked at the bakery for three years
         mo: wow, good for you",
    );
    let asked = |question: &str| read(&talk.request(Duration, question, "", "work"));
    let lasted = asked("How long did rae work at the bakery?");
    assert_eq!(lasted.answer.map(|it| it.text).as_deref(), Some("three years"));
    let ago = asked("How long ago did rae work at the bakery?");
    assert_eq!((ago.answer, ago.verdict.code), (None, Some(ReasonCode::NotReckoned)));
}
