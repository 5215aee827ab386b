//! One trace shows the path of a batch and a question through five processes, in a real Jaeger.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use system::running::SERVICES;
use system::running::api::Api;
use system::running::processes::Processes;
use system::servers::jaeger::Jaeger;
use tokio::time::sleep;

use crate::distributed::{sample_talk, shared_servers};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";
/// Maximum number of questions until one finds the space loaded by the router and no other work in progress.
const QUESTIONS: u128 = 30;
/// Number of services that handle a question that waits for no write: gateway, router, reader.
const ASKED: usize = 3;
/// Maximum number of calls to each store, and to other services, for a question about a loaded space.
const TRIPS_MAX: usize = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_trace_contains_all_five_services() {
    let Some(servers) = shared_servers().await else { return };
    let Some(jaeger) = Jaeger::start().await.unwrap() else {
        return;
    };
    let logs = tempfile::tempdir().unwrap();
    let mut settings = servers.settings();
    settings.push(("telemetry.otlp_endpoint".to_owned(), jaeger.endpoint()));
    let processes = Processes::start(settings, logs.path()).await.unwrap();
    let api = &processes.api;
    assert_eq!(api.put("/spaces/traced").await.0, 201);
    let traced = |path: &str, body: Value| {
        let request = api.http.post(format!("{}/spaces/traced/{path}", api.base));
        let request = request.header("traceparent", format!("00-{TRACE}-{CALLER}-01"));
        api.send(request.json(&body))
    };
    let (status, body) = traced("records", json!({ "records": sample_talk() })).await;
    assert_eq!(status, 202, "{body}");
    let question = json!({ "question": "When did Ines adopt the greyhound?", "after": body["watermark"],
        "budget": { "ms": 20_000 } });
    let (status, body) = traced("query", question.clone()).await;
    assert_eq!((status, &body["trace_id"]), (200, &json!(TRACE)), "{body}");
    // A parent span ends, and is exported, after its children.
    let complete = |it: &Value| services_of_trace(it).len() == SERVICES.len() && orphan_spans(it).is_empty();
    let trace = jaeger.trace(TRACE, complete).await.unwrap();
    for service in SERVICES {
        assert!(
            services_of_trace(&trace).iter().any(|it| it.contains(service)),
            "no {service}: {trace:#}"
        );
    }
    let text = trace.to_string().to_lowercase();
    for private_word in ["greyhound", "marzipan", "canoe"] {
        assert!(!text.contains(private_word), "user text in a trace: {private_word}");
    }

    api.wait_until_settled("traced").await;
    let trips = count_trips(api, &jaeger, &question["question"]).await;
    eprintln!("round trips of a question to neo4j, qdrant and other services: {trips:?}");
    assert!(trips.iter().all(|it| (1..=TRIPS_MAX).contains(it)), "{trips:?}");
}

/// Asks until a question finds the space loaded and no other work in progress. Returns the number of calls to Neo4j,
/// Qdrant and other services for the last question.
async fn count_trips(api: &Api, jaeger: &Jaeger, question: &Value) -> [usize; 3] {
    let mut trips = [usize::MAX; 3];
    for number in 1..=QUESTIONS {
        let id = format!("{number:032x}");
        let request = api.http.post(format!("{}/spaces/traced/query", api.base));
        let request = request.header("traceparent", format!("00-{id}-{CALLER}-01"));
        let body = json!({ "question": question, "budget": { "ms": 20_000 } });
        let (status, body) = api.send(request.json(&body)).await;
        assert_eq!(status, 200, "{body}");
        // The spans of router and reader are exported separately, and may arrive later.
        let complete = |it: &Value| services_of_trace(it).len() == ASKED && orphan_spans(it).is_empty();
        let trace = jaeger.trace(&id, complete).await.unwrap();
        trips = ["neo4j", "qdrant", "bus.request"].map(|it| count_calls(&trace, it));
        if trips.iter().all(|it| *it <= TRIPS_MAX) {
            break;
        }
        sleep(Duration::from_millis(200)).await;
    }
    trips
}

/// Returns the number of spans with a name.
fn count_calls(trace: &Value, name: &str) -> usize {
    spans_of_trace(trace)
        .iter()
        .filter(|it| it["operationName"] == name)
        .count()
}

fn spans_of_trace(trace: &Value) -> &[Value] {
    trace["spans"].as_array().map_or(&[], Vec::as_slice)
}

fn services_of_trace(trace: &Value) -> BTreeSet<String> {
    let named = |it: &Value| {
        let process = it["processID"].as_str()?;
        trace["processes"][process]["serviceName"].as_str().map(str::to_owned)
    };
    spans_of_trace(trace).iter().filter_map(named).collect()
}

/// Returns the names of the spans whose parent is neither in the trace nor the caller's span.
fn orphan_spans(trace: &Value) -> Vec<&str> {
    let ids: BTreeSet<&str> = spans_of_trace(trace)
        .iter()
        .filter_map(|it| it["spanID"].as_str())
        .collect();
    let known = |it: &str| it == CALLER || ids.contains(it);
    let orphan = |it: &&Value| !it["references"][0]["spanID"].as_str().is_some_and(known);
    let names = spans_of_trace(trace).iter().filter(orphan);
    names.filter_map(|it| it["operationName"].as_str()).collect()
}
