//! Failing calls of each tool.

use serde_json::json;

use super::{check, opened};
use crate::derived::turn;

#[tokio::test]
async fn searches_with_bad_arguments_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    let nobody = "00000000-0000-0000-0000-000000000000";
    check(
        &router,
        vec![
            (
                "rm",
                json!({}),
                vec![
                    "unknown_tool",
                    "the tools are: browse_dimension, expand_unit, find_entity_contexts",
                ],
            ),
            (
                "semantic_retrieve",
                json!({}),
                vec!["bad_arguments", "missing field `query`"],
            ),
            ("semantic_retrieve", json!([]), vec!["bad_arguments"]),
            (
                "find_gist_contexts",
                json!({}),
                vec!["bad_arguments", "missing field `gist_id`"],
            ),
            (
                "lexical_retrieve",
                json!(["pottery"]),
                vec!["bad_arguments", "the arguments are not an object"],
            ),
            (
                "semantic_retrieve",
                json!({"query": "x", "limit": 99}),
                vec!["limit: must be 1 to 50"],
            ),
            (
                "lexical_retrieve",
                json!({"query": " "}),
                vec!["query: is empty; say what is sought"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "x", "k": 9}),
                vec!["unknown field `k`, expected one of `query`"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "x", "start_time": "2024-13"}),
                vec!["start_time: is not a time; write 2024"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "x", "start_time": "2024", "end_time": "2023"}),
                vec!["end_time: is before start_time"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "x", "end_operator": "<"}),
                vec!["end_operator: is given without end_time"],
            ),
            (
                "find_gist_contexts",
                json!({"gist_id": nobody}),
                vec!["not_found", "use ids"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn unknown_entities_and_cues_are_reported_with_suggestions() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    let find = "find_entity_contexts";
    let nobody = "00000000-0000-0000-0000-000000000000";
    check(
        &router,
        vec![
            (find, json!({}), vec!["give at least one of subject"]),
            (
                find,
                json!({"subject": "Omar", "aggregation": "mean"}),
                vec!["aggregation: unknown variant `mean`, expected one of `none`, `count`"],
            ),
            (
                find,
                json!({"subject": "Omar", "ordering": "up"}),
                vec!["ordering: unknown variant"],
            ),
            (find, json!({"subject": ""}), vec!["subject: is empty"]),
            (
                "query_tag_events",
                json!({"cue": "zebra"}),
                vec!["not_found", "no unit has this cue"],
            ),
            (
                "query_tag_events",
                json!({"cue": "zebra crossing"}),
                vec!["not_found", "no unit has this cue"],
            ),
            (
                "query_tag_events",
                json!({"cue": "beagle", "tag": "none"}),
                vec!["has no such tag; it has: beagle three, sister wants"],
            ),
            (
                "query_conversation_time",
                json!({"event": "x"}),
                vec!["UUID parsing failed"],
            ),
            ("query_event_keywords", json!({"unit": nobody}), vec!["not_found"]),
            (
                "query_event_context",
                json!({"unit": turn(0), "before": 21}),
                vec!["before: must be 0 to 20"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn unknown_people_and_pages_are_reported_with_suggestions() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    let nobody = "00000000-0000-0000-0000-000000000000";
    check(
        &router,
        vec![
            (
                "query_personal_information",
                json!({"person": "Zed"}),
                vec!["not_found", "there are: ", "Omar"],
            ),
            (
                "query_personal_aspect",
                json!({"person": "Omar", "aspect": "age"}),
                vec!["aspect: unknown variant `age`, expected one of `preference`"],
            ),
            (
                "query_topic_events",
                json!({"topic": "cars"}),
                vec!["not_found", "the greatest are: ", "pets"],
            ),
            ("list_dimensions", json!({"x": 1}), vec!["unknown field `x`"]),
            (
                "browse_dimension",
                json!({"dimension": "mood"}),
                vec!["dimension: unknown variant `mood`, expected one of `topic`"],
            ),
            (
                "read_page",
                json!({"page": "Nowhere"}),
                vec!["not_found", "list_dimensions"],
            ),
            (
                "follow_link",
                json!({"page": "Omar", "link": "temporal_next"}),
                vec!["not_found", "it links to: Liv (related_to); Oslo (caused_by)"],
            ),
            ("expand_unit", json!({"unit": nobody}), vec!["not_found"]),
            (
                "expand_unit",
                json!({"unit": turn(0), "relation": "likes"}),
                vec!["relation: unknown variant `likes`"],
            ),
        ],
    )
    .await;
}
