//! A hint is not given twice, whatever its trigger. A message gives no hint about itself. A plan is near when its time
//! is near.

use chrono::DateTime;
use domain::derived::Derived;
use domain::fact::Aspect;
use domain::message::RecallV1;
use domain::recall::Trigger;
use domain::time::TimeSpan;
use domain::unit::Unit;
use router::memory::Memory;

use super::{facts, hints, ids, life, message, woken_in};
use crate::derived::at;
use crate::talk::said;

#[test]
fn a_turn_with_a_hint_about_its_fact_gets_no_second_hint() {
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

#[test]
fn a_stored_message_gives_no_hint_about_itself() {
    let text = "I should pack the rackets for the badminton evening with Torvald.";
    let own = said(20, &format!("2024-05-05T09:59:00Z|Ivo|{text}"));
    let units: Vec<Unit> = life().into_iter().chain([own.clone()]).collect();
    let memory = Memory::of(life(), facts());
    for session in [None, Some(own.session)] {
        let asked = RecallV1 {
            session,
            ..message("Ivo", &format!(" {text}\n"))
        };
        let told = woken_in(units.clone(), &memory, &asked);
        assert!(!ids(&told).contains(&"r20"), "{told:?}");
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
            fact.valid_from = TimeSpan::instant(fact.recorded_at);
            fact.valid_until = Some(at("2024-05-07T00:00:00Z"));
            fact.closed_at = Some(fact.recorded_at);
        }
    }
    let memory = Memory::of(life(), facts);
    let trigger = |moment: &str| {
        let asked = RecallV1 {
            at: DateTime::parse_from_rfc3339(moment).unwrap(),
            ..message("Ivo", "I should pack for the chess tournament in Zagreb.")
        };
        let told = woken_in(life(), &memory, &asked);
        let hint = told.iter().find(|it| it.external_ids == ["r7"]).cloned();
        hint.unwrap_or_else(|| panic!("{moment}: {told:?}"))
    };
    for (moment, near) in [
        ("2024-04-28T20:00:00Z", false),
        ("2024-05-05T10:00:00Z", true),
        ("2024-05-06T10:00:00Z", true),
    ] {
        let hint = trigger(moment);
        assert_eq!(hint.trigger == Trigger::Time, near, "{moment}: {hint:?}");
        assert!(!hint.reason.contains("changed"), "{hint:?}");
    }
}
