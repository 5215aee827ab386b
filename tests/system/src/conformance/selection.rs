//! Lists the records and units of a selection.

use std::collections::BTreeMap;

use domain::id::{SessionId, SpaceId};
use domain::port::{Room, Selection};
use domain::record::Record;
use domain::unit::{Status, Unit};
use serde_json::json;

use super::Ports;
use super::sample::{at, noon, record, space, unit};

/// Returns records of two mixed sessions, with one actor in three spellings and times in several offsets.
fn sample_talk(space: &SpaceId) -> Vec<Record> {
    let of = |(name, session, actor, time): (&str, &str, &str, &str)| Record {
        session: SessionId::from_name(space, session),
        session_name: session.to_owned(),
        actor: actor.to_owned(),
        observed_at: at(time),
        ..record(space, name)
    };
    let lines = [
        ("3", "s", "Zoë", "2026-03-01T12:00:00Z"),
        ("1", "t", "ZOË", "2026-03-01T14:00:00+02:00"),
        ("2", "s", "Ben", "2026-03-01T12:00:00.000000001Z"),
        ("5", "s", "zoË", "2026-02-01T00:00:00Z"),
        ("4", "t", "Zoë B", "2026-03-02T00:00:00+09:00"),
        ("6", "s", "Ben", "2026-03-02T00:00:00Z"),
    ];
    lines.into_iter().map(of).collect()
}

/// A selection is listed like all records: in insertion order and from its cursor, without other records.
pub async fn it_is_listed_in_insertion_order(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let (a, b) = (space("a"), space("b"));
    for name in [&a, &b] {
        records.create_space(name, noon()).await.unwrap();
    }
    for it in sample_talk(&a) {
        records.put(&a, &[it]).await.unwrap();
    }
    records.put(&b, &[record(&b, "7")]).await.unwrap();

    let listed = async |of: &SpaceId, selection: &Selection, limit| {
        let (mut names, mut cursor) = (Vec::new(), Some(0));
        while let Some(after) = cursor {
            let (page, next) = records
                .select(of, selection, after, Room::of_items(limit))
                .await
                .unwrap();
            assert!(page.len() <= limit && next.is_none_or(|it| it > after));
            names.extend(page.into_iter().map(|it| it.external_id));
            cursor = next;
        }
        names
    };
    let all = Selection::default();
    let session = |it: &str| Selection {
        session: Some(SessionId::from_name(&a, it)),
        ..Selection::default()
    };
    let zoe = |it: Selection| Selection {
        actor: Some("zoë".to_owned()),
        ..it
    };
    let time = |it: Selection| Selection {
        from: Some(at("2026-03-01T13:00:00+01:00")),
        until: Some(at("2026-03-02T00:00:00Z")),
        ..it
    };
    for (selection, expected) in [
        (all.clone(), vec!["3", "1", "2", "5", "4", "6"]),
        (session("s"), vec!["3", "2", "5", "6"]),
        (session("nowhere"), vec![]),
        (zoe(all.clone()), vec!["3", "1", "5"]),
        (time(all.clone()), vec!["3", "1", "2", "4"]),
        (zoe(session("s")), vec!["3", "5"]),
        (time(session("s")), vec!["3", "2"]),
        (zoe(time(session("t"))), vec!["1"]),
    ] {
        for limit in [1, 2, 9] {
            assert_eq!(
                listed(&a, &selection, limit).await,
                expected,
                "{selection:?} by {limit}"
            );
        }
        assert!(listed(&space("unknown"), &selection, 9).await.is_empty());
    }
    assert!(listed(&b, &session("s"), 9).await.is_empty(), "of another space");
    let (page, next) = records.select(&a, &session("s"), 0, Room::of_items(4)).await.unwrap();
    assert_eq!((page.len(), next), (4, None), "no cursor when there is no more");
}

