//! Units and relations.

use domain::ErrorKind;
use domain::port::Graph;
use domain::relation::{Relation, RelationKind};
use domain::time::TimeSpan;
use domain::unit::{StateChange, Status, Unit};

use super::sample::{derived, noon, relation, space, unit};
use super::{Ports, error_kind};

async fn open_empty(open: impl AsyncFn() -> Ports) -> Ports {
    let ports = open().await;
    for name in ["a", "b"] {
        ports.records.create_space(&space(name), noon()).await.unwrap();
    }
    ports
}

async fn read_feed(graph: &dyn Graph, after: u64, limit: usize) -> Vec<(u64, String)> {
    let changes = graph.changes(&space("a"), after, limit).await.unwrap();
    changes
        .into_iter()
        .map(|it| (it.sequence, format!("{} {:?}", it.unit.text, it.unit.status)))
        .collect()
}

/// Units are returned unchanged, in the order of the request. A later unit replaces an earlier one, and a retired unit
/// is removed.
pub async fn units_come_back_as_they_were(open: impl AsyncFn() -> Ports) {
    let ports = open_empty(open).await;
    let (graph, a) = (ports.graph, space("a"));
    let ids = [unit(3).id, unit(9).id, unit(1).id, unit(2).id];
    graph.put_units(&a, &[unit(1), unit(2), unit(3)], &[]).await.unwrap();
    assert_eq!(graph.units(&a, &ids).await.unwrap(), [unit(3), unit(1), unit(2)]);
    let changed = Unit {
        text: "changed".to_owned(),
        ..unit(1)
    };
    graph
        .put_units(&a, std::slice::from_ref(&changed), &[unit(2).id, unit(9).id])
        .await
        .unwrap();
    assert_eq!(graph.units(&a, &ids).await.unwrap(), [unit(3), changed]);
    graph
        .put_units(&a, &[unit(2)], &[unit(2).id, unit(3).id])
        .await
        .unwrap();
    assert_eq!(
        graph.units(&a, &ids[3..]).await.unwrap(),
        [unit(2)],
        "retired first, then put"
    );
    assert!(graph.units(&space("b"), &ids).await.unwrap().is_empty());
}

/// The feed gives the latest change of every unit with an increasing sequence. Putting an equal unit makes no change.
pub async fn changes_are_fed_by_sequence(open: impl AsyncFn() -> Ports) {
    let ports = open_empty(open).await;
    let (graph, a) = (&*ports.graph, space("a"));
    graph.put_units(&a, &[unit(1), unit(2), unit(3)], &[]).await.unwrap();
    graph.put_units(&space("b"), &[unit(4)], &[]).await.unwrap();
    let first = read_feed(graph, 0, 10).await;
    let texts: Vec<&str> = first.iter().map(|it| it.1.as_str()).collect();
    assert_eq!(texts, ["unit 1 Active", "unit 2 Active", "unit 3 Active"]);
    assert!(first[0].0 > 0 && first.is_sorted_by(|x, y| x.0 < y.0), "{first:?}");
    assert_eq!(read_feed(graph, first[0].0, 1).await, first[1..2]);

    let last = first[2].0;
    graph.put_units(&a, &[unit(2), unit(3)], &[unit(9).id]).await.unwrap();
    assert!(read_feed(graph, last, 10).await.is_empty(), "nothing has changed");
    let archived = Unit {
        status: Status::Archived,
        ..unit(3)
    };
    graph.put_units(&a, &[archived], &[unit(1).id]).await.unwrap();
    let mut later = read_feed(graph, last, 10).await;
    later.sort_by(|x, y| x.1.cmp(&y.1));
    let texts: Vec<&str> = later.iter().map(|it| it.1.as_str()).collect();
    assert_eq!(texts, [" Superseded", "unit 3 Archived"]);
    assert_eq!(
        read_feed(graph, 0, 10).await.len(),
        3,
        "each unit once, by its latest change"
    );
    assert_eq!(
        ports.records.space(&a).await.unwrap().unwrap().units,
        1,
        "only unit 2 is active"
    );

    let last = later.iter().map(|it| it.0).max().unwrap();
    graph.put_units(&a, &[], &[unit(1).id]).await.unwrap();
    assert!(read_feed(graph, last, 10).await.is_empty(), "it was retired before");
    graph.put_units(&a, &[unit(1)], &[]).await.unwrap();
    assert_eq!(read_feed(graph, last, 10).await[0].1, "unit 1 Active", "and is back");
    assert_eq!(ports.records.space(&a).await.unwrap().unwrap().units, 2);
}

/// The feed of a removed unit contains only its place, and nothing of its content or speaker.
pub async fn a_removed_unit_says_nothing(open: impl AsyncFn() -> Ports) {
    let graph = open_empty(open).await.graph;
    let a = space("a");
    graph
        .put_units(&a, &[unit_with_long_text(), unit(2)], &[])
        .await
        .unwrap();
    graph.put_units(&a, &[], &[unit(1).id]).await.unwrap();
    let changes = graph.changes(&a, 0, 9).await.unwrap();
    let left = &changes.iter().find(|it| it.unit.id == unit(1).id).unwrap().unit;
    assert_eq!((left.status, left.grain), (Status::Superseded, unit(1).grain));
    assert_eq!((left.session, left.observed_at), (unit(1).session, unit(1).observed_at));
    let shown = serde_json::to_string(left).unwrap();
    assert!(!shown.contains("secret") && left.records.is_empty(), "{shown}");
    graph.put_units(&a, &[unit_with_long_text()], &[]).await.unwrap();
    assert_eq!(
        graph.units(&a, &[unit(1).id]).await.unwrap(),
        [unit_with_long_text()],
        "it may come back"
    );
}

