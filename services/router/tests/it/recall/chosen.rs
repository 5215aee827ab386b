//! The candidates that a language model sees for a message, and hints for the ones it chooses: they must meet all
//! conditions of a hint except relevance.

use chrono::DateTime;
use domain::derived::Derived;
use domain::id::UnitId;
use domain::message::RecallV1;
use domain::recall::{Sensitivity, Trigger};
use domain::unit::Unit;
use host::Context;
use router::space::memory::Memory;
use router::{Config, Router};

use super::{facts, hints, ids, life, message, woken, woken_in};
use crate::derived::at;
use crate::stores::{moment, put};
use crate::talk::{space, turn_from_line};

const CELLO: &str = "Is Mirela still giving cello lessons?";

fn unit(number: usize) -> UnitId {
    life()[number].id
}

/// Returns a message for which the turns with these numbers were chosen.
fn chosen(actor: &str, text: &str, numbers: &[usize]) -> RecallV1 {
    RecallV1 {
        chosen: numbers.iter().map(|it| unit(*it)).collect(),
        ..message(actor, text)
    }
}

#[test]
fn candidates_of_a_model_may_be_less_relevant_but_meet_the_other_conditions() {
    let quiet = message("Ivo", "The new vacuum cleaner arrived at the flat yesterday.");
    let wide = |asked: &RecallV1| {
        hints(&RecallV1 {
            wide: true,
            limit: 20,
            ..asked.clone()
        })
    };
    let candidates = wide(&quiet);
    assert_eq!(ids(&hints(&quiet)), <[&str; 0]>::default());
    assert!(ids(&candidates).contains(&"r0"), "{candidates:?}");

    let cello = message("Ivo", CELLO);
    let candidates = wide(&cello);
    let all = ids(&candidates);
    assert!(ids(&hints(&cello)).iter().all(|it| all.contains(it)), "{candidates:?}");
    let mut silent: Vec<_> = candidates.iter().map(|it| it.id).collect();
    silent.sort_unstable();
    assert!(
        wide(&RecallV1 {
            silent,
            ..cello.clone()
        })
        .is_empty()
    );
    let early = RecallV1 {
        at: life()[0].observed_at,
        ..cello
    };
    assert!(wide(&early).is_empty());
    let run = wide(&message("Hana", "Should Ivo run the marathon with me?"));
    assert!(!ids(&run).contains(&"r6"), "{run:?}");
}

#[test]
fn exactly_the_chosen_turns_are_returned_in_the_order_of_choice() {
    let returned_hints = hints(&chosen("Ivo", CELLO, &[3, 2, 3, 0]));
    assert_eq!(ids(&returned_hints), ["r3", "r2", "r0"], "{returned_hints:?}");
    let reasons: Vec<(Trigger, &str)> = returned_hints
        .iter()
        .map(|it| (it.trigger, it.reason.as_str()))
        .collect();
    let found = (Trigger::MultiHop, "leads to this, according to the language model");
    assert_eq!((reasons[0], reasons[2]), (found, found), "{returned_hints:?}");
    assert_eq!(reasons[1].0, Trigger::Entity, "{returned_hints:?}");

    let one = RecallV1 {
        limit: 1,
        ..chosen("Ivo", CELLO, &[3, 2])
    };
    assert_eq!(ids(&hints(&one)), ["r3"]);
    // Unknown turns give no hint, and no hint by rule replaces them.
    let unknown = RecallV1 {
        chosen: vec![turn_from_line(99, "2024-01-01T00:00:00Z|Ivo|x").id],
        ..message("Ivo", CELLO)
    };
    assert!(hints(&unknown).is_empty());
}

#[test]
fn chosen_turns_that_are_silenced_or_sensitive_are_withheld() {
    let asked = chosen("Ivo", CELLO, &[3, 2]);
    let first = hints(&asked);
    let again = RecallV1 {
        silent: vec![first[0].id],
        ..asked
    };
    assert_eq!(ids(&hints(&again)), ["r2"]);

    let mut asked = chosen("Ivo", CELLO, &[6, 2]);
    assert_eq!(ids(&hints(&asked)), ["r2"]);
    asked.sensitive = true;
    let loud = hints(&asked);
    assert_eq!(ids(&loud), ["r6", "r2"]);
    assert_eq!(loud[0].sensitivity, Sensitivity::Sensitive);
}

#[test]
fn chosen_turns_that_are_later_or_the_message_itself_are_withheld() {
    let own = turn_from_line(20, &format!("2024-05-05T09:59:00Z|Ivo|{CELLO}"));
    let later = turn_from_line(21, "2024-05-05T10:00:00Z|Hana|Mirela stopped teaching.");
    let units: Vec<Unit> = life().into_iter().chain([own.clone(), later.clone()]).collect();
    let memory = Memory::from_units_and_derived(units.clone(), facts());
    let asked = RecallV1 {
        session: Some(own.session),
        chosen: vec![own.id, later.id, unit(5)],
        ..message("Ivo", CELLO)
    };
    let returned_hints = woken_in(units.clone(), &memory, &asked);
    assert_eq!(ids(&returned_hints), ["r5"], "{returned_hints:?}");
    // The same words in another session are returned, and so is a turn that is now earlier than the message.
    let asked = RecallV1 {
        session: Some(life()[0].session),
        at: DateTime::parse_from_rfc3339("2024-05-05T11:00:00Z").unwrap(),
        ..asked
    };
    let returned_hints = woken_in(units, &memory, &asked);
    assert_eq!(ids(&returned_hints), ["r20", "r21", "r5"], "{returned_hints:?}");
}

#[test]
fn a_chosen_turn_whose_facts_have_all_ended_is_marked_as_outdated() {
    let mut facts = facts();
    let Derived::Fact(fact) = &mut facts[4] else {
        panic!("{facts:?}")
    };
    let (ended, told_at) = (at("2024-04-01T00:00:00Z"), at("2024-04-03T00:00:00Z"));
    (fact.valid_until, fact.closed_at) = (Some(ended), Some(told_at));
    let returned_hints = woken(
        &Memory::from_units_and_derived(life(), facts),
        &chosen("Ivo", CELLO, &[3]),
    );
    assert!(
        !returned_hints[0].valid && returned_hints[0].text.ends_with("(until 31 March 2024)"),
        "{returned_hints:?}"
    );
    assert!(hints(&chosen("Ivo", CELLO, &[3]))[0].valid, "while it holds");
}

#[tokio::test]
async fn recall_of_chosen_turns_from_stores_equals_recall_from_a_view() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    put(&ctx, &life()).await;
    ctx.backends.graph.put_derived(&space(), &facts(), &[]).await.unwrap();
    let asked = chosen("Ivo", CELLO, &[3, 2]);
    assert_eq!(router.recall_hints(asked.clone()).await.unwrap().hints, hints(&asked));
}
