//! Topics of which some or all events are forgotten.

use domain::curation::Act;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::TopicId;
use domain::port::Position;
use domain::topic::{Member, Topic};
use serde_json::json;

use super::{call, check, opened};
use crate::decided::act;
use crate::derived::{at, event_at, turn};
use crate::talk::space;

/// Returns a topic with both events of the talk, which replaces the topic "pottery".
fn topic_of_both_events() -> Vec<Derived> {
    let id = TopicId::from_founding_unit(event_at(4));
    let member = |number: usize| {
        Derived::Member(Member {
            unit: event_at(number),
            topic: id,
            similarity: 0.9,
        })
    };
    let topic = Topic {
        id,
        label: "bowls, dog".to_owned(),
        summary: Some("Omar made pottery, and Liv adopted a pet.".to_owned()),
        keywords: ["bowls", "dog", "mug"].map(str::to_owned).to_vec(),
        units: 2,
        first_seen: at("2024-03-02T10:00:00Z"),
        last_seen: at("2024-04-11T18:00:00Z"),
    };
    vec![member(0), member(4), Derived::Topic(topic)]
}

#[tokio::test]
async fn a_topic_shows_nothing_that_only_its_forgotten_events_contain() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir).await;
    let emptied = DerivedId {
        kind: DerivedKind::Topic,
        id: TopicId::from_founding_unit(event_at(0)).uuid(),
    };
    let graph = &ctx.backends.graph;
    graph
        .put_derived(&space(), &topic_of_both_events(), &[emptied])
        .await
        .unwrap();
    let forget = async |number: u8, event: usize| {
        let forget = act(number, Act::ForgetUnit { unit: event_at(event) });
        let records = &ctx.backends.records;
        records.put_curations(&space(), Position(1), &[forget]).await.unwrap();
    };
    let list = || json!({});
    let of_turn = || json!({"unit": turn(0)});
    let whole = vec!["\"bowls, dog\"", "\"mug\"", "Omar made pottery", "\"events\":2"];
    let named = vec!["\"label\":\"bowls, dog\"", "\"mug\""];
    check(
        &router,
        vec![
            ("query_topic_events", list(), whole),
            ("query_event_keywords", of_turn(), named),
        ],
    )
    .await;

    forget(1, 4).await;
    let rest = vec![
        "\"label\":\"dog\"",
        "[\"dog\"]",
        "\"events\":1",
        "!bowls",
        "!mug",
        "!pottery",
    ];
    let named = vec!["\"label\":\"dog\"", "[\"dog\"]", "!bowls", "!mug"];
    check(
        &router,
        vec![
            ("query_topic_events", list(), rest),
            ("query_event_keywords", of_turn(), named),
        ],
    )
    .await;
    let found = call(&router, "query_topic_events", &json!({"topic": "dog"}), None).await;
    assert!(found.contains("\"total\":1") && found.contains("Biscuit"), "{found}");

    forget(2, 0).await;
    let listed = call(&router, "query_topic_events", &list(), None).await;
    assert!(listed.contains("\"total\":0"), "{listed}");
    let found = call(&router, "query_topic_events", &json!({"topic": "dog"}), None).await;
    assert!(found.contains("not_found"), "{found}");
}
