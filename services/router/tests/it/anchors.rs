//! What the router takes from a question.

use router::query::Query;
use router::view::View;

use crate::talk::units;

#[test]
fn the_verb_stands_behind_who_does_it() {
    let view = View::of(units());
    let now = "2024-06-01T00:00:00Z".parse().unwrap();
    for (question, verb) in [
        ("What did Omar make?", "make"),
        ("What does Biscuit chase?", "chase"),
        ("Where is the bowl?", ""),
    ] {
        assert_eq!(Query::read(question, &view, now).anchors.action, verb, "{question}");
    }
}
