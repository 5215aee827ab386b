//! One trace shows a batch and a question on their way through five processes, in a real Jaeger.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use system::running::SERVICES;
use system::running::processes::Processes;
use system::servers::jaeger::Jaeger;

use crate::distributed::{shared, talk};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_services_are_seen_in_one_trace() {
    let Some(servers) = shared().await else { return };
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
    let (status, body) = traced("records", json!({ "records": talk() })).await;
    assert_eq!(status, 202, "{body}");
    let question = json!({ "question": "When did Ines adopt the greyhound?", "after": body["watermark"],
        "budget": { "ms": 20_000 } });
    let (status, body) = traced("query", question).await;
    assert_eq!((status, &body["trace_id"]), (200, &json!(TRACE)), "{body}");
    // A parent ends, and is sent, after its children.
    let complete = |it: &Value| services(it).len() == SERVICES.len() && orphans(it).is_empty();
    let trace = jaeger.trace(TRACE, complete).await.unwrap();
    for service in SERVICES {
        assert!(
            services(&trace).iter().any(|it| it.contains(service)),
            "no {service}: {trace:#}"
        );
    }
    let text = trace.to_string().to_lowercase();
    for said in ["greyhound", "marzipan", "canoe"] {
        assert!(!text.contains(said), "user text in a trace: {said}");
    }
}

fn spans(trace: &Value) -> &[Value] {
    trace["spans"].as_array().map_or(&[], Vec::as_slice)
}

fn services(trace: &Value) -> BTreeSet<String> {
    let named = |it: &Value| {
        let process = it["processID"].as_str()?;
        trace["processes"][process]["serviceName"].as_str().map(str::to_owned)
    };
    spans(trace).iter().filter_map(named).collect()
}

/// Names of the spans that hang neither below another one of the trace nor below the caller's.
fn orphans(trace: &Value) -> Vec<&str> {
    let ids: BTreeSet<&str> = spans(trace).iter().filter_map(|it| it["spanID"].as_str()).collect();
    let known = |it: &str| it == CALLER || ids.contains(it);
    let orphan = |it: &&Value| !it["references"][0]["spanID"].as_str().is_some_and(known);
    let names = spans(trace).iter().filter(orphan);
    names.filter_map(|it| it["operationName"].as_str()).collect()
}
