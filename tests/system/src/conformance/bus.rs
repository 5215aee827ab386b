//! Durable streams and request/reply.

use std::time::{Duration, Instant};

use domain::port::{Bus, Delivery, Frame, Position, Result};
use domain::{ErrorKind, PortError};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::time::timeout;

use super::sample::frame;
use super::{Ports, error_kind};

/// Longest wait for an expected event, long enough for a busy machine.
pub const SOON: Duration = Duration::from_secs(60);
/// Ack wait of the suites. A machine that pauses for a shorter time loses no delivery that is being processed.
pub const ACK_WAIT: Duration = Duration::from_secs(2);
/// Time during which nothing must arrive; far shorter than any delay under test.
const QUIET: Duration = Duration::from_millis(150);

pub(super) type Deliveries = BoxStream<'static, Result<Delivery>>;

pub(super) async fn next(deliveries: &mut Deliveries) -> Delivery {
    timeout(SOON, deliveries.next())
        .await
        .expect("a delivery in time")
        .expect("no end")
        .expect("no error")
}

pub(super) async fn expect_no_delivery(deliveries: &mut Deliveries) {
    if let Ok(Some(Ok(it))) = timeout(QUIET, deliveries.next()).await {
        panic!("unexpected: {}", payload_text(&it));
    }
}

pub(super) fn payload_text(delivery: &Delivery) -> String {
    String::from_utf8_lossy(&delivery.frame.payload).into_owned()
}

async fn publish_frame(bus: &dyn Bus, space: &str, key: &str, payload: &str) -> u64 {
    bus.publish(frame("s", space, key, payload)).await.unwrap().0
}

/// A key of a subject is stored once, also after its message was settled. An empty key is stored every time. Positions
/// increase.
pub async fn a_key_is_stored_once(open: impl AsyncFn() -> Ports) {
    let bus = open().await.bus;
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    let first = publish_frame(&*bus, "a", "k", "1").await;
    assert_eq!(publish_frame(&*bus, "a", "k", "2").await, first);
    let plain = publish_frame(&*bus, "a", "", "3").await;
    let again = publish_frame(&*bus, "a", "", "3").await;
    assert!(0 < first && first < plain && plain < again, "{first} {plain} {again}");
    assert_ne!(bus.publish(frame("other", "a", "k", "4")).await.unwrap().0, first);

    for expected in ["1", "3", "3"] {
        let delivery = next(&mut deliveries).await;
        assert_eq!((payload_text(&delivery).as_str(), delivery.attempt), (expected, 1));
        delivery.settler.done().await.unwrap();
    }
    assert_eq!(publish_frame(&*bus, "a", "k", "5").await, first);
    expect_no_delivery(&mut deliveries).await;
}

/// A delivery contains the frame as it was published, and its position.
pub async fn a_frame_arrives_as_it_was(open: impl AsyncFn() -> Ports) {
    let bus = open().await.bus;
    let sent = Frame {
        payload: vec![0, 255, 10],
        ..frame("s", "a", "k", "")
    };
    let position = bus.publish(sent.clone()).await.unwrap();
    let delivery = next(&mut bus.subscribe("s", "g").await.unwrap()).await;
    assert_eq!(
        (delivery.frame, delivery.position, delivery.attempt),
        (sent, position, 1)
    );
}

/// Every group receives the messages from before and after its subscription. The members of a group share them.
pub async fn groups_hear_all_and_members_share(open: impl AsyncFn() -> Ports) {
    let bus = open().await.bus;
    publish_frame(&*bus, "a", "", "before").await;
    let (mut one, mut two) = (
        bus.subscribe("s", "g").await.unwrap(),
        bus.subscribe("s", "g").await.unwrap(),
    );
    let mut other = bus.subscribe("s", "h").await.unwrap();
    publish_frame(&*bus, "a", "", "after").await;

    let shared = [next(&mut one).await, next(&mut two).await];
    let mut texts: Vec<String> = shared.iter().map(payload_text).collect();
    texts.sort();
    assert_eq!(texts, ["after", "before"]);
    assert_eq!(
        [
            payload_text(&next(&mut other).await),
            payload_text(&next(&mut other).await)
        ],
        ["before", "after"]
    );
    expect_no_delivery(&mut one).await;
    expect_no_delivery(&mut two).await;
}

/// A dropped delivery is delivered again after the ack wait, with the next attempt. `extend` restarts the wait.
pub async fn what_is_dropped_comes_again(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    publish_frame(&*ports.bus, "a", "", "1").await;
    let first = next(&mut deliveries).await;
    let started = Instant::now();
    for _ in 0..8 {
        let early = timeout(ports.ack_wait / 4, deliveries.next()).await;
        assert!(early.is_err(), "delivered while the work was going on");
        first.settler.extend().await.unwrap();
    }
    assert!(started.elapsed() > ports.ack_wait);
    let position = first.position;
    drop(first);
    let second = next(&mut deliveries).await;
    assert_eq!((second.position, second.attempt), (position, 2));
    second.settler.done().await.unwrap();
    assert!(
        timeout(ports.ack_wait * 2, deliveries.next()).await.is_err(),
        "delivered after it was done"
    );
}

