use chrono::{DateTime, Utc};
use domain::derived::Derived;
use domain::id::{MergeId, RecordId, SessionId, SpaceId, UnitId};
use domain::merge::{Merge, MergeOf, Standing};
use domain::relation::RelationKind;
use domain::unit::Unit;
use serde_json::{Value, json};

use crate::harness::Gateway;
use crate::lists::walk;
use crate::pages::unit;

fn space() -> SpaceId {
    "s".parse().unwrap()
}

/// Returns the unit of day 1, a repetition on day 3, and a unit of day 5 that was merged until a person undid the merge
/// on day 9.
fn sample_units() -> ([Unit; 3], Vec<Derived>) {
    let units = [1, 3, 5].map(unit);
    let merge = |later: &Unit, undone_at: Option<DateTime<Utc>>| Merge {
        id: MergeId::from_pair(units[0].id.uuid(), later.id.uuid()),
        of: MergeOf::Units,
        kept: units[0].id.uuid(),
        merged: later.id.uuid(),
        names: ["one".into(), "other".into()],
        similarity: 0.95,
        same_event: true,
        has_overlap: true,
        relation_type: Some(RelationKind::SameAs),
        reason: format!("both mention {}", later.text),
        records: later.records.clone(),
        since: Some(later.observed_at.to_utc()),
        undone: undone_at.is_some(),
        undone_at,
    };
    let merges = [
        merge(&units[1], None),
        merge(&units[2], Some("2026-04-09T00:00:00Z".parse().unwrap())),
    ];
    let into = |at: usize| Standing {
        unit: units[at].id,
        into: Some(merges[at - 1].id),
        absorbed: Vec::new(),
    };
    let kept = Standing {
        unit: units[0].id,
        into: None,
        absorbed: merges.iter().map(|it| it.id).collect(),
    };
    let standings = [kept, into(1), into(2)].map(Derived::Standing);
    let derived = standings.into_iter().chain(merges.map(Derived::Merge)).collect();
    (units, derived)
}

async fn gateway() -> (Gateway, [Unit; 3]) {
    let (gateway, (units, derived)) = (Gateway::new().await, sample_units());
    let graph = &gateway.context.backends.graph;
    graph.put_units(&space(), &units, &[]).await.unwrap();
    graph.put_derived(&space(), &derived, &[]).await.unwrap();
    (gateway, units)
}

async fn shown(gateway: &Gateway, unit: &Unit, as_of: &str) -> Value {
    let call = format!("GET /v1/spaces/s/units/{}{as_of}", unit.id);
    gateway.send(&call, "").await.json()
}

#[tokio::test]
async fn a_merged_unit_names_its_replacement_which_names_the_reason() {
    let (gateway, [first, second, parted]) = gateway().await;
    let kept = shown(&gateway, &first, "").await;
    assert_eq!(kept["status"], "active");
    assert!(kept.get("merged_into").is_none());
    let absorbed = kept["absorbed"].as_array().unwrap();
    assert_eq!(absorbed.len(), 1, "one was parted again: {kept}");
    let merge = MergeId::from_pair(first.id.uuid(), second.id.uuid());
    assert_eq!(
        absorbed[0],
        json!({"unit": second.id, "records": second.records, "merge": merge, "reason": "both mention day 3", "similarity": 0.95,
            "same_event": true, "has_overlap": true, "relation_type": "same_as"})
    );
    let merged = shown(&gateway, &second, "").await;
    assert_eq!(
        (&merged["status"], &merged["merged_into"], &merged["merged_by"]),
        (&json!("merged"), &json!(first.id), &json!(merge))
    );
    assert_eq!(merged["text"], "day 3", "it stays as it was told");
    let parted = shown(&gateway, &parted, "").await;
    assert_eq!(parted["status"], "active");
    assert!(parted.get("merged_into").is_none() && parted.get("absorbed").is_none());
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/units", "status").await,
        ["active", "merged", "active"]
    );
}

