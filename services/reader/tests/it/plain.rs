//! What people ask first, in plain words.

use domain::anchor::AnswerKind::{Duration, Number, WhatDoes, WhatIs, When, Who};

use crate::gaps::{Case, check};
use crate::talk::Talk;

fn team() -> Talk {
    Talk::new(
        "@ 2025-01-13
         Amara: I finished the import yesterday. Ruben tests the export.
         Ruben: The API of the supplier is down, the leak in the worker is known.
         Signe: Who writes the handbook?
         Ruben: I can do that.
         Signe: The new server listens on port 9090, behind Postgres 16.

         @ 2025-01-20
         Ruben: I used the quiet day to repair the cache. The build went from 40 seconds to 12 seconds.
         Amara: Signe and I fly to Ghent on Thursday. The handover is at the harbour.
         Signe: Deploys happen on Wednesdays only. The secret of the fast build is parallel linking.",
    )
}

#[test]
fn who_speaks_is_who_did_it() {
    let cases: &[Case] = &[
        (Who, "", "", "Who finished the import?", "Amara"),
        (Who, "", "", "Who tests the export?", "Ruben"),
        (Who, "", "", "Who writes the handbook?", "Ruben"),
        (Who, "", "", "Who repaired the cache?", "Ruben"),
        (Who, "", "", "Who flies to Ghent?", "Signe and Amara"),
    ];
    check(&team(), cases);
}

#[test]
fn whoever_is_named_beside_another_belongs_to_the_answer() {
    let talk = Talk::new(
        "User: I'm hiking with my friends Matteo and Sunniva this August.
         Assistant: How many days?",
    );
    let cases: &[Case] = &[(Who, "", "", "Who am I hiking with?", "friends Matteo and Sunniva")];
    check(&talk, cases);
}

#[test]
fn of_two_figures_the_new_one_holds() {
    let cases: &[Case] = &[
        (Duration, "", "take", "How long does the build take now?", "12 seconds"),
        (
            Duration,
            "",
            "take",
            "How long did the build take before?",
            "40 seconds",
        ),
    ];
    check(&team(), cases);
}

#[test]
fn days_of_every_week_are_told_in_the_plural() {
    let cases: &[Case] = &[(When, "day", "deploy", "On which day do deploys happen?", "Wednesdays")];
    check(&team(), cases);
}

#[test]
fn what_is_said_to_be_so_follows_the_noun() {
    let cases: &[Case] = &[(WhatIs, "", "", "What is the secret of the build?", "parallel linking")];
    check(&team(), cases);
}

fn house() -> Talk {
    Talk::new(
        "@ 2025-03-02
         Ilvy: Who's Matti?
         Oona: My fiddle teacher, silly. We met in the choir.
         Ilvy: Kerttu has a new job, she's teaching maths at a school.
         Oona: Great. The dumplings that you cooked on Sunday were amazing.
         Ilvy: The twins broke Matti's vase this morning! Kerttu wants the recipe. She's pregnant, but don't tell Mum.

         @ 2025-03-09
         Ilvy: I booked a cabin for four nights, the deposit was 3200 crowns.
         Oona: An old man called Fergus keeps bees there. He has forty hives and gave me twelve jars from the hives.
         Ilvy: The course starts on March 20, twice a week. Which arm did you hurt?
         Oona: The left one, of course.
         Ilvy: I wear my grey gloves with the moss pattern.",
    )
}

#[test]
fn what_somebody_does_follows_the_verb_or_stands_before_it() {
    let cases: &[Case] = &[];
    check(&house(), cases);
}

#[test]
fn who_does_it_is_not_to_whom_it_is_done() {
    let cases: &[Case] = &[(Who, "", "", "Who is pregnant?", "Kerttu")];
    check(&house(), cases);
}

