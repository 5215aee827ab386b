//! When something was: which of the times that a talk names can be the answer, and when it is the day of telling.

use domain::anchor::AnswerKind::{self, Duration, When};

use crate::talk::{Talk, read};

fn talk() -> Talk {
    Talk::new(
        "@ 2024-03-12
         Tom: The concert in Graz on 2 March was sold out.
         Nadia: I cracked a tooth on a caramel!

         @ 2024-03-14
         Tom: I bought a boat, a wooden sloop from 1962.
         Nadia: I've been playing the cello for about four months now, the book says it takes till 2105.
         Tom: Yesterday I saw a film about a lighthouse.
         Nadia: I started reading 11/22/63 by King.",
    )
}

#[test]
fn what_cannot_be_the_time_asked_for_is_not() {
    for (question, when) in [
        ("When did Tom buy a boat?", "14 March 2024"),
        ("When did Nadia play the cello?", "14 March 2024"),
        ("When did Nadia start reading 11/22/63?", "14 March 2024"),
        ("When did Tom see the film?", "13 March 2024"),
    ] {
        assert_eq!(talk().answer(When, question), when, "{question}");
    }
}

#[test]
fn the_day_of_telling_stands_before_a_time_of_something_else() {
    assert_eq!(talk().answer(When, "When did Nadia crack a tooth?"), "12 March 2024");
}

#[test]
fn what_goes_on_for_so_long_began_then() {
    assert_eq!(
        talk().answer(When, "When did Nadia start playing the cello?"),
        "November 2023"
    );
}

#[test]
fn how_long_is_told_by_when_it_began() {
    let talk = Talk::new(
        "Tilda: I've drawn since I was 15 or so. How long have you been into ceramics?
         Orla: Since March. I was in Delft for three days.",
    );
    assert_eq!(
        talk.answer(Duration, "How long has Tilda been drawing?"),
        "since I was 15"
    );
    assert_eq!(
        talk.answer(Duration, "How long has Orla been into ceramics?"),
        "Since March"
    );
}

#[test]
fn who_asks_when_it_was_spoken_of_hears_that_day() {
    assert_eq!(talk().answer(When, "When did Tom mention the film?"), "14 March 2024");
    assert_eq!(
        talk().answer(When, "When did they talk about the film?"),
        "14 March 2024"
    );
}

/// Asks with the time that the question names placed as on `now`.
fn ask(talk: &Talk, kind: AnswerKind, question: &str, now: &str) -> String {
    let mut request = talk.request(kind, question, "", "");
    let found = text::time::find(question, now.parse().unwrap());
    request.anchors.window = found.into_iter().next().map(|it| it.span);
    read(&request).answer.map_or_else(|| "refused".to_owned(), |it| it.text)
}

#[test]
fn a_time_that_the_question_names_bounds_the_answer() {
    let talk = Talk::new(
        "@ 2023-07-17
         Tom: We went camping two weekends ago, it was great to unplug.
         Nadia: We went camping last year, in the rain, and the tent for camping leaked.",
    );
    let question = "When did they go camping in July?";
    assert_eq!(
        ask(&talk, When, question, "2023-07-17T10:00:00Z"),
        "two weekends before 17 July 2023"
    );
}

#[test]
fn what_will_be_lies_ahead() {
    let talk = Talk::new(
        "@ 2025-05-01
         Ona: The dentist sees me on 12 April and on 20 May.
         Ruth: Poor you.",
    );
    assert_eq!(talk.answer(When, "When will the dentist see Ona?"), "20 May 2025");
    assert_eq!(talk.answer(When, "When did the dentist see Ona?"), "12 April 2025");
}
