//! Hints about people who share a name.

use chrono::DateTime;
use domain::derived::Derived;
use domain::entity::{Bearer, Entity, EntityKind};
use domain::fact::Aspect;
use domain::id::EntityId;
use domain::message::RecallV1;
use domain::port::SearchResult;
use domain::recall::{Hint, Trigger};
use domain::unit::Unit;
use fixtures::sample_fact;
use router::recall::message::RecallMessage;
use router::recall::{moment_before, recall_hints};
use router::route::scoring::heads::Weights;
use router::space::memory::{Memory, PersonMatch};
use router::space::view::View;

use crate::talk::{space, turn_from_line};

const TALK: &str = "\
2024-01-05T09:00:00Z|Hana|My sister Mirela teaches the cello at the conservatory.
2024-01-06T09:00:00Z|Ivo|My boss Mirela collects vintage typewriters.
2024-02-05T09:00:00Z|Hana|Mirela moved to Bergen and adores the fish market there.
2024-02-06T09:00:00Z|Ivo|Mirela lives in Malmö with two parrots.";

fn units() -> Vec<Unit> {
    TALK.lines()
        .enumerate()
        .map(|(number, line)| turn_from_line(number, line))
        .collect()
}

/// Returns derived objects as the clusterer writes them: if people share a name, the subject of a fact names its owner,
/// as in "Hana's sister".
fn derived() -> Vec<Derived> {
    let fact = |turn: usize, subject: &str, predicate: &str, object: &str, aspect: Aspect| {
        let unit = &units()[turn];
        Derived::Fact(sample_fact(unit, [subject, predicate, object], aspect))
    };
    let bearer = |name: &str, teller: &str| Bearer {
        name: name.to_owned(),
        roles: vec![name.to_owned()],
        tellers: vec![teller.to_owned()],
    };
    vec![
        Derived::Entity(Entity {
            id: EntityId::from_name(&space(), "mirela"),
            name: "Mirela".to_owned(),
            kind: EntityKind::Person,
            aliases: Vec::new(),
            mentions: 4,
            first_seen: None,
            roles: vec!["Hana's sister".to_owned(), "Ivo's boss".to_owned()],
            bearers: vec![bearer("Hana's sister", "Hana"), bearer("Ivo's boss", "Ivo")],
            synonyms: Vec::new(),
        }),
        fact(0, "Hana's sister", "works as", "a cello teacher", Aspect::Work),
        fact(1, "Ivo's boss", "collects", "vintage typewriters", Aspect::Habit),
        fact(2, "Hana's sister", "lives in", "Bergen", Aspect::Place),
        fact(3, "Ivo's boss", "lives in", "Malmö", Aspect::Place),
    ]
}

fn hints(actor: &str, text: &str) -> Vec<Hint> {
    let memory = Memory::from_units_and_derived(units(), derived());
    let request = RecallV1 {
        space: space(),
        message: text.to_owned(),
        actor: actor.to_owned(),
        session: None,
        at: DateTime::parse_from_rfc3339("2024-05-05T10:00:00Z").unwrap(),
        limit: 10,
        sensitive: true,
        silent: Vec::new(),
        wide: false,
        chosen: Vec::new(),
        labels: Default::default(),
    };
    let view = View::from_units(units());
    let recall_message = RecallMessage::from_message(&request.message, &view, request.at);
    let known = memory.known_at(Some(moment_before(request.at)));
    let found = SearchResult::default();
    recall_hints(
        &view,
        known,
        &recall_message,
        &found,
        &request,
        Weights::builtin().unwrap(),
    )
    .hints
}

#[test]
fn a_speaker_means_the_person_they_spoke_about_before() {
    for (actor, text, own, other) in [
        (
            "Hana",
            "Is Mirela still giving cello lessons?",
            ["r0", "r2"],
            ["r1", "r3"],
        ),
        (
            "Ivo",
            "Did Mirela find another of her vintage typewriters?",
            ["r1", "r3"],
            ["r0", "r2"],
        ),
        // The message itself says whose sister she is.
        (
            "Ivo",
            "Does Hana's sister Mirela still teach the cello?",
            ["r0", "r2"],
            ["r1", "r3"],
        ),
    ] {
        let hints = hints(actor, text);
        let ids: Vec<&String> = hints.iter().flat_map(|it| &it.external_ids).collect();
        assert!(ids.iter().any(|it| own.contains(&it.as_str())), "{text}: {hints:?}");
        assert!(!ids.iter().any(|it| other.contains(&it.as_str())), "{text}: {hints:?}");
    }
}

#[test]
fn facts_about_one_person_do_not_contradict_statements_about_a_namesake() {
    let against = |actor: &str, text: &str| -> Vec<Vec<String>> {
        let against = hints(actor, text)
            .into_iter()
            .filter(|it| it.trigger == Trigger::Contradiction);
        against.map(|it| it.sides).collect()
    };
    assert_eq!(
        against("Hana", "Mirela lives in Malmö."),
        [["Mirela lives in Malmö", "Hana's sister lives in Bergen"]]
    );
    assert!(against("Ivo", "Mirela lives in Malmö.").is_empty());
    assert!(
        against("Edda", "Mirela lives in Porto.").is_empty(),
        "nobody knows which one"
    );
}

#[test]
fn a_hint_about_an_ambiguous_name_says_which_person() {
    for (text, own, who) in [
        ("Is Mirela still giving cello lessons?", ["r0", "r2"], "Hana's sister"),
        (
            "Does Mirela still collect vintage typewriters?",
            ["r1", "r3"],
            "Ivo's boss",
        ),
    ] {
        let hints = hints("Edda", text);
        assert!(!hints.is_empty(), "{text}");
        for hint in &hints {
            assert!(hint.reason.contains(who), "{hint:?}");
            assert!(own.contains(&hint.external_ids[0].as_str()), "{hint:?}");
        }
    }
}

#[test]
fn a_shared_name_is_resolved_by_its_speaker_or_by_the_text() {
    let memory = Memory::from_units_and_derived(units(), derived());
    let known = memory.known_at(None);
    let resolve_name = |name: &str, teller: &str, text: &str| match known.resolve_person(name, teller, text) {
        PersonMatch::One => "one".to_owned(),
        PersonMatch::This(bearer) => bearer.name,
        PersonMatch::Several(bearers) => format!("one of {}", bearers.len()),
    };
    for (name, teller, text, expected) in [
        ("Mirela", "Hana", "", "Hana's sister"),
        ("mirela", "ivo", "", "Ivo's boss"),
        ("Mirela", "Edda", "", "one of 2"),
        ("Mirela", "Edda", "I met Ivo\u{2019}s boss Mirela.", "Ivo's boss"),
        ("Ivo's boss", "Edda", "", "one"),
        ("Bergen", "Edda", "", "one"),
    ] {
        assert_eq!(resolve_name(name, teller, text), expected, "{name} {teller} {text}");
    }
    let about = |name: &str| known.facts_about(name).len();
    assert_eq!(
        [about("Ivo's boss"), about("Hana's sister"), about("Mirela")],
        [2, 2, 4]
    );
}
