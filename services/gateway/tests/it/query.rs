use axum::http::StatusCode;
use domain::evidence::{EvidencePack, PackItem, Scores};
use domain::id::{RecordId, SessionId, UnitId};
use domain::message::{RouteV1, RoutedV1};
use serde_json::json;

use crate::harness::{Gateway, nothing};

const QUERY: &str = "POST /v1/spaces/s/query";

pub(crate) fn something(request: RouteV1) -> RoutedV1 {
    let record = RecordId::from_external_id(&request.space, "a");
    let item = |text: &str| PackItem {
        unit: UnitId::of_turn(record),
        records: vec![record],
        external_ids: vec!["a".into()],
        session: SessionId::from_name(&request.space, "default"),
        observed_at: "2026-05-07T18:30:00+02:00".parse().unwrap(),
        actor: "Ann".into(),
        text: text.into(),
        tokens: 5,
        scores: Scores::default(),
        probability: 0.75,
        channels: Vec::new(),
    };
    let items = vec![item("Ann: I moved to Oslo."), item("Ann: In May.")];
    let pack = EvidencePack {
        tokens: 10,
        budget: request.tokens,
        items,
    };
    RoutedV1 {
        pack,
        ..nothing(request)
    }
}

#[tokio::test]
async fn a_question_gets_evidence_verdict_and_cost() {
    let gateway = Gateway::new().await;
    gateway.start_router(something);
    gateway.start_reader();
    gateway.settled().await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let body = json!({"question": "Where does Ann live?", "explain": 1, "budget": {"tokens": 100}}).to_string();
    let reply = gateway.send_with(QUERY, &body, &[("traceparent", parent)]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let body = reply.json();
    assert_eq!(body["verdict"]["status"], "supported");
    assert_eq!(body["pack"]["text"], "Ann: I moved to Oslo.\nAnn: In May.");
    assert_eq!(
        (&body["pack"]["budget"], &body["cost"]["tokens"]),
        (&json!(100), &json!(10))
    );
    assert_eq!(body["anchors"]["bare"], "Where does Ann live?");
    assert_eq!(
        body["trace_id"].as_str().unwrap(),
        reply.headers["x-trace-id"].to_str().unwrap()
    );
    let steps: Vec<&str> = body["cost"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["step"].as_str().unwrap())
        .collect();
    assert_eq!(steps, ["unsettled", "route", "route.rank", "answer"]);
    assert!(body.get("ranked").is_none() && body["answer"].is_null() && body["degraded"] == json!([]));
    assert!(body.get("degraded_codes").is_none(), "{body}");
}

#[tokio::test]
async fn evidence_is_returned_without_a_reader() {
    let gateway = Gateway::new().await;
    gateway.start_router(something);
    gateway.settled().await;
    let body = gateway
        .send(QUERY, r#"{"question":"Where?","answer":true}"#)
        .await
        .json();
    assert_eq!(body["degraded"], json!(["answer: the reader cannot be reached"]));
    assert_eq!(body["degraded_codes"], json!(["reader_unavailable"]));
    assert_eq!(body["verdict"]["status"], "insufficient");
    assert_eq!(body["pack"]["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_query_without_a_router_is_a_problem() {
    let gateway = Gateway::new().await;
    let reply = gateway
        .send(QUERY, r#"{"question":"Where?","budget":{"ms":20000}}"#)
        .await;
    assert!(reply.problem().starts_with("503 "), "{reply:?}");
    assert!(reply.headers.contains_key("retry-after"));
}

#[tokio::test]
async fn a_query_includes_the_write_it_names_or_reports_the_progress_of_the_writer() {
    let gateway = Gateway::new().await;
    gateway.start_router(nothing);
    gateway.start_reader();
    gateway.settled().await;
    let mark = gateway
        .send("POST /v1/spaces/s/records", r#"{"records":[{"text":"x"}]}"#)
        .await
        .json();
    let body = json!({"question": "Where?", "after": mark["watermark"], "budget": {"ms": 50}}).to_string();
    let early = gateway.send(QUERY, &body).await;
    assert!(
        early
            .problem()
            .starts_with("504 the write is not searchable yet; 1 accepted batches of this space wait"),
        "{early:?}"
    );
    assert_eq!(early.json()["progress"]["written"], false);
    gateway.start_writer();
    let body = json!({"question": "Where?", "after": mark["watermark"], "budget": {"ms": 20_000}}).to_string();
    assert_eq!(gateway.send(QUERY, &body).await.status, StatusCode::OK);
    gateway.send("PUT /v1/spaces/t", "").await;
    let foreign = gateway.send("POST /v1/spaces/t/query", &body).await;
    let problem = foreign.problem();
    assert!(
        problem.starts_with("422 this is not a watermark of the space `t`"),
        "{problem}"
    );
}

#[tokio::test]
async fn invalid_queries_are_a_problem() {
    let gateway = Gateway::new().await;
    for (body, expected) in [
        (json!({}), "422 missing field `question`"),
        (json!(["x"]), "422 invalid type: sequence, expected an object"),
        (
            json!({"question": "x", "budget": [512]}),
            "422 budget: invalid type: sequence, expected an object",
        ),
        (
            json!({"question": "x", "filter": []}),
            "422 filter: invalid type: sequence, expected an object",
        ),
        (json!({"question": " "}), "422 question: is empty"),
        (
            json!({"question": "x".repeat(9000)}),
            "422 question: has 9000 bytes, more than 8192",
        ),
        (
            json!({"question": "x", "strategy": "guess"}),
            "422 strategy: unknown variant `guess`, expected one of `route`, `explore`, `reconstruct`, `recollect`, `navigate`, `auto`",
        ),
        (
            json!({"question": "x", "budget": {"tokens": 1_000_000}}),
            "422 budget.tokens: is more than 32000",
        ),
        (
            json!({"question": "x", "budget": {"ms": 1_000_000}}),
            "422 budget.ms: is more than 30000",
        ),
        (
            json!({"question": "x", "budget": {"enough": 0}}),
            "422 budget.enough: must be greater than 0 and at most 1",
        ),
        (
            json!({"question": "x", "budget": {"tokens": -1}}),
            "422 budget.tokens: invalid value: integer `-1`",
        ),
        (
            json!({"question": "x", "explain": 101}),
            "422 explain: is more than 100",
        ),
        (
            json!({"question": "x", "as_of": "then"}),
            "422 as_of: is not a time like",
        ),
        (
            json!({"question": "x", "filter": {"from": "1492-01-01"}}),
            "422 filter.from: the year is not 1900 to 9999",
        ),
        (
            json!({"question": "x", "filter": {"actor": []}}),
            "422 filter.actor: unknown field `actor`",
        ),
        (
            json!({"question": "x", "after": "0001"}),
            "422 this is not a watermark of the space `s`",
        ),
    ] {
        let problem = gateway.send(QUERY, &body.to_string()).await.problem();
        assert!(problem.starts_with(expected), "{problem}");
    }
}

#[tokio::test]
async fn an_internal_error_reveals_no_details() {
    let gateway = Gateway::new().await;
    gateway.start_router(|request| panic!("the secret is {}", request.question));
    gateway.settled().await;
    let reply = gateway.send(QUERY, r#"{"question":"4711"}"#).await;
    let expected = "500 the log of the server has the cause, under the trace id of this response";
    assert_eq!(reply.problem(), expected);
    assert!(
        !reply.text.contains("4711") && !reply.text.contains("panic"),
        "{reply:?}"
    );
}

#[tokio::test]
async fn metadata_is_returned_with_the_pack() {
    let gateway = Gateway::new().await;
    gateway.start_router(something);
    gateway.start_reader();
    gateway.start_writer();
    gateway.settled().await;
    let ask = async |body: serde_json::Value| {
        let reply = gateway.send(QUERY, &body.to_string()).await;
        assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
        reply.json()
    };
    let wanted = json!({"question": "Where?", "metadata": true});
    assert_eq!(ask(wanted.clone()).await["pack"]["metadata"], json!({}), "erased since");
    let records = json!({"records": [
        {"id": "a", "text": "I moved to Oslo.", "metadata": {"channel": "#home", "url": "https://chat.example/1"}},
        {"id": "b", "text": "In May.", "metadata": {"channel": "#other"}},
    ]});
    let mark = gateway
        .send("POST /v1/spaces/s/records", &records.to_string())
        .await
        .json();
    gateway.written(mark["watermark"].as_str().unwrap()).await;
    let answer = ask(wanted).await;
    assert_eq!(
        answer["pack"]["metadata"],
        json!({"a": {"channel": "#home", "url": "https://chat.example/1"}}),
        "of the records of the pack, each once"
    );
    assert_eq!(
        (&answer["pack"]["tokens"], &answer["degraded"]),
        (&json!(10), &json!([]))
    );
    let plain = ask(json!({"question": "Where?"})).await;
    assert!(plain["pack"].get("metadata").is_none(), "{plain}");
}

/// A line that a language model wrote may be evidence if the literal text is not required.
#[tokio::test]
async fn gists_are_evidence_only_if_the_literal_text_is_not_required() {
    let gateway = Gateway::new().await;
    gateway.start_router(|request| RoutedV1 {
        weights: format!("gists: {}", request.gists),
        ..nothing(request)
    });
    gateway.start_reader();
    gateway.settled().await;
    for (asked, wanted) in [
        (json!({}), false),
        (json!({"verbatim": false}), false),
        (json!({"answer": false}), false),
        (json!({"budget": {"model_calls": 1}}), false),
        (json!({"answer": false, "verbatim": false}), true),
        (json!({"budget": {"model_calls": 1}, "verbatim": false}), true),
        (
            json!({"answer": false, "budget": {"model_calls": 1}, "verbatim": false}),
            true,
        ),
    ] {
        let mut body = asked.clone();
        body["question"] = json!("Where does Ann live?");
        let reply = gateway.send(QUERY, &body.to_string()).await.json();
        assert_eq!(reply["weights"], json!(format!("gists: {wanted}")), "{asked}");
    }
}
