//! Operations on dead letters.

use domain::ErrorKind;
use domain::port::DeadLetter;

use super::bus::{expect_no_delivery, next, payload_text};
use super::sample::frame;
use super::{Ports, error_kind};

/// A dead letter is listed with its cause, and is not delivered again.
pub async fn they_say_what_happened(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    for payload in ["1", "2", "3"] {
        ports.bus.publish(frame("s", "a", "", payload)).await.unwrap();
    }
    let retried = next(&mut deliveries).await;
    let position = retried.position;
    retried.settler.retry_after(std::time::Duration::ZERO).await.unwrap();
    for _ in 0..3 {
        next(&mut deliveries).await.settler.dead_letter("broken").await.unwrap();
    }
    expect_no_delivery(&mut deliveries).await;

    let all = ports.dead_letters.list(0, 10).await.unwrap();
    assert!(all.is_sorted_by_key(|it| it.id) && all.len() == 3, "{all:?}");
    let first = all.iter().find(|it| it.payload == "1").unwrap();
    assert_eq!(
        (first.subject.as_str(), first.group.as_str(), first.space.as_str()),
        ("s", "g", "a")
    );
    assert_eq!(
        (first.position, first.reason.as_str(), first.attempts),
        (position, "broken", 2)
    );
    let page = ports.dead_letters.list(all[0].id, 1).await.unwrap();
    assert_eq!(page, all[1..2]);
}

/// Dead letters are counted over all spaces, and listed by space.
pub async fn they_are_counted_and_listed_by_space(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let letters = &ports.dead_letters;
    assert_eq!(letters.count().await.unwrap(), 0);
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    let mut ids = Vec::new();
    for space in ["a", "b", "a", "a"] {
        ports.bus.publish(frame("s", space, "", space)).await.unwrap();
        let settler = next(&mut deliveries).await.settler;
        ids.push(settler.dead_letter("broken").await.unwrap().unwrap());
    }
    assert_eq!(letters.count().await.unwrap(), 4);
    let all = letters.list(0, 9).await.unwrap();
    let listed: Vec<_> = all.iter().map(|it| it.id).collect();
    assert_eq!(listed, ids, "each is told its id when it is put there");
    let of_a: Vec<_> = all.iter().filter(|it| it.space == "a").cloned().collect();
    assert_eq!(letters.of_space("a", 0, 9).await.unwrap(), of_a);
    assert_eq!(letters.of_space("a", ids[0], 1).await.unwrap(), of_a[1..2]);
    assert_eq!(letters.of_space("never", 0, 9).await.unwrap(), []);
    letters.discard(ids[2]).await.unwrap();
    assert_eq!(letters.count().await.unwrap(), 3);
    assert_eq!(letters.of_space("a", 0, 9).await.unwrap().len(), 2);
}

