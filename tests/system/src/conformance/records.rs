//! Spaces, claims and records.

use chrono::TimeDelta;
use domain::ErrorKind;
use domain::id::{RecordId, SessionId};
use domain::port::{Claim, Idempotent, Position, Revision};
use domain::record::Record;

use super::sample::{at, curation, derived, noon, record, space, unit};
use super::{Ports, error_kind};

/// A space is created once, keeps its first time, and is listed by name.
pub async fn spaces_are_made_once_and_listed(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    for name in ["b", "a", "c"] {
        assert!(records.create_space(&space(name), noon()).await.unwrap());
    }
    assert!(
        !records
            .create_space(&space("a"), noon() + TimeDelta::days(1))
            .await
            .unwrap()
    );
    let info = records.space(&space("a")).await.unwrap().unwrap();
    assert_eq!(
        (info.created_at, info.records, info.units, info.written),
        (noon(), 0, 0, Position(0))
    );
    assert_eq!(records.space(&space("unknown")).await.unwrap(), None);

    let names = async |after: Option<&str>, limit| {
        let page = records.spaces(after.map(space).as_ref(), limit).await.unwrap();
        page.into_iter().map(|it| it.space.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(None, 2).await, ["a", "b"]);
    assert_eq!(names(Some("b"), 2).await, ["c"]);
    assert_eq!(names(Some("aa"), 9).await, ["b", "c"]);
    assert_eq!(records.spaces(None, 1).await.unwrap(), [info]);
}

/// All spaces whose names have a prefix are listed, and no others.
pub async fn spaces_are_listed_by_the_start_of_their_names(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    for name in ["a", "a-", "a-1", "a-2", "a.b", "a0", "b-1", "zz"] {
        records.create_space(&space(name), noon()).await.unwrap();
    }
    for (prefix, after, limit, expected) in [
        ("a-", None, 9, ["a-", "a-1", "a-2"].as_slice()),
        ("a-", None, 2, &["a-", "a-1"]),
        ("a-", Some("a-1"), 9, &["a-2"]),
        ("a-", Some("a"), 9, &["a-", "a-1", "a-2"]),
        ("a-", Some("a-2"), 9, &[]),
        ("a-", Some("zz"), 9, &[]),
        ("b", Some("a-1"), 9, &["b-1"]),
        ("c", None, 9, &[]),
        ("", Some("a0"), 9, &["b-1", "zz"]),
        ("not-a~name%_", None, 9, &[]),
    ] {
        let page = records
            .spaces_under(prefix, after.map(space).as_ref(), limit)
            .await
            .unwrap();
        let names: Vec<&str> = page.iter().map(|it| it.space.as_str()).collect();
        assert_eq!(names, expected, "{prefix:?} {after:?} {limit}");
    }
}

/// The revision increases with every change of units, derived objects and curations, including removals. It does not
/// change with records and marks.
pub async fn a_revision_tells_of_changes(open: impl AsyncFn() -> Ports) {
    let Ports { records, graph, .. } = open().await;
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    let revision = async || records.space(&a).await.unwrap().unwrap().revision;
    let fresh = revision().await;
    assert_eq!(fresh, Revision::default());
    records.put(&a, &[record(&a, "1")]).await.unwrap();
    records.mark_written(&a, Position(7)).await.unwrap();
    assert_eq!(revision().await, fresh);

    let mut seen = vec![fresh];
    let mut risen = async |part: fn(&Revision) -> u64| {
        let (before, now) = (*seen.last().unwrap(), revision().await);
        assert!(
            part(&now) > part(&before) && now.is_up_to_date_with(&before),
            "{before:?} {now:?}"
        );
        assert!(!before.is_up_to_date_with(&now), "{before:?} {now:?}");
        seen.push(now);
    };
    let (unit, items, act) = (unit(1), derived(1, "tea"), curation(1, "wrong"));
    graph.put_units(&a, std::slice::from_ref(&unit), &[]).await.unwrap();
    risen(|it| it.units).await;
    graph.put_units(&a, &[], &[unit.id]).await.unwrap();
    risen(|it| it.units).await;
    graph.put_derived(&a, &items, &[]).await.unwrap();
    risen(|it| it.derived).await;
    graph.put_derived(&a, &[], &[items[0].id()]).await.unwrap();
    risen(|it| it.derived).await;
    records
        .put_curations(&a, Position(1), &[act.clone(), act.clone()])
        .await
        .unwrap();
    risen(|it| it.curations).await;
    records
        .put_curations(&a, Position(1), &[act, curation(2, "right")])
        .await
        .unwrap();
    risen(|it| it.curations).await;
    assert_eq!(seen.last().unwrap().curations, 2);
}

/// The first content claims an id. The same content is accepted again; other content is a conflict and changes
/// nothing.
pub async fn the_first_claim_wins(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let (a, b) = (space("a"), space("b"));
    let [one, two] = ["1", "2"].map(|it| RecordId::from_external_id(&a, it));
    assert_eq!(
        error_kind(records.claim(&a, &[(one, [1; 32])]).await),
        Some(ErrorKind::NotFound)
    );
    for name in [&a, &b] {
        records.create_space(name, noon()).await.unwrap();
    }
    let claims = [(one, [1; 32]), (two, [2; 32]), (one, [1; 32]), (one, [9; 32])];
    let outcome = records.claim(&a, &claims).await.unwrap();
    assert_eq!(outcome, [Claim::Fresh, Claim::Fresh, Claim::Same, Claim::Conflict]);
    let again = records.claim(&a, &[(two, [9; 32]), (two, [2; 32])]).await.unwrap();
    assert_eq!(again, [Claim::Conflict, Claim::Same]);
    assert_eq!(
        records.claim(&b, &[(one, [9; 32])]).await.unwrap(),
        [Claim::Fresh],
        "another space"
    );
}

/// A lookup returns the claimed ids, and claims none.
pub async fn claims_are_asked_for(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let (a, b) = (space("a"), space("b"));
    let [one, two, three] = ["1", "2", "3"].map(|it| RecordId::from_external_id(&a, it));
    assert_eq!(records.claimed(&a, &[one]).await.unwrap(), [], "there is no space");
    for name in [&a, &b] {
        records.create_space(name, noon()).await.unwrap();
    }
    records.claim(&a, &[(one, [1; 32]), (three, [3; 32])]).await.unwrap();
    records.claim(&b, &[(two, [2; 32])]).await.unwrap();
    let asked = [three, two, one];
    assert_eq!(records.claimed(&a, &asked).await.unwrap(), [three, one]);
    assert_eq!(records.claimed(&a, &asked).await.unwrap(), [three, one], "once more");
    assert_eq!(records.claimed(&a, &[]).await.unwrap(), []);
    records.erase(&a, &[three]).await.unwrap();
    assert_eq!(records.claimed(&a, &asked).await.unwrap(), [one]);
}

/// The first response under a key is kept. Keys of other spaces are separate.
pub async fn the_first_response_is_remembered(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let first = Idempotent {
        request: [1; 32],
        response: b"{}".to_vec(),
    };
    let second = Idempotent {
        request: [2; 32],
        response: b"[]".to_vec(),
    };
    assert_eq!(records.stored_response(&space("a"), "k").await.unwrap(), None);
    assert_eq!(
        error_kind(records.store_response(&space("a"), "k", &first, noon()).await),
        Some(ErrorKind::NotFound)
    );
    for name in ["a", "b"] {
        records.create_space(&space(name), noon()).await.unwrap();
    }
    records.store_response(&space("a"), "k", &first, noon()).await.unwrap();
    records.store_response(&space("a"), "k", &second, noon()).await.unwrap();
    assert_eq!(records.stored_response(&space("a"), "k").await.unwrap(), Some(first));
    assert_eq!(records.stored_response(&space("a"), "other").await.unwrap(), None);
    assert_eq!(records.stored_response(&space("b"), "k").await.unwrap(), None);
}

/// Records are returned unchanged, in the order of the request. A stored record is never rewritten.
pub async fn records_come_back_as_they_were(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let a = space("a");
    let [one, two] = ["1", "2"].map(|it| record(&a, it));
    assert_eq!(
        error_kind(records.put(&a, std::slice::from_ref(&one)).await),
        Some(ErrorKind::NotFound)
    );
    records.create_space(&a, noon()).await.unwrap();
    records.create_space(&space("b"), noon()).await.unwrap();
    assert_eq!(
        error_kind(records.put(&a, &[record(&space("b"), "1")]).await),
        Some(ErrorKind::Invalid)
    );
    records.put(&a, &[one.clone(), two.clone()]).await.unwrap();
    records
        .put(
            &a,
            &[
                Record {
                    text: "other".to_owned(),
                    ..one.clone()
                },
                two.clone(),
            ],
        )
        .await
        .unwrap();

    let unknown = RecordId::from_external_id(&a, "unknown");
    let found = records.get(&a, &[two.id, unknown, one.id]).await.unwrap();
    assert_eq!(found, [two.clone(), one.clone()]);
    assert!(records.get(&space("b"), &[one.id]).await.unwrap().is_empty());
    assert!(records.get(&space("unknown"), &[one.id]).await.unwrap().is_empty());
    assert_eq!(records.space(&a).await.unwrap().unwrap().records, 2);
}

/// A list is in insertion order and continues from its cursor.
pub async fn records_are_listed_in_insertion_order(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let (a, b) = (space("a"), space("b"));
    for name in [&a, &b] {
        records.create_space(name, noon()).await.unwrap();
    }
    for name in ["3", "1", "2", "5", "4"] {
        records.put(&a, &[record(&a, name)]).await.unwrap();
        records.put(&b, &[record(&b, name)]).await.unwrap();
    }
    let (mut names, mut cursor) = (Vec::new(), Some(0));
    while let Some(after) = cursor {
        let (page, next) = records.list(&a, after, 2).await.unwrap();
        assert!(page.len() <= 2 && page.iter().all(|it| it.space == a));
        names.extend(page.into_iter().map(|it| it.external_id));
        cursor = next;
    }
    assert_eq!(names, ["3", "1", "2", "5", "4"]);
    let (page, next) = records.list(&a, 0, 5).await.unwrap();
    assert_eq!((page.len(), next), (5, None), "no cursor when there is no more");
    assert_eq!(records.list(&space("unknown"), 0, 5).await.unwrap(), (Vec::new(), None));
}

/// A cursor stays valid after the records before it are erased, and continues with the records that are inserted
/// later.
pub async fn a_cursor_outlives_what_it_stands_behind(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    let all = ["1", "2", "3", "4"].map(|it| record(&a, it));
    records.put(&a, &all).await.unwrap();
    let (_, cursor) = records.list(&a, 0, 3).await.unwrap();
    records.erase(&a, &all.map(|it| it.id)).await.unwrap();
    let cursor = cursor.unwrap();
    assert_eq!(records.list(&a, cursor, 9).await.unwrap(), (Vec::new(), None));
    let anew = [record(&a, "5"), record(&a, "1")];
    for it in &anew {
        records.put(&a, std::slice::from_ref(it)).await.unwrap();
    }
    assert_eq!(records.list(&a, cursor, 9).await.unwrap(), (anew.to_vec(), None));
    assert_eq!(records.list(&a, 0, 9).await.unwrap().0, anew);
}

/// A window of a session around a record is ordered by time of observation, ordinal and id.
pub async fn a_session_is_read_around_a_record(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    let of = |name: &str, time, ordinal| Record {
        observed_at: at(time),
        ordinal,
        ..record(&a, name)
    };
    // The records have the same time in two offsets, ordinals beyond 63 bits, a difference of one nanosecond, and a
    // tie that the id breaks.
    let mut session = vec![
        of("early", "2026-03-01T12:00:00+05:00", 9),
        of("low", "2026-03-01T12:00:00Z", 1),
        of("high", "2026-03-01T14:00:00+02:00", u64::MAX),
        of("nano", "2026-03-01T12:00:00.000000001Z", 0),
        of("tie 1", "2026-03-02T00:00:00Z", 5),
        of("tie 2", "2026-03-02T00:00:00Z", 5),
    ];
    let mut shuffled = session.clone();
    shuffled.rotate_left(3);
    records.put(&a, &shuffled).await.unwrap();
    let elsewhere = Record {
        session: SessionId::from_name(&a, "t"),
        ..of("elsewhere", "2026-03-01T12:00:00Z", 0)
    };
    records.put(&a, std::slice::from_ref(&elsewhere)).await.unwrap();
    session.sort_by_key(Record::session_order_key);

    let id = session[0].session;
    for (place, it) in session.iter().enumerate() {
        let window = records.session(&a, id, it.id, 2, 1).await.unwrap();
        let expected = &session[(place + 1).saturating_sub(2)..(place + 2).min(session.len())];
        assert_eq!(window, expected, "around {}", it.external_id);
    }
    assert_eq!(records.session(&a, id, session[2].id, 99, 99).await.unwrap(), session);
    assert_eq!(
        records.session(&a, id, session[2].id, 0, 1).await.unwrap(),
        session[3..4]
    );
    assert!(
        records.session(&a, id, elsewhere.id, 9, 9).await.unwrap().is_empty(),
        "of another session"
    );
    assert!(
        records
            .session(&space("b"), id, session[0].id, 9, 9)
            .await
            .unwrap()
            .is_empty()
    );
}

/// Positions are marked one by one; the space reports the greatest.
pub async fn positions_are_marked(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let a = space("a");
    assert_eq!(
        error_kind(records.mark_written(&a, Position(1)).await),
        Some(ErrorKind::NotFound)
    );
    for name in ["a", "b"] {
        records.create_space(&space(name), noon()).await.unwrap();
    }
    for position in [7, 3, 7] {
        records.mark_written(&a, Position(position)).await.unwrap();
    }
    for (position, expected) in [(3, true), (5, false), (7, true)] {
        assert_eq!(
            records.is_written(&a, Position(position)).await.unwrap(),
            expected,
            "{position}"
        );
        assert!(!records.is_written(&space("b"), Position(position)).await.unwrap());
    }
    assert_eq!(records.space(&a).await.unwrap().unwrap().written, Position(7));
}

/// Acknowledged data survive a restart of the store.
pub async fn records_survive(open: impl AsyncFn() -> Ports) {
    let a = space("a");
    let one = record(&a, "1");
    let remembered = Idempotent {
        request: [1; 32],
        response: b"{}".to_vec(),
    };
    let ports = open().await;
    ports.records.create_space(&a, noon()).await.unwrap();
    ports.records.claim(&a, &[(one.id, [1; 32])]).await.unwrap();
    ports
        .records
        .store_response(&a, "k", &remembered, noon())
        .await
        .unwrap();
    ports.records.put(&a, std::slice::from_ref(&one)).await.unwrap();
    ports.records.mark_written(&a, Position(4)).await.unwrap();
    ports.graph.put_units(&a, &[unit(1)], &[]).await.unwrap();
    let before = ports.records.space(&a).await.unwrap();
    drop(ports);

    let records = open().await.records;
    assert_eq!(records.space(&a).await.unwrap(), before);
    assert_eq!(records.get(&a, &[one.id]).await.unwrap(), std::slice::from_ref(&one));
    assert_eq!(records.claim(&a, &[(one.id, [1; 32])]).await.unwrap(), [Claim::Same]);
    assert_eq!(records.stored_response(&a, "k").await.unwrap(), Some(remembered));
    assert!(records.is_written(&a, Position(4)).await.unwrap());
}
