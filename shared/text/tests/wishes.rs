//! Standing wishes, and questions that ask for advice.

use proptest::prelude::*;
use text::question::wishes::{asks_what_to_do, grade_standing_wish};

#[test]
fn sentences_that_state_a_standing_wish_are_graded() {
    for (sentence, grade) in [
        ("From now on, answer me in two sentences.", 1.0),
        ("Always put the deadline first.", 1.0),
        ("Please never send me voice notes.", 1.0),
        ("Thanks, and whenever you suggest a film, tell me how long it is.", 1.0),
        ("When I ask about money, give me amounts per month.", 1.0),
        ("Don\u{2019}t put anything on Tuesdays for me, ever.", 1.0),
        ("House rule: nobody puts soap into the iron pot.", 1.0),
        ("Remember that I cannot drive.", 1.0),
        ("I'd like you to quote every source.", 1.0),
        ("I don't eat anything with hooves.", 0.5),
        ("Please no cloud services.", 0.5),
        ("I prefer the window seat.", 0.5),
        ("Karim is allergic to sesame.", 0.5),
        ("Can we not do worksheets?", 0.5),
        ("We went to the lake on Sunday.", 0.0),
        ("Never heard of it.", 0.0),
        ("Don't worry about the pot.", 0.0),
        ("Do you always cook this late?", 0.0),
        ("The parcel came yesterday.", 0.0),
        ("", 0.0),
    ] {
        assert!(
            (grade_standing_wish(sentence) - grade).abs() < f32::EPSILON,
            "{sentence}: {}",
            grade_standing_wish(sentence)
        );
    }
}

#[test]
fn questions_that_ask_for_advice_are_recognised() {
    for question in [
        "How should I lay out the report?",
        "Can you suggest a film for tonight?",
        "Write a script that lists the hosts.",
        "Please book a table for four.",
        "What could I cook on Friday?",
        "Where could we park the van?",
        "Which flights do you recommend?",
        "What must not go into the stew?",
        "Any tips for a long train ride?",
        "What are some good names for a cat?",
        "It is late. Make me a list for tomorrow.",
    ] {
        assert!(asks_what_to_do(question), "{question}");
    }
    for question in [
        "When did Mona buy the loom?",
        "What did I say about the loom?",
        "What was suggested for the garden?",
        "Where does Karim live?",
        "Who is Mona's sister?",
        "How many chairs are in the hall?",
        "",
    ] {
        assert!(!asks_what_to_do(question), "{question}");
    }
}

proptest! {
    #[test]
    fn any_text_has_a_grade_between_0_and_1(text in "\\PC{0,300}") {
        prop_assert!([0.0, 0.5, 1.0].contains(&grade_standing_wish(&text)));
        asks_what_to_do(&text);
    }
}
