//! Filters of questions in calls of tools: actors, sessions, modalities, times and labels each exclude content.

use domain::filter::Filter;
use domain::message::{QueryFilter, RouteV1, ToolV1};
use domain::record::Modality;
use router::Router;
use serde_json::{Value, json};

use crate::derived::turn;
use crate::labelled::{OUTSIDE, calls, opened};
use crate::talk::{request, space, units};

/// Words that occur only in the turns of the first day and their derived objects.
const FIRST_DAY: [&str; 7] = [
    "beagle",
    "shelter",
    "Congratulations",
    "\"r0\"",
    "\"r1\"",
    "\"r2\"",
    "\"r3\"",
];
/// Words that occur only in turns of Liv and their derived objects.
const OF_LIV: [&str; 9] = [
    "shelter",
    "three years",
    "relaxing",
    "Ulriken",
    "waffle",
    "Oslo",
    "\"r0\"",
    "\"r2\"",
    "\"r7\"",
];
/// The moment of the first turn after the first day.
const SECOND_DAY: &str = "2024-04-11T18:00:00Z";

/// A filter, words that occur only in turns that it excludes, and a word in a turn that it admits.
struct Case {
    filter: Value,
    excluded: &'static [&'static str],
    admitted: &'static str,
}

fn cases() -> Vec<Case> {
    let first_day = [
        json!({"sessions": ["2024-03-02"]}),
        json!({"sessions": [units()[0].session]}),
        json!({"until": SECOND_DAY}),
        json!({"modalities": ["text"]}),
        json!({"labels": {"tags": {"any": ["pets"]}}}),
        json!({"sessions": ["2024-03-02", "2024-04-11"], "modalities": ["text"], "actors": ["Liv", "Omar"]}),
    ];
    let later_days = [
        json!({"sessions": ["2024-04-11", "2024-05-20"]}),
        json!({"from": SECOND_DAY}),
        json!({"modalities": ["visual"]}),
        json!({"labels": {"metadata": {"key": "number", "gte": 4}}}),
    ];
    let first_day = first_day.map(|filter| Case {
        filter,
        excluded: &OUTSIDE,
        admitted: "beagle",
    });
    let later_days = later_days.map(|filter| Case {
        filter,
        excluded: &FIRST_DAY,
        admitted: "kiln",
    });
    let of_omar = Case {
        filter: json!({"actors": ["oMAR"]}),
        excluded: &OF_LIV,
        admitted: "kiln",
    };
    first_day.into_iter().chain(later_days).chain([of_omar]).collect()
}

async fn call(router: &Router, name: &str, arguments: &Value, filter: Value, labels: Value) -> String {
    let called = router.call_tool(ToolV1 {
        space: space(),
        name: name.to_owned(),
        arguments: arguments.clone(),
        as_of: None,
        labels: serde_json::from_value::<Filter>(labels).unwrap(),
        filter: serde_json::from_value::<QueryFilter>(filter).unwrap(),
    });
    serde_json::to_string(&called.await.unwrap()).unwrap()
}

#[tokio::test]
async fn tools_return_nothing_that_the_filter_of_a_question_excludes() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, true).await;
    for case in cases() {
        let Case {
            filter,
            excluded,
            admitted,
        } = case;
        let mut leaking = 0;
        for (name, arguments) in calls() {
            let open = call(&router, name, &arguments, json!({}), json!({})).await;
            leaking += usize::from(excluded.iter().any(|it| open.contains(it)));
            let narrowed = call(&router, name, &arguments, filter.clone(), json!({})).await;
            for word in excluded {
                assert!(
                    !narrowed.contains(word),
                    "{filter}: {name} {arguments} tells {word}: {narrowed}"
                );
            }
        }
        assert!(leaking > 5, "{filter}: without it, {leaking} calls tell of the rest");
        let query = json!({"query": admitted});
        let found = call(&router, "lexical_retrieve", &query, filter.clone(), json!({})).await;
        assert!(found.contains(admitted), "{filter}: {found}");
    }
}

#[tokio::test]
async fn the_filter_and_the_labels_of_a_call_both_apply() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, true).await;
    let pets = || json!({"tags": {"any": ["pets"]}});
    let around = json!({"unit": turn(3)});
    let of_omar = call(
        &router,
        "query_event_context",
        &around,
        json!({"actors": ["Omar"]}),
        pets(),
    )
    .await;
    assert!(
        of_omar.contains("Congratulations") && of_omar.contains("cat person"),
        "{of_omar}"
    );
    assert!(
        !of_omar.contains("shelter") && !of_omar.contains("three years"),
        "{of_omar}"
    );

    let sought = json!({"query": "beagle pottery"});
    let first_three = json!({"labels": {"metadata": {"key": "number", "lt": 3}}});
    let found = call(&router, "lexical_retrieve", &sought, first_three, pets()).await;
    assert!(found.contains("beagle"), "{found}");
    assert!(!found.contains("My sister") && !found.contains("ottery"), "{found}");

    let other_day = json!({"sessions": ["2024-04-11"]});
    let found = call(&router, "lexical_retrieve", &sought, other_day.clone(), pets()).await;
    assert!(
        found.contains("\"gists\":[]") && found.contains("\"facts\":[]"),
        "{found}"
    );
    let found = call(&router, "lexical_retrieve", &sought, other_day, json!({})).await;
    assert!(found.contains("ottery"), "{found}");
}

#[tokio::test]
async fn a_gist_is_evidence_only_if_the_filter_admits_all_its_turns() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, true).await;
    let mut asked = RouteV1 {
        gists: true,
        ..request("What did Omar make in pottery classes?", 400)
    };
    let open = router.route_question(asked.clone()).await.unwrap();
    assert_eq!(open.units, 11, "eight turns and three gists");
    // All gists are text, but two of them were read from turns that are not.
    asked.filter.modalities = vec![Modality::Text];
    let narrowed = router.route_question(asked).await.unwrap();
    assert_eq!(narrowed.units, 5, "four turns and the gist of three of them");
}
