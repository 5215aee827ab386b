//! Short answers that rules can give: figures, sums of money, measures, lengths of time, times and colours.

use domain::anchor::AnswerKind::{Duration, How, Number, WhatDoes, WhatIs, When};
use domain::evidence::{ReasonCode, Sufficiency};

use crate::talk::{Case, Talk, check, read};

fn workers() -> Talk {
    Talk::new(
        "@ 2025-06-02
         Hanne: Big news, I start at the aquarium in June! Until then I'm still at the print shop.
         Okoro: Congratulations! Mondays will be busy then.

         @ 2025-07-11
         Hanne: The accordion is mended at last, they wanted 85 euros and I had to wait two weeks.
         Okoro: My scooter was dearer. The workshop took £210 off me for new brakes.
         Hanne: I sold the old tent to Dario for 60 euros, he goes to the fjords in August.
         Okoro: I rent a garden behind the railway station now, it costs me 19 pounds a month.",
    )
}

#[test]
fn questions_about_payment_get_sums_of_money() {
    let cases: &[Case] = &[
        (
            WhatDoes,
            "",
            "",
            "What did Hanne pay for the accordion repair?",
            "85 euros",
        ),
        (
            Number,
            "",
            "",
            "How much did Okoro spend on the brakes of the scooter?",
            "£210",
        ),
        (
            WhatDoes,
            "",
            "",
            "What did Okoro's scooter cost at the workshop?",
            "£210",
        ),
        (Number, "", "", "How much did Hanne get for the old tent?", "60 euros"),
        (WhatIs, "rent", "", "What is the rent of Okoro's garden?", "19 pounds"),
    ];
    check(&workers(), cases);
}

#[test]
fn durations_and_dates_are_not_confused() {
    let cases: &[Case] = &[
        (
            Duration,
            "",
            "",
            "How long did Hanne wait for the accordion?",
            "two weeks",
        ),
        (When, "", "", "When does Hanne start at the aquarium?", "June 2025"),
    ];
    check(&workers(), cases);
}

#[test]
fn a_value_of_another_variant_of_the_thing_is_no_answer() {
    let talk = Talk::new(
        "Nadia: My old flat had three rooms, the new one has two.
         Otis: Lovely!",
    );
    let ask = |question: &str| {
        let answered = read(&talk.request(Number, question, "rooms", ""));
        answered.answer.map_or_else(|| "refused".to_owned(), |it| it.text)
    };
    let new = ask("How many rooms does Nadia's new flat have?");
    assert!(["two", "refused"].contains(&new.as_str()), "{new}");
    assert_eq!(ask("How many rooms did Nadia's old flat have?"), "three");
}

#[test]
fn a_thing_is_the_same_variant_in_the_next_clause_of_its_sentence() {
    let talk = Talk::new(
        "Nadia: I love my new flat, the flat has three rooms.
         Otis: Lovely!",
    );
    let answered = read(&talk.request(Number, "How many rooms does Nadia's new flat have?", "rooms", ""));
    assert_eq!(answered.answer.map(|it| it.text).as_deref(), Some("three"));
}

fn neighbours() -> Talk {
    Talk::new(
        "@ 2024-09-03
         Ilse: We have three goats, and the barn needs 12 metres of new gutter.
         Marek: I can lend you my ladder, it is 6 metres long.
         Ilse: Thanks! The hall held a hundred and forty people on Saturday. I was so proud of the choir.
         Marek: I got rid of the fever with lime tea and three days of sleep.

         @ 2024-11-20
         Ilse: I decided against the loan. I painted the gate dark green instead of red.
         Marek: My boots are brown, my coat is grey. I bought both at the flea market in Olsztyn.",
    )
}

#[test]
fn a_figure_counts_the_thing_in_question() {
    let cases: &[Case] = &[
        (Number, "goats", "", "How many goats does Ilse have?", "three"),
        (
            Number,
            "people",
            "",
            "How many people did the hall hold?",
            "hundred and forty",
        ),
        (
            Number,
            "gutter",
            "",
            "How much new gutter does Ilse's barn need?",
            "12 metres",
        ),
        (
            Duration,
            "",
            "",
            "How long did Marek sleep to get rid of the fever?",
            "three days",
        ),
    ];
    check(&neighbours(), cases);
    let depot = Talk::new(
        "@ 2025-06-02
         Ines: There are seven of us in the depot. The old sorter is called otter, the new one is beaver.
         Ines: We got another scanner, 310 euros, like the three in the hall.",
    );
    let cases: &[Case] = &[(Number, "", "", "How many scanners stand in the hall?", "three")];
    check(&depot, cases);
}

#[test]
fn a_colour_is_answered_only_if_the_evidence_names_one() {
    let cases: &[Case] = &[
        (WhatIs, "colour", "", "What colour are Marek's boots?", "brown"),
        (WhatIs, "colour", "", "What colour is Ilse's ladder?", "refused"),
    ];
    check(&neighbours(), cases);
}

