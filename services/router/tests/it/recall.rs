//! Hints that messages lead to, and messages without hints.

mod again;
mod chosen;
mod outdated;
mod replied;
mod sensitive_hints;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use domain::derived::Derived;
use domain::fact::{Aspect, Fact};
use domain::id::EntityId;
use domain::message::RecallV1;
use domain::port::SearchResult;
use domain::recall::{Hint, Trigger};
use domain::time::{Precision, TimeSpan};
use domain::unit::Unit;
use domain::{Classify, ErrorKind};
use fixtures::sample_fact;
use host::Context;
use router::recall::message::RecallMessage;
use router::recall::{moment_before, recall_hints};
use router::route::scoring::heads::Weights;
use router::space::memory::Memory;
use router::space::view::View;
use router::{Config, Router};

use crate::derived::at;
use crate::stores::{moment, put};
use crate::talk::{space, turn_from_line};

const LIFE: &str = "\
2024-01-05T09:00:00Z|Hana|I live in Lisbon now, the flat is next to a tram depot.
2024-01-05T09:01:00Z|Ivo|Please always send me prices in kronor, I never think in euros.
2024-02-10T19:00:00Z|Hana|My cousin Mirela teaches the cello at the conservatory.
2024-02-10T19:01:00Z|Ivo|I love peanut butter on rye bread.
2024-03-15T08:00:00Z|Ivo|I go swimming at the harbour pool every Tuesday before work.
2024-03-15T08:05:00Z|Hana|Mirela lost her bow on the ferry to Cacilhas.
2024-04-20T12:00:00Z|Ivo|I was diagnosed with asthma after the marathon.
2024-04-28T10:00:00Z|Ivo|I plan to fly to Zagreb for the chess tournament on 6 May.
2024-04-29T10:00:00Z|Hana|I was so nervous and sad before the driving test, I cried in the car.";

/// Index of the turn, subject, predicate, object, aspect.
const FACTS: &[(usize, &str, &str, &str, Aspect)] = &[
    (0, "Hana", "lives in", "Lisbon", Aspect::Place),
    (1, "Ivo", "wants", "prices in kronor", Aspect::Instruction),
    (2, "Hana", "has cousin", "Mirela", Aspect::Relation),
    (2, "Mirela", "works as", "cello teacher", Aspect::Work),
    (3, "Ivo", "loves", "peanut butter on rye bread", Aspect::Preference),
    (
        4,
        "Ivo",
        "goes swimming",
        "at the harbour pool every Tuesday",
        Aspect::Habit,
    ),
    (6, "Ivo", "has", "asthma", Aspect::Attribute),
    (
        7,
        "Ivo",
        "plans to",
        "fly to Zagreb for the chess tournament",
        Aspect::Plan,
    ),
];

fn life() -> Vec<Unit> {
    LIFE.lines()
        .enumerate()
        .map(|(number, line)| turn_from_line(number, line))
        .collect()
}

fn facts() -> Vec<Derived> {
    let facts = FACTS.iter().map(|&(turn, subject, predicate, object, aspect)| {
        let unit = &life()[turn];
        let observed_at = unit.observed_at.to_utc();
        let mut valid_from = TimeSpan::from_instant(observed_at);
        if aspect == Aspect::Plan {
            let day = at("2024-05-06T00:00:00Z");
            (valid_from.start, valid_from.end) = (day, day + TimeDelta::days(1));
            valid_from.precision = Precision::Day;
        }
        Derived::Fact(Fact {
            entity: Some(EntityId::from_name(&space(), &subject.to_lowercase())),
            valid_from,
            ..sample_fact(unit, [subject, predicate, object], aspect)
        })
    });
    facts.collect()
}

fn message(actor: &str, text: &str) -> RecallV1 {
    RecallV1 {
        space: space(),
        message: text.to_owned(),
        actor: actor.to_owned(),
        session: None,
        at: DateTime::parse_from_rfc3339("2024-05-05T10:00:00Z").unwrap(),
        limit: 5,
        sensitive: false,
        silent: Vec::new(),
        wide: false,
        chosen: Vec::new(),
        labels: Default::default(),
    }
}

fn woken(memory: &Memory, request: &RecallV1) -> Vec<Hint> {
    woken_in(life(), memory, request)
}

