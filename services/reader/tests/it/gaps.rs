//! What a question leaves open is what fills the same place in what was said.

use domain::anchor::AnswerKind::{self, WhatDoes, WhatIs, Where, Who, YesNo};

use crate::talk::{Talk, read};

/// Kind, head and verb as the router reads them, the question, and the answer.
pub(crate) type Case = (AnswerKind, &'static str, &'static str, &'static str, &'static str);

pub(crate) fn check(talk: &Talk, cases: &[Case]) {
    let mut wrong = Vec::new();
    for (kind, head, verb, question, expected) in cases {
        let answered = read(&talk.request(*kind, question, head, verb));
        let answer = answered.answer.map_or("refused".to_owned(), |it| it.text);
        if answer != *expected {
            wrong.push(format!("{question} is {expected}, not {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn landlady() -> Talk {
    Talk::new(
        "@ 2025-03-04
         Berit: My tenant Ludvik has taken up the oboe. The whole stairwell hears it.
         Osman: Ha, I believe it. I stayed with my cousin Edo in January, who runs a small bakery.
         Berit: My sister Jorun is coming in May. She is allergic to nuts, so no baklava from Edo!

         @ 2025-04-12
         Berit: I went to the dentist. Two fillings, and 340 euros.
         Osman: Ouch. I bought a used canoe, a green one, for 200. It lies in Edo's shed.
         Berit: Ludvik plays in the park on Sundays now. He also repaired my bicycle, he's a mechanic after all.

         @ 2025-06-20
         Osman: Jorun seemed nice. The twins loved the canoe.
         Berit: They did! Emil fell in twice. The bread was baked by Edo.",
    )
}

#[test]
fn who_does_it_stands_before_the_verb() {
    check(
        &landlady(),
        &[
            (Who, "", "fell", "Who fell into the water?", "Emil"),
            (Who, "", "runs", "Who runs a bakery?", "Edo"),
            (Who, "", "baked", "Who baked the bread?", "Edo"),
            (Who, "", "repaired", "Who repaired Berit's bicycle?", "Ludvik"),
        ],
    );
}

#[test]
fn a_thing_is_not_its_owner() {
    check(
        &landlady(),
        &[(Where, "", "lie", "Where does Osman's canoe lie?", "Edo's shed")],
    );
}

#[test]
fn a_bare_figure_beside_a_verb_of_paying_is_a_price() {
    check(
        &landlady(),
        &[(WhatDoes, "", "pay", "What did Osman pay for the canoe?", "200")],
    );
}

#[test]
fn a_job_is_what_somebody_is() {
    check(&landlady(), &[(WhatIs, "", "", "What is Ludvik's job?", "mechanic")]);
}

fn workshop() -> Talk {
    Talk::new(
        "@ 2025-03-04
         Berit: Ludvik plays in the park with Anders. He also repaired my bicycle, and Tove thanked him.
         Osman: Tove was hired by Edo, she is the new painter.

         @ 2025-05-04
         Berit: My mother is much better. She is learning to play the accordion!",
    )
}

#[test]
fn a_pronoun_means_the_name_before_it() {
    check(
        &workshop(),
        &[(Who, "", "repaired", "Who repaired Berit's bicycle?", "Ludvik")],
    );
}

#[test]
fn by_whom_it_was_done_did_it() {
    check(&workshop(), &[(Who, "", "hired", "Who hired the painter?", "Edo")]);
}

#[test]
fn an_instrument_is_not_the_playing_of_it() {
    check(
        &workshop(),
        &[(
            WhatIs,
            "instrument",
            "learning",
            "What instrument is Berit's mother learning?",
            "accordion",
        )],
    );
}

#[test]
fn a_denial_reaches_what_stands_behind_it() {
    let talk = Talk::new(
        "Jonas: I live in Graz and don't like fish.
         Lena: I don't ski and swim. I work as a nurse and never drive.",
    );
    check(
        &talk,
        &[
            (YesNo, "", "live", "Does Jonas live in Graz?", "Yes"),
            (YesNo, "", "like", "Does Jonas like fish?", "No"),
            (YesNo, "", "swim", "Does Lena swim?", "No"),
            (YesNo, "", "work", "Does Lena work as a nurse?", "Yes"),
        ],
    );
}
