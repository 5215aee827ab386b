//! Many at once, and work that stops midway.

use std::collections::BTreeSet;

use adapters::neo4j::Neo4j;
use domain::derived::Derived;
use domain::id::RecordId;
use domain::port::Claim;
use domain::relation::RelationKind;
use domain::{Classify, ErrorKind};

use super::fresh;
use super::sample::{fact, noon, record, relation, space, unit, unit_id};

const TASKS: u128 = 8;
const EACH: u128 = 40;

/// Many writers of one space: whoever follows the feed meanwhile misses nothing, and every count is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_under_many_writers_misses_nothing() {
    let Some(options) = fresh().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    it.records.create_space(&a, noon()).await.unwrap();
    let write = |task: u128| {
        let (it, a) = (it.clone(), a.clone());
        async move {
            for n in 0..EACH {
                let number = task * EACH + n;
                // The next task puts the same unit, and all of them the same relations.
                let units = [unit(number, "text"), unit((number + EACH) % (TASKS * EACH), "text")];
                it.graph.put_units(&a, &units, &[]).await.unwrap();
                let edges = [
                    relation(n, RelationKind::Before, "", n + 1),
                    relation(n + 1, RelationKind::Before, "", n),
                ];
                it.graph.put_relations(&a, &edges).await.unwrap();
                it.records
                    .put(&a, &[record(&a, (number % (EACH * 2)) as usize, "text")])
                    .await
                    .unwrap();
            }
        }
    };
    let writers: Vec<_> = (0..TASKS).map(|task| tokio::spawn(write(task))).collect();
    let (mut cursor, mut seen) = (0, BTreeSet::new());
    while seen.len() < (TASKS * EACH) as usize {
        for change in it.graph.changes(&a, cursor, 7).await.unwrap() {
            assert!(change.sequence > cursor);
            cursor = change.sequence;
            assert!(seen.insert(change.unit.id), "an equal unit is no change");
        }
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(it.graph.changes(&a, cursor, 1).await.unwrap().is_empty());
    let info = it.records.space(&a).await.unwrap().unwrap();
    assert_eq!((info.records, info.units), (EACH as u64 * 2, (TASKS * EACH) as u64));
    let ids: Vec<_> = (0..=EACH).map(unit_id).collect();
    assert_eq!(
        it.graph.relations(&a, &ids, 999).await.unwrap().len(),
        EACH as usize * 2,
        "each once"
    );
    assert_eq!(it.records.list(&a, 0, 999).await.unwrap().0.len(), EACH as usize * 2);
}

/// Of many that make a space or claim an id at once, exactly one is first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_is_first() {
    let Some(options) = fresh().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    let made = futures::future::join_all((0..8).map(|_| it.records.create_space(&a, noon()))).await;
    assert_eq!(made.into_iter().filter(|made| *made.as_ref().unwrap()).count(), 1);
    let claims: Vec<_> = (0u8..8).map(|n| [(RecordId::derive(&a, "1"), [n; 32])]).collect();
    let outcomes = futures::future::join_all(claims.iter().map(|it_| it.records.claim(&a, it_))).await;
    let outcomes: Vec<Claim> = outcomes.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(outcomes.iter().filter(|it| **it == Claim::Fresh).count(), 1);
    assert_eq!(outcomes.iter().filter(|it| **it == Claim::Conflict).count(), 7);
}

/// An erasure that stops midway leaves nothing to be read, and whoever repeats it, or makes the space anew, ends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_that_stopped_is_ended() {
    let Some(options) = fresh().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    for anew in [false, true] {
        it.records.create_space(&a, noon()).await.unwrap();
        for part in 0..12 {
            let facts = (part * 1_000..(part + 1) * 1_000).map(|n| Derived::Fact(fact(n, "text")));
            let facts: Vec<_> = facts.collect();
            it.graph.put_derived(&a, &facts, &[]).await.unwrap();
        }
        let units: Vec<_> = (0..500).map(|n| unit(n, "text")).collect();
        it.graph.put_units(&a, &units, &[]).await.unwrap();
        let marked = async { while it.records.space(&a).await.unwrap().is_some() {} };
        tokio::select! {
            _ = it.records.delete_space(&a) => panic!("it was erased before it could be stopped"),
            () = marked => {}
        }
        assert!(it.graph.derived_changes(&a, 0, 9).await.unwrap().is_empty());
        assert!(it.graph.changes(&a, 0, 9).await.unwrap().is_empty());
        let fact = Derived::Fact(fact(1, "text"));
        let refused = it.graph.put_derived(&a, &[fact], &[]).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotFound);
        match anew {
            true => {
                let made = futures::future::join_all((0..4).map(|_| it.records.create_space(&a, noon()))).await;
                assert_eq!(made.into_iter().filter(|made| *made.as_ref().unwrap()).count(), 1);
            }
            false => {
                assert!(it.records.delete_space(&a).await.unwrap());
                assert!(!it.records.delete_space(&a).await.unwrap());
                assert!(it.records.create_space(&a, noon()).await.unwrap());
            }
        }
        assert_eq!(it.records.space(&a).await.unwrap().unwrap().units, 0);
        assert!(it.graph.derived_changes(&a, 0, 9).await.unwrap().is_empty());
        assert!(it.graph.changes(&a, 0, 9).await.unwrap().is_empty());
        assert!(it.records.delete_space(&a).await.unwrap());
    }
}
