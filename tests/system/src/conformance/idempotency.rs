//! Idempotency keys and secrets: the first of several processes decides for all of them.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use domain::ErrorKind;
use domain::port::{Hold, Idempotent, KeyClaim};
use futures::future::join_all;

use super::sample::{noon, space};
use super::{Ports, error_kind};

/// Returns a hold of ten seconds that begins some seconds after noon.
fn hold(request: u8, seconds: i64) -> Hold {
    let at = noon() + TimeDelta::seconds(seconds);
    Hold {
        request: [request; 32],
        at,
        until: at + TimeDelta::seconds(10),
    }
}

fn response(request: u8) -> Idempotent {
    Idempotent {
        request: [request; 32],
        response: vec![request, 0, 255],
    }
}

/// One request holds a key; other requests learn whether they repeat that request. The response ends the hold and
/// stays.
pub async fn a_key_has_one_holder(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let (a, b) = (space("a"), space("b"));
    let unknown = records.hold_idempotency_key(&a, "k", &hold(1, 0)).await;
    assert_eq!(error_kind(unknown), Some(ErrorKind::NotFound));
    for space in [&a, &b] {
        records.create_space(space, noon()).await.unwrap();
    }
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(1, 0)).await.unwrap(),
        KeyClaim::Taken
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(1, 1)).await.unwrap(),
        KeyClaim::Busy
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(2, 1)).await.unwrap(),
        KeyClaim::Reused
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "other", &hold(2, 1)).await.unwrap(),
        KeyClaim::Taken
    );
    assert_eq!(
        records.hold_idempotency_key(&b, "k", &hold(2, 1)).await.unwrap(),
        KeyClaim::Taken,
        "of another space"
    );
    assert_eq!(records.stored_response(&a, "k").await.unwrap(), None, "only held");

    records.store_response(&a, "k", &response(2), noon()).await.unwrap();
    assert_eq!(
        records.stored_response(&a, "k").await.unwrap(),
        None,
        "bound to another request"
    );
    records.store_response(&a, "k", &response(1), noon()).await.unwrap();
    assert_eq!(records.stored_response(&a, "k").await.unwrap(), Some(response(1)));
    let answered = KeyClaim::Answered(response(1).response);
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(1, 2)).await.unwrap(),
        answered
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(1, 99)).await.unwrap(),
        answered
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(2, 99)).await.unwrap(),
        KeyClaim::Reused
    );
}

/// Of two equal requests whose holds end in the same millisecond, only one gets the key.
pub async fn holds_with_the_same_end_are_distinct(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    let first = hold(1, 0);
    let second = Hold {
        at: first.at + TimeDelta::microseconds(1),
        ..first
    };
    for (hold, expected) in [(first, KeyClaim::Taken), (second, KeyClaim::Busy)] {
        let claim = records.hold_idempotency_key(&a, "k", &hold).await.unwrap();
        assert_eq!(claim, expected, "{hold:?}");
    }
    records.release(&a, "k", &first, false).await.unwrap();
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &second).await.unwrap(),
        KeyClaim::Taken
    );
}

/// A hold ends when it is released, or after its time, so that a dead holder does not block the key. The key stays
/// bound to the first request until a release unbinds it.
pub async fn a_hold_ends(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(1, 0)).await.unwrap(),
        KeyClaim::Taken
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(1, 9)).await.unwrap(),
        KeyClaim::Busy
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(2, 10)).await.unwrap(),
        KeyClaim::Reused,
        "it died, and something may have come of it"
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(1, 10)).await.unwrap(),
        KeyClaim::Taken
    );

    records.release(&a, "k", &hold(1, 0), false).await.unwrap();
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(1, 11)).await.unwrap(),
        KeyClaim::Busy,
        "the earlier holder has nothing to release"
    );
    records.release(&a, "k", &hold(1, 10), true).await.unwrap();
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(2, 12)).await.unwrap(),
        KeyClaim::Reused
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(1, 12)).await.unwrap(),
        KeyClaim::Taken
    );
    records.release(&a, "k", &hold(1, 12), false).await.unwrap();
    assert_eq!(
        records.hold_idempotency_key(&a, "k", &hold(2, 13)).await.unwrap(),
        KeyClaim::Taken
    );

    records.store_response(&a, "k", &response(2), noon()).await.unwrap();
    for bound in [true, false] {
        records.release(&a, "k", &hold(2, 13), bound).await.unwrap();
    }
    assert_eq!(
        records.stored_response(&a, "k").await.unwrap(),
        Some(response(2)),
        "a response stays"
    );
    records
        .release(&space("unknown"), "k", &hold(2, 13), false)
        .await
        .unwrap();
}

