//! Successful calls of each tool.

use domain::page::Dimension;
use serde_json::{Value, json};

use super::{check, opened};
use crate::derived::{event_at, page_id, turn};

#[tokio::test]
async fn retrieval_tools_return_gists_and_facts() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    check(
        &router,
        vec![
            (
                "semantic_retrieve",
                json!({"query": "puppy", "limit": 3}),
                vec!["\"gists\":[{", "adopted a dog", "\"facts\":[{", "\"score\":"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "kiln"}),
                vec!["The mug broke in the kiln", "!adopted", "two bowls", "!kilns"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "Where does Oz live?"}),
                vec!["Omar lives in Oslo", "Omar lives in Bergen"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "beagle", "start_time": "2024-03-03"}),
                vec!["\"gists\":[]"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "beagle", "end_time": "2024-03"}),
                vec!["three years old"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "beagle", "start_time": "2024-03-02T10:02:00Z", "start_operator": ">"}),
                vec!["My sister wants", "!three years"],
            ),
            (
                "find_gist_contexts",
                json!({"gist_id": turn(5)}),
                vec!["\"itself\"", "\"holds it\"", "\"beside it\"", "1 mug", "\"phrases\":[{"],
            ),
            (
                "find_gist_contexts",
                json!({"unit": event_at(0)}),
                vec![
                    "\"part of it\"",
                    "tells of the same",
                    "Omar's sister wants a beagle",
                    "dog named Biscuit",
                ],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn facts_are_found_by_entity_and_time() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    let find = "find_entity_contexts";
    check(
        &router,
        vec![
            (
                find,
                json!({"subject": "Oz", "predicate": "live"}),
                vec!["Bergen", "Oslo", "\"total\":2", "\"holds\":false", "\"gists\":[{"],
            ),
            (
                find,
                json!({"subject": "Omar", "predicate": "place", "ordering": "newest", "limit": 1}),
                vec!["Oslo", "!Bergen", "\"next_offset\":1"],
            ),
            (
                find,
                json!({"subject": "Omar", "predicate": "place", "offset": 1}),
                vec!["Oslo", "!Bergen", "\"next_offset\":null"],
            ),
            (
                find,
                json!({"object": "oslo"}),
                vec!["Omar lives in Oslo", "\"total\":1"],
            ),
            (
                find,
                json!({"predicate": "lives", "start_time": "2024-04-15", "end_time": "2024-04-16"}),
                vec!["Bergen", "!Oslo"],
            ),
            (
                find,
                json!({"predicate": "lives", "end_time": "2024-04", "end_operator": "<="}),
                vec!["Bergen", "!Oslo"],
            ),
            (
                find,
                json!({"subject": "Omar", "predicate": "made", "aggregation": "sum"}),
                vec!["\"sum\":3.0", "\"numbers\":2"],
            ),
            (
                find,
                json!({"subject": "Omar", "aggregation": "count"}),
                vec!["\"value\":5"],
            ),
            (
                find,
                json!({"subject": "Omar", "predicate": "lives", "aggregation": "last"}),
                vec!["\"aggregation\":\"last\"", "Oslo"],
            ),
            (
                find,
                json!({"subject": "Omar", "aggregation": "list"}),
                vec!["\"different\":5", "\"object\":\"cats\""],
            ),
            (find, json!({"subject": "Nobody"}), vec!["\"total\":0"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_cue_lists_tags_before_content() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    check(
        &router,
        vec![
            (
                "query_tag_events",
                json!({"cue": "beagle"}),
                vec![
                    "{\"tag\":\"beagle three\",\"units\":1}",
                    "sister wants",
                    "\"total\":2",
                    "!years old",
                ],
            ),
            (
                "query_tag_events",
                json!({"cue": "sister zebra beagle"}),
                vec!["\"cue\":\"sister\""],
            ),
            (
                "query_tag_events",
                json!({"cue": "Beagles", "tag": "sister wants"}),
                vec!["My sister wants a beagle", "!three years"],
            ),
            // The name of a speaker is a cue of all turns of the speaker.
            (
                "query_tag_events",
                json!({"cue": "Liv", "tag": "beagle three"}),
                vec!["three years old"],
            ),
            (
                "query_conversation_time",
                json!({"event": turn(4)}),
                vec!["\"told_on\":\"11 April 2024\"", "\"happened\":[]"],
            ),
            (
                "query_event_keywords",
                json!({"unit": turn(2)}),
                vec!["{\"cue\":\"beagle\",\"units\":2}", "\"label\":\"pets\""],
            ),
            (
                "query_event_context",
                json!({"unit": turn(2), "before": 1, "after": 0}),
                vec!["What breed", "A beagle", "!My sister", "!adopted"],
            ),
            (
                "query_event_context",
                json!({"unit": event_at(4)}),
                vec!["started pottery", "Two bowls", "!beagle"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn people_topics_and_relations_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    check(
        &router,
        vec![
            (
                "query_personal_information",
                json!({"person": "oz"}),
                vec![
                    "\"aspect\":\"count\",\"facts\":2",
                    "\"aspect\":\"place\",\"facts\":2,\"hold\":1",
                    "!Bergen",
                ],
            ),
            (
                "query_personal_aspect",
                json!({"person": "Omar", "aspect": "place"}),
                vec!["Omar lives in Oslo", "Omar lives in Bergen", "\"gists\":[{"],
            ),
            (
                "query_topic_events",
                json!({}),
                vec!["\"label\":\"pets\"", "\"label\":\"pottery\"", "\"total\":2", "!bowls"],
            ),
            (
                "query_topic_events",
                json!({"topic": "Pottery"}),
                vec!["pottery classes", "\"total\":1"],
            ),
            (
                "expand_unit",
                json!({"unit": turn(4)}),
                vec![
                    "\"relation\":\"contrasts\"",
                    "\"weight\":0.8}",
                    "\"direction\":\"from\"",
                    "\"evidence\":[\"r6\"]",
                    "\"of\":\"its event\"",
                    "\"total\":3",
                ],
            ),
            // The two events are in different sessions, and were judged to be the same event.
            (
                "expand_unit",
                json!({"unit": turn(0), "relation": "same_as"}),
                vec![
                    "biscuit hike",
                    "\"label\":\"the same dog\"",
                    "\"evidence\":[\"r7\"]",
                    "\"total\":1",
                ],
            ),
            (
                "expand_unit",
                json!({"unit": turn(4), "relation": "follows_up"}),
                vec!["Two bowls", "\"total\":1"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn pages_are_returned_with_their_structure() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir).await;
    let noor = page_id(Dimension::Figure, "noor");
    check(
        &router,
        vec![
            (
                "list_dimensions",
                json!({}),
                vec![
                    "\"dimension\":\"figure\"",
                    "\"pages\":2",
                    "\"newest\":[{\"summary\":",
                    "\"title\":\"Omar\"",
                ],
            ),
            ("list_dimensions", Value::Null, vec!["\"dimension\":\"event\""]),
            (
                "browse_dimension",
                json!({"dimension": "figure"}),
                vec!["\"title\":\"Liv\"", "!Noor", "\"other_dimensions\":[{", "\"total\":2"],
            ),
            (
                "browse_dimension",
                json!({"dimension": "figure", "archived": true, "limit": 1, "offset": 1}),
                vec!["Noor", "\"next_offset\":2", "!\"title\":\"Liv\""],
            ),
            ("browse_dimension", json!({"dimension": "event"}), vec!["\"pages\":[]"]),
            (
                "read_page",
                json!({"page": "omar"}),
                vec![
                    "lives in Bergen",
                    "\"summary\":\"Omar moved from Bergen to Oslo.\"",
                    "\"siblings\":[{",
                    "\"place\":2",
                    "\"of\":2",
                    "\"type\":\"caused_by\"",
                    "\"external_ids\":[\"r7\"]",
                ],
            ),
            ("read_page", json!({"page": noor}), vec!["wants a beagle", "archived"]),
            (
                "follow_link",
                json!({"page": "Omar", "link": "caused_by"}),
                vec!["Omar lives in Oslo", "\"came_from\"", "\"title\":\"Omar\""],
            ),
            (
                "follow_link",
                json!({"page": "Omar", "link": "Liv"}),
                vec!["has a dog named Biscuit", "\"related_to\""],
            ),
        ],
    )
    .await;
}
