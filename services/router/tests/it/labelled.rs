//! Filters of tags and metadata: content outside of a filter reaches no pack, no tool and no hint.

use domain::filter::Filter;
use domain::message::{QueryFilter, RecallV1, RouteV1, ToolV1};
use domain::record::Modality;
use domain::unit::{Grain, Unit};
use host::Context;
use router::{Config, Router};
use serde_json::{Value, json};

use crate::derived::{all_units, derived, event_at, turn};
use crate::gists::gists;
use crate::stores::{moment, put};
use crate::talk::{packed, request, space, units};

/// Number of turns of the talk with the tag `pets`: all turns of the first day.
const PETS: usize = 4;
/// Words that occur only in the other turns and their derived objects, and a name that occurs in no turn.
pub(crate) const OUTSIDE: [&str; 12] = [
    "Bergen", "Oslo", "bowl", "mug", "kiln", "ottery", "Ulriken", "waffle", "\"r4\"", "\"r6\"", "\"r7\"", "Oz",
];

/// Stores the talk with tags, all its derived objects, and gists if `with_gists` is set. The turns without the tag `pets`
/// are something seen.
pub(crate) async fn opened(dir: &tempfile::TempDir, with_gists: bool) -> (Context, Router) {
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    let mut all: Vec<Unit> = all_units();
    for (number, unit) in all.iter_mut().filter(|it| it.grain == Grain::Turn).enumerate() {
        unit.tags = vec![if number < PETS { "pets" } else { "crafts" }.to_owned()];
        unit.metadata.insert("number".to_owned(), number.to_string());
        if number >= PETS {
            unit.modality = Modality::Visual;
        }
    }
    put(&ctx, &all).await;
    if with_gists {
        put(&ctx, &gists()).await;
    }
    ctx.backends.graph.put_derived(&space(), &derived(), &[]).await.unwrap();
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    (ctx, router)
}

fn labels(json: Value) -> Filter {
    serde_json::from_value(json).unwrap()
}

fn pets() -> Filter {
    labels(json!({"tags": {"any": ["pets"]}}))
}

async fn call(router: &Router, name: &str, arguments: &Value, labels: Filter) -> String {
    let called = router.call_tool(ToolV1 {
        space: space(),
        name: name.to_owned(),
        arguments: arguments.clone(),
        as_of: None,
        labels,
        filter: QueryFilter::default(),
    });
    serde_json::to_string(&called.await.unwrap()).unwrap()
}

#[tokio::test]
async fn a_pack_contains_only_turns_inside_of_the_filter() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, true).await;
    let asked = |filter: Value, gists: bool| {
        let mut asked = RouteV1 {
            gists,
            instructions: true,
            ranked: 20,
            scenes: 5,
            ..request("What did Omar make in pottery classes, and where does he live?", 400)
        };
        asked.focus = vec![turn(6), event_at(4), gists_of_pottery()];
        asked.selected = vec![turn(6), gists_of_pottery()];
        asked.filter.labels = labels(filter);
        asked
    };
    let open = router.route_question(asked(json!({}), true)).await.unwrap();
    assert!(open.units > 8 && serde_json::to_string(&open.pack).unwrap().contains("ottery"));
    for (filter, units) in [
        (json!({"tags": {"any": ["pets"]}}), 4),
        (json!({"tags": {"none": ["crafts"]}}), 4),
        (json!({"metadata": {"key": "number", "lt": 4}}), 4),
        (json!({"metadata": {"not": {"key": "number", "gt": 1}}}), 2),
        (json!({"metadata": {"key": "other", "exists": true}}), 0),
    ] {
        for gists in [false, true] {
            let routed = router.route_question(asked(filter.clone(), gists)).await.unwrap();
            assert!(
                routed.units >= units && routed.units <= units + 1,
                "{filter}: {}",
                routed.units
            );
            assert!(
                packed(&routed).iter().all(|it| ["r0", "r1", "r2", "r3"].contains(it)),
                "{filter}"
            );
            let text = serde_json::to_string(&(routed.pack, routed.scenes, routed.ranked, routed.explained)).unwrap();
            for word in OUTSIDE {
                assert!(!text.contains(word), "{filter} lets {word} through: {text}");
            }
        }
    }
}

fn gists_of_pottery() -> domain::id::UnitId {
    gists()[2].id
}

#[tokio::test]
async fn only_speakers_inside_of_the_filter_are_returned() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, false).await;
    let mut asked = request("Who said what?", 100);
    asked.filter.labels = labels(json!({"metadata": {"key": "number", "in": ["4", "6"]}}));
    assert_eq!(router.route_question(asked).await.unwrap().speakers, ["Omar"]);
}