fn woken_in(units: Vec<Unit>, memory: &Memory, request: &RecallV1) -> Vec<Hint> {
    let mut view = View::from_units(units);
    view.set_marks(memory.marks().clone());
    let message = RecallMessage::from_message(&request.message, &view, request.at);
    let known = memory.known_at(Some(moment_before(request.at)));
    let found = SearchResult::default();
    recall_hints(&view, known, &message, &found, request, Weights::builtin().unwrap()).hints
}

fn hints(request: &RecallV1) -> Vec<Hint> {
    woken(&Memory::from_units_and_derived(life(), facts()), request)
}

fn ids(hints: &[Hint]) -> Vec<&str> {
    hints
        .iter()
        .flat_map(|it| &it.external_ids)
        .map(String::as_str)
        .collect()
}

#[test]
fn small_talk_and_unrelated_messages_give_no_hint() {
    for text in [
        "",
        "ok",
        "🎉🎉",
        "Thanks, talk to you later!",
        "Good morning Hana, how are you?",
        "Sounds great, see you tomorrow then.",
        "How do I reverse a linked list in Rust?",
        "What does the word ephemeral mean?",
        "The new vacuum cleaner arrived yesterday, it is rather loud.",
    ] {
        let hints = hints(&message("Ivo", text));
        assert!(hints.is_empty(), "{text}: {hints:?}");
    }
}

#[test]
fn each_hint_names_its_trigger() {
    for (actor, text, trigger, id) in [
        (
            "Hana",
            "Can you tell Ivo what the prices for the concert tickets are?",
            Trigger::Preference,
            "r1",
        ),
        (
            "Hana",
            "I bought rye bread and peanut butter for Ivo.",
            Trigger::Preference,
            "r3",
        ),
        ("Ivo", "Is Mirela still giving cello lessons?", Trigger::Entity, "r2"),
        (
            "Ivo",
            "Is the flat in Lisbon next to a tram depot?",
            Trigger::Topic,
            "r0",
        ),
        (
            "Ivo",
            "I should pack for the chess tournament in Zagreb.",
            Trigger::Time,
            "r7",
        ),
    ] {
        let hints = hints(&message(actor, text));
        let hint = hints.iter().find(|it| it.external_ids.iter().any(|it| it == id));
        let hint = hint.unwrap_or_else(|| panic!("{text}: {hints:?}"));
        assert_eq!(hint.trigger, trigger, "{text}: {hint:?}");
        assert!(
            hint.valid && hint.text.contains("2024]") && !hint.reason.is_empty(),
            "{hint:?}"
        );
    }
}

#[test]
fn a_contradiction_has_both_statements() {
    let hints = hints(&message("Hana", "I live in Porto, so the train to Braga is easy."));
    let hint = &hints[0];
    assert_eq!(
        (hint.trigger, ids(&hints)[0]),
        (Trigger::Contradiction, "r0"),
        "{hints:?}"
    );
    assert_eq!(hint.sides, ["Hana lives in Porto", "Hana lives in Lisbon"]);
    assert_eq!(hint.facts.len(), 1);
    let hints = self::hints(&message("Ivo", "I don't like peanut butter."));
    assert_eq!(
        (hints[0].trigger, ids(&hints)[0]),
        (Trigger::Contradiction, "r3"),
        "{hints:?}"
    );
    // The same statement by another speaker, and a repetition of the known value, are no contradictions.
    for (actor, text) in [
        ("Ivo", "I live in Porto."),
        ("Hana", "I live in Lisbon."),
        ("Hana", "I live in a small flat."),
    ] {
        let hints = self::hints(&message(actor, text));
        assert!(
            hints.iter().all(|it| it.trigger != Trigger::Contradiction),
            "{text}: {hints:?}"
        );
    }
}

/// Each message shares a name or words with a turn, but the next reply would not be better for knowing it.
#[test]
fn a_shared_name_or_word_alone_gives_no_hint() {
    for (actor, text) in [
        ("Ivo", "I met Mirela at the bakery yesterday."),
        ("Ivo", "I am back from Lisbon."),
        ("Hana", "The ferry was late again."),
        ("Ivo", "Swimming at the harbour pool again before work!"),
        ("Hana", "I feel so nervous and sad, another driving test tomorrow."),
        ("Ivo", "Does Mirela drink coffee?"),
    ] {
        let hints = hints(&message(actor, text));
        assert!(hints.is_empty(), "{text}: {hints:?}");
    }
}

