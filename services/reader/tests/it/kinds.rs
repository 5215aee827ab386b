//! Short answers of every kind: a place is no month, a price no sentence about the bicycle, a person no town.

use domain::anchor::AnswerKind::{self, Duration, How, Number, WhatDoes, WhatIs, When, Where, Who, YesNo};

use crate::talk::{Talk, read};

/// Kind and head as the router reads them, the question, and what the answer may be.
type Case = (AnswerKind, &'static str, &'static str, &'static str);

fn check(talk: &Talk, cases: &[Case]) {
    let mut wrong = Vec::new();
    for (kind, head, question, expected) in cases {
        let answered = read(&talk.request(*kind, question, head, ""));
        let answer = answered.answer.map_or("refused".to_owned(), |it| it.text);
        if !expected.split('|').any(|it| it == answer) {
            wrong.push(format!("{question} is {expected}, not {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn workers() -> Talk {
    Talk::new(
        "@ 2025-06-02
         Hanne: Big news, I start at the aquarium in June! Until then I'm still at the print shop.
         Okoro: Congratulations! Mondays will be busy then.
         Hanne: Yes, Mondays and Thursdays I have the early shift.
         Okoro: My week was long. On Friday my aunt drove me to the clinic because I had sprained my wrist.
         Hanne: Ouch! Who is looking after your bees?
         Okoro: My cousin Bettina feeds them in the morning, she has known bees since 2011.

         @ 2025-07-11
         Hanne: The accordion is mended at last, they wanted 85 euros and I had to wait two weeks.
         Okoro: My scooter was dearer. The workshop took £210 off me for new brakes.
         Hanne: I sold the old tent to Dario for 60 euros, he goes to the fjords in August.
         Okoro: I rent a garden behind the railway station now, it costs me 19 pounds a month.
         Hanne: Lovely! I water my balcony twice a week.
         Okoro: I planted beans, leeks and chard. My grandmother gave me a quince tree for the wall, so I planted that too.
         Hanne: My dentist says that I grind my teeth because of stress.
         Okoro: I took up fencing to get fitter. The trainer, a retired postman, is strict.",
    )
}

#[test]
fn a_place_is_no_time_and_no_person() {
    check(
        &workers(),
        &[
            (Where, "", "Where does Hanne work from June?", "aquarium"),
            (Where, "", "Where did Okoro's aunt drive him on Friday?", "clinic"),
            (Where, "", "Where does Dario go in August?", "fjords"),
            (
                Where,
                "",
                "Where does Okoro rent a garden?",
                "behind the railway station|railway station",
            ),
        ],
    );
}

#[test]
fn a_person_is_no_place_and_no_time() {
    check(
        &workers(),
        &[
            (Who, "", "Who drove Okoro to the clinic on Friday?", "aunt"),
            (Who, "", "Who feeds the bees in the morning?", "Bettina|cousin Bettina"),
            (Who, "", "Who bought the old tent from Hanne?", "Dario"),
            (Who, "", "Who gave Okoro the quince tree?", "grandmother"),
            (Who, "", "Who says that Hanne grinds her teeth?", "dentist"),
        ],
    );
}

#[test]
fn what_was_paid_is_money() {
    check(
        &workers(),
        &[
            (WhatDoes, "", "What did Hanne pay for the accordion repair?", "85 euros"),
            (
                Number,
                "",
                "How much did Okoro spend on the brakes of the scooter?",
                "£210",
            ),
            (WhatDoes, "", "What did Okoro's scooter cost at the workshop?", "£210"),
            (Number, "", "How much did Hanne get for the old tent?", "60 euros"),
            (WhatIs, "rent", "What is the rent of Okoro's garden?", "19 pounds"),
            (WhatDoes, "", "What does the garden cost Okoro?", "19 pounds"),
        ],
    );
}

#[test]
fn lengths_rates_and_times_keep_apart() {
    check(
        &workers(),
        &[
            (Duration, "", "How long did Hanne wait for the accordion?", "two weeks"),
            (
                Number,
                "often",
                "How often does Hanne water her balcony?",
                "twice a week",
            ),
            (When, "", "When does Hanne start at the aquarium?", "June 2025"),
        ],
    );
}

fn neighbours() -> Talk {
    Talk::new(
        "@ 2024-09-03
         Ilse: We have three goats, and the barn needs 12 metres of new gutter.
         Marek: I can lend you my ladder, it is 6 metres long.
         Ilse: Thanks! The hall held a hundred and forty people on Saturday. I was so proud of the choir.
         Marek: I did not go, I had a fever. My brother went with Lucjan.
         Ilse: Poor you! I sang the solo and I was terribly nervous.
         Marek: I got rid of the fever with lime tea and three days of sleep.
         Ilse: I swam in the quarry again yesterday, that makes it four times this summer.
         Marek: I don't swim any more, the water is too cold for my knees.

         @ 2024-11-20
         Ilse: I decided against the loan. I painted the gate dark green instead of red.
         Marek: My boots are brown, my coat is grey. I bought both at the flea market in Olsztyn.
         Ilse: Our new song is called \"The Ferryman\". I wrote it on the train.
         Marek: I passed the boat exam on Tuesday! Only one of the questions was wrong.
         Ilse: Well done! I prefer the kayak to the canoe, the canoe tips over.
         Marek: Do you still have the goats? I never drink coffee after noon, by the way.
         Ilse: Yes, they ate my roses. I have moved the roses to the south wall.",
    )
}

#[test]
fn counts_and_measures() {
    check(
        &neighbours(),
        &[
            (Number, "goats", "How many goats does Ilse have?", "three"),
            (
                Number,
                "people",
                "How many people did the hall hold?",
                "hundred and forty",
            ),
            (
                Number,
                "gutter",
                "How much new gutter does Ilse's barn need?",
                "12 metres",
            ),
            (
                Duration,
                "",
                "How long did Marek sleep to get rid of the fever?",
                "three days",
            ),
        ],
    );
}

#[test]
fn yes_and_no_go_by_what_was_said() {
    check(
        &neighbours(),
        &[
            (YesNo, "", "Did Marek go to hear the choir in the hall?", "refused"),
            (YesNo, "", "Did Ilse take the loan?", "refused"),
            (YesNo, "", "Does Marek drink coffee after noon?", "refused"),
            (YesNo, "", "Was Ilse nervous about the solo?", "refused"),
        ],
    );
}

#[test]
fn names_colours_and_feelings() {
    check(
        &neighbours(),
        &[
            (WhatIs, "colour", "What colour are Marek's boots?", "brown"),
            (WhatIs, "name", "What is the name of Ilse's new song?", "The Ferryman"),
            (
                Where,
                "",
                "Where did Marek buy his boots and coat?",
                "Olsztyn|flea market in Olsztyn",
            ),
            (Where, "", "Where did Ilse move the roses?", "south wall"),
        ],
    );
}

#[test]
fn a_measure_is_a_figure_with_its_unit() {
    let talk = Talk::new(
        "@ 2025-09-02
         Ravi: The walk to the hut was steep, 14 kilometres, and I carried the tent for two of us.
         Signe: Brave! My pumpkin grew too big for the shelf. 31 kilos, can you believe it?
         Ravi: I hung the swing in the new hall, 140 square metres and no heating. On Friday it was four degrees in there.
         Signe: How was the party in the hall? Mine was loud.",
    );
    check(
        &talk,
        &[
            (How, "", "How far was the walk to the hut?", "14 kilometres"),
            (How, "", "How heavy was Signe's pumpkin?", "31 kilos"),
            (How, "", "How big is the new hall?", "140 square metres"),
            (How, "", "How cold was it in the hall on Friday?", "four degrees"),
        ],
    );
}

#[test]
fn a_reply_answers_what_was_asked_before_it() {
    let talk = Talk::new(
        "@ 2025-03-04
         Imre: The ferry was late again, I read half a novel on deck.
         Solveig: You poor thing! What is your new kitten called, by the way?
         Imre: Oh, Paprika. The children voted.
         Solveig: Mine only listens to whistles. Who repaired your roof after the storm?
         Imre: My neighbour Rasmus, within a day!
         Solveig: I should call him about my chimney then.",
    );
    check(
        &talk,
        &[
            (WhatIs, "kitten", "What is Imre's new kitten called?", "Paprika"),
            (
                Who,
                "",
                "Who repaired Imre's roof after the storm?",
                "Rasmus|neighbour Rasmus",
            ),
            (Who, "", "Who is Imre's neighbour?", "Rasmus"),
        ],
    );
}