#[test]
fn figures_count_what_is_asked_for() {
    let cases: &[Case] = &[
        (
            Number,
            "nights",
            "stay",
            "How many nights is the cabin booked for?",
            "four nights",
        ),
        (Number, "hives", "have", "How many hives does Fergus have?", "forty"),
    ];
    check(&house(), cases);
}

#[test]
fn what_begins_once_is_no_habit() {
    let cases: &[Case] = &[(When, "", "start", "When does the course start?", "20 March 2025")];
    check(&house(), cases);
}

#[test]
fn a_colour_is_no_figure_and_no_pattern() {
    let cases: &[Case] = &[(WhatIs, "", "", "What colour are Ilvy's gloves?", "grey")];
    check(&house(), cases);
}

#[test]
fn without_a_colour_there_is_none() {
    let cases: &[Case] = &[(WhatIs, "", "", "What colour is Matti's vase?", "refused")];
    check(&house(), cases);
}

#[test]
fn many_who_do_it_are_people_too() {
    let cases: &[Case] = &[(Who, "", "", "Who broke the vase?", "twins")];
    check(&house(), cases);
}

fn camp() -> Talk {
    Talk::new(
        "@ 2025-05-05
         Ines: The outage of the stove came from the GPS. The outage of the lamp came from Ampere 16.
         Theo: I'm a huge fan of that saga. Aragorn is the best of all.
         Ines: Idris left his camera in the bus to Belluno. The driver called him the next day.
         Theo: The soup that you made was amazing.
         Ines: It's grandma's recipe. The secret is marjoram.
         Theo: Leo can carry the rings, and Mum brings the flowers.",
    )
}

#[test]
fn abbreviations_and_products_are_nobody() {
    for (question, wrong) in [
        ("Who caused the outage of the stove?", "GPS"),
        ("Who caused the outage of the lamp?", "Ampere"),
    ] {
        assert!(!camp().answer(Who, question).contains(wrong), "{question}");
    }
}

#[test]
fn what_somebody_is_names_nobody() {
    let cases: &[Case] = &[(Who, "", "", "Who is Theo's favourite of the saga?", "Aragorn")];
    check(&camp(), cases);
    let talk = Talk::new(
        "Theo: I'm a huge fan of the harbour saga.
         Ines: Whom do you like best?
         Theo: I like Aragorn.",
    );
    let cases: &[Case] = &[(
        Who,
        "",
        "",
        "Who is Theo's favourite character of the harbour saga?",
        "Aragorn",
    )];
    check(&talk, cases);
    let talk = Talk::new("Ines: The customer signed the contract.\nTheo: Good.");
    assert_ne!(talk.answer(Who, "Who is the customer's CEO?"), "customer");
}

#[test]
fn a_name_that_is_a_word_opens_a_sentence() {
    let cases: &[Case] = &[(Who, "", "carry", "Who will carry the rings?", "Leo")];
    check(&camp(), cases);
}

#[test]
fn the_secret_is_what_is_said_to_be_it() {
    let cases: &[Case] = &[(WhatIs, "", "", "What is the secret of the soup?", "marjoram")];
    check(&camp(), cases);
}

fn shop() -> Talk {
    Talk::new(
        "@ 2025-07-20
         Customer: My order 77120 has not arrived. I ordered a grinder and two mugs for 84 euros.
         Support: Thank you, I will look.
         Customer: Then a storm broke the cherry tree in my yard on Tuesday, it is so sad.",
    )
}

#[test]
fn what_does_it_stands_before_the_verb() {
    let cases: &[Case] = &[(WhatIs, "tree", "", "What broke the cherry tree?", "storm")];
    check(&shop(), cases);
}

#[test]
fn how_much_a_thing_was_asks_for_money() {
    let cases: &[Case] = &[(Number, "", "", "How much was the order?", "84 euros")];
    check(&shop(), cases);
}

#[test]
fn a_figure_is_not_what_somebody_orders() {
    assert_ne!(shop().answer(WhatDoes, "What did the customer order?"), "77120");
}
