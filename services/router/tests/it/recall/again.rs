//! What was said is not said again, whatever wakes it.

use domain::message::RecallV1;

use super::{hints, ids, message};

#[test]
fn a_turn_that_was_told_for_a_fact_is_not_told_for_its_words() {
    let by_fact = message("Ivo", "Which tram should I take from the airport in Lisbon?");
    let by_words = message("Ivo", "The flat next to the tram depot is loud.");
    let first = hints(&by_fact);
    let first = first.iter().find(|it| it.external_ids == ["r0"]).unwrap();
    let second = hints(&by_words);
    let second = second.iter().find(|it| it.external_ids == ["r0"]).unwrap();
    assert_ne!(
        first.facts, second.facts,
        "the case is of a turn that is woken in two ways"
    );
    let silent = hints(&RecallV1 {
        silent: vec![first.id],
        ..by_words
    });
    assert!(!ids(&silent).contains(&"r0"), "{silent:?}");
}
