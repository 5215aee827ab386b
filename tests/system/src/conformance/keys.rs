//! Keys of the API.

use chrono::{DateTime, TimeDelta, Utc};
use domain::ErrorKind;
use domain::key::{Key, KeyDigest, KeyName, Quotas, Right};
use domain::port::Rotation;

use super::{Ports, error_kind, sample};

/// Returns noon in whole milliseconds, the precision in which times of keys are stored.
fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(sample::noon().timestamp_millis()).unwrap()
}

fn key_name(text: &str) -> KeyName {
    text.parse().unwrap()
}

/// Returns a digest of one repeated byte. Two of them have no common prefix, so former and current digests cannot be
/// confused.
fn key_digest(number: u8) -> KeyDigest {
    [number; 32]
}

fn sample_key(called: &str) -> Key {
    Key {
        name: key_name(called),
        spaces: vec!["user-*".to_owned(), "team".to_owned()],
        rights: vec![Right::Read, Right::Write],
        quotas: Quotas {
            requests_per_minute: Some(60),
            records_per_day: None,
        },
        by: "the owner's \"key\"".to_owned(),
        created_at: noon(),
        expires_at: Some(noon() + TimeDelta::days(30)),
        revoked_at: None,
        last_used_at: None,
        former_valid_until: None,
    }
}

/// A key is found by the digest of its token and by its name, and by nothing else.
pub async fn a_key_comes_back_as_it_was(open: impl AsyncFn() -> Ports) {
    let keys = open().await.keys;
    assert_eq!(keys.find(key_digest(1)).await.unwrap(), None);
    let unbounded = Key {
        quotas: Quotas::default(),
        expires_at: None,
        ..sample_key("b")
    };
    keys.create(&sample_key("a"), key_digest(1)).await.unwrap();
    keys.create(&unbounded, key_digest(2)).await.unwrap();
    for (number, expected) in [(1, sample_key("a")), (2, unbounded)] {
        let found = keys.find(key_digest(number)).await.unwrap().unwrap();
        assert_eq!(found.key, expected);
        assert_eq!((found.digest, found.is_former), (key_digest(number), false));
        assert_eq!(keys.get(&expected.name).await.unwrap(), Some(expected));
    }
    assert_eq!(keys.find(key_digest(3)).await.unwrap(), None);
    assert_eq!(keys.get(&key_name("A")).await.unwrap(), None, "another name");
}

/// If two keys have one name, the first stays. The same key may be created again, because a call may be repeated.
pub async fn a_name_is_taken_once(open: impl AsyncFn() -> Ports) {
    let keys = open().await.keys;
    keys.create(&sample_key("a"), key_digest(1)).await.unwrap();
    keys.create(&sample_key("a"), key_digest(1)).await.unwrap();
    let other = Key {
        by: "somebody else".to_owned(),
        ..sample_key("a")
    };
    let second = keys.create(&other, key_digest(2)).await;
    assert_eq!(error_kind(second), Some(ErrorKind::Conflict));
    assert_eq!(keys.find(key_digest(2)).await.unwrap(), None);
    assert_eq!(keys.get(&key_name("a")).await.unwrap(), Some(sample_key("a")));
    assert!(keys.revoke(&key_name("a"), noon()).await.unwrap());
    let revoked = keys.create(&sample_key("a"), key_digest(3)).await;
    assert_eq!(
        error_kind(revoked),
        Some(ErrorKind::Conflict),
        "the name of a revoked key"
    );
}

/// A page continues after a name, in byte order.
pub async fn keys_are_listed_by_name(open: impl AsyncFn() -> Ports) {
    let keys = open().await.keys;
    for (number, called) in ["b", "a.2", "B", "a-1", "a_3", "a"].into_iter().enumerate() {
        let number = u8::try_from(number).unwrap();
        keys.create(&sample_key(called), key_digest(number)).await.unwrap();
    }
    let list = async |after: Option<&str>, limit| -> Vec<String> {
        let after = after.map(key_name);
        let found = keys.list(after.as_ref(), limit).await.unwrap();
        found.into_iter().map(|it| it.name.into()).collect()
    };
    assert_eq!(list(None, 9).await, ["B", "a", "a-1", "a.2", "a_3", "b"]);
    assert_eq!(list(None, 2).await, ["B", "a"]);
    assert_eq!(list(Some("a"), 2).await, ["a-1", "a.2"]);
    assert_eq!(list(Some("a.1"), 1).await, ["a.2"], "behind a name that nobody has");
    assert!(list(Some("b"), 9).await.is_empty());
}

