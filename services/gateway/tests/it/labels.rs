//! Tags and metadata: stored with records, used as filters of lists, and passed to router and reader.

use axum::http::StatusCode;
use domain::filter::Filter;
use domain::message::{RecallV1, RecalledV1, RouteV1, RoutedV1, ToolV1, ToolledV1, ToolsV1};
use domain::unit::{Grain, Unit};
use serde_json::{Value, json};

use crate::harness::{Gateway, nothing};
use crate::lists::walk;
use crate::pages::unit;
use crate::recall::hint;
use crate::tools::echo;

const RECORDS: &str = "/v1/spaces/s/records";

/// Returns a gateway whose router returns the tags and metadata in its request.
async fn echoing() -> Gateway {
    fn text(labels: &Filter) -> String {
        serde_json::to_string(labels).unwrap()
    }
    let gateway = Gateway::new().await;
    gateway.start_writer();
    gateway.start_reader();
    gateway.start_router(|request: RouteV1| RoutedV1 {
        weights: text(&request.filter.labels),
        ..nothing(request)
    });
    gateway.serve::<RecallV1>(|request| RecalledV1 {
        hints: vec![hint(&request, &text(&request.labels))],
        ..RecalledV1::default()
    });
    gateway.serve::<ToolsV1>(|_| echo());
    gateway.serve::<ToolV1>(|call| ToolledV1 {
        result: Some(json!({"labels": call.labels})),
        error: None,
    });
    gateway.settled().await;
    gateway
}

async fn store(gateway: &Gateway, records: Value) {
    let body = json!({ "records": records }).to_string();
    let reply = gateway.send(&format!("POST {RECORDS}"), &body).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
}

/// Percent-encodes JSON for a URL.
fn encoded(json: &Value) -> String {
    let text = json.to_string();
    let plain = |it: u8| it.is_ascii_alphanumeric();
    text.bytes()
        .map(|it| {
            if plain(it) {
                char::from(it).to_string()
            } else {
                format!("%{it:02X}")
            }
        })
        .collect()
}

#[tokio::test]
async fn tags_are_returned_sorted_and_filter_lists() {
    let gateway = echoing().await;
    store(
        &gateway,
        json!([
            {"id": "1", "text": "a", "tags": ["work", "home", "work"], "metadata": {"lang": "de", "n": "3"}},
            {"id": "2", "text": "b", "tags": ["work"], "metadata": {"lang": "en"}},
            {"id": "3", "text": "c", "metadata": {"n": "12", "due": "2026-05-07T18:30:00+02:00"}},
            {"role": "user", "content": "d", "id": "4", "tags": ["chat"]},
        ]),
    )
    .await;
    let first = gateway.send(&format!("GET {RECORDS}/1"), "").await.json();
    assert_eq!(first["tags"], json!(["home", "work"]));
    let third = gateway.send(&format!("GET {RECORDS}/3"), "").await.json();
    assert!(third.get("tags").is_none(), "{third}");
    for (query, expected) in [
        ("tag=work".to_owned(), vec!["1", "2"]),
        ("tag=work&tag=home".to_owned(), vec!["1"]),
        ("tag=work&actor=user".to_owned(), vec![]),
        ("tag=Work".to_owned(), vec![]),
        (
            format!("filter={}", encoded(&json!({"tags": {"none": ["work"]}}))),
            vec!["3", "4"],
        ),
        (
            format!("filter={}", encoded(&json!({"metadata": {"key": "n", "gte": 3}}))),
            vec!["1", "3"],
        ),
        (
            format!(
                "tag=work&filter={}",
                encoded(&json!({"metadata": {"not": {"key": "lang", "in": ["de", "fr"]}}}))
            ),
            vec!["2"],
        ),
        (
            format!(
                "filter={}",
                encoded(&json!({"metadata": {"key": "due", "lt": "2026-05-07T17:00:00Z"}}))
            ),
            vec!["3"],
        ),
    ] {
        assert_eq!(
            walk(&gateway, &format!("{RECORDS}?{query}"), "id").await,
            expected,
            "{query}"
        );
    }
}