#[test]
fn a_measure_is_answered_with_its_unit() {
    let talk = Talk::new(
        "@ 2025-09-02
         Ravi: The walk to the hut was steep, 14 kilometres, and I carried the tent for two of us.
         Signe: Brave! My pumpkin grew too big for the shelf. 31 kilos, can you believe it?",
    );
    let cases: &[Case] = &[
        (How, "", "", "How far was the walk to the hut?", "14 kilometres"),
        (How, "", "", "How heavy was Signe's pumpkin?", "31 kilos"),
    ];
    check(&talk, cases);
}

#[test]
fn a_duration_is_taken_only_from_the_event_in_question() {
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
}

#[test]
fn a_birthday_is_not_answered_with_another_day() {
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
fn a_question_for_the_time_of_day_gets_the_time_of_day() {
    let talk = Talk::new(
        "@ 2025-06-30
         Ona: The train leaves tomorrow at 6:52 am, don't be late.
         Ruth: I was late on 3 May and the train left without me.",
    );
    let cases: &[Case] = &[(When, "time", "leave", "At what time does the train leave?", "6:52 am")];
    check(&talk, cases);
}

#[test]
fn questions_for_other_kinds_than_times_figures_and_colours_get_no_short_answer() {
    let talk = Talk::new(
        "@ 2025-05-05
         Theo: The soup that you made was amazing.
         Ines: It's grandma's recipe. The secret is marjoram. The pot is red.
         Theo: The ferry is called Aurora, by the way.",
    );
    for question in ["What is the secret of the soup?", "What is the ferry called?"] {
        let found = talk.ask(WhatIs, question);
        assert_eq!(found.answer, None, "{question}");
        assert_eq!(
            found.verdict.status,
            Sufficiency::Partial,
            "{question}: {:?}",
            found.verdict
        );
        assert_eq!(found.verdict.code, Some(ReasonCode::NoShortAnswer), "{question}");
    }
    assert_eq!(talk.answer(WhatIs, "What colour is the pot?"), "red");
}

#[test]
fn a_colour_is_answered_with_its_shade() {
    let cases: &[Case] = &[(
        WhatIs,
        "colour",
        "",
        "What colour is the gate that Ilse painted?",
        "dark green",
    )];
    let talk = Talk::new(
        "@ 2024-11-20
         Ilse: I painted the gate, it is dark green now.
         Marek: My boots are brown.",
    );
    check(&talk, cases);
}

#[test]
fn a_conflict_between_two_speakers_names_both() {
    let talk = Talk::new(
        "@ 2025-02-01
         Ben: The new neighbour has four dogs, by the way.
         Cleo: Good to know.

         @ 2025-02-08
         Ana: I met the neighbour. The neighbour has six dogs.
         Cleo: And how was he?",
    );
    let question = "How many dogs does the neighbour have?";
    let found = read(&talk.request(Number, question, "dogs", "have"));
    assert_eq!(found.verdict.status, Sufficiency::Conflicting, "{found:?}");
    let reasons = found.verdict.reasons.join(" ");
    for side in ["Ben", "four", "Ana", "six"] {
        assert!(reasons.contains(side), "{reasons}");
    }
}

#[test]
fn of_two_figures_of_a_sentence_the_one_of_the_clause_in_question_answers() {
    let talk = Talk::new(
        "Nadia: I paid 40 euros for the ticket and 12 euros for the popcorn.
         Otis: I bought six chairs and two lamps.",
    );
    let cases: &[Case] = &[
        (Number, "", "pay", "How much did Nadia pay for the ticket?", "40 euros"),
        (Number, "", "pay", "How much did Nadia pay for the popcorn?", "12 euros"),
        (Number, "chairs", "buy", "How many chairs did Otis buy?", "six"),
        (Number, "lamps", "buy", "How many lamps did Otis buy?", "two"),
    ];
    check(&talk, cases);
}

#[test]
fn the_length_of_an_absence_answers_only_a_question_about_it() {
    let talk = Talk::new(
        "Ona: I go to Oslo in June to meet my aunt. I haven't phoned her for two years.
         Ruth: Nice!",
    );
    let cases: &[Case] = &[
        (Duration, "", "stay", "How long will Ona stay in Oslo?", "refused"),
        (
            Duration,
            "",
            "phone",
            "How long hasn't Ona phoned her aunt?",
            "two years",
        ),
    ];
    check(&talk, cases);
}

#[test]
fn a_figure_that_counts_another_thing_is_no_count_of_the_thing_in_question() {
    let ask = |line: &str, question: &str, head: &str| {
        let talk = Talk::new(&format!("Nadia: {line}\nOtis: Oh!"));
        let found = read(&talk.request(Number, question, head, "have"));
        found.answer.map_or_else(|| "refused".to_owned(), |it| it.text)
    };
    let pets = "I have two cats and a dog.";
    assert_eq!(ask(pets, "How many dogs does Nadia have?", "dogs"), "refused");
    assert_eq!(ask(pets, "How many cats does Nadia have?", "cats"), "two");
    let kids = "I have three kids, two boys and a girl.";
    assert_eq!(ask(kids, "How many kids does Nadia have?", "kids"), "three");
    let run = ask("I ran five miles uphill.", "How many miles did Nadia run?", "miles");
    assert!(run.starts_with("five"), "{run}");
    let rooms = "The cabin has four beds and two stoves.";
    assert_eq!(ask(rooms, "How many stoves does Nadia's cabin have?", "stoves"), "two");
}
