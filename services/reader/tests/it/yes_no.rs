//! Yes or no, and one of two: only of what somebody spoke of, and cited where it was decided.

use domain::anchor::AnswerKind::{Other, Who};

use crate::gaps::{Case, check};
use crate::talk::Talk;

#[test]
fn of_two_options_one_must_have_been_spoken_of() {
    let talk = Talk::new(
        "Ann: I bought a new bicycle for the trip.
         Bob: I parked the red car in the garage.
         Ann: I like tea and coffee.",
    );
    let cases: &[Case] = &[
        (Other, "", "buy", "Did Ann buy the bicycle in Graz or Linz?", "refused"),
        (Other, "", "", "Did Bob park the green car or the red car?", "red car"),
        (Other, "", "", "Did Bob park the green car or the white car?", "refused"),
        (Other, "", "like", "Does Ann like tea or coffee?", "refused"),
        (Who, "", "buy", "Who bought a bicycle, Bob or Ann?", "Ann"),
    ];
    check(&talk, cases);
}
