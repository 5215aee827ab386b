//! Hints for a reply, found by the question that it answers.

use domain::message::RecallV1;
use domain::recall::Trigger;
use domain::unit::Unit;
use router::space::memory::Memory;

use super::{facts, life, message, woken_in};
use crate::talk::turn_from_line;

#[test]
fn a_reply_is_read_with_its_question_to_find_contradictions() {
    let asked = turn_from_line(
        20,
        "2024-05-05T09:59:00Z|Ivo|Back from the fair! Where do you live now?",
    );
    let reply = |session| RecallV1 {
        session,
        ..message("Hana", "Porto, since March.")
    };
    let memory = Memory::from_units_and_derived(life(), facts());
    let units: Vec<Unit> = life().into_iter().chain([asked.clone()]).collect();
    let hints = woken_in(units.clone(), &memory, &reply(Some(asked.session)));
    let hint = hints.iter().find(|it| it.trigger == Trigger::Contradiction);
    let sides = hint.map(|it| it.sides.clone()).unwrap_or_default();
    assert_eq!(sides, ["Hana lives in Porto", "Hana lives in Lisbon"], "{hints:?}");
    let elsewhere = woken_in(units, &memory, &reply(None));
    assert!(
        elsewhere.iter().all(|it| it.trigger != Trigger::Contradiction),
        "{elsewhere:?}"
    );
}
