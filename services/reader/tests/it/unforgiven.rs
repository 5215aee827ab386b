//! Answers that nobody who tries Mnemic for the first time would forgive.

use domain::anchor::AnswerKind::{Duration, Number, WhatIs, Where, Who, YesNo};
use domain::evidence::Sufficiency;

use crate::gaps::{Case, check};
use crate::talk::Talk;

#[test]
fn an_age_is_that_of_the_one_asked_about() {
    let talk = Talk::new(
        "@ 2025-02-01
         Ona: We visit my cousin with her kids, Finn (4) and Mia, 12, and with Leo, who is nine.
         Ruth: Nice. Kasimir turned 31 and his sister is 28 years old.
         Ona: My neighbour Berta, aged 77, comes too.",
    );
    let cases: &[Case] = &[
        (Number, "old", "", "How old is Finn?", "4"),
        (Number, "old", "", "How old is Mia?", "12"),
        (Number, "old", "", "How old is Leo?", "nine"),
        (Number, "old", "", "How old is Kasimir?", "31"),
        (Number, "old", "", "How old is Berta?", "77"),
    ];
    check(&talk, cases);
}

#[test]
fn a_length_of_time_is_that_of_the_matter() {
    let talk = Talk::new(
        "@ 2025-02-01
         Ona: Tom broke his ankle, he'll be on crutches for six weeks.
         Ruth: Poor Tom! We paid the rent three months ahead, so we can drive him.
         Ona: He will be glad. The lease of the flat runs for two years.",
    );
    let cases: &[Case] = &[
        (Duration, "", "", "How long will Tom be on crutches?", "six weeks"),
        (Duration, "", "run", "How long does the lease run?", "two years"),
    ];
    check(&talk, cases);
    let talk = Talk::new(
        "@ 2025-02-01
         Ona: Tom broke his ankle and is on crutches now.
         Ruth: Poor Tom! We paid the rent three months ahead, so we can drive him.",
    );
    let answer = talk.answer(Duration, "How long will Tom be on crutches?");
    assert!(!answer.starts_with("three months"), "{answer}");
}

fn pair() -> Talk {
    Talk::new(
        "@ 2025-02-01
         Ben: The new neighbour is called Pavel, by the way.
         Cleo: Good to know.

         @ 2025-02-08
         Ana: I met the neighbour. The neighbour's name is Marek.
         Cleo: And how was he?",
    )
}

#[test]
fn what_two_tell_each_otherwise_is_a_conflict_with_both_sides() {
    let found = pair().ask(WhatIs, "What is the neighbour called?");
    assert_eq!(found.verdict.status, Sufficiency::Conflicting, "{found:?}");
    let answer = found.answer.unwrap();
    assert_eq!(answer.external_ids.len(), 2, "{answer:?}");
    let reasons = found.verdict.reasons.join(" ");
    for side in ["Ben", "Pavel", "Ana", "Marek"] {
        assert!(reasons.contains(side), "{reasons}");
    }
}

#[test]
fn what_one_tells_anew_holds() {
    let talk = Talk::new(
        "@ 2025-02-01
         Ben: The neighbour is called Pavel, by the way.
         Cleo: Good to know.

         @ 2025-02-08
         Ben: I was wrong, the neighbour is called Marek.
         Cleo: And how was he?",
    );
    let found = talk.ask(WhatIs, "What is the neighbour called?");
    assert_ne!(found.verdict.status, Sufficiency::Conflicting, "{found:?}");
    assert_eq!(found.answer.unwrap().text, "Marek");
}

#[test]
fn what_was_put_in_the_place_of_another_holds_now() {
    let talk = Talk::new(
        "@ 2025-01-10
         Ines: I drive a Skoda, it is twelve years old.
         Omar: Mine is older. My boss is called Renate.
         Ines: I weigh 74 kilos, far too much.

         @ 2025-05-10
         Ines: I sold the Skoda and bought a Renault.
         Omar: Good for you. I have a new boss, Tobias.
         Ines: And I'm down to 68 kilos.",
    );
    let cases: &[Case] = &[
        (Who, "", "", "Who is Omar's boss now?", "Tobias"),
        (Number, "", "weigh", "How much does Ines weigh now?", "68 kilos"),
    ];
    check(&talk, cases);
}

#[test]
fn who_moved_out_lives_there_no_more() {
    let talk = Talk::new(
        "@ 2025-01-10
         Ines: Paul lives in the flat above the bakery.
         Omar: I know him.

         @ 2025-05-10
         Ines: In the flat above the bakery Paul moved out and Samira moved in.
         Omar: Oh, I liked him.",
    );
    let cases: &[Case] = &[
        (Who, "", "live", "Who lives in the flat above the bakery?", "Samira"),
        (Who, "", "live", "Who lives in the flat above the bakery now?", "Samira"),
    ];
    check(&talk, cases);
}

