//! Effects of a space with many messages on other spaces.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use adapters::servers::nats::partition_of_space;
use domain::port::Bus;
use futures::{StreamExt, stream};
use tokio::time::timeout;

use super::{SOON, connect_bus, options_of_server, sample_frame, shared_server};

const PARTITIONS: u16 = 32;

/// If 2,000 messages of one space wait, each of 20 other spaces is served among the first fifth of all turns, usually
/// among the first twenty. Only a space that shares the partition waits for the busy one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_space_delays_only_its_partition() {
    let Some(server) = shared_server() else { return };
    // The ack wait is so long that no delivery is repeated on a busy machine, which would change the turns.
    let options = adapters::servers::nats::Options {
        ack_wait_ms: 30_000,
        partitions: PARTITIONS,
        ..options_of_server(server)
    };
    let bus = connect_bus(&options).await;
    let published = Instant::now();
    let loud = stream::iter(0..2_000).map(|number| {
        let bus = &bus;
        async move {
            bus.publish(sample_frame("loud", "", &number.to_string()))
                .await
                .unwrap()
        }
    });
    loud.buffered(64).collect::<Vec<_>>().await;
    eprintln!("2,000 published, 64 at once, in {:?}", published.elapsed());
    let quiet: Vec<String> = (0..20).map(|number| format!("quiet-{number}")).collect();
    for space in &quiet {
        bus.publish(sample_frame(space, "", space)).await.unwrap();
    }

    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    let begun = Instant::now();
    let mut served = BTreeMap::new();
    let mut places = Vec::new();
    for turn in 0..2_020 {
        let delivery = timeout(SOON, deliveries.next()).await.unwrap().unwrap().unwrap();
        let text = String::from_utf8_lossy(&delivery.frame.payload).into_owned();
        if delivery.frame.space == "loud" {
            places.push(delivery.position);
        } else {
            served.insert(text, (turn, begun.elapsed()));
        }
        delivery.settler.done().await.unwrap();
    }
    assert!(places.is_sorted(), "the loud space is in order");
    let of_loud = partition_of_space("loud", PARTITIONS);
    let (together, apart): (Vec<_>, Vec<_>) = quiet
        .iter()
        .partition(|it| partition_of_space(it, PARTITIONS) == of_loud);
    let last = apart.iter().map(|it| served[*it]).max().unwrap();
    eprintln!(
        "{} quiet spaces apart: the last one served in turn {} after {:?}; {} share the partition; all after {:?}",
        apart.len(),
        last.0,
        last.1,
        together.len(),
        begun.elapsed()
    );
    assert!(last.0 < 400, "the last quiet space came in turn {}", last.0);
    assert!(
        together.iter().all(|it| served[*it].0 >= 2_000),
        "the promise is not wider than it says"
    );
    assert!(together.len() <= 3, "names spread over partitions");
}

/// Messages of one partition that wait for a retry fill only that partition.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_space_fills_only_its_partition() {
    let Some(server) = shared_server() else { return };
    // The ack wait is so long that no delivery is repeated on a busy machine, which would be over the bound too.
    let options = adapters::servers::nats::Options {
        ack_wait_ms: 30_000,
        unsettled_max: 4,
        partitions: PARTITIONS,
        ..options_of_server(server)
    };
    let bus = connect_bus(&options).await;
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    for _ in 0..6 {
        bus.publish(sample_frame("loud", "", "loud")).await.unwrap();
    }
    for _ in 0..4 {
        let delivery = timeout(SOON, deliveries.next()).await.unwrap().unwrap().unwrap();
        delivery.settler.retry_after(Duration::from_secs(3_600)).await.unwrap();
    }
    assert!(
        timeout(Duration::from_millis(300), deliveries.next()).await.is_err(),
        "over the bound"
    );
    let begun = Instant::now();
    bus.publish(sample_frame("quiet-1", "", "quiet")).await.unwrap();
    let delivery = timeout(SOON, deliveries.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(delivery.frame.space, "quiet-1");
    eprintln!(
        "a quiet space beside a failing one: delivered after {:?}",
        begun.elapsed()
    );
}
