//! What one speaker says twice is shown once; what is told of again is not thrown away for a longer line with the same words.

use router::view::View;

use crate::talk::{ask, packed, request, said};

const TALK: [&str; 5] = [
    "2024-05-01T09:00:00Z|Ines|We are planning to open a second bakery near the harbour, with a terrace and a proper stone oven.",
    "2024-05-09T09:00:00Z|Ines|Still planning to open a second bakery.",
    "2024-05-20T09:00:00Z|Ines|Still planning to open a second bakery!",
    "2024-05-21T09:00:00Z|Piet|Still planning to open a second bakery.",
    "2024-05-22T09:00:00Z|Piet|The weather was bad all week.",
];

#[test]
fn what_one_says_twice_is_shown_once() {
    let view = View::of(TALK.iter().enumerate().map(|(at, line)| said(at, line)));
    let routed = ask(&view, &request("What is Ines planning to open?", 400));
    let shown = packed(&routed);
    assert_eq!(
        ["r1", "r2"].iter().filter(|it| shown.contains(it)).count(),
        1,
        "{shown:?}"
    );
    assert!(shown.contains(&"r0"), "{shown:?}");
    assert!(shown.contains(&"r3"), "somebody else says it: {shown:?}");
    let left: Vec<&str> = routed.explained.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(
        left.iter()
            .filter(|it| it.contains("another line says the same"))
            .count(),
        1,
        "{left:?}"
    );
}
