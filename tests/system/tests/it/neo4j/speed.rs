//! Measures the speed of the server and prints it; run with `--ignored --nocapture`. `MNEMIC_NEO4J_JIT=` gives the
//! server its full compiler.

use std::time::{Duration, Instant};

use adapters::servers::neo4j::{Neo4j, provision_schema};
use domain::id::{SessionId, SpaceId, UnitId};
use domain::port::{Graph, Records, Room, Selection};
use domain::relation::{Relation, RelationKind};
use system::servers::neo4j::Server;

use super::sample::{noon, record, relation, space, unit, unit_id};

const UNITS: u128 = 10_000;
const RELATIONS: u128 = 100_000;
const KINDS: [RelationKind; 4] = [
    RelationKind::Causes,
    RelationKind::FollowsUp,
    RelationKind::Before,
    RelationKind::SameAs,
];

/// Runs `step` for every part. Prints the median and the 95th percentile of the time of a step, and the rate in
/// objects a second; a step handles `each` objects.
#[expect(clippy::print_stdout, reason = "what it finds is for people")]
async fn measure_steps(what: &str, each: usize, parts: usize, mut step: impl AsyncFnMut(usize)) {
    let mut times = Vec::with_capacity(parts);
    for part in 0..parts {
        let begun = Instant::now();
        step(part).await;
        times.push(begun.elapsed());
    }
    let whole: Duration = times.iter().sum();
    times.sort_unstable();
    let (median, late) = (times[parts / 2], times[parts * 95 / 100]);
    let rate = (each * parts) as f64 / whole.as_secs_f64();
    println!("{what:<44} p50 {median:>9.1?}  p95 {late:>9.1?}  {rate:>9.0}/s");
}

/// Returns a text with the length of a usual message.
fn sample_words(number: usize) -> String {
    format!("message {number} of a conversation about the garden, the weather and what to cook tonight")
}

/// Returns a number that looks random and is the same on every run.
fn scatter_number(number: u128) -> u128 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

fn some_units(part: usize, number: usize) -> Vec<UnitId> {
    (0..number as u128)
        .map(|n| unit_id(scatter_number(part as u128 * 1_000 + n) % UNITS))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes and only prints"]
async fn the_speed_of_the_server_is_printed() {
    let Some(server) = Server::start(false, "").await.unwrap() else {
        return;
    };
    let options = server.options("speed");
    provision_schema(&options).await.unwrap();
    let it = Neo4j::connect(&options).await.unwrap();
    let a = space("a");
    it.records.create_space(&a, noon()).await.unwrap();
    write_records(&*it.records, &a).await;
    write_units(&*it.graph, &a).await;
    write_relations(&*it.graph, &a).await;
    measure_reads(&*it.graph, &a).await;
    measure_steps("erase the space", 1, 1, async |_| {
        assert!(it.records.delete_space(&a).await.unwrap())
    })
    .await;
}

async fn write_records(records: &dyn Records, a: &SpaceId) {
    let mut first = 0;
    for (each, parts) in [(100, 100), (1, 300), (10, 100)] {
        measure_steps(&format!("put records, {each} each"), each, parts, async |part| {
            let numbers = first + part * each..first + (part + 1) * each;
            let batch: Vec<_> = numbers.map(|n| record(a, n, &sample_words(n))).collect();
            records.put(a, &batch).await.unwrap();
        })
        .await;
        first += each * parts;
    }
    measure_steps("page of 100 records, at the end", 100, 100, async |part| {
        let after = (first - 100 - part) as u64;
        assert!(records.list(a, after, 100).await.unwrap().0.len() == 100);
    })
    .await;
}

async fn write_units(graph: &dyn Graph, a: &SpaceId) {
    measure_steps("put units, 100 each", 100, UNITS as usize / 100, async |part| {
        let batch: Vec<_> = (part * 100..(part + 1) * 100)
            .map(|n| unit(n as u128, &sample_words(n)[..20]))
            .collect();
        graph.put_units(a, &batch, &[]).await.unwrap();
    })
    .await;
    measure_steps("put 1 changed unit", 1, 300, async |part| {
        graph.put_units(a, &[unit(part as u128, "changed")], &[]).await.unwrap();
    })
    .await;
    measure_steps("put 100 equal units", 100, 50, async |part| {
        let batch: Vec<_> = (part * 100..(part + 1) * 100)
            .map(|n| unit(n as u128 + 3_000, "once"))
            .collect();
        graph.put_units(a, &batch, &[]).await.unwrap();
        graph.put_units(a, &batch, &[]).await.unwrap();
    })
    .await;
}

async fn write_relations(graph: &dyn Graph, a: &SpaceId) {
    measure_steps(
        "put relations of 4 kinds, 1000 each",
        1_000,
        RELATIONS as usize / 1_000,
        async |part| {
            let numbers = part as u128 * 1_000..(part as u128 + 1) * 1_000;
            let batch: Vec<Relation> = numbers
                .map(|n| {
                    relation(
                        scatter_number(n) % UNITS,
                        KINDS[n as usize % 4],
                        "",
                        scatter_number(n + RELATIONS) % UNITS,
                    )
                })
                .collect();
            graph.put_relations(a, &batch).await.unwrap();
        },
    )
    .await;
    measure_steps("put 1 relation", 1, 300, async |part| {
        graph
            .put_relations(a, &[relation(part as u128, RelationKind::Other, "x", 1)])
            .await
            .unwrap();
    })
    .await;
}

async fn measure_reads(graph: &dyn Graph, a: &SpaceId) {
    measure_steps("read 1000 units by id", 1_000, 50, async |part| {
        assert!(graph.units(a, &some_units(part, 1_000)).await.unwrap().len() == 1_000);
    })
    .await;
    measure_steps("read 20 units by id", 20, 300, async |part| {
        assert!(graph.units(a, &some_units(part, 20)).await.unwrap().len() == 20);
    })
    .await;
    measure_steps("feed of 10k units, pages of 1000", 10_000, 5, async |_| {
        let mut cursor = 0;
        while let Some(last) = graph.changes(a, cursor, 1_000).await.unwrap().last() {
            cursor = last.sequence;
        }
    })
    .await;
    let mut rare = unit(UNITS, "rare");
    (rare.actor, rare.session) = ("Zoë".to_owned(), SessionId::from_name(a, "rare"));
    graph.put_units(a, std::slice::from_ref(&rare), &[]).await.unwrap();
    let (by_actor, by_session) = (
        Selection {
            actor: Some("zoë".to_owned()),
            ..Selection::default()
        },
        Selection {
            session: Some(rare.session),
            ..Selection::default()
        },
    );
    for (what, selection) in [("actor", by_actor), ("session", by_session)] {
        measure_steps(&format!("the one unit of an {what} of 10k"), 1, 100, async |_| {
            let (found, next) = graph.select(a, &selection, 0, Room::of_items(100)).await.unwrap();
            assert_eq!((found.len(), next), (1, None));
        })
        .await;
    }
    measure_steps("relations of 20 units, at most 200", 1, 300, async |part| {
        assert!(graph.relations(a, &some_units(part, 20), 200).await.unwrap().len() == 200);
    })
    .await;
    measure_steps("relations of 20 units, all", 1, 300, async |part| {
        assert!(graph.relations(a, &some_units(part, 20), 9_999).await.unwrap().len() > 200);
    })
    .await;
}