/// Units are listed like records, in the order of their latest changes. Removed and superseded units are left out.
pub async fn units_are_listed_by_their_latest_changes(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let (graph, a, b) = (ports.graph, space("a"), space("b"));
    for name in [&a, &b] {
        ports.records.create_space(name, noon()).await.unwrap();
    }
    let of = |number: u128, session: &str, actor: &str, time: &str| Unit {
        session: SessionId::from_name(&a, session),
        actor: actor.to_owned(),
        observed_at: at(time),
        ..unit(number)
    };
    let units_of_talk = [
        of(1, "s", "Zoë", "2026-03-01T12:00:00Z"),
        of(2, "t", "ZOË", "2026-03-03T00:00:00Z"),
        of(3, "s", "Ben", "2026-03-03T00:00:00Z"),
        of(4, "s", "zoë", "2026-03-03T00:00:00Z"),
        of(5, "s", "", "2026-03-03T00:00:00Z"),
        of(6, "s", "Zoë", "2026-03-03T00:00:00Z"),
    ];
    graph.put_units(&a, &units_of_talk, &[]).await.unwrap();
    graph.put_units(&b, &[unit(7)], &[]).await.unwrap();
    let replaced = Unit {
        status: Status::Superseded,
        ..units_of_talk[5].clone()
    };
    graph.put_units(&a, &[replaced], &[units_of_talk[3].id]).await.unwrap();
    // Another actor says it, in another session.
    let moved = of(1, "t", "Ben", "2026-03-01T12:00:00Z");
    graph.put_units(&a, std::slice::from_ref(&moved), &[]).await.unwrap();

    let listed = async |selection: &Selection, limit| {
        let (mut texts, mut cursor) = (Vec::new(), Some(0));
        while let Some(after) = cursor {
            let (page, next) = graph.select(&a, selection, after, Room::of_items(limit)).await.unwrap();
            assert!(page.len() <= limit && next.is_none_or(|it| it > after));
            texts.extend(page.into_iter().map(|it| it.text));
            cursor = next;
        }
        texts
    };
    let whose = |session: &str, actor: &str| Selection {
        session: (!session.is_empty()).then(|| SessionId::from_name(&a, session)),
        actor: (!actor.is_empty()).then(|| actor.to_owned()),
        ..Selection::default()
    };
    let early = Selection {
        until: Some(at("2026-03-02T00:00:00Z")),
        ..whose("t", "")
    };
    for (selection, expected) in [
        (Selection::default(), vec!["unit 2", "unit 3", "unit 5", "unit 1"]),
        (whose("s", ""), vec!["unit 3", "unit 5"]),
        (whose("t", ""), vec!["unit 2", "unit 1"]),
        (whose("", "zOË"), vec!["unit 2"]),
        (whose("", "ben"), vec!["unit 3", "unit 1"]),
        (whose("t", "BEN"), vec!["unit 1"]),
        (whose("u", ""), vec![]),
        (early, vec!["unit 1"]),
    ] {
        for limit in [1, 2, 9] {
            assert_eq!(listed(&selection, limit).await, expected, "{selection:?} by {limit}");
        }
    }
    // A removed unit is listed again after it is put again.
    graph.put_units(&a, &units_of_talk[3..4], &[]).await.unwrap();
    assert_eq!(listed(&whose("s", "zoë"), 9).await, ["unit 4"]);
    let nothing = graph
        .select(&space("unknown"), &whose("s", ""), 0, Room::of_items(9))
        .await;
    assert_eq!(nothing.unwrap(), (Vec::new(), None));
}

