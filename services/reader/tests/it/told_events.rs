//! Answers that are withheld because their line does not report the event for the person in question, and similar
//! answers that are given.

use domain::anchor::AnswerKind::{self, Number, When};

use crate::talk::{Talk, read};

/// Returns the answer to a question about one line of a talk on 6 May 2025, a Tuesday; "withheld" stands for no answer.
fn ask(line: &str, kind: AnswerKind, verb: &str, question: &str) -> String {
    let talk = Talk::new(&format!(
        "@ 2025-05-06\nBen: Good morning, how was the weekend?\nAnn: {line}"
    ));
    let answered = read(&talk.request(kind, question, "", verb));
    answered.answer.map_or_else(|| "withheld".to_owned(), |it| it.text)
}

fn check(cases: &[(&str, &str, &str, &str)]) {
    for (line, verb, question, expected) in cases {
        let kind = if question.starts_with("When") { When } else { Number };
        assert_eq!(ask(line, kind, verb, question), *expected, "{line} {question}");
    }
}

#[test]
fn an_event_that_is_denied_or_intended_has_no_time() {
    let marathon = "When did Ann run the marathon?";
    check(&[
        ("I did not run the marathon on May 3.", "run", marathon, "withheld"),
        ("I never ran the marathon on May 3.", "run", marathon, "withheld"),
        ("I should have run the marathon on May 3.", "run", marathon, "withheld"),
        (
            "I was supposed to run the marathon on May 3.",
            "run",
            marathon,
            "withheld",
        ),
        ("I ran the marathon on May 3.", "run", marathon, "3 May 2025"),
        ("Finally ran the marathon on May 3!", "run", marathon, "3 May 2025"),
        (
            "I forgot to water the orchids on May 4.",
            "water",
            "When did Ann water the orchids?",
            "withheld",
        ),
        (
            "I watered the orchids on May 4.",
            "water",
            "When did Ann water the orchids?",
            "4 May 2025",
        ),
    ]);
}

#[test]
fn an_event_of_another_person_is_not_that_of_the_speaker() {
    let marathon = "When did Ann run the marathon?";
    check(&[
        ("My mother ran the marathon on May 3.", "run", marathon, "withheld"),
        ("Grandpa ran the marathon on May 3.", "run", marathon, "withheld"),
        ("Clara ran the marathon on May 3.", "run", marathon, "withheld"),
        (
            "My mother and I ran the marathon on May 3.",
            "run",
            marathon,
            "3 May 2025",
        ),
        ("We ran the marathon on May 3.", "run", marathon, "3 May 2025"),
        (
            "My dad sold his car for 5,000 euros.",
            "sell",
            "How much did Ann sell her car for?",
            "withheld",
        ),
        (
            "I sold my car for 5,000 euros.",
            "sell",
            "How much did Ann sell her car for?",
            "5,000 euros",
        ),
    ]);
}

#[test]
fn an_event_that_is_not_meant_has_no_time() {
    let sale = "When did Ann sell the shop?";
    check(&[
        ("I almost sold the shop on May 2.", "sell", sale, "withheld"),
        ("I dreamt that I sold the shop on May 2.", "sell", sale, "withheld"),
        ("I sold the shop on May 2. Just kidding!", "sell", sale, "withheld"),
        ("Bert said: \"I sold the shop on May 2.\"", "sell", sale, "withheld"),
        ("Zoe wrote: I sold the shop on May 2.", "sell", sale, "withheld"),
        (
            "I sold the shop on May 2 for almost nothing.",
            "sell",
            sale,
            "2 May 2025",
        ),
    ]);
}