#[tokio::test]
async fn units_are_filtered_by_tags_and_metadata_of_their_records() {
    let gateway = echoing().await;
    let tagged = Unit {
        grain: Grain::Turn,
        tags: vec!["work".to_owned()],
        metadata: [("n".to_owned(), "3".to_owned())].into(),
        ..unit(1)
    };
    let units = [tagged, unit(3), unit(5)];
    let graph = &gateway.context.backends.graph;
    graph.put_units(&"s".parse().unwrap(), &units, &[]).await.unwrap();
    let first = units[0].id.to_string();
    let all = "/v1/spaces/s/units";
    assert_eq!(
        walk(&gateway, &format!("{all}?tag=work"), "id").await,
        std::slice::from_ref(&first)
    );
    let filter = encoded(&json!({"metadata": {"key": "n", "lt": 4}}));
    assert_eq!(walk(&gateway, &format!("{all}?filter={filter}"), "id").await, [first]);
    assert_eq!(walk(&gateway, all, "id").await.len(), 3);
}

#[tokio::test]
async fn questions_recall_and_tools_pass_the_filter_to_the_router() {
    let gateway = echoing().await;
    let filter = json!({
        "tags": {"any": ["work"], "none": ["draft"]},
        "metadata": {"and": [{"key": "lang", "eq": "de"}, {"not": {"key": "n", "gt": "3"}}]},
    });
    let parse_json_text = |text: &Value| serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap();
    let ask = json!({"question": "Where?", "filter": filter}).to_string();
    let answer = gateway.send("POST /v1/spaces/s/query", &ask).await.json();
    assert_eq!(parse_json_text(&answer["weights"]), filter);
    let say = json!({"message": "Hello", "filter": filter}).to_string();
    let recall_response = gateway.send("POST /v1/spaces/s/recall", &say).await.json();
    assert_eq!(parse_json_text(&recall_response["hints"][0]["text"]), filter);
    let tool = format!("POST /v1/spaces/s/tools/echo?filter={}", encoded(&filter));
    let called = gateway.send(&tool, "{}").await.json();
    assert_eq!(called["result"]["labels"], filter);
    let called = gateway
        .send("POST /v1/spaces/s/tools/echo?tag=a&tag=b", "{}")
        .await
        .json();
    assert_eq!(called["result"]["labels"], json!({"tags": {"all": ["a", "b"]}}));
}

#[tokio::test]
async fn a_version_has_the_tags_of_its_request() {
    let gateway = echoing().await;
    let put = async |tags: Value| {
        let body = json!({"text": "I live in Oslo.", "tags": tags}).to_string();
        let reply = gateway.send(&format!("PUT {RECORDS}/a"), &body).await.json();
        gateway.written(reply["watermark"].as_str().unwrap()).await;
        reply["items"][0].clone()
    };
    assert_eq!(put(json!(["b", "a"])).await["id"], "a");
    assert_eq!(put(json!(["a", "b", "b"])).await["status"], "duplicate");
    assert_eq!(put(json!([])).await["id"], "a#v2", "the version has no tags");
    assert_eq!(walk(&gateway, &format!("{RECORDS}?tag=a"), "id").await, ["a"]);
}

