//! Concurrent calls, and work that stops midway.

use std::cell::Cell;
use std::ops::Range;

use adapters::servers::neo4j::Neo4j;
use domain::derived::Derived;
use domain::id::RecordId;
use domain::port::{Change, Claim, Result};
use domain::relation::RelationKind;
use domain::unit::Unit;
use domain::{Classify, ErrorKind};
use neo4rs::query;
use tokio::task::JoinHandle;

use super::sample::{fact, noon, record, relation, space, unit, unit_id};
use super::{connect_driver, fresh_options};

const TASKS: u128 = 8;
const EACH: u128 = 40;

/// While many writers write to one space, a reader of the feed misses nothing, and every count is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_of_the_feed_misses_nothing_during_concurrent_writes() {
    let Some(options) = fresh_options().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    it.records.create_space(&a, noon()).await.unwrap();
    let write = |task: u128| {
        let (it, a) = (it.clone(), a.clone());
        async move {
            for n in 0..EACH {
                let number = task * EACH + n;
                // The next task puts the same unit, and all tasks put the same relations.
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
    let ended = || writers.iter().all(JoinHandle::is_finished);
    let seen = follow_pages(ended, async |after| sequences_of(it.graph.changes(&a, after, 7).await)).await;
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(
        seen.len(),
        (TASKS * EACH) as usize,
        "each once: an equal unit is no change"
    );
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

/// A feed never shows part of a step that is being stored, because a reader would skip the rest of the step.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_never_shows_part_of_a_step() {
    const STEPS: u128 = 30;
    const AT_ONCE: u128 = 100;
    const ALL: u128 = STEPS * AT_ONCE;
    let Some(options) = fresh_options().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    it.records.create_space(&a, noon()).await.unwrap();
    let facts = |numbers: Range<u128>, text| -> Vec<Derived> {
        let numbers = numbers.rev();
        numbers.map(|n| Derived::Fact(fact(n, text))).collect()
    };
    // All ids already have nodes in the opposite order, as ends of relations and as facts with another text.
    let edges: Vec<_> = (0..ALL).map(|n| relation(n, RelationKind::Before, "", n)).collect();
    it.graph.put_relations(&a, &edges).await.unwrap();
    let mut first = facts(0..ALL, "first");
    first.reverse();
    it.graph.put_derived(&a, &first, &[]).await.unwrap();
    let ended = Cell::new(false);
    let writer = async {
        for step in 0..STEPS {
            let of_step = step * AT_ONCE..(step + 1) * AT_ONCE;
            let units: Vec<_> = of_step.clone().rev().map(|n| unit(n, "text")).collect();
            it.graph.put_units(&a, &units, &[]).await.unwrap();
            it.graph.put_derived(&a, &facts(of_step, "then"), &[]).await.unwrap();
        }
        ended.set(true);
    };
    let units = follow_pages(
        || ended.get(),
        async |after| sequences_of(it.graph.changes(&a, after, 999).await),
    );
    let facts = follow_pages(
        || ended.get(),
        async |after| {
            let changes = it.graph.derived_changes(&a, after.max(ALL as u64), 999).await.unwrap();
            changes.iter().map(|it| it.sequence).collect()
        },
    );
    let ((), units, facts) = tokio::join!(writer, units, facts);
    assert_eq!((units.len(), facts.len()), (ALL as usize, ALL as usize));
}

/// Reads a feed page by page until everything is written and read. Returns the sequences, which must ascend.
async fn follow_pages(ended: impl Fn() -> bool, page: impl AsyncFn(u64) -> Vec<u64>) -> Vec<u64> {
    let mut seen = Vec::new();
    loop {
        // `ended` is checked before the read, so an empty page after the last write means that everything was read.
        let ended = ended();
        let read = page(seen.last().copied().unwrap_or(0)).await;
        if ended && read.is_empty() {
            assert!(seen.is_sorted_by(|a, b| a < b));
            return seen;
        }
        seen.extend(read);
    }
}

fn sequences_of(changes: Result<Vec<Change>>) -> Vec<u64> {
    changes.unwrap().iter().map(|it| it.sequence).collect()
}

/// A unit that is stored while it is retired keeps no text on the server once it is retired, whichever comes first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_that_is_stored_while_it_is_retired_keeps_no_text() {
    const SECRET: &str = "A secret canoe.";
    let Some(options) = fresh_options().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    it.records.create_space(&a, noon()).await.unwrap();
    for number in 0..EACH {
        let secret = Unit {
            text: SECRET.to_owned(),
            ..unit(number, "text")
        };
        let (stored, retired) = ([secret], [unit_id(number)]);
        let put = async { it.graph.put_units(&a, &stored, &[]).await.unwrap() };
        let retire = async { it.graph.put_units(&a, &[], &retired).await.unwrap() };
        tokio::join!(put, retire);
    }
    let driver = connect_driver(&options);
    let count_secrets = async || {
        let text = "MATCH (u:Unit) WHERE u.key STARTS WITH $start AND u.body CONTAINS $secret
            RETURN count(CASE WHEN u.live THEN 1 END) AS live, count(CASE WHEN NOT u.live THEN 1 END) AS retired";
        let count = query(text)
            .param("start", format!("{}/", options.namespace))
            .param("secret", SECRET);
        let mut rows = driver.execute(count).await.unwrap();
        let row = rows.next().await.unwrap().unwrap();
        (row.get::<i64>("live").unwrap(), row.get::<i64>("retired").unwrap())
    };
    let live = it.records.space(&a).await.unwrap().unwrap().units;
    assert_eq!(count_secrets().await, (live as i64, 0));
    let canoe = Unit {
        text: SECRET.to_owned(),
        ..unit(EACH, "text")
    };
    it.graph.put_units(&a, &[canoe], &[]).await.unwrap();
    assert_eq!(count_secrets().await, (live as i64 + 1, 0), "a live unit has its text");
}

/// If several callers create a space or claim an id at the same time, exactly one is the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_one_of_several_concurrent_callers_is_first() {
    let Some(options) = fresh_options().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    let made = futures::future::join_all((0..8).map(|_| it.records.create_space(&a, noon()))).await;
    assert_eq!(made.into_iter().filter(|made| *made.as_ref().unwrap()).count(), 1);
    let claims: Vec<_> = (0u8..8)
        .map(|n| [(RecordId::from_external_id(&a, "1"), [n; 32])])
        .collect();
    let outcomes = futures::future::join_all(claims.iter().map(|it_| it.records.claim(&a, it_))).await;
    let outcomes: Vec<Claim> = outcomes.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(outcomes.iter().filter(|it| **it == Claim::Fresh).count(), 1);
    assert_eq!(outcomes.iter().filter(|it| **it == Claim::Conflict).count(), 7);
}

/// An interrupted erasure leaves nothing readable. A repeated deletion, or a new space of the same name, completes it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_erasure_is_completed() {
    let Some(options) = fresh_options().await else { return };
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
