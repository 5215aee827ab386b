//! Questions that ask for a fact that a turn states outright, even if the turn shares no word with the question.

use domain::anchor::AnswerKind::{Number, WhatDoes, WhatIs, Where, Who, YesNo};
use domain::evidence::Sufficiency;

use crate::talk::{Talk, read};

fn friends() -> Talk {
    Talk::new(
        "@ 2025-03-01
         Mira: We moved to Graz in January, finally a flat with a balcony.
         Theo: I got promoted to head of logistics. And I turned forty on Monday.
         Mira: My father moved to Maribor. He reads about octopuses.

         @ 2025-06-10
         Theo: I sold the car, by the way. I cycle now, 14 kilometres a day.
         Mira: I live in Leoben now, the flat in Graz was too dear.
         Theo: And the work?

         @ 2025-12-05
         Mira: I started a new job at the city archive on 1 December.
         Theo: I quit my job, I'm free at last.
         Mira: Jonas plays football. Training is every Tuesday and Friday.",
    )
}

#[test]
fn the_last_statement_is_the_answer() {
    let talk = friends();
    for (kind, question, expected) in [
        (Where, "Where does Mira live?", "Leoben"),
        (Where, "Where does Mira's father live?", "Maribor"),
        (Where, "Where does Mira work?", "city archive"),
        (Number, "How old is Theo?", "forty"),
        (YesNo, "Does Theo still own a car?", "No"),
        (Where, "Where did Mira live before?", "Graz"),
        (WhatIs, "What was Theo's job before?", "head of logistics"),
    ] {
        let answered = talk.ask(kind, question);
        let answer = answered.answer.unwrap();
        assert_eq!(answer.text, expected, "{question}");
        assert_eq!(answered.verdict.status, Sufficiency::Supported, "{question}");
        assert!(answered.verdict.reasons[0].starts_with("stated on "), "{question}");
        assert_eq!(answer.supports.len(), 1, "{question}");
    }
}

#[test]
fn a_state_is_confirmed_or_denied_only_by_a_statement_that_says_no_more() {
    let talk = Talk::new(
        "@ 2025-03-01
         Mira: I'm vegetarian now. I'm allergic to penicillin, by the way.
         Theo: I play the cello. I don't eat meat. I'm allergic to nuts.
         Mira: I want to learn Spanish. I work nights.

         @ 2025-06-10
         Mira: I quit smoking. I used to smoke a lot.
         Theo: I smoke. I was married once. I run ten kilometres on Sundays.

         @ 2025-12-05
         Theo: I no longer smoke.
         Theo: Mira doesn't work nights.",
    );
    let answer = |question: &str| talk.ask(YesNo, question).answer.map(|it| it.text);
    for (question, expected) in [
        ("Is Mira vegetarian?", "Yes"),
        ("Is Mira allergic to penicillin?", "Yes"),
        ("Does Theo play the cello?", "Yes"),
        ("Does Theo eat meat?", "No"),
    ] {
        assert_eq!(answer(question).as_deref(), Some(expected), "{question}");
    }
    for question in [
        "Is Theo vegetarian?",
        "Is Mira allergic to nuts?",
        "Does Mira play the cello?",
        "Does Mira speak Spanish?",
        "Does Mira learn Spanish?",
        "Does Mira smoke?",
        "Does Theo smoke?",
        "Is Theo married?",
        "Does Theo run?",
        "Does Mira work nights?",
        "Did Theo play the cello?",
        "Doesn't Theo play the cello?",
        "Does Theo play the cello or the viola?",
    ] {
        assert_eq!(answer(question), None, "{question}");
    }
}

#[test]
fn a_short_reply_completes_the_question_before_it() {
    let talk = Talk::new(
        "@ 2025-04-02
         Mira: So where do you live these days?
         Theo: Leoben, since March.
         Mira: Lovely! How old is your son now?
         Theo: Nine, and he never sits still.",
    );
    for (kind, question, expected) in [
        (Where, "Where does Theo live?", "Leoben"),
        (Number, "How old is Theo's son?", "nine"),
    ] {
        let answered = talk.ask(kind, question);
        assert_eq!(
            answered.answer.map(|it| it.text).as_deref(),
            Some(expected),
            "{question}"
        );
        assert!(answered.verdict.reasons[0].starts_with("stated on "), "{question}");
    }
}