#[test]
fn what_is_asked_of_another_matter_is_refused() {
    let talk = Talk::new(
        "@ 2025-01-10
         Maya: I bought a used Volvo, the old Opel broke down.
         Omar: Good choice. My mother had one for twenty years.
         Maya: I painted the kitchen yellow, and on Monday I begin at the archive.
         Omar: Yellow! I'd never dare.",
    );
    for (kind, question) in [
        (Where, "Where is Maya moving to?"),
        (Where, "Where did Maya spend her honeymoon?"),
        (WhatIs, "What is the name of Maya's dentist?"),
        (Who, "Who is Maya's landlord?"),
        (Number, "How many languages does Maya speak?"),
    ] {
        let found = talk.ask(kind, question);
        assert!(found.answer.is_none(), "{question} {:?}", found.answer);
    }
}

#[test]
fn a_place_is_the_whole_phrase() {
    let talk = Talk::new(
        "@ 2025-01-10
         Maya: The painting hangs above the fireplace in Trieste.
         Omar: Lovely. The spare key is under the blue pot behind the shed.
         Maya: I'll remember that.",
    );
    let cases: &[Case] = &[
        (
            Where,
            "",
            "",
            "Where is the painting?",
            "above the fireplace in Trieste",
        ),
        (
            Where,
            "",
            "",
            "Where is the spare key?",
            "under the blue pot behind the shed",
        ),
    ];
    check(&talk, cases);
}

#[test]
fn who_has_a_role_is_named() {
    let talk = Talk::new(
        "@ 2025-01-10
         Maya: The dentist, Doctor Halloran, was very gentle.
         Omar: Our plumber is called Zdenka, and the new caretaker is Mr Oduya.
         Maya: Good people.",
    );
    let cases: &[Case] = &[
        (Who, "", "", "Who is the dentist?", "Doctor Halloran"),
        (Who, "", "", "Who is the plumber?", "Zdenka"),
        (Who, "", "", "Who is the caretaker?", "Mr Oduya"),
    ];
    check(&talk, cases);
}

fn trace(result: &str) -> Talk {
    Talk::new(&format!(
        "@ 2025-01-10
         user: Please run the tests of the parser.
         assistant: I run them now.
         tool: cargo_test: {result}
         user: Thanks."
    ))
}

#[test]
fn what_came_of_a_tool_call_is_read() {
    for (result, answer) in [
        (
            "{\"suite\": \"tests of the parser\", \"passed\": 41, \"failed\": 1}",
            "No",
        ),
        (
            "{\"suite\": \"tests of the parser\", \"passed\": 42, \"failed\": 0}",
            "Yes",
        ),
        ("running the tests of the parser; exit code 101", "No"),
        ("running the tests of the parser; exit code: 0", "Yes"),
        ("tests of the parser: 41 passed; 1 failed", "No"),
        ("tests of the parser: 42 passed; 0 failed", "Yes"),
        ("{\"job\": \"tests of the parser\", \"status\": \"failure\"}", "No"),
        ("{\"job\": \"tests of the parser\", \"status\": \"success\"}", "Yes"),
        ("{\"job\": \"tests of the parser\", \"ok\": false}", "No"),
    ] {
        let found = trace(result).answer(YesNo, "Did the tests of the parser pass?");
        assert_eq!(found, answer, "{result}");
    }
    let failed = trace("{\"suite\": \"tests of the parser\", \"passed\": 41, \"failed\": 1}");
    assert_eq!(failed.answer(YesNo, "Did the tests of the parser fail?"), "Yes");
}

#[test]
fn a_person_called_like_a_model_is_a_person() {
    let talk = Talk::new(
        "@ 2025-01-10
         Claude: I live in Lyon, near the river.
         Maya: Lucky you. I repaired the fence.
         Claude: And I painted the gate.",
    );
    let cases: &[Case] = &[
        (Where, "", "live", "Where does Claude live?", "Lyon"),
        (Who, "", "paint", "Who painted the gate?", "Claude"),
    ];
    check(&talk, cases);
}

#[test]
fn the_name_of_another_thing_is_no_answer() {
    let talk = Talk::new(
        "@ 2025-02-01
         Jory: Hanne wrote, she lives on a farm now, with a goat named Pilot.
         Ruth: I'd love to see that farm.",
    );
    let found = talk.ask(WhatIs, "What is Jory's dog called?");
    assert_eq!(found.verdict.status, Sufficiency::Insufficient, "{found:?}");
}

#[test]
fn a_name_beside_who_that_is_goes_before_one_that_is_only_called_so() {
    let talk = Talk::new(
        "@ 2025-02-01
         User: My foreman is called Ruprecht and he is strict.
         Assistant: Noted.
         User: Pia's nicest gift was a sledge from her godfather Anselm.
         Assistant: How kind of him.",
    );
    check(&talk, &[(WhatIs, "", "", "What is Pia's godfather called?", "Anselm")]);
}
