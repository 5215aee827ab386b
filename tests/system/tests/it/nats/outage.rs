//! A server that is killed, away, full or not provisioned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use adapters::servers::nats::{NatsBus, Options, Topic, provision_streams};
use domain::port::{Bus, Frame};
use domain::{Classify, ErrorKind};
use fixtures::wait_until;
use futures::StreamExt;
use system::servers::nats::Nats;
use tokio::time::{sleep, timeout};

use super::{SOON, connect_bus, drain_deliveries, options_of_server, sample_frame, shared_server};

/// Returns a frame of the subject that has no bound on messages.
fn frame_of_space(space: &str) -> Frame {
    Frame {
        subject: "other".to_owned(),
        ..sample_frame(space, "", space)
    }
}

/// Returns options for a server that is killed: a publish whose confirmation is lost is repeated soon.
fn options_of_killed_server(server: &Nats) -> Options {
    Options {
        call_timeout_ms: 2_000,
        ..options_of_server(server)
    }
}

/// If the server is killed during publishes, no acknowledged message is lost and no key is stored twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_loses_no_acknowledged_message() {
    const KEYS: u32 = 1_500;
    let Some(mut server) = Nats::start("") else { return };
    let options = options_of_killed_server(&server);
    let bus = Arc::new(connect_bus(&options).await);
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    let (next, acknowledged) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let publishers: Vec<_> = (0..16)
        .map(|_| {
            let (bus, next, acknowledged) = (Arc::clone(&bus), Arc::clone(&next), Arc::clone(&acknowledged));
            tokio::spawn(async move {
                let mut stored = Vec::new();
                loop {
                    let key = next.fetch_add(1, Ordering::SeqCst);
                    if key >= KEYS {
                        return stored;
                    }
                    let key = key.to_string();
                    let position = bus
                        .publish(sample_frame(&format!("space {}", key.len()), &key, &key))
                        .await;
                    stored.push((position.expect("published across the kill").0, key));
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for part in 1..=2 {
        while acknowledged.load(Ordering::SeqCst) < part * KEYS / 3 {
            tokio::task::yield_now().await;
        }
        server.kill();
        server.restart();
    }
    let mut stored = BTreeMap::new();
    for publisher in publishers {
        stored.extend(publisher.await.unwrap());
    }
    assert_eq!(stored.len(), KEYS as usize, "every key has its own position");

    let seen = drain_deliveries(&mut deliveries, stored.len()).await;
    assert_eq!(seen, stored, "what was acknowledged is what is delivered");
    assert_eq!(bus.backlog("s", "g").await.unwrap(), 0);
}

/// A waiting consumer continues by itself after the server was away. In the meantime, every call ends in bounded time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_consumer_waits_until_its_server_is_available() {
    let Some(mut server) = Nats::start("") else { return };
    let patient = options_of_server(&server);
    drop(connect_bus(&patient).await.subscribe("s", "g").await.unwrap());
    let options = Options {
        call_timeout_ms: 1_500,
        publish_timeout_ms: 2_000,
        ..patient.clone()
    };
    let bus = connect_bus(&options).await;
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    let mut inquiries = bus.serve("q").await.unwrap();
    bus.publish(sample_frame("a", "", "before")).await.unwrap();
    let before = deliveries.next().await.unwrap().unwrap();
    assert!(timeout(Duration::from_millis(50), deliveries.next()).await.is_err());

    server.kill();
    let away = Instant::now();
    wait_until("the bus sees that its server is away", async || !bus.is_connected()).await;
    let calls = Instant::now();
    let kind = |error: domain::PortError| error.kind();
    let unavailable = Some(ErrorKind::Unavailable);
    assert_eq!(
        bus.publish(sample_frame("a", "", "lost")).await.err().map(kind),
        unavailable
    );
    assert_eq!(bus.backlog("s", "g").await.err().map(kind), unavailable);
    assert_eq!(bus.erase("a").await.err().map(kind), unavailable);
    let patience = Duration::from_secs(20);
    let question = Frame {
        subject: "q".to_owned(),
        ..sample_frame("", "", "?")
    };
    assert_eq!(
        bus.request(question.clone(), patience).await.err().map(kind),
        unavailable
    );
    assert_eq!(before.settler.done().await.err().map(kind), unavailable);
    assert!(calls.elapsed() < patience, "{:?}", calls.elapsed());
    // Three seconds are an outage; a shorter one would be over before the client tries again.
    sleep(Duration::from_secs(3).saturating_sub(away.elapsed())).await;

    server.restart();
    let back = Instant::now();
    let publisher = connect_bus(&patient).await;
    publisher.publish(sample_frame("b", "", "after")).await.unwrap();
    let mut texts = BTreeSet::new();
    while !texts.contains("after") {
        let delivery = timeout(SOON, deliveries.next()).await.unwrap().unwrap().unwrap();
        texts.insert(String::from_utf8_lossy(&delivery.frame.payload).into_owned());
        delivery.settler.done().await.unwrap();
    }
    assert!(bus.is_connected());
    eprintln!("delivering again {:?} after the server was back", back.elapsed());

    let answering = tokio::spawn(async move {
        while let Some(inquiry) = inquiries.next().await {
            (inquiry.reply)(Ok(b"!".to_vec()));
        }
    });
    assert_eq!(publisher.request(question, patience).await.unwrap(), b"!");
    answering.abort();
}

/// A key is recognised after a restart of the server, as long as its message is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_survives_a_restart_of_the_server() {
    let Some(mut server) = Nats::start("") else { return };
    let options = options_of_killed_server(&server);
    let bus = connect_bus(&options).await;
    let first = bus.publish(sample_frame("a", "k", "1")).await.unwrap();
    server.kill();
    server.restart();
    assert_eq!(bus.publish(sample_frame("a", "k", "1")).await.unwrap(), first);
}

/// A space at its bound is rejected alone, and a stream at its bound rejects all spaces. Both continue when there is
/// room. Subjects with derived messages have no such bound.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publishing_beyond_a_bound_is_rejected() {
    let Some(server) = shared_server() else { return };
    let options = Options {
        messages_max: 4,
        messages_of_space_max: 3,
        ..options_of_server(server)
    };
    let bus = connect_bus(&options).await;
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    let publish = |space: &'static str| async {
        bus.publish(sample_frame(space, "", space))
            .await
            .map_err(|it| it.kind())
    };
    let room = async |subject: &str| bus.check_room(subject).await.map_err(|it| it.kind());
    for _ in 0..3 {
        publish("loud").await.unwrap();
    }
    assert_eq!(room("s").await, Ok(()), "the bound of one space does not count");
    assert_eq!(publish("loud").await, Err(ErrorKind::Exhausted));
    publish("calm").await.unwrap();
    assert_eq!(publish("other").await, Err(ErrorKind::Exhausted));
    assert_eq!(room("s").await, Err(ErrorKind::Exhausted));
    assert_eq!(drain_deliveries(&mut deliveries, 4).await.len(), 4);
    assert_eq!(room("s").await, Ok(()));
    publish("loud").await.unwrap();
    for _ in 0..9 {
        bus.publish(frame_of_space("loud")).await.unwrap();
    }
}

