use domain::derived::Derived;
use domain::entity::{Entity, EntityKind};
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, MergeId, SpaceId};
use domain::merge::{Merge, MergeOf};
use domain::unit::Unit;
use fixtures::{sample_fact, sample_unit};

use crate::harness::Gateway;
use crate::lists::walk;
use crate::pages::unit;

fn space() -> SpaceId {
    "s".parse().unwrap()
}

fn fact(time: &str, subject: &str, predicate: &str, object: &str, aspect: Aspect) -> Fact {
    let source = Unit {
        observed_at: time.parse().unwrap(),
        ..sample_unit(&space(), time)
    };
    Fact {
        entity: Some(EntityId::from_name(&space(), &subject.to_lowercase())),
        told_by: subject.into(),
        confidence: 0.5,
        ..sample_fact(&source, [subject, predicate, object], aspect)
    }
}

/// Returns facts: Ann lived in Oslo until she moved to Porto; she likes tea, and by mistake jazz; Zoë likes rain.
pub(crate) fn facts() -> Vec<Fact> {
    let mut oslo = fact("2026-01-01T00:00:00Z", "Ann", "lives in", "Oslo", Aspect::Place);
    let porto = fact("2026-03-01T00:00:00Z", "Ann", "lives in", "Porto", Aspect::Place);
    (oslo.valid_until, oslo.retired_by) = (Some(porto.recorded_at), Some(porto.id));
    let mut jazz = fact("2026-01-03T00:00:00Z", "Ann", "likes", "jazz", Aspect::Preference);
    jazz.withdrawn = true;
    vec![
        oslo,
        porto,
        fact("2026-01-02T00:00:00Z", "Ann", "likes", "tea", Aspect::Preference),
        jazz,
        fact("2026-01-04T00:00:00Z", "Zoë", "likes", "rain", Aspect::Preference),
    ]
}

pub(crate) async fn put(gateway: &Gateway, items: impl IntoIterator<Item = Derived>) {
    let items: Vec<Derived> = items.into_iter().collect();
    let graph = &gateway.context.backends.graph;
    graph.put_derived(&space(), &items, &[]).await.unwrap();
}

#[tokio::test]
async fn facts_are_filtered_by_content_and_time() {
    let gateway = Gateway::new().await;
    put(&gateway, facts().into_iter().map(Derived::Fact)).await;
    let mut ids: Vec<String> = facts().iter().map(|it| it.id.to_string()).collect();
    ids.sort();
    assert_eq!(walk(&gateway, "/v1/spaces/s/facts", "id").await, ids);
    let zoe = facts()[4].entity.unwrap();
    for (filter, expected) in [
        ("subject=zo%C3%8B".to_owned(), "rain"),
        (format!("subject={zoe}"), "rain"),
        ("subject=Ann&predicate=Likes&current=true".to_owned(), "tea"),
        ("subject=Ann&predicate=likes&current=false".to_owned(), "jazz"),
        ("aspect=place".to_owned(), "Oslo Porto"),
        ("aspect=place&current=true".to_owned(), "Porto"),
        ("aspect=place&current=true&as_of=2026-02-01".to_owned(), "Oslo"),
        ("aspect=place&as_of=2025-12-31".to_owned(), ""),
        ("subject=nobody".to_owned(), ""),
    ] {
        let mut found = walk(&gateway, &format!("/v1/spaces/s/facts?{filter}"), "object").await;
        found.sort();
        assert_eq!(found.join(" "), expected, "{filter}");
    }
    let then = gateway
        .send("GET /v1/spaces/s/facts?aspect=place&as_of=2026-02-01", "")
        .await
        .json();
    assert!(
        then["items"][0].get("valid_until").is_none(),
        "it had not ceased to hold: {then}"
    );
    let one = gateway
        .send(&format!("GET /v1/spaces/s/facts/{}", facts()[2].id), "")
        .await
        .json();
    assert_eq!(one["object"], "tea");
}

/// The space has more facts than one read returns, and few of them match.
#[tokio::test]
async fn a_filtered_list_finds_matches_near_its_end() {
    let gateway = Gateway::new().await;
    let many = (0..1_500).map(|it| fact("2026-01-01T00:00:00Z", "Ann", "counts", &it.to_string(), Aspect::Count));
    put(&gateway, many.chain(facts()).map(Derived::Fact)).await;
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/facts?subject=zo%C3%AB", "object").await,
        ["rain"]
    );
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/facts?predicate=counts", "object")
            .await
            .len(),
        1_500
    );
}

