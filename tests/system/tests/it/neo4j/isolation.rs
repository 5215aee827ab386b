//! Texts that have a special meaning to a server, and spaces with similar names.

use adapters::servers::neo4j::{Neo4j, Options};
use domain::derived::{Derived, DerivedKind};
use domain::id::SpaceId;
use domain::port::{Claim, Idempotent, Position};
use domain::recall::NOTES_MAX;
use domain::record::Record;
use domain::relation::{Relation, RelationKind};
use domain::unit::Unit;
use domain::{Classify, ErrorKind};
use uuid::Uuid;

use super::fresh_options;
use super::sample::{curation, fact, noon, note, record, relation, space, unit, unit_id};

const HOSTILE: [&str; 14] = [
    "`",
    "``) DETACH DELETE n //",
    "'",
    "\"",
    "\\",
    "\\u0027",
    "'}) DETACH DELETE n //",
    "\"}) MATCH (n) DETACH DELETE n //",
    "a`]->() DELETE r //",
    "$space",
    "{key: $prefix}",
    "\0\u{1}\n\r\t\u{2028}",
    "👩‍👩‍👧 \u{202e}עברית ‎文 \u{10ffff}",
    "} RETURN 1 UNION MATCH (n) DETACH DELETE n RETURN 1 AS known /*",
];

/// Fills a space with objects whose texts are all `text`.
async fn fill_space(it: &Neo4j, space: &SpaceId, text: &str) {
    let (records, graph) = (&it.records, &it.graph);
    assert!(records.create_space(space, noon()).await.unwrap());
    records
        .put(space, &[record(space, 1, text), record(space, 2, text)])
        .await
        .unwrap();
    let claim = (record(space, 1, text).id, [1; 32]);
    assert_eq!(records.claim(space, &[claim]).await.unwrap(), [Claim::Fresh]);
    records
        .store_response(space, text, &sample_idempotent(text), noon())
        .await
        .unwrap();
    records.mark_written(space, Position(7)).await.unwrap();
    graph
        .put_units(space, &[unit(1, text), unit(2, text)], &[])
        .await
        .unwrap();
    graph.put_relations(space, &sample_relations(text)).await.unwrap();
    let fact = Derived::Fact(fact(1, text));
    graph.put_derived(space, &[fact], &[]).await.unwrap();
    records
        .put_curations(space, Position(1), &[curation(1, text)])
        .await
        .unwrap();
    records.note(space, text, &[note()], NOTES_MAX).await.unwrap();
}

/// Returns true if the space contains exactly the objects that `fill` stored.
async fn space_holds_text(it: &Neo4j, space: &SpaceId, text: &str) -> bool {
    let (records, graph) = (&it.records, &it.graph);
    let expected = [record(space, 1, text), record(space, 2, text)];
    let session = records.session(space, expected[0].session, expected[0].id, usize::MAX, usize::MAX);
    let units: Vec<Unit> = graph.units(space, &[unit_id(1), unit_id(2)]).await.unwrap();
    let found: Vec<Relation> = graph.relations(space, &[unit_id(1)], usize::MAX).await.unwrap();
    let kind = DerivedKind::Fact;
    let facts: Vec<Derived> = graph.list_derived(space, kind, None, 9).await.unwrap();
    let scopes = [text, &format!("{text}/"), &format!("{text}0")];
    let mut notes = Vec::new();
    for scope in scopes {
        notes.push(records.notes(space, scope).await.unwrap().len());
    }
    let info = records.space(space).await.unwrap().unwrap();
    let past = Uuid::from_u128(1);
    records.list(space, 0, usize::MAX).await.unwrap() == (expected.to_vec(), None)
        && records.get(space, &[expected[1].id]).await.unwrap() == expected[1..]
        && session.await.unwrap() == expected
        && records.stored_response(space, text).await.unwrap() == Some(sample_idempotent(text))
        && records.is_written(space, Position(7)).await.unwrap()
        && units == [unit(1, text), unit(2, text)]
        && graph.changes(space, 0, usize::MAX).await.unwrap().len() == 2
        && found == sample_relations(text)
        && facts == [Derived::Fact(fact(1, text))]
        && graph.list_derived(space, kind, Some(past), 9).await.unwrap().is_empty()
        && graph.derived_changes(space, 0, 9).await.unwrap().len() == 1
        && records.curations(space, None, 9).await.unwrap() == [curation(1, text)]
        && notes == [1, 0, 0]
        && (info.records, info.units, info.written) == (2, 2, Position(7))
}

