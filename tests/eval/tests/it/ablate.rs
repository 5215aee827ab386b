//! Checks that each part can be removed from a store, and that unrelated objects stay.

use std::path::Path;

use adapters::{Embedded, Options};
use domain::derived::{Derived, DerivedKind};
use domain::id::{SpaceId, UnitId};
use domain::port::Point;
use domain::relation::{Relation, RelationKind};
use domain::unit::{Grain, Unit};
use eval::ablate::contents::Contents;
use eval::ablate::part::Part;
use eval::ablate::removal::{RemovedParts, take_out};
use serde_json::{Value, json};
use uuid::Uuid;

const NOON: &str = "2026-03-01T12:00:00Z";

/// Numbers and grains of the units: turns 1 and 2, events 11 and 12, gist 21.
const UNITS: [(u128, Grain); 5] = [
    (1, Grain::Turn),
    (2, Grain::Turn),
    (11, Grain::Event),
    (12, Grain::Event),
    (21, Grain::Gist),
];

fn id(number: u128) -> Value {
    json!(Uuid::from_u128(number))
}

fn unit(number: u128, grain: Grain) -> Unit {
    let unit = json!({
        "id": id(number), "grain": grain, "session": id(900), "records": [id(100 + number)],
        "external_ids": [number.to_string()], "observed_at": NOON, "ordinal": 1, "modality": "text", "actor": "Ana",
        "text": format!("Ana bakes bread, {number}"), "summary": "Ana bakes bread.", "derived_by": "test/1",
        "confidence": 1.0,
    });
    serde_json::from_value(unit).unwrap()
}

fn line(number: u128, fact: Option<u128>) -> Value {
    json!({ "text": "Ana bakes.", "unit": id(number), "observed_at": NOON, "fact": fact.map(id) })
}

fn page(number: u128, dimension: &str, lines: &[Value], link: u128) -> Derived {
    let section = json!({ "title": "s", "category": "c", "lines": lines, "confidence": 1.0 });
    let link = json!({ "kind": "related_to", "page": id(link), "title": "t", "weight": 0.5 });
    derived(
        "page",
        &json!({
            "id": id(number), "dimension": dimension, "title": "t", "summary": "s", "sections": [section],
            "links": [link], "confidence": 1.0, "updated_at": NOON,
        }),
    )
}

fn fact(number: u128, source: u128, origin: &str) -> Derived {
    let time = json!({ "start": NOON, "end": NOON, "precision": "day", "words": "" });
    derived(
        "fact",
        &json!({
            "id": id(number), "subject": "Ana", "predicate": "bakes", "object": "bread", "aspect": "habit",
            "valid_from": time, "recorded_at": NOON, "source": id(source), "origin": origin,
            "confidence": 1.0,
        }),
    )
}

fn derived(kind: &str, body: &Value) -> Derived {
    serde_json::from_value(json!({ "kind": kind, "body": body })).unwrap()
}

/// Returns the derived objects: facts 31 (by rule) and 32 (by a language model), topic 41, pages 51 of a topic, 52 of
/// an event, 53 and 54 of Ana, entity 61.
fn all_derived() -> Vec<Derived> {
    let synonyms = json!([{ "entity": id(62), "cosine": 0.9 }]);
    let merge = json!({
        "id": id(71), "of": "units", "kept": id(11), "merged": id(12), "names": ["a", "b"], "similarity": 0.9,
        "same_event": true, "has_overlap": true, "reason": "the same",
    });
    vec![
        fact(31, 1, "rule"),
        fact(32, 2, "model"),
        derived(
            "topic",
            &json!({ "id": id(41), "label": "bread", "keywords": [], "units": 2, "first_seen": NOON, "last_seen": NOON }),
        ),
        derived("member", &json!({ "unit": id(11), "topic": id(41), "similarity": 0.5 })),
        page(51, "topic", &[line(11, None)], 53),
        page(52, "event", &[line(11, None)], 53),
        page(53, "figure", &[line(1, Some(31)), line(2, None)], 51),
        page(54, "figure", &[line(21, Some(32))], 53),
        derived(
            "entity",
            &json!({ "id": id(61), "name": "Ana", "kind": "person", "mentions": 2, "synonyms": synonyms }),
        ),
        derived("merge", &merge),
        derived("standing", &json!({ "unit": id(12), "into": id(71) })),
    ]
}