/// Units are listed by the tags and metadata of their records.
pub async fn units_are_listed_by_their_labels(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let (graph, a) = (ports.graph, space("a"));
    ports.records.create_space(&a, noon()).await.unwrap();
    let labels = |json: serde_json::Value| Selection {
        filter: serde_json::from_value(json).unwrap(),
        ..Selection::default()
    };
    let tagged = Unit {
        tags: vec!["home".to_owned(), "work".to_owned()],
        metadata: BTreeMap::from([("n".to_owned(), "7".to_owned())]),
        ..unit(1)
    };
    graph.put_units(&a, &[tagged, unit(2)], &[]).await.unwrap();
    for (selection, expected) in [
        (labels(json!({"tags": {"all": ["home", "work"]}})), vec!["unit 1"]),
        (labels(json!({"tags": {"any": ["play"]}})), vec![]),
        (labels(json!({"tags": {"none": ["home"]}})), vec!["unit 2"]),
        (labels(json!({"metadata": {"key": "n", "gt": 6}})), vec!["unit 1"]),
        (labels(json!({"metadata": {"key": "n", "gt": 7}})), vec![]),
    ] {
        for limit in [1, 9] {
            let (mut texts, mut cursor) = (Vec::new(), Some(0));
            while let Some(after) = cursor {
                let (page, next) = graph
                    .select(&a, &selection, after, Room::of_items(limit))
                    .await
                    .unwrap();
                texts.extend(page.into_iter().map(|it| it.text));
                cursor = next;
            }
            assert_eq!(texts, expected, "{selection:?} by {limit}");
        }
    }
}

/// A page has no more bytes than allowed, unless its first item is larger. The next page continues after it.
pub async fn a_page_ends_with_its_bytes(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let a = space("a");
    ports.records.create_space(&a, noon()).await.unwrap();
    let sizes = [10, 2_000, 2_000, 9_000, 10, 10, 9_000];
    let texts = sizes.map(|it| "ü".repeat(it));
    let named = |(number, text): (u128, &String)| {
        let record = Record {
            text: text.clone(),
            ..record(&a, &number.to_string())
        };
        let unit = Unit {
            text: text.clone(),
            ..unit(number)
        };
        (record, unit)
    };
    let (records, units): (Vec<Record>, Vec<Unit>) = (1..).zip(&texts).map(named).unzip();
    ports.records.put(&a, &records).await.unwrap();
    ports.graph.put_units(&a, &units, &[]).await.unwrap();
    for selection in [
        Selection::default(),
        Selection {
            actor: Some("ANA".to_owned()),
            ..Selection::default()
        },
        Selection {
            session: Some(units[0].session),
            ..Selection::default()
        },
    ] {
        let room = Room {
            items: 3,
            bytes: 12_000,
        };
        let (mut pages, mut cursor) = (Vec::new(), Some(0));
        while let Some(after) = cursor {
            let (page, next) = ports.graph.select(&a, &selection, after, room).await.unwrap();
            pages.push(page.len());
            cursor = next;
        }
        assert_eq!(pages, [3, 1, 2, 1], "{selection:?}");
    }
    let room = Room {
        items: 9,
        bytes: 12_000,
    };
    let (page, next) = ports.records.select(&a, &Selection::default(), 0, room).await.unwrap();
    assert_eq!((page.as_slice(), next.is_some()), (&records[..3], true));
    let (page, next) = ports
        .records
        .select(&a, &Selection::default(), 0, Room::of_items(9))
        .await
        .unwrap();
    assert_eq!((page, next), (records, None));
}

/// One call scans a bounded number of records, and the next call continues after them.
pub async fn what_is_rare_is_found_by_and_by(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    let many: Vec<Record> = (0..6_000).map(|it| record(&a, &it.to_string())).collect();
    for some in many.chunks(1_000) {
        records.put(&a, some).await.unwrap();
    }
    let rare = Record {
        observed_at: at("2027-03-01T12:00:00Z"),
        ..record(&a, "rare")
    };
    records.put(&a, std::slice::from_ref(&rare)).await.unwrap();
    // No index covers times alone.
    let selection = Selection {
        from: Some(at("2027-01-01T00:00:00Z")),
        ..Selection::default()
    };
    let (mut found, mut cursor, mut calls) = (Vec::new(), Some(0), 0);
    while let Some(after) = cursor {
        let (page, next) = records.select(&a, &selection, after, Room::of_items(1)).await.unwrap();
        found.extend(page);
        (cursor, calls) = (next, calls + 1);
    }
    assert_eq!(found, [rare]);
    assert!(calls > 1, "{calls}");
}
