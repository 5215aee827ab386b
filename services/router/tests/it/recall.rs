//! Hints that messages lead to, and messages without hints.

mod again;
mod chosen;
mod outdated;
mod replied;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use domain::derived::Derived;
use domain::fact::{Aspect, Fact, Origin};
use domain::id::{EntityId, FactId, RecordId, UnitId};
use domain::message::RecallV1;
use domain::port::SearchResult;
use domain::recall::{Hint, Sensitivity, Trigger};
use domain::time::{Precision, TimeSpan};
use domain::unit::Unit;
use domain::{Classify, ErrorKind};
use host::Context;
use router::heads::Weights;
use router::memory::Memory;
use router::recall::{before, heard::Heard, recall};
use router::view::View;
use router::{Config, Router};

use crate::derived::at;
use crate::stores::{moment, put};
use crate::talk::{said, space};

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
        .map(|(number, line)| said(number, line))
        .collect()
}

fn facts() -> Vec<Derived> {
    let facts = FACTS.iter().map(|&(turn, subject, predicate, object, aspect)| {
        let unit = &life()[turn];
        let told = unit.observed_at.to_utc();
        let mut valid_from = TimeSpan::instant(told);
        if aspect == Aspect::Plan {
            let day = at("2024-05-06T00:00:00Z");
            (valid_from.start, valid_from.end) = (day, day + TimeDelta::days(1));
            valid_from.precision = Precision::Day;
        }
        Derived::Fact(Fact {
            id: FactId::derive(unit.id, subject, predicate, object),
            subject: subject.to_owned(),
            entity: Some(EntityId::derive(&space(), &subject.to_lowercase())),
            predicate: predicate.to_owned(),
            object: object.to_owned(),
            aspect,
            valid_from,
            valid_until: None,
            closed_at: None,
            recorded_at: told,
            source: unit.id,
            origin: Origin::Rule,
            told_by: unit.actor.clone(),
            confidence: 0.9,
            retired_by: None,
            former_ends: Vec::new(),
            withdrawn: false,
            former: Vec::new(),
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
    let mut view = View::of(units);
    view.mark(memory.marks().clone());
    let heard = Heard::read(&request.message, &view, request.at);
    let known = memory.at(Some(before(request.at)));
    let found = SearchResult::default();
    recall(&view, known, (&heard, &found), request, Weights::builtin().unwrap()).hints
}

fn hints(request: &RecallV1) -> Vec<Hint> {
    woken(&Memory::of(life(), facts()), request)
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
            "Which tram should I take from the airport in Lisbon?",
            Trigger::Place,
            "r0",
        ),
        (
            "Ivo",
            "I should pack for the chess tournament in Zagreb.",
            Trigger::Time,
            "r7",
        ),
        (
            "Ivo",
            "Swimming at the harbour pool again before work!",
            Trigger::Pattern,
            "r4",
        ),
        (
            "Hana",
            "I feel so nervous and sad, another driving test tomorrow.",
            Trigger::Emotion,
            "r8",
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

#[test]
fn a_message_leads_over_a_name_to_at_most_one_further_hint() {
    let hints = hints(&message("Ivo", "I met Mirela at the bakery yesterday."));
    assert!(ids(&hints).contains(&"r5"), "{hints:?}");
    assert!(hints.iter().filter(|it| it.trigger == Trigger::MultiHop).count() <= 1);
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
    units[6] = said(
        6,
        "2024-04-20T12:00:00Z|Ivo|Ich habe Krebs und laufe den Marathon in Zagreb nicht.",
    );
    let memory = Memory::of(units.clone(), Vec::new());
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
        (&bread, "r3", 4, "Erdnussbutter", "Erdnussbutter seit der Scheidung"),
        (&live, "r0", 0, "Lisbon near the zoo", "Lisbon near the prison"),
        (&live, "r0", 0, "Lissabon", "Lissabon, beim Gefängnis"),
    ] {
        let said = |object: &str| woken(&Memory::of(life(), with_object(place, object)), asked);
        assert!(ids(&said(harmless)).contains(&id), "{harmless}: {:?}", said(harmless));
        assert!(!ids(&said(delicate)).contains(&id), "{delicate}: {:?}", said(delicate));
    }
    let tram = message("Ivo", "Which tram should I take from the airport in Lisbon?");
    let since = |object: &str| {
        let mut facts = facts();
        let mut newer = facts.clone();
        let (Derived::Fact(old), Derived::Fact(new)) = (&mut facts[0], &mut newer[0]) else {
            panic!("{newer:?}")
        };
        new.source = UnitId::turn(RecordId::derive(&space(), "elsewhere"));
        new.id = FactId::derive(new.source, "Hana", "lives in", object);
        new.object = object.to_owned();
        let moved = at("2024-04-01T00:00:00Z");
        new.valid_from = TimeSpan::instant(moved);
        new.recorded_at = moved;
        (old.valid_until, old.closed_at, old.retired_by) = (Some(moved), Some(moved), Some(new.id));
        facts.push(newer.swap_remove(0));
        woken(&Memory::of(life(), facts), &tram)
    };
    let hints = since("Faro");
    let hint = hints.iter().find(|it| it.external_ids == ["r0"]);
    assert!(
        hint.is_some_and(|it| it.text.contains("since then: Hana lives in Faro")),
        "{hints:?}"
    );
    assert!(!ids(&since("Faro prison")).contains(&"r0"));
}

#[tokio::test]
async fn recall_from_stores_equals_recall_from_a_view() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded(dir.path()).await.unwrap();
    let router = Arc::new(Router::new(ctx.backends.clone(), Config::default()).unwrap());
    let asked = message("Ivo", "Is Mirela still giving cello lessons?");
    assert_eq!(
        router.recall(asked.clone()).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    assert!(router.recall(asked.clone()).await.unwrap().hints.is_empty());
    put(&ctx, &life()).await;
    ctx.backends.graph.put_derived(&space(), &facts(), &[]).await.unwrap();
    let recalled = router.recall(asked.clone()).await.unwrap();
    assert_eq!(recalled.hints, hints(&asked));
    assert!(recalled.degraded.is_empty() && recalled.considered > 0 && recalled.steps.len() == 4);
    let thanks = message("Ivo", "Thanks a lot!");
    assert_eq!(router.recall(thanks).await.unwrap().steps.len(), 2);
}