#[tokio::test]
async fn entities_and_merges_are_listed_and_found() {
    let gateway = Gateway::new().await;
    let entity = |name: &str| Entity {
        id: EntityId::from_name(&space(), name),
        name: name.into(),
        kind: EntityKind::Person,
        aliases: vec![format!("{name}y")],
        mentions: 1,
        first_seen: Some("2026-01-05T00:00:00Z".parse().unwrap()),
        roles: vec![format!("{name}'s sister")],
        bearers: Vec::new(),
        synonyms: Vec::new(),
    };
    let entities = ["Tom", "Rob", "Jim", "Sam"].map(entity);
    put(&gateway, entities.clone().map(Derived::Entity)).await;
    let mut names = walk(&gateway, "/v1/spaces/s/entities", "name").await;
    names.sort();
    assert_eq!(names, ["Jim", "Rob", "Sam", "Tom"]);
    for (filter, expected) in [
        ("name=tom", 1),
        ("name=Robby", 0),
        ("name=ROBY", 1),
        ("name=Jim's%20sister", 1),
        ("as_of=2026-01-04", 0),
        ("as_of=2026-01-05", 4),
    ] {
        let found = walk(&gateway, &format!("/v1/spaces/s/entities?{filter}"), "name").await;
        assert_eq!(found.len(), expected, "{filter}");
    }
    let merge = Merge {
        id: MergeId::from_pair(entities[0].id.uuid(), entities[1].id.uuid()),
        of: MergeOf::Entities,
        kept: entities[0].id.uuid(),
        merged: entities[1].id.uuid(),
        names: ["Tom".into(), "Rob".into()],
        similarity: 0.93,
        same_event: true,
        has_overlap: false,
        relation_type: None,
        reason: "told so".into(),
        records: Vec::new(),
        since: None,
        undone: false,
        undone_at: None,
    };
    put(&gateway, [Derived::Merge(merge.clone())]).await;
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/merges?undone=false", "reason").await,
        ["told so"]
    );
    assert!(
        walk(&gateway, "/v1/spaces/s/merges?of=units", "reason")
            .await
            .is_empty()
    );
    let one = gateway.send(&format!("GET /v1/spaces/s/merges/{}", merge.id), "").await;
    assert_eq!(one.json()["names"][1], "Rob");
    let tom = format!("GET /v1/spaces/s/entities/{}", entities[0].id);
    assert_eq!(
        gateway.send(&format!("{tom}?as_of=2026-01-05"), "").await.json()["name"],
        "Tom"
    );
    let early = gateway.send(&format!("{tom}?as_of=2026-01-04"), "").await.problem();
    assert!(early.starts_with("404 this entity did not exist yet"), "{early}");
}

#[tokio::test]
async fn an_object_is_returned_as_of_a_moment() {
    let gateway = Gateway::new().await;
    put(&gateway, facts().into_iter().map(Derived::Fact)).await;
    let oslo = format!("GET /v1/spaces/s/facts/{}", facts()[0].id);
    for (as_of, until) in [
        ("", Some("2026-03-01T00:00:00Z")),
        ("?as_of=2026-03-01", Some("2026-03-01T00:00:00Z")),
        ("?as_of=2026-02-28", None),
        ("?as_of=2026-01-01", None),
    ] {
        let fact = gateway.send(&format!("{oslo}{as_of}"), "").await.json();
        assert_eq!(fact["object"], "Oslo", "{as_of}: {fact}");
        assert_eq!(fact["valid_until"].as_str(), until, "{as_of}: {fact}");
    }
    let early = gateway.send(&format!("{oslo}?as_of=2025-12-31"), "").await.problem();
    assert!(early.starts_with("404 this fact did not exist yet"), "{early}");
    let unit = unit(5);
    gateway
        .context
        .backends
        .graph
        .put_units(&space(), std::slice::from_ref(&unit), &[])
        .await
        .unwrap();
    let call = format!("GET /v1/spaces/s/units/{}", unit.id);
    for as_of in ["", "?as_of=2026-04-05"] {
        assert_eq!(
            gateway.send(&format!("{call}{as_of}"), "").await.json()["text"],
            "day 5"
        );
    }
    let early = gateway.send(&format!("{call}?as_of=2026-04-04"), "").await.problem();
    assert!(early.starts_with("404 this unit did not exist yet"), "{early}");
    for call in [call, oslo] {
        let then = gateway.send(&format!("{call}?as_of=then"), "").await.problem();
        assert!(then.starts_with("422 as_of: is not a time like"), "{then}");
    }
}

#[tokio::test]
async fn unknown_ids_and_invalid_list_parameters_are_rejected() {
    let gateway = Gateway::new().await;
    for (call, expected) in [
        (
            "facts/x",
            "404 there is no fact with this id in `s`; use an id from its facts",
        ),
        (
            "units/00000000-0000-0000-0000-000000000000",
            "404 there is no unit with this id",
        ),
        (
            "merges/00000000-0000-0000-0000-000000000000",
            "404 there is no merge with this id",
        ),
        ("facts?aspect=mood", "422 aspect: unknown variant `mood`"),
        ("facts?current=maybe", "422 current: "),
        ("facts?subject=", "422 subject: is empty; leave it out instead"),
        ("facts?as_of=then", "422 as_of: is not a time like"),
        ("facts?colour=red", "422 colour: unknown field `colour`"),
        ("facts?limit=0", "422 limit: must be 1 to 1000"),
        ("facts?after=x", "422 after: must be the `next` of a page"),
        ("merges?of=facts", "422 of: unknown variant `facts`"),
    ] {
        let problem = gateway.send(&format!("GET /v1/spaces/s/{call}"), "").await.problem();
        assert!(problem.starts_with(expected), "{call}: {problem}");
    }
}