/// An amended dead letter has another payload and is otherwise unchanged, also after a replay.
pub async fn they_are_amended(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let letters = &ports.dead_letters;
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    ports.bus.publish(frame("s", "a", "k", "secret")).await.unwrap();
    let id = next(&mut deliveries).await.settler.dead_letter("broken").await.unwrap();
    let was = letters.list(0, 9).await.unwrap().remove(0);
    letters.amend(id.unwrap(), b"open").await.unwrap();
    let mut found = letters.list(0, 9).await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let is = found.remove(0);
    assert!(is.id >= was.id);
    let same = DeadLetter {
        id: is.id,
        at: is.at,
        payload: "open".to_owned(),
        ..was
    };
    assert_eq!(is, same);
    letters.replay(is.id).await.unwrap();
    let delivery = next(&mut deliveries).await;
    assert_eq!(
        (payload_text(&delivery).as_str(), delivery.position),
        ("open", is.position)
    );
    delivery.settler.done().await.unwrap();
    assert_eq!(
        error_kind(letters.amend(is.id, b"late").await),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(letters.count().await.unwrap(), 0);
}

/// If a dead letter is amended and replayed at the same time, its message is delivered again or is still a dead letter,
/// but not both.
pub async fn an_amendment_during_a_replay_leaves_no_letter(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let letters = &ports.dead_letters;
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    // Each round begins the replay one call later, so that it meets the amendment at another step.
    for calls_before in 0..6 {
        ports.bus.publish(frame("s", "a", "", "secret")).await.unwrap();
        let settler = next(&mut deliveries).await.settler;
        let id = settler.dead_letter("broken").await.unwrap().unwrap();
        let replay = async {
            for _ in 0..calls_before {
                letters.count().await.unwrap();
            }
            letters.replay(id).await
        };
        let (amended, replayed) = tokio::join!(letters.amend(id, b"open"), replay);
        let left = letters.list(0, 9).await.unwrap();
        match error_kind(replayed) {
            None => {
                assert_eq!(left, [], "{calls_before}");
                assert!(matches!(error_kind(amended), None | Some(ErrorKind::NotFound)));
                next(&mut deliveries).await.settler.done().await.unwrap();
            }
            kind => {
                assert_eq!((kind, left.len()), (Some(ErrorKind::NotFound), 1), "{calls_before}");
                amended.unwrap();
                assert_eq!(left[0].payload, "open");
                letters.discard(left[0].id).await.unwrap();
            }
        }
        expect_no_delivery(&mut deliveries).await;
    }
}

/// A replayed dead letter goes only to its group, with attempts counted from 1. A discarded one is removed. Unknown
/// ids are not found.
pub async fn they_are_replayed_and_discarded(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let mut group = ports.bus.subscribe("s", "g").await.unwrap();
    let mut other = ports.bus.subscribe("s", "h").await.unwrap();
    ports.bus.publish(frame("s", "a", "k", "1")).await.unwrap();
    next(&mut other).await.settler.done().await.unwrap();
    next(&mut group).await.settler.dead_letter("broken").await.unwrap();
    drop((group, other, ports));

    let ports = open().await;
    let mut group = ports.bus.subscribe("s", "g").await.unwrap();
    let mut other = ports.bus.subscribe("s", "h").await.unwrap();
    let id = ports.dead_letters.list(0, 1).await.unwrap()[0].id;
    ports.dead_letters.replay(id).await.unwrap();
    assert_eq!(
        error_kind(ports.dead_letters.replay(id).await),
        Some(ErrorKind::NotFound)
    );
    let delivery = next(&mut group).await;
    assert_eq!(
        (
            payload_text(&delivery).as_str(),
            delivery.attempt,
            delivery.frame.dedup_key.as_str()
        ),
        ("1", 1, "k")
    );
    assert_eq!(delivery.frame.headers.len(), 1);
    delivery.settler.dead_letter("still broken").await.unwrap();
    expect_no_delivery(&mut other).await;

    let left = ports.dead_letters.list(0, 10).await.unwrap();
    assert_eq!(left.len(), 1);
    assert!(left[0].id > id, "ids are not used again");
    ports.dead_letters.discard(left[0].id).await.unwrap();
    assert_eq!(
        error_kind(ports.dead_letters.discard(left[0].id).await),
        Some(ErrorKind::NotFound)
    );
    assert!(ports.dead_letters.list(0, 10).await.unwrap().is_empty());
    expect_no_delivery(&mut group).await;
}

/// The key of a dead letter stays taken, also after a replay. After the dead letter is discarded, the key is free.
pub async fn a_discarded_key_is_free(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let mut deliveries = ports.bus.subscribe("s", "g").await.unwrap();
    let publish = async |payload: &str| ports.bus.publish(frame("s", "a", "k", payload)).await.unwrap();
    let mut first = publish("1").await;
    for again in ["2", "3"] {
        next(&mut deliveries).await.settler.dead_letter("broken").await.unwrap();
        assert_eq!(publish("dead").await, first);
        let id = ports.dead_letters.list(0, 1).await.unwrap()[0].id;
        ports.dead_letters.replay(id).await.unwrap();
        next(&mut deliveries).await.settler.dead_letter("broken").await.unwrap();
        assert_eq!(publish("dead").await, first);
        let id = ports.dead_letters.list(0, 1).await.unwrap()[0].id;
        ports.dead_letters.discard(id).await.unwrap();

        let anew = publish(again).await;
        assert!(anew > first, "{anew:?} {first:?}");
        assert_eq!(publish("twice").await, anew);
        first = anew;
    }
    let delivery = next(&mut deliveries).await;
    assert_eq!((payload_text(&delivery).as_str(), delivery.position), ("3", first));
    delivery.settler.done().await.unwrap();
    assert_eq!(publish("done").await, first);
    expect_no_delivery(&mut deliveries).await;
}
