//! What people ask of their work: machines, rotas, who came and who left.

use domain::anchor::AnswerKind::{Number, WhatIs, Where, Who, YesNo};

use crate::gaps::{Case, check};
use crate::talk::Talk;

fn depot() -> Talk {
    Talk::new(
        "@ 2025-06-02
         Ines: There are seven of us in the depot, three in Ghent and four in Liège.
         Ines: The old sorter is called otter, the new one is beaver. Beaver has 32 GB of memory and stands in Antwerp.
         Ines: Ruud will be there on Friday, Saskia from dispatch warns the drivers.
         Ines: We got another scanner, 310 euros, like the three in the hall.

         @ 2025-06-16
         Ines: Off to Porto with my cousin Leonor on Thursday!
         Ines: I switched from paper to tablets for the stocktaking.
         Ines: Matthijs quit. We hired somebody from Brabo: Olivier Claes.
         Ines: Olivier's email is o.claes@depot.example, mine stays the same.",
    )
}

#[test]
fn what_is_counted_stands_before_where_it_is() {
    let ghent: Case = (Number, "", "", "How many of us are in Ghent?", "three");
    check(&depot(), &[ghent]);
}

#[test]
fn a_sum_of_money_counts_nothing() {
    check(
        &depot(),
        &[(Number, "", "", "How many scanners stand in the hall?", "three")],
    );
}

#[test]
fn a_unit_is_no_place_and_a_new_clause_no_part_of_a_list() {
    check(
        &depot(),
        &[
            (Where, "", "", "Where does beaver stand?", "Antwerp"),
            (WhatIs, "", "", "What is the old sorter called?", "otter"),
        ],
    );
}

#[test]
fn who_does_it_may_be_described_before_the_verb() {
    check(&depot(), &[(Who, "", "warns", "Who warns the drivers?", "Saskia")]);
}

#[test]
fn who_quit_left_and_where_somebody_comes_from_is_nobody() {
    check(
        &depot(),
        &[
            (Who, "", "left", "Who left the depot?", "Matthijs"),
            (Who, "", "hired", "Who was hired?", "Olivier Claes"),
        ],
    );
}

#[test]
fn an_address_has_its_sign() {
    check(
        &depot(),
        &[(WhatIs, "", "", "What is Olivier's email?", "o.claes@depot.example")],
    );
    let told = Talk::new(
        "@ 2025-06-02
         Ines: Ruud will be on call from Friday on, I will write him an email.",
    );
    check(&told, &[(WhatIs, "", "", "What is Ruud's email address?", "refused")]);
}

fn move_in() -> Talk {
    Talk::new(
        "@ 2025-03-04
         Edda: We moved in! 95 square metres and three balconies. My uncle Pau dropped the fridge on the stairs.
         Jonah: Oh no. Did it survive?
         Edda: No, we had to buy a new one for 600 euros.
         Jonah: I don't eat shrimps, so you know, and I'm allergic to cats.

         @ 2025-05-04
         Jonah: I begin my master's in forest ecology at the university in Umeå in autumn. The grant pays 9,000.
         Edda: We felled the birch and planted a plum instead.",
    )
}

#[test]
fn who_replies_to_what_is_asked_back_decides() {
    check(&move_in(), &[(YesNo, "", "survive", "Did the fridge survive?", "No")]);
}

#[test]
fn what_measures_something_counts_nothing() {
    check(
        &move_in(),
        &[
            (Number, "balconies", "", "How many balconies are there?", "three"),
            (Number, "", "pay", "How much does the grant pay?", "9,000"),
        ],
    );
}

#[test]
fn a_degree_is_studied_for_where_its_university_is() {
    check(
        &move_in(),
        &[(Where, "", "study", "Where does Jonah study?", "university in Umeå")],
    );
}
