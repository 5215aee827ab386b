//! Yes or no, and one of two: only of what somebody spoke of, and cited where it was decided.

use domain::anchor::AnswerKind::{Other, YesNo};

use crate::gaps::{Case, check};
use crate::talk::{Talk, read};

#[test]
fn of_two_options_one_must_have_been_spoken_of() {
    let talk = Talk::new(
        "Ann: I bought a new bicycle for the trip.
         Bob: I parked the red car in the garage.
         Ann: I like tea and coffee.
         Bob: I cannot decide between Rome and Oslo.",
    );
    let cases: &[Case] = &[
        (Other, "", "buy", "Did Ann buy the bicycle in Graz or Linz?", "refused"),
        (Other, "", "", "Did Bob park the green car or the white car?", "refused"),
        (Other, "", "decide", "Did Bob decide for Rome or Oslo?", "refused"),
    ];
    check(&talk, cases);
}

#[test]
fn what_is_told_of_one_thing_is_not_told_of_another() {
    let talk = Talk::new(
        "Ann: I adopted a cat last week.
         Bob: Lovely! I bought the new bicycle.
         Ann: I work as a teacher.",
    );
    let cases: &[Case] = &[
        (YesNo, "", "adopt", "Did Ann adopt a parrot?", "refused"),
        (YesNo, "", "adopt", "Did Ann adopt a cat?", "Yes"),
        (YesNo, "", "adopt", "Did Ann adopt an animal?", "refused"),
        (YesNo, "", "buy", "Did Bob buy a car?", "refused"),
        (YesNo, "", "buy", "Did Bob buy a bicycle?", "Yes"),
        (YesNo, "", "buy", "Did Bob buy a vehicle?", "refused"),
        (YesNo, "", "work", "Does Ann work as a teacher?", "Yes"),
        (YesNo, "", "work", "Does Ann work as a nurse?", "refused"),
    ];
    check(&talk, cases);
}

#[test]
fn a_reply_that_decides_is_cited() {
    let talk = Talk::new(
        "Ann: My cat Milo fell from the balcony.
         Bob: Oh dear, did Milo survive?
         Ann: No, sadly.",
    );
    let answered = read(&talk.request(YesNo, "Did Milo survive?", "", "surviv"));
    let answer = answered.answer.unwrap();
    assert_eq!(answer.text, "No");
    assert_eq!(
        answer.external_ids.first().map(String::as_str),
        Some("t3"),
        "{answer:?}"
    );
}