/// Returns the ids of the hints for a message in a talk with one more turn.
fn woken_by_turn(turn: &str, asked: &RecallV1) -> Vec<String> {
    let units: Vec<Unit> = life().into_iter().chain([turn_from_line(20, turn)]).collect();
    let memory = Memory::from_units_and_derived(units.clone(), facts());
    let hints = woken_in(units, &memory, asked);
    hints.iter().flat_map(|it| it.external_ids.clone()).collect()
}

#[test]
fn wishes_decisions_bans_limits_and_allergies_give_a_hint_when_the_message_touches_them() {
    for (turn, text) in [
        (
            "Hana|Please no lilies in the bedroom, they stain.",
            "I put lilies into the bedroom.",
        ),
        (
            "Hana|Decision: Kolding replaces Aarhus.",
            "I told the school that Aarhus comes before Kolding.",
        ),
        (
            "tool|remote: rejected, branch names begin with the ticket",
            "Push a branch to the remote, please.",
        ),
        ("Edda|She's allergic to lilies too.", "I bought lilies for the table."),
        (
            "Edda|We agreed on walnut shelves.",
            "I could make the shelves of walnut or of pine.",
        ),
    ] {
        let turn = format!("2024-03-01T09:00:00Z|{turn}");
        let given = woken_by_turn(&turn, &message("Ivo", text));
        assert!(given.contains(&"r20".to_owned()), "{turn}: {given:?}");
    }
    for (turn, text) in [
        ("Hana|I put lilies on the table once.", "I bought lilies for the table."),
        (
            "assistant|Never put lilies into cold water.",
            "I bought lilies for the table.",
        ),
        ("Hana|Have we decided on lilies?", "I bought lilies for the table."),
        ("Hana|We agreed on walnut shelves.", "The neighbour sold his car."),
    ] {
        let turn = format!("2024-03-01T09:00:00Z|{turn}");
        let given = woken_by_turn(&turn, &message("Ivo", text));
        assert!(!given.contains(&"r20".to_owned()), "{turn}: {given:?}");
    }
}

#[test]
fn turns_that_the_session_just_had_give_no_hint() {
    let turn = turn_from_line(
        20,
        "2024-05-05T09:30:00Z|Hana|Please no lilies in the bedroom, they stain.",
    );
    let units: Vec<Unit> = life().into_iter().chain([turn.clone()]).collect();
    let memory = Memory::from_units_and_derived(units.clone(), facts());
    let asked = |session, at: &str| RecallV1 {
        session,
        at: DateTime::parse_from_rfc3339(at).unwrap(),
        ..message("Ivo", "I put lilies into the bedroom.")
    };
    for (session, at, is_given) in [
        (Some(turn.session), "2024-05-05T10:00:00Z", false),
        (Some(turn.session), "2024-05-07T10:00:00Z", true),
        (None, "2024-05-05T10:00:00Z", true),
    ] {
        let given = woken_in(units.clone(), &memory, &asked(session, at));
        assert_eq!(ids(&given).contains(&"r20"), is_given, "{at}: {given:?}");
    }
}

#[test]
fn silenced_hints_and_hints_above_the_limit_are_not_given() {
    let mut asked = message("Ivo", "Is Mirela still giving cello lessons?");
    let first = hints(&asked);
    asked.silent = first.iter().map(|it| it.id).collect();
    asked.silent.sort_unstable();
    let second = hints(&asked);
    assert!(
        !first.is_empty()
            && second
                .iter()
                .all(|it| !ids(&first).contains(&it.external_ids[0].as_str()))
    );
    asked.silent.clear();
    asked.limit = 1;
    assert_eq!(hints(&asked), first[..1]);
    asked.limit = 0;
    assert!(hints(&asked).is_empty());
}

#[tokio::test]
async fn recall_from_stores_equals_recall_from_a_view() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    let router = Arc::new(Router::new(ctx.backends.clone(), Config::default()).unwrap());
    let asked = message("Ivo", "Is Mirela still giving cello lessons?");
    assert_eq!(
        router.recall_hints(asked.clone()).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    assert!(router.recall_hints(asked.clone()).await.unwrap().hints.is_empty());
    put(&ctx, &life()).await;
    ctx.backends.graph.put_derived(&space(), &facts(), &[]).await.unwrap();
    let response = router.recall_hints(asked.clone()).await.unwrap();
    assert_eq!(response.hints, hints(&asked));
    assert!(response.degraded.is_empty() && response.considered > 0 && response.steps.len() == 4);
    let thanks = message("Ivo", "Thanks a lot!");
    assert_eq!(router.recall_hints(thanks).await.unwrap().steps.len(), 2);
}
