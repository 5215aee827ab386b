//! The tools in a space with gists.

use domain::curation::{Act, Curation};
use domain::id::CurationId;
use domain::port::Position;
use domain::relation::{Relation, RelationKind};
use host::Context;
use router::Router;
use serde_json::json;

use super::{call, check, opened};
use crate::derived::turn;
use crate::gists::gists;
use crate::stores::{moment, put};
use crate::talk::space;

async fn opened_with_gists(dir: &tempfile::TempDir) -> (Context, Router) {
    let (ctx, router) = opened(dir).await;
    put(&ctx, &gists()).await;
    let [hike, dog, _] = [0, 1, 2].map(|it| gists()[it].id);
    let relation = Relation {
        source: hike,
        target: dog,
        kind: RelationKind::FollowsUp,
        label: "with the dog that she adopted".to_owned(),
        weight: 0.7,
        evidence: gists()[0].records.clone(),
    };
    ctx.backends.graph.put_relations(&space(), &[relation]).await.unwrap();
    (ctx, router)
}

#[tokio::test]
async fn searches_return_a_gist_or_its_turn() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened_with_gists(&dir).await;
    check(
        &router,
        vec![
            (
                "lexical_retrieve",
                json!({"query": "hiked Ulriken Liv dog"}),
                vec![
                    "\"grain\":\"gist\"",
                    "Liv hiked up Mount Ulriken",
                    "\"turns\":[",
                    "!Biscuit and I hiked",
                ],
            ),
            (
                "semantic_retrieve",
                json!({"query": "Liv hiked up Mount Ulriken with her dog in May 2024"}),
                vec!["Liv hiked up Mount Ulriken", "!Biscuit and I hiked"],
            ),
            // Words that occur only in the turn find the turn.
            (
                "lexical_retrieve",
                json!({"query": "waffles"}),
                vec!["Biscuit and I hiked", "!Liv hiked"],
            ),
            (
                "lexical_retrieve",
                json!({"query": "hiked Ulriken Liv dog", "end_time": "2024-04"}),
                vec!["Liv adopted Biscuit", "!Ulriken"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn every_tool_accepts_gists_as_units() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened_with_gists(&dir).await;
    let [hike, dog, _] = [0, 1, 2].map(|it| gists()[it].id);
    check(
        &router,
        vec![
            (
                "expand_unit",
                json!({"unit": hike}),
                vec![
                    "Liv adopted Biscuit",
                    "\"relation\":\"follows_up\"",
                    "\"of\":\"it\"",
                    "\"direction\":\"to\"",
                    "\"total\":1",
                ],
            ),
            // A turn shows the relations of its gists after its own.
            (
                "expand_unit",
                json!({"unit": turn(0), "relation": "follows_up"}),
                vec![
                    "Liv hiked up",
                    "\"of\":\"its gist\"",
                    "\"direction\":\"from\"",
                    "\"total\":1",
                    "\"evidence\":[\"r7\"]",
                ],
            ),
            (
                "find_gist_contexts",
                json!({"gist_id": dog}),
                vec![
                    "\"itself\"",
                    "\"it was read in\"",
                    "a dog named Biscuit",
                    "\"phrases\":[{",
                ],
            ),
            (
                "find_gist_contexts",
                json!({"gist_id": turn(7)}),
                vec!["\"read in it\"", "Liv hiked up"],
            ),
            (
                "query_conversation_time",
                json!({"unit": hike}),
                vec!["\"told_on\":\"20 May 2024\""],
            ),
            (
                "query_event_keywords",
                json!({"unit": hike}),
                vec!["\"cue\":\"ulriken\""],
            ),
            (
                "query_event_context",
                json!({"unit": dog, "before": 0, "after": 1}),
                vec!["adopted a dog", "My sister wants", "!pottery"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_gist_is_returned_only_if_all_its_turns_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened_with_gists(&dir).await;
    let dog = json!({"unit": gists()[1].id});
    let tell = async |as_of| call(&router, "query_conversation_time", &dog, as_of).await;
    assert!(tell(Some("2024-03-02T10:01:00Z")).await.contains("not_found"));
    assert!(tell(Some("2024-03-02T10:02:00Z")).await.contains("2 March 2024"));
    let forget = Curation {
        id: CurationId::from_external_id(&space(), "1"),
        at: moment(1),
        by: String::new(),
        act: Act::ForgetUnit { unit: turn(2) },
        reason: String::new(),
    };
    let records = &ctx.backends.records;
    records.put_curations(&space(), Position(1), &[forget]).await.unwrap();
    assert!(tell(None).await.contains("not_found"));
    let found = call(
        &router,
        "lexical_retrieve",
        &json!({"query": "adopted beagle shelter"}),
        None,
    )
    .await;
    assert!(
        !found.contains("about three years") && found.contains("I finally adopted a dog"),
        "{found}"
    );
}