/// After a rotation, the previous token is found as the former one, with the end of its validity. The token before
/// that is not found.
pub async fn a_rotated_key_has_two_digests(open: impl AsyncFn() -> Ports) {
    let keys = open().await.keys;
    let a = key_name("a");
    let until = noon() + TimeDelta::seconds(90);
    let rotate = async |number: u8, former_until| {
        let rotation = Rotation {
            digest: key_digest(number),
            former_until,
        };
        keys.rotate(&a, rotation).await.unwrap()
    };
    assert!(!rotate(2, Some(until)).await, "there is no such key");
    keys.create(&sample_key("a"), key_digest(1)).await.unwrap();
    keys.create(&sample_key("b"), key_digest(9)).await.unwrap();
    // A repeated rotation must not make the new token its own predecessor.
    for _ in 0..2 {
        assert!(rotate(2, Some(until)).await);
    }
    let found = async |number: u8| {
        let found = keys.find(key_digest(number)).await.unwrap();
        found.map(|it| (it.is_former, it.key.former_valid_until))
    };
    assert_eq!(found(1).await, Some((true, Some(until))));
    assert_eq!(found(2).await, Some((false, Some(until))));
    assert!(rotate(3, Some(until)).await);
    assert_eq!(found(1).await, None, "two rotations ago");
    assert_eq!(found(2).await, Some((true, Some(until))));
    assert!(rotate(4, None).await);
    assert_eq!(found(3).await, None, "without a grace");
    assert_eq!(found(4).await, Some((false, None)));
    assert_eq!(found(9).await, Some((false, None)), "another key");
}

/// A revocation also ends former tokens and keeps its first time. A rotation does not undo it.
pub async fn a_revoked_key_stays_revoked(open: impl AsyncFn() -> Ports) {
    let keys = open().await.keys;
    let a = key_name("a");
    assert!(!keys.revoke(&a, noon()).await.unwrap(), "there is no such key");
    keys.create(&sample_key("a"), key_digest(1)).await.unwrap();
    keys.create(&sample_key("b"), key_digest(9)).await.unwrap();
    let rotation = |number| Rotation {
        digest: key_digest(number),
        former_until: Some(noon() + TimeDelta::hours(1)),
    };
    assert!(keys.rotate(&a, rotation(2)).await.unwrap());
    for minutes in [0, 5] {
        let at = noon() + TimeDelta::minutes(minutes);
        assert!(keys.revoke(&a, at).await.unwrap());
    }
    assert!(!keys.rotate(&a, rotation(3)).await.unwrap());
    assert_eq!(keys.find(key_digest(1)).await.unwrap(), None);
    assert_eq!(keys.find(key_digest(3)).await.unwrap(), None);
    let found = keys.find(key_digest(2)).await.unwrap().unwrap();
    assert_eq!(found.key.revoked_at, Some(noon()));
    assert!(!found.is_valid(noon()));
    let other = keys.find(key_digest(9)).await.unwrap().unwrap();
    assert!(other.is_valid(noon()), "another key");
}

/// Uses may be recorded in any order, and the latest is kept.
pub async fn the_last_use_counts(open: impl AsyncFn() -> Ports) {
    let keys = open().await.keys;
    keys.create(&sample_key("a"), key_digest(1)).await.unwrap();
    keys.create(&sample_key("b"), key_digest(2)).await.unwrap();
    for minutes in [3, 5, 4] {
        let at = noon() + TimeDelta::minutes(minutes);
        keys.note_use(&key_name("a"), at).await.unwrap();
    }
    keys.note_use(&key_name("nobody"), noon()).await.unwrap();
    let used = async |called: &str| keys.get(&key_name(called)).await.unwrap().unwrap().last_used_at;
    assert_eq!(used("a").await, Some(noon() + TimeDelta::minutes(5)));
    assert_eq!(used("b").await, None);
    assert_eq!(keys.get(&key_name("nobody")).await.unwrap(), None);
}

/// The stored data of keys survive a restart.
pub async fn keys_survive(open: impl AsyncFn() -> Ports) {
    let (a, b) = (key_name("a"), key_name("b"));
    let ports = open().await;
    ports.keys.create(&sample_key("a"), key_digest(1)).await.unwrap();
    ports.keys.create(&sample_key("b"), key_digest(2)).await.unwrap();
    let until = noon() + TimeDelta::hours(1);
    let rotation = Rotation {
        digest: key_digest(3),
        former_until: Some(until),
    };
    assert!(ports.keys.rotate(&a, rotation).await.unwrap());
    assert!(ports.keys.revoke(&b, noon()).await.unwrap());
    drop(ports);

    let keys = open().await.keys;
    let rotated = keys.find(key_digest(3)).await.unwrap().unwrap();
    assert_eq!(rotated.key.former_valid_until, Some(until));
    assert!(keys.find(key_digest(1)).await.unwrap().unwrap().is_former);
    assert_eq!(keys.get(&b).await.unwrap().unwrap().revoked_at, Some(noon()));
}