/// Returns a unit with a secret in every text.
fn unit_with_long_text() -> Unit {
    let secret = || "secret".to_owned();
    Unit {
        external_ids: vec![secret()],
        actor: secret(),
        addressee: secret(),
        text: secret(),
        caption: secret(),
        summary: secret(),
        times: vec![TimeSpan {
            words: secret(),
            ..TimeSpan::from_instant(noon())
        }],
        participants: vec![secret()],
        location: secret(),
        action: secret(),
        changes: vec![StateChange {
            subject: secret(),
            key: secret(),
            before: secret(),
            after: secret(),
        }],
        tag: secret(),
        cues: vec![secret()],
        question: secret(),
        ..unit(1)
    }
}

/// Relations are returned when both of their units exist, from both ends, sorted by key and cut at the limit.
pub async fn relations_show_between_known_units(open: impl AsyncFn() -> Ports) {
    let graph = open_empty(open).await.graph;
    let a = space("a");
    let all = [
        relation(1, RelationKind::Causes, "", 3),
        relation(1, RelationKind::Before, "", 2),
        relation(1, RelationKind::Other, "x", 2),
        relation(1, RelationKind::Other, "y", 2),
        relation(2, RelationKind::SameAs, "", 1),
        relation(3, RelationKind::Causes, "", 2),
    ];
    let shuffled: Vec<Relation> = all.iter().rev().cloned().collect();
    graph.put_relations(&a, &shuffled).await.unwrap();
    let of = async |numbers: &[u128], limit| {
        let ids: Vec<_> = numbers.iter().map(|it| unit(*it).id).collect();
        graph.relations(&a, &ids, limit).await.unwrap()
    };
    assert!(of(&[1, 2, 3], 99).await.is_empty(), "no unit exists");
    graph.put_units(&a, &[unit(1), unit(2)], &[]).await.unwrap();
    assert_eq!(of(&[1], 99).await, all[1..5], "unit 3 does not exist");
    graph.put_units(&a, &[unit(3)], &[]).await.unwrap();
    assert_eq!(of(&[1], 99).await, all[..5]);
    assert_eq!(of(&[3], 99).await, [all[0].clone(), all[5].clone()]);
    assert_eq!(of(&[3, 1, 2, 1], 99).await, all, "each once");
    assert_eq!(of(&[3, 1], 2).await, all[..2]);
    assert!(of(&[9], 99).await.is_empty() && of(&[1], 0).await.is_empty());
    assert!(graph.relations(&space("b"), &[unit(1).id], 9).await.unwrap().is_empty());

    let heavier = Relation {
        weight: 0.75,
        evidence: Vec::new(),
        ..all[0].clone()
    };
    let withdrawn = Relation {
        weight: 0.0,
        ..all[5].clone()
    };
    graph.put_relations(&a, &[heavier.clone(), withdrawn]).await.unwrap();
    assert_eq!(of(&[3], 99).await, [heavier]);
    graph.put_units(&a, &[], &[unit(3).id]).await.unwrap();
    assert!(of(&[3], 99).await.is_empty(), "unit 3 is gone");
}

/// Nothing is written for an unknown space, and nothing is found in it.
pub async fn an_unknown_space_stays_empty(open: impl AsyncFn() -> Ports) {
    let graph = open().await.graph;
    let a = space("a");
    let edge = relation(1, RelationKind::Before, "", 2);
    assert_eq!(
        error_kind(graph.put_units(&a, &[unit(1)], &[]).await),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(
        error_kind(graph.put_relations(&a, &[edge]).await),
        Some(ErrorKind::NotFound)
    );
    let [item, ..] = derived(1, "tea");
    let id = item.id();
    for items in [&[item][..], &[]] {
        assert_eq!(
            error_kind(graph.put_derived(&a, items, &[id]).await),
            Some(ErrorKind::NotFound)
        );
    }
    assert!(graph.units(&a, &[unit(1).id]).await.unwrap().is_empty());
    assert!(graph.changes(&a, 0, 9).await.unwrap().is_empty());
    assert!(graph.derived(&a, &[id]).await.unwrap().is_empty());
    assert!(graph.list_derived(&a, id.kind, None, 9).await.unwrap().is_empty());
    assert!(graph.derived_changes(&a, 0, 9).await.unwrap().is_empty());
}

/// Everything survives a restart of the store.
pub async fn the_graph_survives(open: impl AsyncFn() -> Ports) {
    let a = space("a");
    let edge = relation(1, RelationKind::Other, "label", 2);
    let ports = open_empty(&open).await;
    ports
        .graph
        .put_units(&a, &[unit(1), unit(2), unit(3)], &[])
        .await
        .unwrap();
    ports.graph.put_units(&a, &[], &[unit(3).id]).await.unwrap();
    ports
        .graph
        .put_relations(&a, std::slice::from_ref(&edge))
        .await
        .unwrap();
    let before = ports.graph.changes(&a, 0, 9).await.unwrap();
    drop(ports);

    let graph = open().await.graph;
    assert_eq!(graph.changes(&a, 0, 9).await.unwrap(), before);
    assert_eq!(graph.units(&a, &[unit(3).id, unit(2).id]).await.unwrap(), [unit(2)]);
    assert_eq!(graph.relations(&a, &[unit(2).id], 9).await.unwrap(), [edge]);
    graph.put_units(&a, &[unit(4)], &[]).await.unwrap();
    assert!(
        graph.changes(&a, before[2].sequence, 9).await.unwrap().len() == 1,
        "the sequence goes on"
    );
}