#[tokio::test]
async fn invalid_tags_are_rejected_with_their_path() {
    let gateway = echoing().await;
    let long = "a".repeat(10_240);
    for (record, expected) in [
        (
            json!({"text": "a", "tags": [long]}),
            "tags[0]: has 10240 bytes, more than 128",
        ),
        (
            json!({"text": "a", "tags": vec!["b"; 33]}),
            "tags: has 33 tags, more than 32",
        ),
        (
            json!({"text": "a", "tags": ["x", ""]}),
            "tags[1]: is empty; leave it out instead",
        ),
        (
            json!({"text": "a", "tags": ["x\ty"]}),
            "tags[0]: holds the control character U+0009",
        ),
        (json!({"text": "a", "tags": "work"}), "tags: invalid type: string"),
        (json!({"text": "a", "tags": [1]}), "tags[0]: invalid type: integer"),
    ] {
        let body = json!({"records": [record]}).to_string();
        let problem = gateway.send(&format!("POST {RECORDS}"), &body).await.problem();
        assert!(problem.starts_with("422 ") && problem.contains(expected), "{problem}");
    }
    let problem = gateway.send(&format!("GET {RECORDS}?tag={long}"), "").await.problem();
    assert!(problem.contains("tag[0]: has 10240 bytes, more than 128"), "{problem}");
}

/// A program with an empty variable gets an error, and not everything.
#[tokio::test]
async fn an_empty_tag_is_refused_by_every_operation_with_tags() {
    let gateway = echoing().await;
    for (call, expected) in [
        (format!("GET {RECORDS}?tag="), "422 tag[0]: is empty"),
        (format!("GET {RECORDS}?tag=a&tag="), "422 tag[1]: is empty"),
        ("GET /v1/spaces/s/units?tag=".to_owned(), "422 tag[0]: is empty"),
    ] {
        let problem = gateway.send(&call, "").await.problem();
        assert!(problem.starts_with(expected), "{call}: {problem}");
    }
    let problem = gateway.send("POST /v1/spaces/s/tools/echo?tag=", "{}").await.problem();
    assert!(problem.starts_with("422 tag[0]: is empty"), "{problem}");
    let all = gateway.send(&format!("GET {RECORDS}"), "").await;
    assert_eq!(all.status, StatusCode::OK, "{all:?}");
}

#[tokio::test]
async fn invalid_filters_are_refused_by_every_operation_with_a_filter() {
    let gateway = echoing().await;
    let long = "a".repeat(10_240);
    let one = json!({"key": "a", "eq": "b"});
    let nested = (1..50).fold(one.clone(), |inner, _| json!({ "not": inner }));
    for (filter, expected) in [
        (
            json!({"metadata": {"and": vec![one; 1_000]}}),
            "filter.metadata: has 1000 comparisons, more than 64",
        ),
        (json!({ "metadata": nested }), "is nested more than 8 levels deep"),
        (
            json!({"tags": {"any": [long]}}),
            "filter.tags.any[0]: has 10240 bytes, more than 128",
        ),
        (json!({"tags": {"some": []}}), "filter.tags.some: unknown field `some`"),
        (json!({"tags": ["a"]}), "filter.tags: invalid type: sequence"),
        (
            json!({"metadata": {"key": "a"}}),
            "filter.metadata: names the key `a` without a test",
        ),
        (
            json!({"metadata": {"or": [{"key": "a", "eq": {}}]}}),
            "filter.metadata.or[0].eq: invalid type: map",
        ),
    ] {
        for (path, field) in [("query", "question"), ("recall", "message")] {
            let body = json!({field: "Where?", "filter": filter}).to_string();
            let problem = gateway
                .send(&format!("POST /v1/spaces/s/{path}"), &body)
                .await
                .problem();
            assert!(problem.starts_with("422 ") && problem.contains(expected), "{problem}");
        }
        for list in [
            "GET /v1/spaces/s/records",
            "GET /v1/spaces/s/units",
            "POST /v1/spaces/s/tools/echo",
        ] {
            let body = if list.starts_with("POST") { "{}" } else { "" };
            let call = format!("{list}?filter={}", encoded(&filter));
            let problem = gateway.send(&call, body).await.problem();
            let is_long = problem.contains("filter: has");
            assert!(
                problem.starts_with("422 ") && (is_long || problem.contains(expected)),
                "{problem}"
            );
        }
    }
}
