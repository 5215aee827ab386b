//! What is said of a turn of which something has ended.

use domain::derived::Derived;
use domain::recall::Hint;
use router::memory::Memory;

use super::{facts, life, message, woken};
use crate::derived::at;

/// Says a message after the facts of those `numbers` have ended.
fn after(numbers: &[usize], text: &str) -> Hint {
    let mut facts = facts();
    for &number in numbers {
        let Derived::Fact(fact) = &mut facts[number] else {
            panic!("{:?}", facts[number])
        };
        let ended = at("2024-04-01T00:00:00Z");
        (fact.valid_until, fact.closed_at) = (Some(ended), Some(ended));
    }
    let hints = woken(&Memory::of(life(), facts), &message("Ivo", text));
    let told = hints.iter().find(|it| it.external_ids == ["r2"]);
    told.cloned().unwrap_or_else(|| panic!("{hints:?}"))
}

#[test]
fn what_bears_on_the_message_decides_whether_it_still_holds() {
    let (cousin, teaches) = (2, 3);
    let lessons = "Is Mirela still giving cello lessons?";
    let hint = after(&[cousin], lessons);
    assert!(hint.valid && hint.valid_until.is_none(), "{hint:?}");
    assert!(!hint.text.contains("until"), "{hint:?}");

    let hint = after(&[teaches], lessons);
    assert!(!hint.valid, "what else stands does not make it so: {hint:?}");
    assert_eq!(hint.valid_until, Some(at("2024-04-01T00:00:00Z")));
    assert!(
        hint.text
            .ends_with("(until 1 April 2024: Mirela works as cello teacher)"),
        "{hint:?}"
    );

    let hint = after(&[cousin, teaches], lessons);
    assert!(!hint.valid, "{hint:?}");
    assert_eq!(hint.valid_until, Some(at("2024-04-01T00:00:00Z")));
    assert!(hint.text.ends_with("(until 1 April 2024)"), "{hint:?}");
}