#[test]
fn a_future_fact_holds_from_its_day_on() {
    let talk = Talk::new(
        "@ 2025-03-03
         Mira: I live in Leoben.
         @ 2025-06-10
         Mira: We move into the flat on Mill Street on 1 September. I work at the archive until 31 October.",
    );
    let answer_on = |day: &str, question: &str| {
        let mut request = talk.request(Where, question, "", "");
        request.anchors.asked_at = Some(format!("{day}T10:00:00+00:00").parse().unwrap());
        let answered = read(&request);
        let stated = answered.verdict.reasons.iter().any(|it| it.starts_with("stated on "));
        answered.answer.filter(|_| stated).map(|it| it.text)
    };
    for (day, question, expected) in [
        ("2025-06-10", "Where does Mira live?", Some("Leoben")),
        ("2025-09-02", "Where does Mira live?", Some("flat on Mill Street")),
        ("2025-09-02", "Where does Mira work?", Some("archive")),
        ("2025-12-02", "Where does Mira work?", None),
    ] {
        assert_eq!(answer_on(day, question).as_deref(), expected, "{day} {question}");
    }
}

/// Returns the answer to a question about a statement of March and a later one of June.
fn ask_after(stated: &str, later: &str, question: &str) -> Option<String> {
    let talk = Talk::new(&format!(
        "@ 2025-03-03
         Mira: {stated}
         Theo: Nice.

         @ 2025-06-10
         Mira: {later}"
    ));
    let kind = if question.starts_with("Where") { Where } else { YesNo };
    talk.ask(kind, question).answer.map(|it| it.text)
}

#[test]
fn a_job_that_ended_without_another_one_is_only_a_former_job() {
    let (present, former) = ("Where does Mira work?", "Where did Mira work before?");
    let ask = |later: &str, question: &str| ask_after("I work at Halden Optics.", later, question);
    for later in ["I got fired.", "I quit last week.", "They let me go."] {
        assert_eq!(ask(later, present), None, "{later}");
        assert_eq!(ask(later, former).as_deref(), Some("Halden Optics"), "{later}");
    }
    for later in ["I quit smoking last week.", "I quit in 2019."] {
        assert_eq!(ask(later, present).as_deref(), Some("Halden Optics"), "{later}");
    }
}

#[test]
fn a_job_that_has_ended_is_not_reported_as_unknown() {
    for later in ["They let me go.", "I got fired."] {
        let talk = Talk::new(&format!(
            "@ 2025-03-03
             Mira: I started at Halden Optics in May.
             Theo: Nice.

             @ 2025-06-10
             Mira: {later}"
        ));
        let answered = talk.ask(Where, "Where does Mira work?");
        assert_eq!(answered.answer.map(|it| it.text), None, "{later}");
        let reasons = answered.verdict.reasons;
        assert!(!reasons.is_empty(), "{later}");
        assert!(
            reasons.iter().all(|it| it != "nothing about this is remembered"),
            "{later} {reasons:?}"
        );
    }
}

#[test]
fn a_home_is_only_a_former_home_after_a_move_without_a_place() {
    let (present, former) = ("Where does Mira live?", "Where did Mira live before?");
    let ask = |later: &str, question: &str| ask_after("I live in Graz.", later, question);
    for later in ["We moved out.", "Done: we moved yesterday.", "I've finally moved!"] {
        assert_eq!(ask(later, present), None, "{later}");
        assert_eq!(ask(later, former).as_deref(), Some("Graz"), "{later}");
    }
    for later in [
        "We moved the piano.",
        "I haven't moved.",
        "Since I moved I sleep better.",
        "I moved here in 2009.",
        "I moved out at 18.",
        "We moved so much furniture today.",
        "I was really moved!",
        "I'm moving away next week.",
    ] {
        assert_eq!(ask(later, present).as_deref(), Some("Graz"), "{later}");
    }
}

#[test]
fn a_state_that_the_person_reverses_later_is_unclear() {
    let ask = |later: &str| ask_after("I don't eat meat.", later, "Does Mira eat meat?");
    assert_eq!(ask("I eat meat again."), None);
    for later in [
        "I bought a grill.",
        "My brother eats meat again.",
        "I eat no meat.",
        "I eat meat substitutes.",
        "If I eat meat I feel sick.",
    ] {
        assert_eq!(ask(later).as_deref(), Some("No"), "{later}");
    }
}

#[test]
fn phrases_that_name_nothing_of_the_requested_kind_are_not_answers() {
    let talk = Talk::new(
        "@ 2025-01-14
         Mira: The new foreman is a nightmare. Petra. She moved all my shifts.
         Theo: Friday works for me, by the way. Quit it already, the job at the mill.
         Mira: My brother Jonas made the album. Can I bring Freya",
    );
    for (kind, question, wrong) in [
        (Who, "Who is Petra?", "Petra"),
        (Who, "Who is Freya?", "Can I bring Freya"),
        (WhatIs, "What is Theo's sister called?", "Quit it already"),
        (WhatDoes, "What does Theo do for a living?", "Friday works"),
        (WhatIs, "What is Mira's job?", "Jonas"),
    ] {
        assert_ne!(talk.answer(kind, question), wrong, "{question}");
    }
}

