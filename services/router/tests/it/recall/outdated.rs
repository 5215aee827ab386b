//! Hints about a turn whose facts have ended in part, and turns that give no hint.

use chrono::DateTime;
use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::id::{CurationId, FactId};
use domain::message::RecallV1;
use domain::recall::Hint;
use router::space::memory::Memory;

use super::{facts, hints, ids, life, message, woken};
use crate::derived::at;
use crate::stores::moment;
use crate::talk::space;

/// Returns the hint for a message after the facts with these `numbers` have ended.
fn after(numbers: &[usize], text: &str) -> Hint {
    let mut facts = facts();
    for &number in numbers {
        let Derived::Fact(fact) = &mut facts[number] else {
            panic!("{:?}", facts[number])
        };
        let ended = at("2024-04-01T00:00:00Z");
        (fact.valid_until, fact.closed_at) = (Some(ended), Some(ended));
    }
    let hints = woken(&Memory::from_units_and_derived(life(), facts), &message("Ivo", text));
    let hint = hints.iter().find(|it| it.external_ids == ["r2"]);
    hint.cloned().unwrap_or_else(|| panic!("{hints:?}"))
}

#[test]
fn the_most_relevant_fact_decides_whether_a_hint_is_valid() {
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
            .ends_with("(no longer, as told on 1 April 2024: Mirela works as cello teacher)"),
        "{hint:?}"
    );

    let hint = after(&[cousin, teaches], lessons);
    assert!(!hint.valid, "{hint:?}");
    assert_eq!(hint.valid_until, Some(at("2024-04-01T00:00:00Z")));
    assert!(hint.text.ends_with("(no longer, as told on 1 April 2024)"), "{hint:?}");
}

#[test]
fn later_and_forgotten_turns_give_no_hint() {
    let mut asked = message("Ivo", "Is Mirela still giving cello lessons?");
    asked.at = life()[2].observed_at;
    assert!(hints(&asked).is_empty());
    let asked = message("Ivo", "Is Mirela still giving cello lessons?");
    let mut memory = Memory::from_units_and_derived(life(), facts());
    memory.apply_curations(&[Curation {
        id: CurationId::from_external_id(&space(), "1"),
        at: moment(1),
        by: String::new(),
        act: Act::ForgetUnit { unit: life()[2].id },
        reason: String::new(),
    }]);
    assert!(ids(&hints(&asked)).contains(&"r2"));
    assert!(!ids(&woken(&memory, &asked)).contains(&"r2"));
}

#[test]
fn a_hint_about_a_corrected_or_retired_statement_says_so() {
    let fact = FactId::from_statement(life()[2].id, "Mirela", "works as", "cello teacher");
    let correct = Act::CorrectFact {
        fact,
        object: "viola teacher".to_owned(),
    };
    let retire = Act::RetireFact { fact };
    let corrected = "[corrected since: \"cello teacher\" is \"viola teacher\"]";
    let retired = "[taken back since: \"cello teacher\"]";
    for (act, decided_at, note, is_valid) in [
        (correct.clone(), "2024-05-01T00:00:00Z", Some(corrected), true),
        (retire.clone(), "2024-05-01T00:00:00Z", Some(retired), false),
        (correct, "2024-06-01T00:00:00Z", None, true),
        (retire, "2024-06-01T00:00:00Z", None, true),
    ] {
        let mut memory = Memory::from_units_and_derived(life(), facts());
        memory.apply_curations(&[Curation {
            id: CurationId::from_external_id(&space(), "1"),
            at: at(decided_at),
            by: String::new(),
            act,
            reason: String::new(),
        }]);
        let hints = woken(&memory, &message("Ivo", "Is Mirela still giving cello lessons?"));
        let hint = hints.iter().find(|it| it.external_ids == ["r2"]).unwrap();
        assert_eq!(hint.valid, is_valid, "{hint:?}");
        match note {
            Some(note) => assert!(hint.text.contains(note), "{hint:?}"),
            None => assert!(!hint.text.contains("since"), "{hint:?}"),
        }
    }
}

#[test]
fn the_end_of_a_fact_is_told_in_the_time_zone_of_the_message() {
    let asked = RecallV1 {
        at: DateTime::parse_from_rfc3339("2024-05-05T12:00:00+02:00").unwrap(),
        ..message("Ivo", "Is Mirela still giving cello lessons?")
    };
    let after_midnight = "2024-04-01T00:30:00+02:00";
    for (ended_at, told_at, expected) in [
        (after_midnight, "2024-04-03T00:00:00Z", "(until 1 April 2024: "),
        (
            "2024-04-01T00:00:00+02:00",
            "2024-04-03T00:00:00Z",
            "(until 31 March 2024: ",
        ),
        (after_midnight, after_midnight, "(no longer, as told on 1 April 2024: "),
    ] {
        let mut facts = facts();
        let Derived::Fact(fact) = &mut facts[3] else {
            panic!("{:?}", facts[3])
        };
        (fact.valid_until, fact.closed_at) = (Some(at(ended_at)), Some(at(told_at)));
        let hints = woken(&Memory::from_units_and_derived(life(), facts), &asked);
        let hint = hints.iter().find(|it| it.external_ids == ["r2"]).unwrap();
        assert!(hint.text.contains(expected), "{hint:?}");
    }
}