/// A retried message is not delivered before its delay, comes with the next attempt, and does not delay other
/// messages.
pub async fn a_retry_waits_for_its_delay(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    publish_frame(&*ports.bus, "a", "", "1").await;
    publish_frame(&*ports.bus, "a", "", "2").await;
    let delay = ports.ack_wait * 2;
    let first = next(&mut deliveries).await;
    let started = Instant::now();
    first.settler.retry_after(delay).await.unwrap();
    let second = next(&mut deliveries).await;
    assert_eq!((payload_text(&second).as_str(), second.attempt), ("2", 1));
    second.settler.done().await.unwrap();
    let again = next(&mut deliveries).await;
    assert_eq!((payload_text(&again).as_str(), again.attempt), ("1", 2));
    assert!(started.elapsed() >= delay, "{:?}", started.elapsed());
}

/// A consumer that stops waiting loses nothing.
pub async fn a_cancelled_wait_loses_nothing(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    for number in 0..50 {
        publish_frame(&*ports.bus, "a", "", &number.to_string()).await;
        drop(futures::poll!(deliveries.next()));
    }
    drop(deliveries);
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 50 {
        let delivery = next(&mut deliveries).await;
        seen.push(payload_text(&delivery).parse::<u32>().unwrap());
        delivery.settler.done().await.unwrap();
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..50).collect::<Vec<_>>());
}

/// A space with many waiting messages does not delay a space with few.
pub async fn spaces_take_turns(open: impl AsyncFn() -> Ports) {
    let bus = open().await.bus;
    for number in 0..20 {
        publish_frame(&*bus, "loud", "", &format!("loud {number}")).await;
    }
    publish_frame(&*bus, "calm", "", "calm 0").await;
    publish_frame(&*bus, "calm", "", "calm 1").await;
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    let mut order = Vec::new();
    for _ in 0..22 {
        let delivery = next(&mut deliveries).await;
        order.push(payload_text(&delivery));
        delivery.settler.done().await.unwrap();
    }
    let place = |wanted: &str| order.iter().position(|it| it == wanted).unwrap();
    assert!(place("calm 0") <= 2 && place("calm 1") <= 4, "{order:?}");
    let loud: Vec<usize> = (0..20).map(|number| place(&format!("loud {number}"))).collect();
    assert!(loud.is_sorted(), "{order:?}");
}

/// The backlog counts the messages that a group has not settled, over all spaces. An unknown group has settled
/// nothing.
pub async fn the_backlog_counts_what_is_not_settled(open: impl AsyncFn() -> Ports) {
    let bus = open().await.bus;
    for space in ["a", "b", "c", "d"] {
        publish_frame(&*bus, space, "", "1").await;
    }
    assert_eq!(bus.backlog("s", "g").await.unwrap(), 4);
    assert_eq!(bus.backlog("other", "g").await.unwrap(), 0);
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    assert_eq!(bus.backlog("s", "g").await.unwrap(), 4);
    let (done, retried, dead) = (
        next(&mut deliveries).await,
        next(&mut deliveries).await,
        next(&mut deliveries).await,
    );
    assert_eq!(bus.backlog("s", "g").await.unwrap(), 4);
    done.settler.done().await.unwrap();
    retried.settler.retry_after(SOON).await.unwrap();
    dead.settler.dead_letter("broken").await.unwrap();
    assert_eq!(bus.backlog("s", "g").await.unwrap(), 2);
    assert_eq!(
        bus.backlog("s", "unheard of").await.unwrap(),
        2,
        "what the only known group settled may be gone"
    );
}

/// The backlog of a space counts its messages that some group has not settled, whatever other spaces send.
pub async fn the_backlog_of_a_space_counts_nothing_of_others(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let bus = &ports.bus;
    let backlog = async |space: &str| bus.backlog_of_space("s", space).await.unwrap();
    assert_eq!(backlog("a").await, 0);
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    for (space, payload) in [("a", "1"), ("a", "2"), ("a", "3"), ("b", "4")] {
        publish_frame(&**bus, space, "", payload).await;
    }
    assert_eq!((backlog("a").await, backlog("b").await, backlog("c").await), (3, 1, 0));
    assert_eq!(bus.backlog_of_space("other", "a").await.unwrap(), 0);
    let mut of_a = Vec::new();
    for _ in 0..4 {
        let delivery = next(&mut deliveries).await;
        match delivery.frame.space.as_str() {
            "a" => of_a.push(delivery),
            _ => delivery.settler.done().await.unwrap(),
        }
    }
    assert_eq!(
        (backlog("a").await, backlog("b").await),
        (3, 0),
        "what is out is not settled"
    );
    let [done, retried, dead] = <[Delivery; 3]>::try_from(of_a).ok().expect("three deliveries");
    done.settler.done().await.unwrap();
    retried.settler.retry_after(SOON).await.unwrap();
    dead.settler.dead_letter("broken").await.unwrap();
    assert_eq!(backlog("a").await, 1);
    let letter = ports.dead_letters.list(0, 1).await.unwrap()[0].id;
    ports.dead_letters.replay(letter).await.unwrap();
    assert_eq!(backlog("a").await, 2, "what is delivered again waits again");
}

