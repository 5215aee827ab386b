//! Answers that are withheld because their line does not report the event for the person in question, and similar
//! answers that are given.

use domain::anchor::AnswerKind::{Number, When};

use crate::talk::{Talk, read};

/// A question about an event, and its verb.
struct Question {
    text: &'static str,
    verb: &'static str,
}

const MARATHON: Question = Question {
    text: "When did Ann run the marathon?",
    verb: "run",
};
const ORCHIDS: Question = Question {
    text: "When did Ann water the orchids?",
    verb: "water",
};
const CAR: Question = Question {
    text: "How much did Ann sell her car for?",
    verb: "sell",
};
const SHOP: Question = Question {
    text: "When did Ann sell the shop?",
    verb: "sell",
};

/// Asks a question about each line, in a talk on 6 May 2025, a Tuesday, and compares the answer; "withheld" stands for no
/// answer.
fn check_answers(question: &Question, cases: &[(&str, &str)]) {
    let kind = if question.text.starts_with("When") {
        When
    } else {
        Number
    };
    for (line, expected) in cases {
        let talk = Talk::new(&format!(
            "@ 2025-05-06\nBen: Good morning, how was the weekend?\nAnn: {line}"
        ));
        let answered = read(&talk.request(kind, question.text, "", question.verb));
        let answer = answered.answer.map_or_else(|| "withheld".to_owned(), |it| it.text);
        assert_eq!(answer, *expected, "{line} {}", question.text);
    }
}

#[test]
fn an_event_that_is_denied_or_intended_has_no_time() {
    let lines_of_marathon = [
        ("I did not run the marathon on May 3.", "withheld"),
        ("I never ran the marathon on May 3.", "withheld"),
        ("I should have run the marathon on May 3.", "withheld"),
        ("I was supposed to run the marathon on May 3.", "withheld"),
        ("I ran the marathon on May 3.", "3 May 2025"),
        ("Finally ran the marathon on May 3!", "3 May 2025"),
    ];
    let lines_of_orchids = [
        ("I forgot to water the orchids on May 4.", "withheld"),
        ("I watered the orchids on May 4.", "4 May 2025"),
    ];
    check_answers(&MARATHON, &lines_of_marathon);
    check_answers(&ORCHIDS, &lines_of_orchids);
}

#[test]
fn an_event_of_another_person_is_not_that_of_the_speaker() {
    let lines_of_marathon = [
        ("My mother ran the marathon on May 3.", "withheld"),
        ("Grandpa ran the marathon on May 3.", "withheld"),
        ("Clara ran the marathon on May 3.", "withheld"),
        ("My mother and I ran the marathon on May 3.", "3 May 2025"),
        ("We ran the marathon on May 3.", "3 May 2025"),
    ];
    let lines_of_car = [
        ("My dad sold his car for 5,000 euros.", "withheld"),
        ("I sold my car for 5,000 euros.", "5,000 euros"),
    ];
    check_answers(&MARATHON, &lines_of_marathon);
    check_answers(&CAR, &lines_of_car);
}

#[test]
fn an_event_that_is_not_meant_has_no_time() {
    let lines_of_shop = [
        ("I almost sold the shop on May 2.", "withheld"),
        ("I dreamt that I sold the shop on May 2.", "withheld"),
        ("I sold the shop on May 2. Just kidding!", "withheld"),
        ("Bert said: \"I sold the shop on May 2.\"", "withheld"),
        ("Zoe wrote: I sold the shop on May 2.", "withheld"),
        ("If I sold the shop on May 2 I could travel.", "withheld"),
        ("I sold the shop on May 2 for almost nothing.", "2 May 2025"),
        ("If you ask me, I sold the shop on May 2.", "2 May 2025"),
    ];
    check_answers(&SHOP, &lines_of_shop);
}
