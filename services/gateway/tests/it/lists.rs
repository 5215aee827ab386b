use domain::derived::Derived;
use domain::entity::{Entity, EntityKind};
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, FactId, RecordId, SpaceId, UnitId};
use domain::time::TimeSpan;

use crate::harness::Gateway;

/// Walks all pages and returns the field of every item.
async fn walk(gateway: &Gateway, path: &str, field: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut call = format!("GET {path}?limit=2");
    loop {
        let page = gateway.send(&call, "").await.json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2);
        seen.extend(items.iter().map(|it| it[field].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { return seen };
        call = format!("GET {path}?limit=2&after={next}");
    }
}

#[tokio::test]
async fn every_list_can_be_walked_to_its_end() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    for name in ["b", "a", "c"] {
        gateway.send(&format!("PUT /v1/spaces/{name}"), "").await;
    }
    assert_eq!(walk(&gateway, "/v1/spaces", "space").await, ["a", "b", "c", "s"]);
    let records: Vec<String> = (0..5).map(|it| format!(r#"{{"id":"{it}","text":"x"}}"#)).collect();
    let body = format!(r#"{{"records":[{}]}}"#, records.join(","));
    let mark = gateway.send("POST /v1/spaces/s/records", &body).await.json();
    gateway.written(mark["watermark"].as_str().unwrap()).await;
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/records", "id").await,
        ["0", "1", "2", "3", "4"]
    );
}

#[tokio::test]
async fn facts_and_entities_are_listed_and_found() {
    let gateway = Gateway::new().await;
    let space: SpaceId = "s".parse().unwrap();
    let unit = UnitId::turn(RecordId::derive(&space, "0"));
    let span = TimeSpan::instant(host::clock::now());
    let fact = |object: &str| Fact {
        id: FactId::derive(unit, "Ann", "likes", object),
        subject: "Ann".into(),
        predicate: "likes".into(),
        object: object.into(),
        entity: None,
        aspect: Aspect::Preference,
        valid_from: span.clone(),
        valid_until: None,
        recorded_at: span.start,
        source: unit,
        told_by: String::new(),
        confidence: 0.5,
        retired_by: None,
        closed_at: None,
        withdrawn: false,
    };
    let facts: Vec<Fact> = ["tea", "jazz", "rain"].map(fact).to_vec();
    let graph = &gateway.context.backends.graph;
    let derived: Vec<Derived> = facts.iter().cloned().map(Derived::Fact).collect();
    graph.put_derived(&space, &derived, &[]).await.unwrap();
    let mut ids: Vec<String> = facts.iter().map(|it| it.id.to_string()).collect();
    ids.sort();
    assert_eq!(walk(&gateway, "/v1/spaces/s/facts", "id").await, ids);
    let one = gateway
        .send(&format!("GET /v1/spaces/s/facts/{}", facts[0].id), "")
        .await
        .json();
    assert_eq!(one["object"], "tea");

    let entity = |name: &str| Entity {
        id: EntityId::derive(&space, name),
        name: name.into(),
        kind: EntityKind::Place,
        aliases: Vec::new(),
        mentions: 1,
        first_seen: None,
        roles: Vec::new(),
        synonyms: Vec::new(),
    };
    let entities = ["Oslo", "Rome", "Kyiv", "Lima"].map(entity);
    let derived: Vec<Derived> = entities.iter().cloned().map(Derived::Entity).collect();
    graph.put_derived(&space, &derived, &[]).await.unwrap();
    let mut names = walk(&gateway, "/v1/spaces/s/entities", "name").await;
    names.sort();
    assert_eq!(names, ["Kyiv", "Lima", "Oslo", "Rome"]);
    let one = gateway
        .send(&format!("GET /v1/spaces/s/entities/{}", entities[1].id), "")
        .await
        .json();
    assert_eq!(one["name"], "Rome");
    for call in [
        "GET /v1/spaces/s/facts/x",
        "GET /v1/spaces/s/units/00000000-0000-0000-0000-000000000000",
    ] {
        assert!(
            gateway.send(call, "").await.problem().starts_with("404 there is no "),
            "{call}"
        );
    }
}