/// A space can list its own unsettled messages of one subject, whether they are being delivered or not.
pub async fn unsettled_messages_are_listed_by_space(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let bus = &ports.bus;
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    let mut positions = Vec::new();
    for payload in ["1", "2", "3"] {
        positions.push(publish_frame(&**bus, "a", "", payload).await);
    }
    let of = async |space: &str, limit: usize| bus.unsettled("s", space, limit).await.unwrap();
    let positions: Vec<Position> = positions.into_iter().map(Position).collect();
    assert_eq!(of("a", 9).await, positions);
    assert_eq!(of("a", 2).await, positions[..2]);
    assert_eq!(of("b", 9).await, [], "another space has none");
    assert_eq!(bus.unsettled("other", "a", 9).await.unwrap(), []);
    let (done, dead, out) = (
        next(&mut deliveries).await,
        next(&mut deliveries).await,
        next(&mut deliveries).await,
    );
    assert_eq!(of("a", 9).await, positions, "what is out for delivery is not settled");
    let (given_up, kept) = (dead.position, out.position);
    done.settler.done().await.unwrap();
    let letter = dead.settler.dead_letter("broken").await.unwrap();
    assert_eq!(of("a", 9).await, [kept]);
    ports.dead_letters.replay(letter.unwrap()).await.unwrap();
    assert_eq!(of("a", 9).await, [given_up, kept], "it has its position again");
}

/// Messages, attempts, groups, delays and keys survive a restart.
pub async fn the_queue_survives(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    let first = publish_frame(&*ports.bus, "a", "k", "1").await;
    for payload in ["2", "3", "4"] {
        publish_frame(&*ports.bus, "a", "", payload).await;
    }
    let [one, two, three] = [
        next(&mut deliveries).await,
        next(&mut deliveries).await,
        next(&mut deliveries).await,
    ];
    one.settler.done().await.unwrap();
    three.settler.retry_after(Duration::from_secs(3_600)).await.unwrap();
    drop((two, deliveries, ports));

    let ports = open().await;
    assert_eq!(publish_frame(&*ports.bus, "a", "k", "1").await, first);
    assert!(publish_frame(&*ports.bus, "a", "", "5").await > first);
    assert_eq!(ports.bus.backlog("s", "g").await.unwrap(), 4);
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    for expected in [("2", 2), ("4", 1), ("5", 1)] {
        let delivery = next(&mut deliveries).await;
        assert_eq!((payload_text(&delivery).as_str(), delivery.attempt), expected);
        delivery.settler.done().await.unwrap();
    }
    expect_no_delivery(&mut deliveries).await;
}

/// A request gets its reply or the server's error. Requests that are late, not served or dropped fail as documented.
pub async fn requests_are_answered(open: impl AsyncFn() -> Ports) {
    let bus = open().await.bus;
    let ask = |payload: &str, patience| bus.request(frame("q", "", "", payload), patience);
    assert_eq!(
        error_kind(ask("?", SOON).await),
        Some(ErrorKind::Unavailable),
        "no service handles"
    );

    let mut inquiries = bus.serve("q").await.unwrap();
    let server = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Some(inquiry) = inquiries.next().await {
            match String::from_utf8_lossy(&inquiry.frame.payload).as_ref() {
                "refuse" => (inquiry.reply)(Err(PortError::new("x", ErrorKind::Conflict, "no"))),
                "drop" => drop(inquiry),
                "sleep" => held.push(inquiry),
                other => (inquiry.reply)(Ok(format!("re: {other}").into_bytes())),
            }
        }
    });
    assert_eq!(ask("hello", SOON).await.unwrap(), b"re: hello");
    assert_eq!(error_kind(ask("refuse", SOON).await), Some(ErrorKind::Conflict));
    assert_eq!(error_kind(ask("drop", SOON).await), Some(ErrorKind::Unavailable));
    assert_eq!(error_kind(ask("sleep", QUIET).await), Some(ErrorKind::Timeout));
    assert_eq!(
        error_kind(bus.request(frame("other", "", "", ""), SOON).await),
        Some(ErrorKind::Unavailable)
    );
    server.abort();
    drop(server.await);
    assert_eq!(
        error_kind(ask("hello", SOON).await),
        Some(ErrorKind::Unavailable),
        "the server is gone"
    );
}

/// Several servers of a subject share its requests.
pub async fn servers_share(open: impl AsyncFn() -> Ports) {
    let bus = open().await.bus;
    for name in ["one", "two"] {
        let mut inquiries = bus.serve("q").await.unwrap();
        tokio::spawn(async move {
            while let Some(inquiry) = inquiries.next().await {
                (inquiry.reply)(Ok(name.as_bytes().to_vec()));
            }
        });
    }
    let mut names = Vec::new();
    for _ in 0..8 {
        names.push(bus.request(frame("q", "", "", "?"), SOON).await.unwrap());
    }
    assert!(
        names.contains(&b"one".to_vec()) && names.contains(&b"two".to_vec()),
        "{names:?}"
    );
}
