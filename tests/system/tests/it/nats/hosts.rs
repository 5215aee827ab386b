//! Two hosts: clocks that differ, and a process that ends.

use std::time::{Duration, SystemTime};

use adapters::servers::nats::Options;
use domain::port::{Bus, DEADLINE, Frame};
use futures::StreamExt;
use tokio::time::timeout;

use super::{SOON, connect_bus, options_of_server, sample_frame, shared_server};

/// The deadline of a request is computed from the remaining time, regardless of the caller's clock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clock_of_a_caller_does_not_affect_its_deadline() {
    let Some(server) = shared_server() else { return };
    let bus = connect_bus(&options_of_server(server)).await;
    let mut inquiries = bus.serve("q").await.unwrap();
    tokio::spawn(async move {
        while let Some(inquiry) = inquiries.next().await {
            let deadline = inquiry.frame.headers.get(DEADLINE).cloned().unwrap_or_default();
            (inquiry.reply)(Ok(deadline.into_bytes()));
        }
    });
    let ask = |headers: &[(&str, &str)]| {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let question = Frame {
            subject: "q".to_owned(),
            headers: headers.collect(),
            ..sample_frame("", "", "?")
        };
        bus.request(question, SOON)
    };
    for by_its_clock in ["1", "9999999999999"] {
        let deadline_ms: u64 = String::from_utf8(ask(&[(DEADLINE, by_its_clock)]).await.unwrap())
            .unwrap()
            .parse()
            .unwrap();
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let left = Duration::from_millis(deadline_ms).saturating_sub(now);
        assert!(left > SOON / 2 && left <= SOON, "{left:?}");
    }
    assert!(ask(&[]).await.unwrap().is_empty(), "who says nothing has no deadline");
}

/// Operations before a flush reach the server, although the process ends immediately after it.
#[test]
fn operations_before_a_flush_reach_the_server() {
    let Some(server) = shared_server() else { return };
    let options = Options {
        ack_wait_ms: 60_000,
        ..options_of_server(server)
    };
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let ends = runtime();
    ends.block_on(async {
        let bus = connect_bus(&options).await;
        let mut deliveries = bus.subscribe("s", "g").await.unwrap();
        bus.publish(sample_frame("a", "", "1")).await.unwrap();
        drop(timeout(SOON, deliveries.next()).await.unwrap().unwrap().unwrap());
        let bus: &dyn Bus = &bus;
        bus.flush().await.unwrap();
    });
    ends.shutdown_background();
    runtime().block_on(async {
        let bus = connect_bus(&options).await;
        let mut deliveries = bus.subscribe("s", "g").await.unwrap();
        let delivery = timeout(SOON / 2, deliveries.next()).await.expect("before the ack wait");
        assert_eq!(delivery.unwrap().unwrap().attempt, 2);
    });
}
