//! Hints about sensitive matters need the same subject or permission.

use domain::derived::Derived;
use domain::id::{FactId, RecordId, UnitId};
use domain::recall::Sensitivity;
use domain::time::TimeSpan;
use router::space::memory::Memory;

use super::{facts, hints, ids, life, message, woken, woken_in};
use crate::derived::at;
use crate::talk::{space, turn_from_line};

#[test]
fn a_sensitive_hint_needs_the_same_subject_or_permission() {
    let mut asked = message("Hana", "Should Ivo run the marathon with me?");
    assert!(!ids(&hints(&asked)).contains(&"r6"));
    asked.sensitive = true;
    let loud = hints(&asked);
    let hint = loud.iter().find(|it| it.external_ids == ["r6"]).unwrap();
    assert_eq!(hint.sensitivity, Sensitivity::Sensitive);
    let spoken = message(
        "Hana",
        "Ivo, is your asthma bad when you run the marathon? Take your pills.",
    );
    assert!(ids(&hints(&spoken)).contains(&"r6"));
}

#[test]
fn a_sensitive_hint_in_another_language_needs_the_same_subject_or_permission() {
    let mut units = life();
    units[6] = turn_from_line(
        6,
        "2024-04-20T12:00:00Z|Ivo|Ich habe Krebs und laufe den Marathon in Zagreb nicht.",
    );
    let memory = Memory::from_units_and_derived(units.clone(), Vec::new());
    let mut asked = message("Hana", "Läuft Ivo den Marathon in Zagreb mit mir?");
    assert!(!ids(&woken_in(units.clone(), &memory, &asked)).contains(&"r6"));
    asked.sensitive = true;
    let loud = woken_in(units.clone(), &memory, &asked);
    let hint = loud.iter().find(|it| it.external_ids == ["r6"]);
    assert!(
        hint.is_some_and(|it| it.sensitivity == Sensitivity::Sensitive),
        "{loud:?}"
    );
    let spoken = message("Hana", "Ivo, darfst du mit dem Krebs den Marathon in Zagreb laufen?");
    assert!(ids(&woken_in(units, &memory, &spoken)).contains(&"r6"));
}

/// Returns the facts, with another object for one of them.
fn with_object(place: usize, object: &str) -> Vec<Derived> {
    let mut facts = facts();
    let Derived::Fact(fact) = &mut facts[place] else {
        panic!("{facts:?}")
    };
    fact.object = object.to_owned();
    facts
}

/// A hint also contains the facts in its reason, in its sides and after "since then".
#[test]
fn sensitive_words_in_the_reason_or_facts_of_a_hint_count_too() {
    let live = message("Hana", "I live in Porto, so the train to Braga is easy.");
    let bread = message("Hana", "I bought rye bread and peanut butter for Ivo.");
    for (asked, id, place, harmless, delicate) in [
        (
            &bread,
            "r3",
            4,
            "peanut butter with jam",
            "peanut butter since the divorce",
        ),
        (
            &bread,
            "r3",
            4,
            "peanut butter aus Berlin",
            "peanut butter seit der Scheidung",
        ),
        (&live, "r0", 0, "Lisbon near the zoo", "Lisbon near the prison"),
        (&live, "r0", 0, "Lissabon", "Lissabon, beim Gefängnis"),
    ] {
        let hints_about = |object: &str| {
            woken(
                &Memory::from_units_and_derived(life(), with_object(place, object)),
                asked,
            )
        };
        assert!(
            ids(&hints_about(harmless)).contains(&id),
            "{harmless}: {:?}",
            hints_about(harmless)
        );
        assert!(
            !ids(&hints_about(delicate)).contains(&id),
            "{delicate}: {:?}",
            hints_about(delicate)
        );
    }
    let tram = message("Ivo", "Is the flat in Lisbon next to a tram depot?");
    let since = |object: &str| {
        let mut facts = facts();
        let mut newer = facts.clone();
        let (Derived::Fact(old), Derived::Fact(new)) = (&mut facts[0], &mut newer[0]) else {
            panic!("{newer:?}")
        };
        new.source = UnitId::of_turn(RecordId::from_external_id(&space(), "elsewhere"));
        new.id = FactId::from_statement(new.source, "Hana", "lives in", object);
        new.object = object.to_owned();
        let moved = at("2024-04-01T00:00:00Z");
        new.valid_from = TimeSpan::from_instant(moved);
        new.recorded_at = moved;
        (old.valid_until, old.closed_at, old.retired_by) = (Some(moved), Some(moved), Some(new.id));
        facts.push(newer.swap_remove(0));
        woken(&Memory::from_units_and_derived(life(), facts), &tram)
    };
    let hints = since("Faro");
    let hint = hints.iter().find(|it| it.external_ids == ["r0"]);
    assert!(
        hint.is_some_and(|it| it.text.contains("since then: Hana lives in Faro")),
        "{hints:?}"
    );
    assert!(!ids(&since("Faro prison")).contains(&"r0"));
}