#[tokio::test]
async fn units_as_of_a_moment_have_the_merges_of_that_moment() {
    let (gateway, [first, second, parted]) = gateway().await;
    let before = shown(&gateway, &first, "?as_of=2026-04-02").await;
    assert_eq!(before["status"], "active");
    assert!(
        before.get("absorbed").is_none(),
        "nothing had been told again: {before}"
    );
    let early = shown(&gateway, &second, "?as_of=2026-04-02").await;
    assert_eq!(early["status"], 404, "nor was it known: {early}");
    for (as_of, absorbed, status) in [
        ("?as_of=2026-04-03", 1, None),
        ("?as_of=2026-04-08", 2, Some("merged")),
        ("?as_of=2026-04-09", 1, Some("active")),
    ] {
        let kept = shown(&gateway, &first, as_of).await;
        assert_eq!(
            kept["absorbed"].as_array().map(Vec::len),
            Some(absorbed),
            "{as_of}: {kept}"
        );
        if let Some(status) = status {
            assert_eq!(shown(&gateway, &parted, as_of).await["status"], status, "{as_of}");
        }
    }
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/units?as_of=2026-04-08", "status").await,
        ["active", "merged", "merged"]
    );
}

#[tokio::test]
async fn units_are_filtered_by_session_and_actor() {
    let gateway = Gateway::new().await;
    let unit = |(day, session, actor): (u32, &str, &str)| Unit {
        session: SessionId::from_name(&space(), session),
        actor: actor.to_owned(),
        ..unit(day)
    };
    let units = [
        (1, "mon", "Ann"),
        (2, "tue", "Ben"),
        (3, "mon", "ANN"),
        (4, "mon", ""),
        (5, "tue", "Ann"),
    ]
    .map(unit);
    let graph = &gateway.context.backends.graph;
    graph.put_units(&space(), &units, &[]).await.unwrap();
    let monday = units[0].session;
    for (filter, expected) in [
        ("session=mon".to_owned(), vec!["day 1", "day 3", "day 4"]),
        (format!("session={monday}"), vec!["day 1", "day 3", "day 4"]),
        ("session=sun".to_owned(), vec![]),
        ("actor=ann".to_owned(), vec!["day 1", "day 3", "day 5"]),
        ("actor=BEN".to_owned(), vec!["day 2"]),
        ("actor=Ann&session=tue".to_owned(), vec!["day 5"]),
        ("actor=Ann&session=mon&as_of=2026-04-02".to_owned(), vec!["day 1"]),
        ("as_of=2026-04-02".to_owned(), vec!["day 1", "day 2"]),
    ] {
        let path = format!("/v1/spaces/s/units?{filter}");
        assert_eq!(walk(&gateway, &path, "text").await, expected, "{filter}");
    }
    let whole = gateway
        .send("GET /v1/spaces/s/units?actor=ann&limit=3", "")
        .await
        .json();
    assert_eq!(whole["next"], Value::Null, "nothing is left: {whole}");
    for (filter, expected) in [
        ("session=", "422 session: is empty; leave it out instead"),
        ("actor=%00", "422 actor: holds the control character U+0000"),
        ("after=x", "422 after: must be the `next` of a page"),
    ] {
        let reply = gateway.send(&format!("GET /v1/spaces/s/units?{filter}"), "").await;
        assert!(reply.problem().starts_with(expected), "{reply:?}");
    }
}

/// A page of a list continues where the previous read stopped, also if few units match.
#[tokio::test]
async fn a_rare_unit_is_found_among_many() {
    let gateway = Gateway::new().await;
    let unit = |number: u32| Unit {
        actor: if number == 2_400 { "Ann" } else { "Ben" }.to_owned(),
        id: UnitId::of_turn(RecordId::from_external_id(&space(), &number.to_string())),
        ..unit(1)
    };
    let units: Vec<Unit> = (0..2_500).map(unit).collect();
    let graph = &gateway.context.backends.graph;
    graph.put_units(&space(), &units, &[]).await.unwrap();
    assert_eq!(walk(&gateway, "/v1/spaces/s/units?actor=ann", "actor").await, ["Ann"]);
}
