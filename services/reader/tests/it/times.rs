//! The time of an event: which of the times in a talk can be the answer, and when the answer is the day on which the
//! turn was said.

use domain::anchor::AnswerKind::{self, Duration, When};
use reader::answer::choices::answer_choices;
use reader::weights::Weights;

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
fn times_that_cannot_be_the_answer_are_skipped() {
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
fn the_day_of_the_turn_wins_over_a_time_of_another_event() {
    assert_eq!(talk().answer(When, "When did Nadia crack a tooth?"), "12 March 2024");
}

#[test]
fn a_duration_up_to_now_answers_when_something_began() {
    assert_eq!(
        talk().answer(When, "When did Nadia start playing the cello?"),
        "November 2023"
    );
}

#[test]
fn a_start_with_since_answers_how_long() {
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
fn a_question_when_something_was_mentioned_gets_the_day_of_that_turn() {
    assert_eq!(talk().answer(When, "When did Tom mention the film?"), "14 March 2024");
    assert_eq!(
        talk().answer(When, "When did they talk about the film?"),
        "14 March 2024"
    );
}

/// Returns the answer to a question whose named time is resolved relative to `now`.
fn ask(talk: &Talk, kind: AnswerKind, question: &str, now: &str) -> String {
    let mut request = talk.request(kind, question, "", "");
    let found = text::time::find_times(question, now.parse().unwrap());
    request.anchors.window = found.into_iter().next().map(|it| it.span);
    read(&request).answer.map_or_else(|| "refused".to_owned(), |it| it.text)
}

#[test]
fn a_time_in_the_question_limits_the_answer() {
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
fn questions_about_the_future_get_future_times() {
    let talk = Talk::new(
        "@ 2025-05-01
         Ona: The dentist sees me on 12 April and on 20 May.
         Ruth: Poor you.",
    );
    assert_eq!(talk.answer(When, "When will the dentist see Ona?"), "20 May 2025");
    assert_eq!(talk.answer(When, "When did the dentist see Ona?"), "12 April 2025");
}

/// Nine in the evening in New York is in the next year in UTC, and a year in Karachi begins in the year before in UTC.
#[test]
fn years_are_compared_in_the_offset_of_the_turn() {
    let times = |talk: &str, question: &str| {
        let request = Talk::new(talk).request(When, question, "", "");
        let choices = answer_choices(&request, Weights::builtin().unwrap());
        choices.times.items.concat()
    };
    let evening = "@ 2023-12-31T22:00:00-05:00
         Ona: The parade passed our street at 9 pm.";
    assert_eq!(
        times(evening, "At what time did the parade pass?"),
        ["9 pm", "31 December 2023"]
    );
    let plan = "@ 2023-06-01T10:00:00+05:00
         Ona: I bought a boat, and in 2024 I sail to Malta.";
    assert_eq!(times(plan, "When did Ona buy a boat?"), ["1 June 2023"]);
}