fn relation(source: u128, target: u128) -> Relation {
    Relation {
        source: UnitId::from_uuid(Uuid::from_u128(source)),
        target: UnitId::from_uuid(Uuid::from_u128(target)),
        kind: RelationKind::Causes,
        label: String::new(),
        weight: 0.5,
        evidence: Vec::new(),
    }
}

async fn filled(dir: &Path, space: &SpaceId) -> Embedded {
    let stores = Embedded::open(dir, Options::default()).await.unwrap();
    stores.records.create_space(space, NOON.parse().unwrap()).await.unwrap();
    let units: Vec<Unit> = UNITS.map(|(number, grain)| unit(number, grain)).into();
    stores.graph.put_units(space, &units, &[]).await.unwrap();
    let points: Vec<Point> = units
        .iter()
        .map(|unit| Point {
            unit: unit.id,
            part: 0,
            dense: vec![0.0; stores.embedder.dimension()],
            words: vec![(7, 1.0)],
            pieces: Vec::new(),
            observed_at: 0,
        })
        .collect();
    stores.index.put(space, &points, &[]).await.unwrap();
    let relations = [relation(1, 2), relation(1, 11), relation(21, 2)];
    stores.graph.put_relations(space, &relations).await.unwrap();
    stores.graph.put_derived(space, &all_derived(), &[]).await.unwrap();
    stores
}

/// Counts of all objects that a removal could affect.
#[derive(Debug, PartialEq, Eq)]
struct RemainingObjects {
    parts: [usize; 7],
    pages: Vec<u128>,
    points: u64,
}

async fn left(stores: &Embedded, space: &SpaceId) -> RemainingObjects {
    let contents = Contents::read(&*stores.graph, space).await.unwrap();
    assert_eq!(contents.units_of(Grain::Turn).count(), 2);
    assert_eq!(contents.derived_of(DerivedKind::Entity).count(), 1);
    RemainingObjects {
        parts: Part::ALL.map(|it| it.count(&contents)),
        pages: contents.pages().map(|it| it.id.uuid().as_u128()).collect(),
        points: stores.index.count(space).await.unwrap(),
    }
}

#[tokio::test]
async fn each_part_is_removed_with_its_references_and_nothing_else() {
    let space: SpaceId = "bakery".parse().unwrap();
    // Counts of topics, events, relations, gists, facts, synonymy edges and links; ids of pages; number of points.
    let whole = RemainingObjects {
        parts: [1, 2, 3, 1, 2, 1, 4],
        pages: vec![51, 52, 53, 54],
        points: 5,
    };
    for (part, parts, pages, points) in [
        (Part::Topics, [0, 2, 3, 1, 2, 1, 2], vec![52, 53, 54], 5),
        (Part::Events, [0, 0, 2, 1, 2, 1, 1], vec![53, 54], 3),
        (Part::Relations, [1, 2, 0, 1, 2, 1, 4], vec![51, 52, 53, 54], 5),
        (Part::Gists, [1, 2, 2, 0, 1, 1, 3], vec![51, 52, 53], 4),
        (Part::Facts, [1, 2, 3, 1, 0, 1, 3], vec![51, 52, 53], 5),
        (Part::Synonymy, [1, 2, 3, 1, 2, 0, 4], vec![51, 52, 53, 54], 5),
        (Part::Links, [1, 2, 3, 1, 2, 1, 0], vec![51, 52, 53, 54], 5),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let stores = filled(dir.path(), &space).await;
        assert_eq!(left(&stores, &space).await, whole);
        let removed = take_out(&*stores.graph, &*stores.index, &space, part).await.unwrap();
        let at = Part::ALL.iter().position(|it| *it == part).unwrap();
        let before = whole.parts[at];
        assert_eq!(removed, RemovedParts { before, after: 0 }, "{part:?}");
        assert_eq!(
            left(&stores, &space).await,
            RemainingObjects { parts, pages, points },
            "{part:?}"
        );
    }
}

#[tokio::test]
async fn removing_facts_removes_their_lines_from_the_remaining_pages() {
    let space: SpaceId = "bakery".parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let stores = filled(dir.path(), &space).await;
    take_out(&*stores.graph, &*stores.index, &space, Part::Facts)
        .await
        .unwrap();
    let contents = Contents::read(&*stores.graph, &space).await.unwrap();
    let page = contents.pages().find(|it| it.id.uuid().as_u128() == 53).unwrap();
    let lines: Vec<_> = page.sections.iter().flat_map(|it| &it.lines).collect();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].fact.is_none(), "{lines:?}");
}
