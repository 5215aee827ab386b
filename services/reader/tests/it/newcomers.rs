//! What people type who try Mnemic with a talk of their own.

use domain::anchor::AnswerKind::{Number, WhatDoes, WhatIs, When, Where, Who, YesNo};

use crate::gaps::{Case, check};
use crate::talk::Talk;

fn cabin() -> Talk {
    Talk::new(
        "@ 2025-04-04
         Nadia: The cabin is booked! It is 140 euros per person, and I already paid the deposit of 90.
         Tobi: Great, I bring the stove. I am allergic to dogs, Nadia!
         Nadia: I bring mine anyway. Do you have money again?
         Tobi: I sold my old guitar to my colleague Henrik. Got 220 for it.
         Nadia: My hamster was 18 pounds and the cage 75, so I know.

         @ 2025-04-11
         Greta: I handed in my notice at the bakery today!
         Nadia: What? Why?
         Greta: The early shifts were killing me. I start at a bookshop on 1 June.
         Tobi: You can make a teapot for the shop then.",
    )
}

#[test]
fn a_sum_of_money_needs_no_currency_beside_it() {
    check(
        &cabin(),
        &[
            (Number, "", "", "How much was the deposit?", "90"),
            (Number, "", "cost", "How much did the cage cost?", "75"),
            (Number, "", "get", "How much did Tobi get for his guitar?", "220"),
        ],
    );
}

#[test]
fn a_sum_is_that_of_what_it_is_asked_for() {
    check(
        &cabin(),
        &[
            (Number, "", "cost", "How much does the cabin cost?", "140 euros"),
            (Number, "", "pay", "How much did Greta pay for her teapot?", "refused"),
        ],
    );
}

#[test]
fn who_bought_it_is_told_by_who_sold_it() {
    check(&cabin(), &[(Who, "", "bought", "Who bought Tobi's guitar?", "Henrik")]);
}

#[test]
fn a_birthday_is_no_other_day() {
    let talk = Talk::new(
        "@ 2025-04-11
         Greta: I start at a bookshop on 1 June.
         Nadia: Great! My Noor turns twelve on 5 April.",
    );
    let cases: &[Case] = &[
        (When, "", "", "When is Greta's birthday?", "refused"),
        (When, "", "", "When is Noor's birthday?", "5 April 2025"),
    ];
    check(&talk, cases);
}

#[test]
fn a_place_ends_where_something_else_is_told() {
    let talk = Talk::new(
        "@ 2025-05-21
         Nadia: I am going to Porto for a language course in September.
         Tobi: Lovely!",
    );
    check(
        &talk,
        &[(Where, "", "going", "Where is Nadia going in September?", "Porto")],
    );
    let landlord = Talk::new(
        "@ 2025-02-10
         User: My landlord is raising the rent from April.
         Assistant: What is his name?
         User: His name is Mr. Declercq, he lives in Bruges.",
    );
    check(
        &landlord,
        &[(Where, "", "live", "Where does my landlord live?", "Bruges")],
    );
}

#[test]
fn with_whom_somebody_lives_is_no_place() {
    let talk = Talk::new(
        "@ 2025-04-06
         Lukas: I live with Maeve now, on Union Street.
         Elin: Nice!",
    );
    check(&talk, &[(Where, "", "live", "Where does Lukas live?", "Union Street")]);
}

#[test]
fn a_name_may_be_told_in_the_next_sentence() {
    let talk = Talk::new(
        "@ 2024-09-08
         Lukas: I share the flat with Ravi and a guy called Owen.
         Elin: And else?
         Lukas: I have a girlfriend. Her name is Maeve, she studies biology.",
    );
    check(
        &talk,
        &[(WhatIs, "", "called", "What is Lukas's girlfriend called?", "Maeve")],
    );
}

#[test]
fn what_is_told_of_one_is_not_told_of_another() {
    let talk = Talk::new(
        "@ 2024-09-08
         Lukas: I share the flat with Ravi and a guy called Owen.
         Elin: Do you have a garden?
         Lukas: Yes, a small one.

         @ 2024-10-08
         Elin: And what is new?
         Lukas: I met a girl. Her name is Maeve, she studies marine biology.",
    );
    check(&talk, &[(WhatDoes, "", "study", "What does Ravi study?", "refused")]);
}

#[test]
fn nobody_did_what_is_not_spoken_of() {
    let talk = Talk::new(
        "@ 2025-05-21
         Nadia: What a weekend in the cabin! My cousin Ines came, too.
         Tobi: And the view from the window was great.
         Nadia: We should clean it together.

         @ 2025-06-02
         Tobi: I broke my phone.",
    );
    check(
        &talk,
        &[(Who, "", "broke", "Who broke the window of the cabin?", "refused")],
    );
}

