//! The time of an event: which of the times in a talk can be the answer, and when the answer is the day on which the
//! turn was said.

use domain::anchor::AnswerKind::{self, Duration, When};
use domain::evidence::ReasonCode;
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
fn a_start_alone_does_not_answer_how_long_something_lasted() {
    let ask = |line: &str| {
        let talk = Talk::new(&format!("Orla: {line}\nTilda: Oh!"));
        talk.answer(Duration, "How long was Orla in Delft?")
    };
    assert_eq!(ask("I was in Delft for three days."), "three days");
    assert_eq!(ask("I've been in Delft since Monday."), "refused");
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

/// Returns the answer to a question that is asked at a time.
fn ask_at(talk: &Talk, question: &str, asked_at: &str) -> String {
    let mut request = talk.request(When, question, "", "");
    request.anchors.asked_at = Some(asked_at.parse().unwrap());
    read(&request).answer.map_or_else(|| "refused".to_owned(), |it| it.text)
}

#[test]
fn a_time_after_the_question_does_not_answer_a_question_about_the_past() {
    let talk = Talk::new(
        "@ 2025-05-10
         Iris: The concert is on Monday.
         Lars: Good luck!",
    );
    let question = "When was the concert?";
    assert_eq!(ask_at(&talk, question, "2025-05-28T12:00:00+00:00"), "12 May 2025");
    assert_eq!(ask_at(&talk, question, "2025-05-11T12:00:00+00:00"), "refused");
}

#[test]
fn a_time_that_the_same_person_replaces_later_is_withheld() {
    let ask = |later: &str| {
        let talk = Talk::new(&format!(
            "@ 2025-05-06
             Ann: I paid the invoice on Monday.
             Ben: Good.
             {later}"
        ));
        talk.answer(When, "When did Ann pay the invoice?")
    };
    assert_eq!(ask("Ann: Sorry, on Tuesday, not Monday."), "refused");
    let again = "\n@ 2025-05-07\nAnn: Sorry, I paid the invoice on Tuesday, not Monday.";
    assert_ne!(ask(again), "5 May 2025");
    for other_matter in [
        "",
        "Ann: Sorry, the rent was due on Sunday, not Saturday.",
        "\n@ 2025-05-07\nAnn: I paid the rent on Tuesday.",
    ] {
        assert_eq!(ask(other_matter), "5 May 2025", "{other_matter}");
    }
}

#[test]
fn a_plan_loses_its_time_to_a_change() {
    let moved = Talk::new(
        "@ 2025-08-04
         Ravi: The penetration test is booked for August 20.
         Mo: Fine.

         @ 2025-08-12
         Ravi: The tester is ill. New date for the test: August 27.",
    );
    assert_ne!(moved.answer(When, "When is the penetration test?"), "20 August 2025");
}

#[test]
fn a_plan_that_was_missed_does_not_show_when_the_event_took_place() {
    let ask = |later: &str| {
        let talk = Talk::new(&format!(
            "@ 2025-05-06
             Ann: The crib arrives on Thursday.
             Ben: Good.

             @ 2025-05-16
             Ann: {later}"
        ));
        let found = read(&talk.request(When, "When did the crib arrive?", "", "arrive"));
        found.answer.map_or_else(|| "refused".to_owned(), |it| it.text)
    };
    for other in ["I painted the shelf green.", "I like the crib, but I work late."] {
        assert_eq!(ask(other), "8 May 2025", "{other}");
    }
    for missed in ["The crib came a week late.", "The crib still hasn't arrived."] {
        assert_ne!(ask(missed), "8 May 2025", "{missed}");
    }
}

#[test]
fn a_distant_plan_does_not_show_when_somebody_did_it() {
    let talk = Talk::new(
        "@ 2025-02-20
         Ann: I run the half marathon in Graz on April 27.
         Ben: We play at the street fair on 22 March.",
    );
    assert_eq!(talk.answer(When, "When did Ann run the half marathon?"), "refused");
    assert_eq!(talk.answer(When, "When was the street fair?"), "22 March 2025");
}

#[test]
fn the_day_of_the_turn_answers_only_if_the_sentence_reports_an_event_of_that_day() {
    let ask = |line: &str, question: &str, verb: &str| {
        let talk = Talk::new(&format!("@ 2025-05-11\nIris: {line}\nLars: Oh!"));
        let found = read(&talk.request(When, question, "", verb));
        found.answer.map_or_else(|| "refused".to_owned(), |it| it.text)
    };
    for (line, question, verb, expected) in [
        ("I bought a kayak!", "When did Iris buy a kayak?", "buy", "11 May 2025"),
        (
            "I considered buying a kayak.",
            "When did Iris buy a kayak?",
            "buy",
            "refused",
        ),
        (
            "I never sold the kayak.",
            "When did Iris sell the kayak?",
            "sell",
            "refused",
        ),
        (
            "I had a stroke at 62.",
            "When did Iris have a stroke?",
            "have",
            "refused",
        ),
    ] {
        assert_eq!(ask(line, question, verb), expected, "{line}");
    }
}

#[test]
fn a_withheld_time_is_not_called_unknown() {
    let talk = Talk::new("Iris: I had a stroke at 62.\nLars: Oh!");
    let found = talk.ask(When, "When did Iris have a stroke?");
    assert_eq!(found.verdict.code, Some(ReasonCode::Uncertain), "{:?}", found.verdict);
}

#[test]
fn of_two_times_of_a_sentence_the_one_of_the_clause_in_question_answers() {
    let move_in = "I moved in on 3 April and painted the kitchen on 20 April.";
    let course = "The course starts on 4 June and ends on 30 June.";
    for (line, question, expected) in [
        (move_in, "When did Iris move in?", "3 April 2025"),
        (move_in, "When did Iris paint the kitchen?", "20 April 2025"),
        (course, "When does the course start?", "4 June 2025"),
        (course, "When does the course end?", "30 June 2025"),
        (
            "I bought the kayak in March and crashed it on 20 April.",
            "When did Iris crash the kayak?",
            "20 April 2025",
        ),
        (
            "My sister was born in 1990 and my brother in 1994.",
            "When was Iris's brother born?",
            "1994",
        ),
    ] {
        let talk = Talk::new(&format!("@ 2025-05-11\nIris: {line}\nLars: Oh!"));
        assert_eq!(talk.answer(When, question), expected, "{line} {question}");
    }
}

#[test]
fn a_time_that_its_clause_denies_supposes_or_asks_for_is_withheld() {
    for (line, expected) in [
        ("The exam isn't on Friday.", "refused"),
        ("The exam on Friday was cancelled.", "refused"),
        ("The exam might be on Friday.", "refused"),
        ("Is the exam on Friday?", "refused"),
        ("The exam is on Friday.", "9 May 2025"),
        ("I can't wait, the exam is on Friday.", "9 May 2025"),
        ("The exam isn't until Friday.", "9 May 2025"),
        ("No it's on Friday the exam.", "9 May 2025"),
        ("The exam is on Friday without a break.", "9 May 2025"),
    ] {
        let talk = Talk::new(&format!("@ 2025-05-06\nIris: {line}\nLars: Oh!"));
        assert_eq!(talk.answer(When, "When is the exam?"), expected, "{line}");
    }
}