#[test]
fn ended_facts_and_facts_about_others_are_not_answers() {
    let talk = friends();
    for (kind, question, wrong) in [
        (Where, "Where does Theo live?", "Graz"),
        (Where, "Where does Theo live?", "Leoben"),
        (WhatDoes, "What does Mira do for a living?", "head of logistics"),
        (WhatIs, "What is Mira's job?", "head of logistics"),
        (Number, "How old is Mira?", "forty"),
    ] {
        assert_ne!(talk.answer(kind, question), wrong, "{question}");
    }
    let answered = talk.ask(WhatIs, "What is Theo's job?");
    let stated = answered.verdict.reasons.iter().any(|it| it.starts_with("stated"));
    assert!(!stated, "he quit: {:?}", answered.verdict.reasons);
}

#[test]
fn the_home_of_the_father_is_not_the_home_of_the_son() {
    let talk = Talk::new(
        "@ 2026-01-10
         Theo: My father lives in Narvik.
         Mira: Say hello to him.",
    );
    let answered = talk.ask(Where, "Where does Theo live?");
    assert_eq!(answered.answer.map(|it| it.text), None);
    assert_eq!(talk.answer(Where, "Where does Theo's father live?"), "Narvik");
}

#[test]
fn people_with_the_same_first_name_are_kept_apart_by_full_name() {
    let talk = Talk::new(
        "@ 2026-01-10
         Jorun Berg: I moved to Voss in May.
         Jorun Lie: I live in Bodø. My father lives in Narvik.",
    );
    assert_eq!(talk.answer(Where, "Where does Jorun Berg live?"), "Voss");
    assert_eq!(talk.answer(Where, "Where does Jorun Lie live?"), "Bodø");
    assert_eq!(talk.answer(Where, "Where does Jorun Lie's father live?"), "Narvik");
}

#[test]
fn the_user_of_an_assistant_gets_his_or_her_own_facts() {
    let talk = Talk::new(
        "@ 2026-01-10
         user: I live in Bremen, the electricity costs 38 cents.
         assistant: Then a small server pays.

         @ 2026-02-15
         user: I moved to Oldenburg last week. My daughter works as a nurse.",
    );
    assert_eq!(talk.answer(Where, "Where do I live?"), "Oldenburg");
    assert_eq!(talk.answer(Where, "Where did I live before?"), "Bremen");
    assert_eq!(talk.answer(WhatDoes, "What does my daughter do for a living?"), "nurse");
}

fn people() -> Talk {
    Talk::new(
        "@ 2025-03-01
         User: Hi! I'm Petra, my manager is called Holger. My husband Joost is still in Groningen.
         Assistant: Nice to meet you.
         User: I adopted a greyhound, her name is Pepper. The cat sleeps beside an old man called Fergus.
         User: My sister Anjali is coming over.",
    )
}

#[test]
fn names_and_roles_of_relatives_are_answered() {
    let talk = people();
    for (kind, question, expected) in [
        (WhatIs, "What is my name?", "Petra"),
        (Who, "Who is my manager?", "Holger"),
        (WhatIs, "What is my dog called?", "Pepper"),
        (WhatIs, "What's the name of my husband?", "Joost"),
        (Who, "Who is Anjali?", "sister"),
    ] {
        assert_eq!(talk.answer(kind, question), expected, "{question}");
    }
    let friends = Talk::new(
        "Ravi: My sister Anjali is coming over.
         Tamsin: I would love to meet her.",
    );
    assert_eq!(friends.answer(Who, "Who is Anjali?"), "Ravi's sister");
}

#[test]
fn a_person_in_another_role_is_not_an_answer() {
    let talk = people();
    for (kind, question) in [
        (WhatIs, "What is my son called?"),
        (WhatIs, "What is my cat called?"),
        (Where, "Where does my brother live?"),
    ] {
        let answered = talk.ask(kind, question);
        assert_eq!(answered.answer.map(|it| it.text), None, "{question}");
        assert_ne!(answered.verdict.status, Sufficiency::Supported, "{question}");
    }
    assert_ne!(talk.answer(Where, "Where does my husband live?"), "Joost");
}

#[test]
fn relatives_have_their_own_homes() {
    let talk = Talk::new(
        "Ottoline: My cousin Faro lives in Ghent.
         Bram: My brother Levi moved to Leeds. My friend Anjali lives in Pune.",
    );
    for (question, expected) in [
        ("Where does Bram's brother live?", "Leeds"),
        ("Where does Ottoline's cousin live?", "Ghent"),
        ("Where does Faro live?", "Ghent"),
        ("Where does Faro's sister live?", "refused"),
        ("Where does Anjali's brother live?", "refused"),
    ] {
        assert_eq!(talk.answer(Where, question), expected, "{question}");
    }
}
