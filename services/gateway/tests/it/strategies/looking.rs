//! The loops in which a language model explores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::{Request as HttpRequest, StatusCode};
use domain::PortError;
use domain::message::{
    LookV1, PlanV1, QueryFilter, RouteV1, RoutedV1, ToolSpecV1, ToolV1, ToolledV1, ToolsV1, TurnV1, TurnedV1,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{ask, gathered, path, planned, ranked, spent, unit};
use crate::harness::Gateway;
use crate::recall::shares::{HELD, start_holding_router};

const WHO: &str = "Who lives in Porto?";

fn found(request: RouteV1) -> RoutedV1 {
    let units: &[(&str, f32, &str)] = match request.question.as_str() {
        WHO => &[("a", 2.0, "Mira: Porto."), ("b", 1.5, "Ann: Lisbon.")],
        _ => &[("p", 2.0, "Ben: I live there too.")],
    };
    ranked(request, units, 0.5)
}

/// The tools of all papers; each has a unit among its arguments.
fn catalogue(_: ToolsV1) -> Vec<ToolSpecV1> {
    let names = [
        "expand_unit",
        "query_event_context",
        "lexical_retrieve",
        "semantic_retrieve",
    ];
    let navigate = ["list_dimensions", "read_page"];
    let tool = |name: &str| ToolSpecV1 {
        name: name.to_owned(),
        description: "Looks.".to_owned(),
        input_schema: json!({"type": "object", "properties": {"unit": {"type": "string", "format": "uuid"}}}),
    };
    names.iter().chain(&navigate).map(|it| tool(it)).collect()
}

/// Returns a unit named after the tool, with its arguments in the result.
fn tool(call: ToolV1) -> ToolledV1 {
    ToolledV1 {
        result: Some(json!({"asked": call.arguments["limit"],
            "of": call.arguments["unit"].as_str().is_some_and(|it| it == unit("a").to_string()),
            "found": [{"unit": unit(&call.name), "text": format!("Eve: {}", call.name)}]})),
        error: None,
    }
}

fn look(name: &str, arguments: Value) -> LookV1 {
    LookV1 {
        name: name.to_owned(),
        arguments,
    }
}

fn calls(calls: Vec<LookV1>) -> TurnedV1 {
    TurnedV1 {
        calls,
        spent: spent(1),
        ..TurnedV1::default()
    }
}

fn end(lines: &[u32]) -> TurnedV1 {
    TurnedV1 {
        lines: lines.to_vec(),
        spent: spent(1),
        ..TurnedV1::default()
    }
}

/// A model that reads the context of the first line, and then chooses the result.
fn curious(turn: TurnV1) -> TurnedV1 {
    let Some(last) = turn.lookups.last() else {
        assert_eq!(turn.lines, ["Mira: Porto.", "Ann: Lisbon."]);
        let unit = &turn.tools[0].input_schema["properties"]["unit"];
        assert_eq!(unit["type"], "integer", "lines stand for units");
        return calls(vec![
            look("query_event_context", json!({"unit": 1, "limit": 2})),
            look("forget_all", json!({})),
        ]);
    };
    assert_eq!(last.result, "unknown_tool: there is no such tool here");
    assert_eq!(
        turn.lookups[0].result,
        json!({"asked": 2, "found": [{"line": 3}], "of": true}).to_string(),
        "no id is shown"
    );
    assert_eq!(turn.lines[2], "Eve: query_event_context");
    end(&[3, 99, 1, 3])
}

async fn started(decide: fn(TurnV1) -> TurnedV1) -> Gateway {
    let gateway = Gateway::new().await;
    gateway.serve::<PlanV1>(|it| planned(&[&it.question, "Where does Ben live?"], u32::from(it.allow.calls > 0)));
    gateway.serve::<ToolsV1>(catalogue);
    gateway.serve::<ToolV1>(tool);
    gateway.serve::<TurnV1>(decide);
    gateway.start_router(found);
    gateway.start_reader();
    gateway.settled().await;
    gateway
}

#[tokio::test]
async fn a_model_explores_and_then_chooses_lines() {
    let gateway = started(curious).await;
    let body = ask(&gateway, "reconstruct", 5, WHO).await;
    assert_eq!(path(&body), ["query_event_context", "forget_all", "end"], "{body}");
    assert_eq!(gathered(&body), [unit("query_event_context"), unit("a")], "{body}");
    assert_eq!(body["cost"]["roles"]["decide"]["calls"], 2, "{body}");
    assert_eq!(body["degraded"], json!([]));
}

#[tokio::test]
async fn each_loop_starts_as_in_its_paper() {
    let gateway = started(|turn| end(&[turn.lines.len().try_into().unwrap()])).await;
    for (strategy, steps, last) in [
        ("explore", &["plan", "end"][..], "p"),
        (
            "recollect",
            &["semantic_retrieve", "lexical_retrieve", "end"],
            "lexical_retrieve",
        ),
        ("navigate", &["list_dimensions", "end"], "list_dimensions"),
        ("reconstruct", &["end"], "b"),
    ] {
        let body = ask(&gateway, strategy, 9, WHO).await;
        assert_eq!(
            (path(&body), gathered(&body)),
            (steps.to_vec(), vec![unit(last)]),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_loop_calls_tools_with_the_whole_filter_of_its_question() {
    static RECEIVED: Mutex<Vec<ToolV1>> = Mutex::new(Vec::new());
    let gateway = Gateway::new().await;
    gateway.serve::<ToolsV1>(catalogue);
    gateway.serve::<ToolV1>(|call| {
        RECEIVED.lock().unwrap().push(call.clone());
        tool(call)
    });
    gateway.serve::<TurnV1>(|_| end(&[1]));
    gateway.start_router(found);
    gateway.start_reader();
    gateway.settled().await;
    let labels = json!({"tags": {"any": ["work"]}, "metadata": {"key": "lang", "eq": "de"}});
    let members = json!({"actors": ["Ann"], "sessions": ["talk"], "modalities": ["text"],
        "from": "2026-05-01T00:00:00+02:00", "until": "2026-06-01T00:00:00+02:00"});
    let mut filter = members.clone();
    for name in ["tags", "metadata"] {
        filter[name] = labels[name].clone();
    }
    let body = json!({"question": WHO, "strategy": "recollect", "filter": filter, "budget": {"model_calls": 5}});
    let reply = gateway.send("POST /v1/spaces/s/query", &body.to_string()).await;
    assert_eq!(reply.json()["degraded"], json!([]), "{reply:?}");
    let received = RECEIVED.lock().unwrap();
    let mut names: Vec<&str> = received.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["lexical_retrieve", "semantic_retrieve"]);
    for call in received.iter() {
        assert_eq!(json!(call.labels), labels);
        assert_eq!(
            call.filter,
            serde_json::from_value::<QueryFilter>(members.clone()).unwrap()
        );
    }
}

#[tokio::test]
async fn a_loop_ends_when_its_calls_or_turns_are_used_up() {
    // A model that requests new data in every turn as long as it may.
    let gateway = started(|turn| match turn.tools.is_empty() {
        true => end(&[1]),
        false => {
            let again = json!({"limit": turn.lookups.len()});
            calls(vec![look("query_event_context", again); 20])
        }
    })
    .await;
    // With two calls, one decides in the last turn, and one answers. With more, up to eight turns of ten calls are
    // made.
    for (budget, turns, lookups) in [(2, 1, 0), (3, 2, 10), (9, 8, 70), (40, 8, 70)] {
        let body = ask(&gateway, "reconstruct", budget, WHO).await;
        assert_eq!(body["cost"]["roles"]["decide"]["calls"], turns, "{body}");
        let looked = path(&body).iter().filter(|it| **it == "query_event_context").count();
        assert_eq!((looked, gathered(&body)), (lookups, vec![unit("a")]), "{body}");
    }
    let body = json!({"question": WHO, "strategy": "reconstruct", "explain": 1, "limits": {"turns": 3, "calls": 2},
        "budget": {"model_calls": 20}});
    let reply = gateway.send("POST /v1/spaces/s/query", &body.to_string()).await;
    assert_eq!(
        path(&reply.json()),
        ["query_event_context"; 4]
            .into_iter()
            .chain(["end"])
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn an_unreadable_reply_does_not_use_up_the_call_of_the_final_turn() {
    // The first reply is unreadable, and the second one, if the turn allows it, requests data.
    let second_looks = |turn: TurnV1| match (turn.tools.is_empty(), turn.allow.calls) {
        (true, _) => end(&[2]),
        (false, 1) => TurnedV1 {
            degraded: vec!["the reply cannot be read".to_owned()],
            spent: spent(1),
            ..TurnedV1::default()
        },
        (false, allowed) => TurnedV1 {
            spent: spent(allowed),
            ..calls(vec![look("query_event_context", json!({"limit": turn.lookups.len()}))])
        },
    };
    let gateway = started(second_looks).await;
    // One call of the budget answers.
    for (budget, steps) in [(3, &["end"][..]), (4, &["query_event_context", "end"])] {
        let body = ask(&gateway, "reconstruct", budget, WHO).await;
        assert_eq!(
            (path(&body), gathered(&body)),
            (steps.to_vec(), vec![unit("b")]),
            "{body}"
        );
        assert_eq!(body["cost"]["roles"]["decide"]["calls"], budget - 1, "{body}");
        assert_eq!(body["degraded"], json!([]), "{body}");
    }
}

#[tokio::test]
async fn a_model_that_repeats_a_call_gets_one_more_turn() {
    let gateway = started(|turn| match turn.tools.is_empty() {
        true => end(&[2]),
        false => calls(vec![look("lexical_retrieve", json!({"limit": 1}))]),
    })
    .await;
    let body = ask(&gateway, "recollect", 20, WHO).await;
    assert_eq!(body["cost"]["roles"]["decide"]["calls"], 3, "{body}");
    assert_eq!(gathered(&body), [unit("b")], "{body}");
}

#[tokio::test]
async fn units_found_before_a_model_fails_are_used() {
    // The model explores once and then fails.
    let gateway = started(|turn| match turn.lookups.is_empty() {
        true => calls(vec![look("query_event_context", json!({}))]),
        false => TurnedV1 {
            degraded: vec!["the endpoint answers 500".to_owned()],
            spent: spent(1),
            ..TurnedV1::default()
        },
    })
    .await;
    let body = ask(&gateway, "reconstruct", 9, WHO).await;
    let expected = "reconstruct: no decision of the language model: the endpoint answers 500";
    assert_eq!(body["degraded"], json!([expected]), "{body}");
    assert_eq!(gathered(&body), [unit("query_event_context")], "{body}");
    assert_eq!(body["verdict"]["status"], "supported");
}

/// A refusal of its calls would end the loop, and waste the calls of the language model.
#[tokio::test]
async fn tool_calls_of_a_model_wait_for_other_questions() {
    let gateway = Gateway::with("[gateway]\nquestions_max = 1").await;
    let held = start_holding_router(&gateway);
    let deciding = Arc::new(Notify::new());
    let (context, deciding_notice) = (gateway.context.clone(), Arc::clone(&deciding));
    tokio::spawn(async move {
        let decide = async |turn: TurnV1| {
            if !turn.lookups.is_empty() {
                return Ok(end(&[1]));
            }
            deciding_notice.notify_one();
            held.notified().await;
            Ok(calls(vec![look("query_event_context", json!({}))]))
        };
        context.serve_requests::<_, PortError, _, _>(4, decide).await.unwrap();
    });
    gateway.serve::<ToolsV1>(catalogue);
    gateway.start_router(found);
    gateway.start_reader();
    gateway.settled().await;
    let hold = async {
        deciding.notified().await;
        let message = json!({"session": "one", "message": HELD, "budget": {"ms": 500}}).to_string();
        gateway.send("POST /v1/spaces/s/recall", &message).await
    };
    let (body, other) = tokio::join!(ask(&gateway, "reconstruct", 5, WHO), hold);
    assert_eq!(
        other.status,
        StatusCode::GATEWAY_TIMEOUT,
        "it had the only slot: {other:?}"
    );
    assert_eq!(body["degraded"], json!([]), "{body}");
    assert_eq!(path(&body), ["query_event_context", "end"], "{body}");
}

#[tokio::test]
async fn limits_out_of_range_are_refused() {
    let gateway = Gateway::new().await;
    for (limits, detail) in [
        (json!({"turns": 0}), "limits.turns: must be 1 to 16"),
        (json!({"calls": 17}), "limits.calls: must be 1 to 16"),
    ] {
        let body = json!({"question": WHO, "limits": limits}).to_string();
        let reply = gateway.send("POST /v1/spaces/s/query", &body).await;
        assert_eq!(reply.problem(), format!("422 {detail}"));
    }
}

/// Returns the events of a stream: names and data.
fn events(text: &str) -> Vec<(String, Value)> {
    let field = |block: &str, name: &str| {
        let line = block.lines().find_map(|it| it.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    let blocks = text.split("\n\n").filter(|it| !it.trim().is_empty());
    blocks
        .map(|it| (field(it, "event:"), serde_json::from_str(&field(it, "data:")).unwrap()))
        .collect()
}

#[tokio::test]
async fn steps_are_streamed_before_the_response() {
    let gateway = started(curious).await;
    let body = json!({"question": WHO, "strategy": "reconstruct", "explain": 1, "budget": {"model_calls": 5}});
    let accept = [("accept", "application/json;q=0.5, text/event-stream")];
    let reply = gateway
        .send_with("POST /v1/spaces/s/query", &body.to_string(), &accept)
        .await;
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    let events = events(&reply.text);
    let names: Vec<&str> = events.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, ["step", "step", "step", "response"]);
    let (_, response) = events.last().unwrap();
    let steps: Vec<&Value> = events[..3].iter().map(|it| &it.1).collect();
    assert_eq!(json!(steps), response["path"]);

    // A request that is refused before the first step gets a problem, as without a stream.
    let reply = gateway
        .send_with("POST /v1/spaces/s/query", "{\"question\": \" \"}", &accept)
        .await;
    assert_eq!(reply.problem(), "422 question: is empty");
}

#[tokio::test]
async fn a_caller_that_disconnects_cancels_the_question() {
    static TURNS: AtomicUsize = AtomicUsize::new(0);
    let gateway = started(|turn| {
        TURNS.fetch_add(1, Ordering::SeqCst);
        let again = json!({"limit": turn.lookups.len()});
        calls(vec![look("query_event_context", again)])
    })
    .await;
    let body =
        json!({"question": WHO, "strategy": "reconstruct", "budget": {"model_calls": 60}, "limits": {"turns": 16}});
    let request = HttpRequest::builder()
        .method("POST")
        .uri("/v1/spaces/s/query")
        .header("content-type", "application/json")
        .header("accept", "text/event-stream");
    let response = gateway
        .response(request.body(Body::from(body.to_string())).unwrap())
        .await;
    drop(response);
    let turns = TURNS.load(Ordering::SeqCst);
    // Enough for another turn: an absence can only be waited for.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(TURNS.load(Ordering::SeqCst), turns, "nobody listens");
    assert!((1..16).contains(&turns), "{turns}");
}
