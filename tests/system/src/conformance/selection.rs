//! Records of a selection.

use domain::id::{SessionId, SpaceId};
use domain::port::Selection;
use domain::record::Record;

use super::Ports;
use super::sample::{at, noon, record, space};

/// Two sessions, mixed; one actor in three spellings; moments in several offsets.
fn talk(space: &SpaceId) -> Vec<Record> {
    let of = |(name, session, actor, time): (&str, &str, &str, &str)| Record {
        session: SessionId::derive(space, session),
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

/// A selection is listed as all is: in insertion order and on from its cursor, with nothing else in between.
pub async fn it_is_listed_in_insertion_order(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let (a, b) = (space("a"), space("b"));
    for name in [&a, &b] {
        records.create_space(name, noon()).await.unwrap();
    }
    for it in talk(&a) {
        records.put(&a, &[it]).await.unwrap();
    }
    records.put(&b, &[record(&b, "7")]).await.unwrap();

    let listed = async |of: &SpaceId, selection: &Selection, limit| {
        let (mut names, mut cursor) = (Vec::new(), Some(0));
        while let Some(after) = cursor {
            let (page, next) = records.select(of, selection, after, limit).await.unwrap();
            assert!(page.len() <= limit && next.is_none_or(|it| it > after));
            names.extend(page.into_iter().map(|it| it.external_id));
            cursor = next;
        }
        names
    };
    let all = Selection::default();
    let session = |it: &str| Selection {
        session: Some(SessionId::derive(&a, it)),
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
    let (page, next) = records.select(&a, &session("s"), 0, 4).await.unwrap();
    assert_eq!((page.len(), next), (4, None), "no cursor when there is no more");
}

/// One call looks at a bounded number of records, and the next ones go on behind them.
pub async fn what_is_rare_is_found_by_and_by(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let a = space("a");
    records.create_space(&a, noon()).await.unwrap();
    let many: Vec<Record> = (0..6_000).map(|it| record(&a, &it.to_string())).collect();
    for some in many.chunks(1_000) {
        records.put(&a, some).await.unwrap();
    }
    let rare = Record {
        actor: "Ana".to_owned(),
        ..record(&a, "rare")
    };
    records.put(&a, std::slice::from_ref(&rare)).await.unwrap();
    let selection = Selection {
        actor: Some("ANA".to_owned()),
        ..Selection::default()
    };
    let (mut found, mut cursor, mut calls) = (Vec::new(), Some(0), 0);
    while let Some(after) = cursor {
        let (page, next) = records.select(&a, &selection, after, 1).await.unwrap();
        found.extend(page);
        (cursor, calls) = (next, calls + 1);
    }
    assert_eq!(found, [rare]);
    assert!(calls > 1, "{calls}");
}