/// Returns calls of every tool, about objects inside and outside of the filter.
pub(crate) fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        (
            "semantic_retrieve",
            json!({"query": "What did they make or do?", "limit": 20}),
        ),
        (
            "lexical_retrieve",
            json!({"query": "Liv Omar two week had", "limit": 20}),
        ),
        ("find_entity_contexts", json!({"subject": "Omar"})),
        ("find_entity_contexts", json!({"subject": "Liv", "aggregation": "list"})),
        ("query_tag_events", json!({"cue": "omar"})),
        ("query_tag_events", json!({"cue": "liv"})),
        ("query_topic_events", json!({})),
        ("query_personal_information", json!({"person": "Omar"})),
        ("query_personal_information", json!({"person": "Nobody"})),
        ("query_personal_aspect", json!({"person": "Omar", "aspect": "place"})),
        ("list_dimensions", json!({})),
    ];
    for dimension in ["topic", "figure", "place", "preference", "event"] {
        calls.push(("browse_dimension", json!({"dimension": dimension, "archived": true})));
    }
    for page in ["Omar", "Liv", "Noor"] {
        calls.push(("read_page", json!({ "page": page })));
        calls.push(("follow_link", json!({"page": page, "link": "related_to"})));
    }
    for unit in [turn(3), turn(4), event_at(0), event_at(4), gists()[1].id, gists()[2].id] {
        for tool in [
            "find_gist_contexts",
            "expand_unit",
            "query_conversation_time",
            "query_event_keywords",
            "query_event_context",
        ] {
            calls.push((tool, json!({ "unit": unit })));
        }
    }
    calls
}

#[tokio::test]
async fn tools_return_only_content_inside_of_the_filter() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, true).await;
    let mut leaking = 0;
    for (name, arguments) in calls() {
        let open = call(&router, name, &arguments, Filter::default()).await;
        leaking += usize::from(OUTSIDE.iter().any(|it| open.contains(it)));
        let narrowed = call(&router, name, &arguments, pets()).await;
        for word in OUTSIDE {
            assert!(!narrowed.contains(word), "{name} {arguments} tells {word}: {narrowed}");
        }
    }
    assert!(leaking > 15, "without a filter {leaking} calls tell of the rest");
    let reply = call(&router, "find_entity_contexts", &json!({"subject": "Liv"}), pets()).await;
    assert!(reply.contains("a dog named Biscuit"), "{reply}");
    let reply = call(&router, "query_event_context", &json!({"unit": turn(3)}), pets()).await;
    assert!(reply.contains("beagle"), "{reply}");
}

#[tokio::test]
async fn a_fact_holds_if_the_filter_excludes_the_record_that_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, false).await;
    let asked = json!({"subject": "Omar", "predicate": "lives in"});
    let open = call(&router, "find_entity_contexts", &asked, Filter::default()).await;
    assert!(open.contains("Oslo") && open.contains(r#""holds":false"#), "{open}");
    let bergen = labels(json!({"metadata": {"key": "number", "eq": 4}}));
    let reply = call(&router, "find_entity_contexts", &asked, bergen).await;
    assert!(reply.contains("Bergen") && !reply.contains("Oslo"), "{reply}");
    assert!(
        reply.contains(r#""holds":true"#) && !reply.contains(r#""holds":false"#),
        "{reply}"
    );
}

#[tokio::test]
async fn hints_are_only_about_turns_inside_of_the_filter() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, false).await;
    let message = |labels: Filter, chosen| RecallV1 {
        space: space(),
        message: "I will visit Omar. Does he still make bowls in his pottery classes, and where does he live?"
            .to_owned(),
        actor: "Liv".to_owned(),
        session: None,
        at: units()[7].observed_at + chrono::TimeDelta::days(1),
        limit: 10,
        sensitive: true,
        silent: Vec::new(),
        wide: true,
        chosen,
        labels,
    };
    let open = router
        .recall_hints(message(Filter::default(), Vec::new()))
        .await
        .unwrap();
    assert!(
        open.hints.iter().any(|it| it.external_ids == ["r6"]),
        "{:?}",
        open.hints
    );
    for chosen in [Vec::new(), vec![turn(3), turn(6)]] {
        let narrowed = router.recall_hints(message(pets(), chosen)).await.unwrap();
        for hint in &narrowed.hints {
            let inside = hint
                .external_ids
                .iter()
                .all(|it| ["r0", "r1", "r2", "r3"].contains(&it.as_str()));
            assert!(inside, "{hint:?}");
        }
    }
}

#[tokio::test]
async fn a_filter_does_not_select_removed_units() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir, false).await;
    let mut asked = request("What breed is Biscuit?", 100);
    asked.filter.labels = pets();
    assert_eq!(router.route_question(asked.clone()).await.unwrap().units, 4);
    ctx.backends.graph.put_units(&space(), &[], &[turn(2)]).await.unwrap();
    assert_eq!(router.route_question(asked).await.unwrap().units, 3);
}