/// A message or reply that is too large for the server is rejected immediately, and the error names the size.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oversized_messages_and_replies_are_rejected() {
    let Some(server) = shared_server() else { return };
    let bus = connect_bus(&options_of_server(server)).await;
    let large = "x".repeat(8_500_000);
    let error = bus.publish(sample_frame("a", "", &large)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    bus.publish(sample_frame("a", "", &large[..7_900_000])).await.unwrap();

    let mut inquiries = bus.serve("q").await.unwrap();
    tokio::spawn(async move {
        while let Some(inquiry) = inquiries.next().await {
            let size: usize = String::from_utf8_lossy(&inquiry.frame.payload).parse().unwrap();
            (inquiry.reply)(Ok(vec![b'x'; size]));
        }
    });
    let ask = |size: &str| {
        let question = Frame {
            subject: "q".to_owned(),
            ..sample_frame("", "", size)
        };
        bus.request(question, Duration::from_secs(10))
    };
    assert_eq!(ask("7900000").await.unwrap().len(), 7_900_000);
    let error = ask("9000000").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
    assert!(error.detail().contains("9000000 bytes"), "{error}");
}

/// Without streams no client connects, and the error gives the remedy. Differences are reported or corrected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_are_provisioned_and_checked() {
    let Some(server) = shared_server() else { return };
    let now = options_of_server(server);
    // Earlier versions created all streams with a bound.
    let bounded = |it: &Topic| Topic {
        bounded: true,
        ..it.clone()
    };
    let options = Options {
        topics: now.topics.iter().map(bounded).collect(),
        ..now.clone()
    };
    let error = NatsBus::connect(&options).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("mnemic provision"), "{error}");

    assert_eq!(provision_streams(&options).await.unwrap(), []);
    let changed = Options {
        partitions: 8,
        messages_max: 10,
        ack_wait_ms: 500,
        ..now
    };
    let drifts = provision_streams(&changed).await.unwrap();
    let found: Vec<(&str, &str, &str)> = drifts
        .iter()
        .map(|it| (it.setting, it.found.as_str(), it.wanted.as_str()))
        .collect();
    assert_eq!(found, [("partitions", "7", "8"); 2]);
    let bus = NatsBus::connect(&changed).await.unwrap();
    for _ in 0..10 {
        bus.publish(sample_frame("a", "", "1")).await.unwrap();
    }
    let full = bus.publish(sample_frame("a", "", "1")).await.unwrap_err();
    assert_eq!(full.kind(), ErrorKind::Exhausted, "the new bound counts: {full}");
    for _ in 0..11 {
        bus.publish(frame_of_space("a")).await.unwrap();
    }
    assert_eq!(provision_streams(&options).await.unwrap(), []);
}
