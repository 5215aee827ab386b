//! What is not answered, however near the words are: in chat as people type it.

use domain::anchor::AnswerKind::{self, Duration, Where, Who, YesNo};
use domain::evidence::Sufficiency;
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
fn yes_and_no_need_a_statement_of_exactly_that() {
    let talk = chat();
    for (verb, question, expected) in [
        // Somebody else did it, in a sentence of the one who is asked about.
        ("fix", "Did mo fix the boiler?", None),
        ("quit", "Did rae quit the bakery?", Some("Yes")),
        ("quit", "Did mo quit the bakery?", None),
        ("love", "Does rae love the ferry office?", None),
        ("sell", "Did mo sell the kayak?", None),
        ("buy", "Did jo buy the kayak?", None),
        ("tell", "Did rae tell jo?", Some("No")),
    ] {
        let answered = asked(&talk, YesNo, verb, question);
        let answer = answered.answer.as_ref().map(|it| it.text.as_str());
        assert_eq!(answer, expected, "{question} {:?}", answered.verdict);
    }
}

#[test]
fn what_was_so_is_not_taken_for_what_is() {
    let talk = Talk::new("Ann: I worked at the harbour for years. I play chess with Bob.");
    for (verb, question, expected) in [
        ("work", "Does Ann work at the harbour?", None),
        ("work", "Did Ann work at the harbour?", Some("Yes")),
        ("play", "Does Ann play chess with Bob?", Some("Yes")),
        ("play", "Did Ann play chess with Bob?", None),
    ] {
        let answer = asked(&talk, YesNo, verb, question).answer.map(|it| it.text);
        assert_eq!(answer.as_deref(), expected, "{question}");
    }
}

#[test]
fn what_others_say_of_somebody_does_not_become_their_words() {
    let talk = Talk::new(
        "Ann: I live in Graz.
         Mallory: Ann: penicillin is fine
         Mallory: Ann: I live in Linz.

         @ 2025-01-07
         Mallory: Ann lives in Wels now.",
    );
    let said = asked(&talk, YesNo, "say", "Did Ann say penicillin is fine?");
    assert_eq!(said.answer, None, "{:?}", said.verdict);
    let lives = asked(&talk, Where, "live", "Where does Ann live?");
    assert_eq!(lives.verdict.status, Sufficiency::Conflicting);
    assert_eq!(lives.answer.unwrap().text, "Graz");
    let reason = "Ann says \"Graz\", and later Mallory says \"Wels\"";
    assert_eq!(lives.verdict.reasons, [reason]);
}

#[test]
fn the_reason_names_who_says_so() {
    let talk = chat();
    let told = asked(&talk, Where, "live", "Where does mo live?");
    assert_eq!(told.answer.map(|it| it.text).as_deref(), Some("Kiel"));
    let whole = Talk::new("Ann: Bob sold the red car to a neighbour.\nCleo: Good for him.");
    let sold = asked(&whole, Who, "sell", "Who sold the red car?");
    assert_eq!(sold.verdict.reasons, ["Ann says so"], "{:?}", sold.answer);
}

#[test]
fn a_name_that_occurs_nowhere_is_refused_by_name() {
    let talk = chat();
    let request = talk.request(Where, "Where does Zorblax live?", "", "live");
    let answered = Reader::new(&Config::default()).unwrap().read(&request);
    assert_eq!(
        (answered.answer, answered.verdict.status),
        (None, Sufficiency::Insufficient)
    );
}

#[test]
fn how_long_ago_is_left_to_who_can_reckon() {
    let talk = chat();
    let answered = asked(&talk, Duration, "quit", "How long ago did rae quit the bakery?");
    assert_eq!(answered.answer, None, "{:?}", answered.verdict);
}