fn sample_relations(text: &str) -> Vec<Relation> {
    vec![
        relation(1, RelationKind::Causes, "", 2),
        relation(1, RelationKind::Other, text, 1),
        relation(1, RelationKind::Other, text, 2),
        relation(2, RelationKind::Other, text, 1),
    ]
}

fn sample_idempotent(text: &str) -> Idempotent {
    Idempotent {
        request: [255; 32],
        response: text.as_bytes().to_vec(),
    }
}

/// Every text is returned unchanged, whatever it contains, and another space keeps all its objects.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_are_never_executed_as_statements() {
    let Some(options) = fresh_options().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let canary = space("canary");
    fill_space(&it, &canary, "plain").await;
    for (number, text) in HOSTILE.into_iter().enumerate() {
        let hostile = space(&format!("h{number}"));
        fill_space(&it, &hostile, text).await;
        assert!(space_holds_text(&it, &hostile, text).await, "{text:?}");
        assert!(it.records.delete_space(&hostile).await.unwrap(), "{text:?}");
        assert!(space_holds_text(&it, &canary, "plain").await, "after {text:?}");
    }
    let spaces = it.records.spaces(None, 99).await.unwrap();
    assert_eq!(spaces.len(), 1);
}

/// A text may be long, alone or among others; only the length of a key is limited.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_texts_are_returned_unchanged() {
    let Some(options) = fresh_options().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    it.records.create_space(&a, noon()).await.unwrap();
    let long = "文".repeat(300_000);
    let records: Vec<_> = ["short", &long, "also short"]
        .iter()
        .enumerate()
        .map(|(n, text)| Record {
            text: (*text).to_owned(),
            ..record(&a, n, "r")
        })
        .collect();
    it.records.put(&a, &records).await.unwrap();
    assert_eq!(it.records.list(&a, 0, 9).await.unwrap().0, records);
    let edge = relation(1, RelationKind::Other, &long, 1);
    it.graph.put_relations(&a, std::slice::from_ref(&edge)).await.unwrap();
    it.graph.put_units(&a, &[unit(1, "u")], &[]).await.unwrap();
    assert_eq!(it.graph.relations(&a, &[unit_id(1)], 1).await.unwrap(), [edge]);
    let refused = it
        .records
        .store_response(&a, &long, &sample_idempotent("x"), noon())
        .await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
}

/// Spaces whose names begin alike, and spaces of the same name in two namespaces, hold the same ids and stay separate.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spaces_with_the_same_ids_are_separate() {
    let (Some(one), Some(two)) = (fresh_options().await, fresh_options().await) else {
        return;
    };
    let longer = Options {
        namespace: format!("{}-", one.namespace),
        ..one.clone()
    };
    let mut all = Vec::new();
    for options in [&one, &two, &longer] {
        let it = Neo4j::connect(options).await.unwrap();
        for name in ["a", "a-b", "a.b", "a0", "a_", "0"] {
            let text = format!("{} {name}", options.namespace);
            fill_space(&it, &space(name), &text).await;
            all.push((it.clone(), space(name), text));
        }
    }
    while let Some((it, gone, _)) = all.pop() {
        for (it, space, text) in &all {
            assert!(space_holds_text(it, space, text).await, "{text}");
        }
        assert!(it.records.delete_space(&gone).await.unwrap());
        assert_eq!(it.records.space(&gone).await.unwrap(), None);
    }
}