#[test]
fn a_family_name_may_open_a_sentence() {
    let talk = Talk::new(
        "@ 2025-02-03
         Assistant: Which supplier do you use?
         User: Van Hecke, they deliver on Wednesdays.",
    );
    check(&talk, &[(Who, "", "", "Who is my supplier?", "Van Hecke")]);
}

#[test]
fn a_day_of_every_week_is_asked_for_by_what_must_be_done_on_it() {
    let talk = Talk::new(
        "@ 2025-06-02
         User: Do not deploy on Fridays, that's a rule here.
         Agent: Understood.",
    );
    check(
        &talk,
        &[(When, "day", "deploy", "On which day must we not deploy?", "Fridays")],
    );
}

#[test]
fn who_asks_for_the_time_of_day_hears_it() {
    let talk = Talk::new(
        "@ 2025-06-30
         Ona: The train leaves tomorrow at 6:52 am, don't be late.
         Ruth: I was late on 3 May and the train left without me.",
    );
    check(
        &talk,
        &[(When, "time", "leave", "At what time does the train leave?", "6:52 am")],
    );
}

#[test]
fn what_stays_at_a_figure_was_another_before() {
    let talk = Talk::new(
        "@ 2025-02-10
         User: My landlord is raising the rent from 1,150 to 1,290 euros.
         Assistant: You can object.

         @ 2025-03-12
         User: He gave in! The rent stays at 1,200 for another year.
         Assistant: A good result.",
    );
    check(&talk, &[(Number, "", "", "What is the rent now?", "1,200")]);
}

#[test]
fn who_eats_no_meat_may_be_told_by_a_word() {
    let talk = Talk::new(
        "@ 2024-11-17
         Lukas: When you cook for Maeve: she is vegan.
         Elin: Okay!",
    );
    check(&talk, &[(YesNo, "", "eat", "Does Maeve eat meat?", "refused")]);
}

#[test]
fn what_is_the_opposite_of_what_ended_holds() {
    let talk = Talk::new(
        "@ 2026-02-10
         Ruben: I started a choir on Tuesdays. And I stopped eating meat in January.
         Mila: Good for you. I don't eat meat either.
         Ruben: Otto is a vegetarian, too.",
    );
    check(
        &talk,
        &[
            (YesNo, "", "", "Is Ruben a vegetarian?", "refused"),
            (YesNo, "", "", "Is Mila a vegetarian?", "refused"),
            (YesNo, "", "eat", "Does Ruben eat meat?", "No"),
        ],
    );
}

#[test]
fn who_broke_up_is_not_together_any_more() {
    let talk = Talk::new(
        "@ 2026-01-05
         Ruben: I am off to Porto with Jana for her birthday.
         Mila: Say hi to her!

         @ 2026-03-20
         Mila: I got the promotion!
         Ruben: Congratulations!! We broke up, Jana and I. Two weeks ago.
         Mila: Oh no, I am so sorry.",
    );
    check(
        &talk,
        &[
            (YesNo, "", "", "Are Ruben and Jana still together?", "No"),
            (Who, "", "break", "Who did Ruben break up with?", "Jana"),
        ],
    );
}

#[test]
fn a_code_is_no_place() {
    let talk = Talk::new(
        "@ 2025-07-28
         Beatrix: The bike is LX-5520-0931, the police found it under a tarp in the yard.
         Elif: Good news!",
    );
    check(
        &talk,
        &[(
            Where,
            "",
            "found",
            "Where was the bike found?",
            "under a tarp in the yard",
        )],
    );
}

#[test]
fn a_price_may_be_for_each() {
    let talk = Talk::new(
        "@ 2025-02-17
         User: I want to start workshops on Saturdays, wreath binding, eight people at most, 45 euros each.
         Assistant: That would be 360 euros for a full workshop.
         User: Also my van broke down. The garage wants 520 euros for the repair.",
    );
    check(
        &talk,
        &[(
            Number,
            "",
            "workshop",
            "How much does a workshop cost per person?",
            "45 euros",
        )],
    );
}

#[test]
fn what_stands_before_a_comma_is_not_with_who_speaks() {
    let talk = Talk::new(
        "@ 2025-05-21
         Tobi: Great, I repaired the stove.
         Nadia: Thanks!",
    );
    check(&talk, &[(Who, "", "repaired", "Who repaired the stove?", "Tobi")]);
}
