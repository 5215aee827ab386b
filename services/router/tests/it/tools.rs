//! The tools over embedded stores: successful calls, failing calls, and limits.

mod amended;
mod away;
mod bad;
mod forgotten_topics;
mod gists;
mod good;
mod long_events;

use chrono::DateTime;
use domain::message::ToolV1;
use domain::relation::{Relation, RelationKind};
use host::Context;
use router::{Config, Router};
use serde_json::{Value, json};

use crate::derived::{all_units, derived, event_at, turn};
use crate::stores::{moment, put};
use crate::talk::{space, units};

async fn opened(dir: &tempfile::TempDir) -> (Context, Router) {
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    put(&ctx, &all_units()).await;
    ctx.backends.graph.put_derived(&space(), &derived(), &[]).await.unwrap();
    let relation = |source, target, kind, weight| Relation {
        source,
        target,
        kind,
        label: String::new(),
        weight,
        evidence: units()[6].records.clone(),
    };
    let relations = [
        relation(turn(6), turn(4), RelationKind::FollowsUp, 0.6),
        relation(turn(4), turn(0), RelationKind::Contrasts, 0.8),
        relation(event_at(0), event_at(4), RelationKind::Before, 0.5),
    ];
    ctx.backends.graph.put_relations(&space(), &relations).await.unwrap();
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    (ctx, router)
}

async fn call(router: &Router, name: &str, arguments: &Value, as_of: Option<&str>) -> String {
    let called = router.call_tool(ToolV1 {
        space: space(),
        name: name.to_owned(),
        arguments: arguments.clone(),
        as_of: as_of.map(|it| DateTime::parse_from_rfc3339(it).unwrap()),
        labels: Default::default(),
        filter: Default::default(),
    });
    let outcome = called.await.unwrap();
    assert!(outcome.result.is_some() != outcome.error.is_some());
    serde_json::to_string(&outcome).unwrap()
}

/// Calls tools and checks that each reply contains the given words, and does not contain those that begin with `!`. A
/// second call must give the same reply.
async fn check(router: &Router, calls: Vec<(&str, Value, Vec<&str>)>) {
    for (name, arguments, expected) in calls {
        let text = call(router, name, &arguments, None).await;
        for word in expected {
            match word.strip_prefix('!') {
                Some(word) => assert!(!text.contains(word), "{name} {arguments} has {word}: {text}"),
                None => assert!(text.contains(word), "{name} {arguments} lacks {word}: {text}"),
            }
        }
        assert_eq!(text, call(router, name, &arguments, None).await);
    }
}

#[tokio::test]
async fn tools_return_nothing_later_than_as_of() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    let as_of = Some("2024-05-01T00:00:00Z");
    for (name, arguments, there) in [
        (
            "lexical_retrieve",
            json!({"query": "Where does Omar live? Biscuit mountain"}),
            "Bergen",
        ),
        (
            "semantic_retrieve",
            json!({"query": "hiking a mountain"}),
            "\"gists\":[{",
        ),
        (
            "find_entity_contexts",
            json!({"subject": "Omar"}),
            "\"valid_until\":null",
        ),
        (
            "query_personal_aspect",
            json!({"person": "Omar", "aspect": "place"}),
            "\"holds\":true",
        ),
        ("query_tag_events", json!({"cue": "biscuit"}), "\"total\":1"),
        ("query_topic_events", json!({"topic": "pets"}), "\"events\":1"),
        ("read_page", json!({"page": "Omar"}), "\"until\":null"),
        ("list_dimensions", json!({}), "\"pages\":2"),
        ("browse_dimension", json!({"dimension": "place"}), "\"total\":0"),
        ("find_gist_contexts", json!({"gist_id": event_at(0)}), "part of it"),
    ] {
        let text = call(&router, name, &arguments, as_of).await;
        assert!(text.contains(there), "{name}: {text}");
        for later in ["Oslo", "Ulriken", "2024-05-20", "r7"] {
            assert!(!text.contains(later), "{name} knows of {later}: {text}");
        }
    }
    let late = call(&router, "expand_unit", &json!({"unit": turn(7)}), as_of).await;
    assert!(late.contains("not_found"), "{late}");
}

#[tokio::test]
async fn every_tool_is_listed_and_accepts_the_properties_of_its_schema() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    let tools = router::tool_catalogue();
    let names: Vec<&str> = tools.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names.join(" "),
        "browse_dimension expand_unit find_entity_contexts find_gist_contexts follow_link lexical_retrieve \
        list_dimensions query_conversation_time query_event_context query_event_keywords query_personal_aspect \
        query_personal_information query_tag_events query_topic_events read_page semantic_retrieve"
    );
    for tool in tools {
        let required = tool.input_schema["required"].as_array().unwrap().clone();
        let known = required
            .iter()
            .all(|it| !tool.input_schema["properties"][it.as_str().unwrap()].is_null());
        assert!(known && tool.description.ends_with('.'), "{}", tool.name);
        // The tool knows all properties of its schema.
        for name in tool.input_schema["properties"].as_object().unwrap().keys() {
            let reply = call(&router, &tool.name, &json!({name: {}}), None).await;
            assert!(
                reply.contains("bad_arguments") && !reply.contains("unknown field"),
                "{}: {reply}",
                tool.name
            );
        }
    }
}
