//! Facts of replies that omit the words of their question, and referents of "she" in replies.

use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use text::facts::{Subject, Telling, stated_in_reply};

/// The question, the reply, and the facts that it states; the speaker of the reply is "I".
const REPLIES: &[(&str, &str, &[&str])] = &[
    ("Where do you live now?", "Lisbon.", &["[I] lives in | Lisbon"]),
    (
        "Where do you live these days?",
        "In a flat by the canal, since March.",
        &["[I] lives in | a flat by the canal"],
    ),
    (
        "And where do you work?",
        "At the harbour office.",
        &["[I] works at | the harbour office"],
    ),
    ("Where do you work?", "The kitchen, mostly.", &[]),
    ("What do you do for a living?", "A nurse.", &["[I] works as | a nurse"]),
    (
        "Where does your mother live?",
        "Near Turin.",
        &["[\"my mother\"] lives near | Turin"],
    ),
    ("How old is your son?", "Nine.", &["[\"my son\"] is aged | nine"]),
    ("What is your sister called?", "Oona.", &["[I] has sister | Oona"]),
    ("What is your name?", "Oona.", &["[I] is called | Oona"]),
    ("Where does Ben live?", "Lisbon.", &[]),
    ("Where do you live?", "I told you.", &[]),
    ("Where do you live?", "Nowhere.", &[]),
    ("Where do you live?", "Guess!", &[]),
    ("Where shall we eat?", "Lisbon.", &[]),
    ("Do you smoke?", "No.", &["[I] does not smoke | tobacco not"]),
    ("Do you eat pork?", "No, sorry.", &["[I] does not eat | pork not"]),
    (
        "Do you still work at the bakery?",
        "No.",
        &["[I] works at | the bakery ended"],
    ),
    ("Are you vegetarian?", "Yes.", &["[I] is | vegetarian"]),
    ("Are you vegetarian?", "Yes, or so I say.", &["[I] is | vegetarian"]),
    ("Are you vegetarian?", "Why?", &[]),
    ("Are you still a teacher?", "Nope.", &["[I] works as | a teacher ended"]),
    ("Still allergic to cats?", "Sadly yes.", &["[I] is allergic to | cats"]),
    ("Still a teacher?", "Unfortunately not.", &[]),
    ("Still a teacher?", "No.", &["[I] works as | a teacher ended"]),
    ("Still up for Friday?", "Yes!", &[]),
    ("Still there?", "Yes.", &[]),
    ("Do you have kids?", "Two.", &["[I] has | two kids"]),
    ("Kids?", "Three.", &["[I] has | three kids"]),
    ("Any pets?", "Two cats.", &["[I] has | two cats"]),
    ("Do you have any pets?", "No.", &["[I] does not have | pets not"]),
    ("Do you like it?", "Yes.", &[]),
    ("Do you like tea or coffee?", "Yes.", &[]),
    ("Can you swim?", "No.", &["[I] cannot | swim not"]),
    (
        "Is Henrik still at the hospital?",
        "Yes, he's a nurse.",
        &["[Henrik] works as | a nurse"],
    ),
    (
        "How is your mother?",
        "Fine, she lives in Graz now.",
        &["[\"my mother\"] lives in | Graz"],
    ),
    ("What did Ester say?", "She hates peas.", &[]),
    ("How are Ana and Mia?", "She hates peas.", &[]),
    ("Was it nice in Porto?", "She hates peas.", &[]),
    ("Sam, how is it going?", "He lives in Graz.", &[]),
    (
        "¿Cómo está tu hermana?",
        "Trabajo en un banco.",
        &["[I] works in | un banco"],
    ),
];

#[test]
fn replies_state_facts_with_the_words_of_their_question() {
    let mut wrong = Vec::new();
    for (question, reply, expected) in REPLIES {
        let telling = Telling {
            text: reply,
            speaker: "Nora",
            addressee: "Sam",
            observed_at: DateTime::<FixedOffset>::default() + Duration::from_secs(1_718_186_400),
        };
        let found = stated_in_reply(&telling, question).into_iter().map(|it| {
            let subject = match &it.subject {
                Subject::Speaker => "I".to_owned(),
                Subject::Phrase(phrase) => format!("\"{phrase}\""),
                Subject::Name(name) => name.clone(),
            };
            let marks = [("ended", it.ended), ("not", !it.positive)];
            let marks = marks.iter().filter(|it| it.1).map(|it| format!(" {}", it.0));
            format!(
                "[{subject}] {} | {}{}",
                it.predicate,
                it.object,
                marks.collect::<String>()
            )
        });
        let found: Vec<String> = found.collect();
        if found != *expected {
            wrong.push(format!("{question} {reply}\n  said {expected:?}\n  found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
