//! A hint is not given twice, whatever its trigger. A message gives no hint about itself. A plan is near when its time
//! is near.

use chrono::DateTime;
use domain::derived::Derived;
use domain::fact::Aspect;
use domain::message::RecallV1;
use domain::recall::Trigger;
use domain::time::TimeSpan;
use domain::unit::Unit;
use router::space::memory::Memory;

use super::{facts, hints, ids, life, message, woken_in};
use crate::derived::at;
use crate::talk::turn_from_line;

#[test]
fn a_turn_with_a_hint_about_its_fact_gets_no_second_hint() {
    let by_fact = message("Ivo", "Is Mirela still giving cello lessons?");
    let by_words = message("Ivo", "Who teaches the cello at the conservatory?");
    let first = hints(&by_fact);
    let first = first.iter().find(|it| it.external_ids == ["r2"]).unwrap();
    let second = hints(&by_words);
    let second = second.iter().find(|it| it.external_ids == ["r2"]).unwrap();
    assert_ne!(
        first.facts, second.facts,
        "the case is of a turn that is woken in two ways"
    );
    let silent = hints(&RecallV1 {
        silent: vec![first.id],
        ..by_words
    });
    assert!(!ids(&silent).contains(&"r2"), "{silent:?}");
}

#[test]
fn a_stored_message_gives_no_hint_about_itself() {
    let text = "Please never bring nuts to the badminton evening with Torvald.";
    let own = turn_from_line(20, &format!("2024-05-05T09:59:00Z|Ivo|{text}"));
    let units: Vec<Unit> = life().into_iter().chain([own.clone()]).collect();
    let memory = Memory::from_units_and_derived(life(), facts());
    for session in [None, Some(own.session)] {
        let asked = RecallV1 {
            session,
            ..message("Ivo", &format!(" {text}\n"))
        };
        let hints = woken_in(units.clone(), &memory, &asked);
        assert!(!ids(&hints).contains(&"r20"), "{hints:?}");
    }
    let other = woken_in(units, &memory, &message("Hana", text));
    assert!(ids(&other).contains(&"r20"), "somebody else says the same: {other:?}");
}

#[test]
fn a_plan_is_near_by_its_own_time_and_not_by_when_it_was_stated() {
    let mut facts = facts();
    for fact in &mut facts {
        let Derived::Fact(fact) = fact else { continue };
        if fact.aspect == Aspect::Plan {
            fact.valid_from = TimeSpan::from_instant(fact.recorded_at);
            fact.valid_until = Some(at("2024-05-07T00:00:00Z"));
            fact.closed_at = Some(fact.recorded_at);
        }
    }
    let memory = Memory::from_units_and_derived(life(), facts);
    let is_due = |moment: &str| {
        let asked = RecallV1 {
            at: DateTime::parse_from_rfc3339(moment).unwrap(),
            ..message("Ivo", "I should pack for the chess tournament in Zagreb.")
        };
        let hints = woken_in(life(), &memory, &asked);
        hints
            .iter()
            .any(|it| it.external_ids == ["r7"] && it.trigger == Trigger::Time)
    };
    for (moment, near) in [
        ("2024-04-28T20:00:00Z", false),
        ("2024-05-05T10:00:00Z", true),
        ("2024-05-06T10:00:00Z", true),
    ] {
        assert_eq!(is_due(moment), near, "{moment}");
    }
}