/// A hold of a process that was killed while its clock was ahead ends now, not when that time comes.
pub async fn a_hold_of_a_clock_that_was_ahead_ends(open: impl AsyncFn() -> Ports) {
    const MONTHS: i64 = 90 * 24 * 3_600;
    let records = open().await.records;
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    let claim = async |hold: Hold| records.hold_idempotency_key(&a, "k", &hold).await.unwrap();
    assert_eq!(claim(hold(1, MONTHS)).await, KeyClaim::Taken);
    assert_eq!(claim(hold(2, 0)).await, KeyClaim::Reused);
    assert_eq!(claim(hold(1, 0)).await, KeyClaim::Taken);
    assert_eq!(claim(hold(1, 1)).await, KeyClaim::Busy);
}

/// If different requests ask for one key at the same time, exactly one gets it.
pub async fn of_many_that_ask_at_once_one_holds_the_key(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    for round in 0..5_u8 {
        let key = format!("k{round}");
        let asked = join_all((0..8).map(|it| {
            let (records, a, key) = (records.clone(), a.clone(), key.clone());
            async move {
                records
                    .hold_idempotency_key(&a, &key, &hold(it, i64::from(it)))
                    .await
                    .unwrap()
            }
        }));
        let outcomes = asked.await;
        let taken = outcomes.iter().filter(|it| **it == KeyClaim::Taken).count();
        let reused = outcomes.iter().filter(|it| **it == KeyClaim::Reused).count();
        assert_eq!((taken, reused), (1, 7), "{outcomes:?}");
    }
}

/// Holds, bound keys and secrets survive a restart.
pub async fn what_was_decided_first_survives(open: impl AsyncFn() -> Ports) {
    let a = space("a");
    let ports = open().await;
    ports.records.create_space(&a, noon()).await.unwrap();
    ports
        .records
        .hold_idempotency_key(&a, "held", &hold(1, 0))
        .await
        .unwrap();
    ports
        .records
        .hold_idempotency_key(&a, "bound", &hold(1, 0))
        .await
        .unwrap();
    ports.records.release(&a, "bound", &hold(1, 0), true).await.unwrap();
    assert_eq!(ports.records.secret("first", [1; 32]).await.unwrap(), [1; 32]);
    drop(ports);

    let records = open().await.records;
    assert_eq!(
        records.hold_idempotency_key(&a, "held", &hold(1, 1)).await.unwrap(),
        KeyClaim::Busy
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "bound", &hold(2, 1)).await.unwrap(),
        KeyClaim::Reused
    );
    assert_eq!(
        records.hold_idempotency_key(&a, "bound", &hold(1, 1)).await.unwrap(),
        KeyClaim::Taken
    );
    assert_eq!(records.secret("first", [2; 32]).await.unwrap(), [1; 32]);
}

/// The first secret of a name is kept, also if several callers ask at the same time. It does not belong to a space.
pub async fn the_first_secret_is_kept(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let asked = join_all((0..8).map(|it| {
        let records = records.clone();
        async move { records.secret("at-once", [it; 32]).await.unwrap() }
    }));
    let kept: BTreeSet<[u8; 32]> = asked.await.into_iter().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(records.secret("another", [9; 32]).await.unwrap(), [9; 32]);
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    records.delete_space(&a).await.unwrap();
    assert_eq!(records.secret("another", [8; 32]).await.unwrap(), [9; 32]);
}
