//! A server that crashes, hangs or is not provisioned.

use std::time::{Duration, Instant};

use adapters::servers::neo4j::{Neo4j, Options, SetupError, provision_schema};
use domain::port::Records;
use domain::{Classify, ErrorKind};
use fixtures::{wait_for, wait_until};
use system::conformance::bus::SOON;
use system::servers::neo4j::Server;

use super::sample::{noon, record, space, unit, unit_id};

const TASKS: usize = 4;
const BATCH: usize = 20;
const BATCHES: usize = 60;

/// Stores the batches of one task, and repeats each until it is acknowledged. Returns the number of failed attempts.
async fn store_until_stopped(it: &Neo4j, task: usize) -> usize {
    let a = space("a");
    let mut failed = 0;
    for batch in 0..BATCHES {
        let first = (task * BATCHES + batch) * BATCH;
        let records: Vec<_> = (first..first + BATCH).map(|n| record(&a, n, "text")).collect();
        let units: Vec<_> = (first..first + BATCH).map(|n| unit(n as u128, "text")).collect();
        let begun = Instant::now();
        loop {
            let outcome = match it.records.put(&a, &records).await {
                Ok(()) => it.graph.put_units(&a, &units, &[]).await,
                refused => refused,
            };
            let Err(error) = outcome else { break };
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "it does not come back: {error:?}"
            );
            failed += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    failed
}

/// A server that is killed during writes has everything that it acknowledged. Nothing is stored twice, although
/// batches are sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_a_crash() {
    let Some(mut server) = Server::start(false, "").await.unwrap() else {
        return;
    };
    let options = server.options("crash");
    provision_schema(&options).await.unwrap();
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    it.records.create_space(&a, noon()).await.unwrap();

    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let it = it.clone();
            tokio::spawn(async move { store_until_stopped(&it, task).await })
        })
        .collect();
    for part in [1, 2] {
        let part = (TASKS * BATCHES * BATCH / 3 * part) as u64;
        let stored = async || it.records.space(&a).await.unwrap().unwrap().records;
        wait_until("a part is stored", async || stored().await >= part).await;
        server.kill().unwrap();
        server.restart().await.unwrap();
        wait_until("the server answers again", async || it.records.space(&a).await.is_ok()).await;
    }
    let mut failed = 0;
    for task in tasks {
        failed += task.await.unwrap();
    }
    assert!(failed > 0, "no store was under way when the server was killed");

    let all = TASKS * BATCHES * BATCH;
    let (records, more) = it.records.list(&a, 0, all + 1).await.unwrap();
    let mut numbers: Vec<u64> = records.iter().map(|it| it.ordinal).collect();
    numbers.sort_unstable();
    assert_eq!((numbers, more), ((0..all as u64).collect(), None));
    let changes = it.graph.changes(&a, 0, all + 1).await.unwrap();
    assert!(changes.is_sorted_by(|x, y| x.sequence < y.sequence));
    let mut units: Vec<_> = changes.iter().map(|it| it.unit.id).collect();
    units.sort_unstable();
    assert_eq!(units, (0..all as u128).map(unit_id).collect::<Vec<_>>());
    let info = it.records.space(&a).await.unwrap().unwrap();
    assert_eq!((info.records, info.units), (all as u64, all as u64));
}

/// A server without the schema is rejected, and the error gives the remedy. Calls to a server that hangs or is away
/// fail in bounded time, and succeed again when it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_to_a_hanging_server_fail_in_bounded_time() {
    let Some(mut server) = Server::start(false, "").await.unwrap() else {
        return;
    };
    let patient = server.options("hang");
    let refused = Neo4j::connect(&patient).await.err().unwrap();
    assert!(matches!(refused, SetupError::NotProvisioned { .. }), "{refused:?}");
    assert!(refused.to_string().contains("mnemic provision"), "{refused}");
    let at_once = futures::future::join_all((0..3).map(|_| provision_schema(&patient)));
    for drifts in at_once.await {
        assert_eq!(drifts.unwrap(), []);
    }
    assert_eq!(provision_schema(&patient).await.unwrap(), []);
    let a = space("a");
    Neo4j::connect(&patient)
        .await
        .unwrap()
        .records
        .create_space(&a, noon())
        .await
        .unwrap();

    let hasty = Options {
        connect_ms: 1_000,
        call_ms: 1_000,
        ..patient
    };
    // On a busy machine, connecting may take longer than the limit.
    let it = wait_for("a hasty client is connected", async || Neo4j::connect(&hasty).await).await;
    server.signal("STOP").unwrap();
    let begun = Instant::now();
    let kinds = futures::future::join_all((0..20).map(async |n| {
        let outcome = it.records.put(&a, &[record(&a, n, "text")]).await;
        outcome.unwrap_err().kind()
    }));
    assert_eq!(kinds.await, [ErrorKind::Unavailable; 20]);
    let waited = begun.elapsed();
    assert!(
        waited < Duration::from_secs(15),
        "{waited:?} for 20 calls of 1 s at once"
    );
    let refused = Neo4j::connect(&hasty).await.err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused:?}");
    tokio::time::sleep(Duration::from_secs(3).saturating_sub(begun.elapsed())).await;
    server.signal("CONT").unwrap();
    wait_until_recovered(&*it.records).await;

    server.kill().unwrap();
    assert_eq!(it.records.space(&a).await.unwrap_err().kind(), ErrorKind::Unavailable);
    server.restart().await.unwrap();
    wait_until_recovered(&*it.records).await;
}

async fn wait_until_recovered(records: &dyn Records) {
    let begun = Instant::now();
    let a = space("a");
    while let Err(error) = records.put(&a, &[record(&a, 99, "text")]).await {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
        assert!(begun.elapsed() < SOON, "it does not come back: {error:?}");
    }
}
