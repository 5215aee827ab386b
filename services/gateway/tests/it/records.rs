use axum::body::Body;
use axum::http::{Request, StatusCode};
use domain::message::{Message, RecordsAcceptedV1};
use fixtures::wait_until;
use serde_json::{Value, json};

use crate::harness::{Gateway, Reply};

pub(crate) const RECORDS: &str = "POST /v1/spaces/s/records";

/// Returns `index status detail` on a line for each item.
pub(crate) fn outcomes(reply: &Reply) -> String {
    let body = reply.json();
    let line = |it: &Value| {
        let detail = it["problem"]["detail"]
            .as_str()
            .unwrap_or("-")
            .chars()
            .take(40)
            .collect::<String>();
        format!("{} {} {detail}", it["index"], it["status"].as_str().unwrap())
    };
    body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

#[tokio::test]
async fn an_invalid_record_is_named_and_the_others_are_accepted() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let body = json!({"records": [
        {"id": "a", "text": "Ann moved to Oslo.", "actor": "Ann", "observed_at": "2026-05-07T18:30:00+02:00"},
        {"id": "b"},
        {"id": "c", "text": 7},
        {"id": "d", "text": "x", "colour": "red"},
        {"id": "e", "text": "x", "observed_at": "2999-01-01"},
        {"id": "a", "text": "Ann moved to Oslo.", "actor": "Ann", "observed_at": "2026-05-07T18:30:00+02:00"},
        {"id": "a", "text": "Ann moved to Rome."},
        "text",
        {"tool": {"name": "ls", "arguments": {"b": 1, "a": [2]}, "result": "x"}, "modality": "action"},
    ]});
    let reply = gateway.send(RECORDS, &body.to_string()).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED);
    insta::assert_snapshot!(outcomes(&reply), @r#"
    0 accepted -
    1 rejected text: the record has no text, no image_c
    2 rejected text: invalid type: integer `7`, expecte
    3 rejected colour: unknown field `colour`, expected
    4 rejected observed_at: 2999-01-01 is more than a d
    5 duplicate -
    6 rejected the id `a` belongs to other content; rec
    7 rejected invalid type: string "text", expected an
    8 accepted -
    "#);
    gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
    let stored = gateway.send("GET /v1/spaces/s/records", "").await.json();
    assert_eq!(stored["items"].as_array().unwrap().len(), 2);
    assert_eq!(stored["items"][0]["observed_at"], "2026-05-07T18:30:00+02:00");
    assert_eq!(stored["items"][1]["tool"]["arguments"], r#"{"a":[2],"b":1}"#);
    assert_eq!(stored["items"][1]["session"], "default");
    let one = gateway.send("GET /v1/spaces/s/records/a", "").await.json();
    assert_eq!(one, stored["items"][0]);
    let same = format!("GET /v1/spaces/s/records/{}", one["record"].as_str().unwrap());
    assert_eq!(gateway.send(&same, "").await.json(), one);
}

#[tokio::test]
async fn a_batch_that_was_lost_before_the_writer_is_published_again() {
    let gateway = Gateway::new().await;
    let first = gateway
        .send(RECORDS, r#"{"records":[{"id":"a","text":"one"}]}"#)
        .await
        .json();
    let again = gateway
        .send(RECORDS, r#"{"records":[{"id":"a","text":"one"}]}"#)
        .await
        .json();
    assert_eq!(first["watermark"], again["watermark"], "one message in the stream");
    let more = gateway
        .send(
            RECORDS,
            r#"{"records":[{"id":"a","text":"one"},{"id":"b","text":"two"}]}"#,
        )
        .await
        .json();
    gateway.start_writer();
    gateway.written(more["watermark"].as_str().unwrap()).await;
    assert_eq!(
        gateway.send("GET /v1/spaces/s/records", "").await.json()["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn an_idempotency_key_gets_the_first_response() {
    let gateway = Gateway::new().await;
    let key = [("idempotency-key", "k1")];
    let body = r#"{"records":[{"text":"ok"},{"text":"ok"}]}"#;
    let first = gateway.send_with(RECORDS, body, &key).await;
    let again = gateway.send_with(RECORDS, body, &key).await;
    assert_eq!(outcomes(&first), "0 accepted -\n1 accepted -");
    assert_eq!(first.text, again.text);
    let other = gateway.send_with(RECORDS, r#"{"records":[{"text":"no"}]}"#, &key).await;
    assert!(
        other
            .problem()
            .starts_with("422 this Idempotency-Key was used for another request"),
        "{other:?}"
    );
    let without = gateway.send(RECORDS, body).await;
    assert_eq!(
        outcomes(&without),
        "0 accepted -\n1 accepted -",
        "without key, id and time a record is new"
    );
}

#[tokio::test]
async fn repeated_content_with_a_time_is_stored_once() {
    let gateway = Gateway::new().await;
    let body = r#"{"records":[{"text":"ok","observed_at":"2026-05-07"},{"text":"ok","observed_at":"2026-05-07"}]}"#;
    assert_eq!(
        outcomes(&gateway.send(RECORDS, body).await),
        "0 accepted -\n1 accepted -"
    );
    assert_eq!(
        outcomes(&gateway.send(RECORDS, body).await),
        "0 duplicate -\n1 duplicate -"
    );
}

/// There are more records than are compared with stored ones in one step.
#[tokio::test]
async fn records_that_mean_the_same_as_stored_ones_are_duplicates() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let record = |id: usize| json!({"id": id.to_string(), "text": "ok", "observed_at": "2026-05-07"});
    let stored: Vec<Value> = (0..40).map(record).collect();
    let sent = gateway.send(RECORDS, &json!({ "records": stored }).to_string()).await;
    gateway.written(sent.json()["watermark"].as_str().unwrap()).await;
    let mut again = stored;
    for record in &mut again {
        record["modality"] = json!("text");
    }
    again[38]["text"] = json!("no");
    let reply = gateway.send(RECORDS, &json!({ "records": again }).to_string()).await;
    let statuses: Vec<Value> = reply.json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["status"].clone())
        .collect();
    let mut expected = vec![json!("duplicate"); 40];
    expected[38] = json!("rejected");
    assert_eq!(statuses, expected, "{reply:?}");
}

#[tokio::test]
async fn invalid_batches_are_refused_with_a_problem_document() {
    let gateway = Gateway::with("[gateway]\nbody_bytes_max = 2000\nbatch_max = 2").await;
    let large = format!(r#"{{"records":[{{"text":"{}"}}]}}"#, "x".repeat(3000));
    let deep = format!(r#"{{"records":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    for (body, expected) in [
        (r#"{"records":[]}"#, "422 records: must be 1 to 2, this request has 0"),
        (
            r#"{"records":[{"text":"a"},{"text":"b"},{"text":"c"}]}"#,
            "422 records: must be 1 to 2, this request has",
        ),
        (r#"{"records":[{}]}"#, "422 text: the record has no text"),
        (
            r#"{"records":[{},{}]}"#,
            "422 none of the 2 records was accepted; the first problem: text: the record has no text",
        ),
        (
            r#"{"records":[["an id","a session"]]}"#,
            "422 invalid type: sequence, expected an object",
        ),
        (
            r#"{"records":[{"tool":["ls"]}]}"#,
            "422 tool: invalid type: sequence, expected an object",
        ),
        (r#"[[{"text":"a"}]]"#, "422 invalid type: sequence, expected an object"),
        (
            r#"{"record":[]}"#,
            "422 record: unknown field `record`, expected one of `records`",
        ),
        ("{", "400 EOF while parsing"),
        (r#"{"records":[]} x"#, "400 trailing characters"),
        (&deep, "400 recursion limit exceeded"),
        (&large, "413 a request body may have at most 2000 bytes"),
    ] {
        let problem = gateway.send(RECORDS, body).await.problem();
        assert!(problem.starts_with(expected), "{problem}");
    }
    let form = gateway.send_with(RECORDS, "", &[("content-type", "text/plain")]).await;
    assert!(form.problem().starts_with("415 "));
    let latin = Request::post("/v1/spaces/s/records").header("content-type", "application/json");
    let latin = latin
        .body(Body::from(b"{\"records\":[{\"text\":\"\xff\"}]}".to_vec()))
        .unwrap();
    assert!(gateway.raw(latin).await.problem().starts_with("400 invalid unicode"));
}

#[tokio::test]
async fn invalid_calls_are_refused_with_a_problem_document() {
    let gateway = Gateway::new().await;
    for (call, expected) in [
        ("GET /nowhere", "404 /docs lists the routes"),
        ("PATCH /v1/spaces/s", "405 /docs lists the routes"),
        ("POST /v1/spaces/nobody/query", "415 the body is not JSON; send"),
        (
            "GET /v1/spaces/nobody",
            "404 there is no space `nobody`; PUT /v1/spaces/nobody creates it",
        ),
        ("GET /v1/spaces/%FF", "422 Invalid URL: Invalid UTF-8"),
        (
            "PUT /v1/spaces/No%20Body",
            "422 the name of a space must have 1 to 64 characters",
        ),
        ("GET /v1/spaces/s/records?limit=0", "422 limit: must be 1 to 1000"),
        ("GET /v1/spaces/s/records?limit=x", "422 limit: invalid digit"),
        ("GET /v1/spaces/s/records?page=2", "422 "),
        (
            "GET /v1/spaces/s/records?after=x",
            "422 after: must be the `next` of a page",
        ),
        (
            "GET /v1/spaces/s/facts?after=1",
            "422 after: must be the `next` of a page",
        ),
        ("GET /v1/spaces/s/records/x", "404 there is no record with this id"),
    ] {
        let problem = gateway.send(call, "").await.problem();
        assert!(problem.starts_with(expected), "{call}: {problem}");
    }
}

#[tokio::test]
async fn a_compressed_body_is_named_as_such() {
    let gateway = Gateway::new().await;
    let packed = gateway.send_with(RECORDS, "{}", &[("content-encoding", "gzip")]).await;
    assert_eq!(
        packed.problem(),
        "415 the body is compressed; send it as it is, without `Content-Encoding`"
    );
    let plain = gateway.send_with(RECORDS, "{}", &[("content-encoding", "identity")]);
    assert!(plain.await.problem().starts_with("422 "));
}

#[tokio::test]
async fn a_space_is_created_erased_and_created_again() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    assert_eq!(gateway.send("PUT /v1/spaces/s", "").await.status, StatusCode::OK);
    assert_eq!(gateway.send("PUT /v1/spaces/t", "").await.status, StatusCode::CREATED);
    let mark = gateway
        .send(RECORDS, r#"{"records":[{"id":"a","text":"one"}]}"#)
        .await
        .json();
    gateway.written(mark["watermark"].as_str().unwrap()).await;
    assert_eq!(gateway.send("GET /v1/spaces/s", "").await.json()["records"], 1);
    assert_eq!(
        gateway.send("DELETE /v1/spaces/s", "").await.status,
        StatusCode::NO_CONTENT
    );
    assert!(
        gateway
            .send("DELETE /v1/spaces/s", "")
            .await
            .problem()
            .starts_with("404 ")
    );
    assert_eq!(gateway.send("PUT /v1/spaces/s", "").await.status, StatusCode::CREATED);
    let reply = gateway.send(RECORDS, r#"{"records":[{"id":"a","text":"two"}]}"#).await;
    assert_eq!(outcomes(&reply), "0 accepted -", "the claim went with the space");
}

#[tokio::test]
async fn an_erased_record_can_be_sent_again() {
    let body = r#"{"records":[{"id":"a","text":"one"}]}"#;
    for headers in [[].as_slice(), &[("idempotency-key", "k")]] {
        let gateway = Gateway::new().await;
        gateway.start_writer();
        for _ in 0..3 {
            let sent = gateway.send_with(RECORDS, body, headers).await;
            assert_eq!(outcomes(&sent), "0 accepted -");
            gateway.written(sent.json()["watermark"].as_str().unwrap()).await;
            let record = gateway.send("GET /v1/spaces/s/records/a", "").await;
            assert_eq!(record.json()["text"], "one", "{record:?}");
            let again = gateway.send_with(RECORDS, body, headers).await;
            gateway.written(again.json()["watermark"].as_str().unwrap()).await;

            let erased = gateway.send("DELETE /v1/spaces/s/records/a", "").await;
            gateway.written(erased.json()["watermark"].as_str().unwrap()).await;
            let record = gateway.send("GET /v1/spaces/s/records/a", "").await;
            assert_eq!(record.status, StatusCode::NOT_FOUND);
        }
    }
}

/// A short text may need much memory: the number of values in a body is limited before they are parsed.
#[tokio::test]
async fn a_body_with_too_many_values_is_refused() {
    let gateway = Gateway::new().await;
    let most = "413 a body may hold 100000 values";
    for (records, expected) in [
        ("0,".repeat(150_000) + "0", most),
        (format!("[{}0]", "0,".repeat(150_000)), most),
        (format!("{}{{}}", r#"{"":{}},"#.repeat(50_000)), most),
        (
            format!(r#"{{"tool":{{"name":"x","result":[{}0]}}}}"#, "{},".repeat(60_000)),
            most,
        ),
        (
            "0,".repeat(50_000) + "0",
            "422 records: must be 1 to 1000, this request has 50001",
        ),
        (r#"{"text":8}"#.to_owned(), "422 text: "),
    ] {
        let problem = gateway
            .send(RECORDS, &format!(r#"{{"records":[{records}]}}"#))
            .await
            .problem();
        assert!(problem.starts_with(expected), "{problem}");
    }
    let commas = format!(r#"{{"records":[{{"text":"{}"}}]}}"#, r#",[{\" "#.repeat(5_000));
    let reply = gateway.send(RECORDS, &commas).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let ends_escaped = r#"{"records":[{"text":"[,{\\\\"},{"text":8}]}"#;
    assert_eq!(outcomes(&gateway.send(RECORDS, ends_escaped).await).lines().count(), 2);
}

/// If a caller disconnects while a space is erased, none of its messages stays in the queue.
#[tokio::test]
async fn a_space_is_erased_completely_although_the_caller_disconnects() {
    let gateway = Gateway::new().await;
    let sent = gateway.send(RECORDS, r#"{"records":[{"id":"a","text":"one"}]}"#).await;
    assert_eq!(sent.status, StatusCode::ACCEPTED);
    let bus = &gateway.context.backends.bus;
    let waiting = async || bus.backlog(RecordsAcceptedV1::SUBJECT, "writer").await.unwrap();
    assert_eq!(waiting().await, 1);
    {
        let mut call = std::pin::pin!(gateway.send("DELETE /v1/spaces/s", ""));
        assert!(futures::poll!(call.as_mut()).is_pending());
    }
    wait_until("the waiting message is erased", async || waiting().await == 0).await;
}

#[tokio::test]
async fn a_full_queue_and_a_full_disk_give_different_problems() {
    let records = |id: usize| json!({"records": [{"id": id.to_string(), "text": "long ".repeat(5_000)}]}).to_string();
    for (settings, expected) in [
        ("[backends]\nqueue_frames_max = 3", "429 the queue is full"),
        ("[backends]\nfile_bytes_max = 400000", "503 "),
    ] {
        let gateway = Gateway::with(settings).await;
        let mut accepted = 0;
        let refused = loop {
            let reply = gateway.send(RECORDS, &records(accepted)).await;
            if reply.status != StatusCode::ACCEPTED {
                break reply;
            }
            accepted += 1;
            assert!(accepted < 100, "there is a bound");
        };
        assert!(refused.problem().starts_with(expected), "{refused:?}");
        assert!(
            accepted > 0 && refused.headers.contains_key("retry-after"),
            "{accepted} {refused:?}"
        );
        gateway.start_writer();
        assert_eq!(
            gateway.send("GET /v1/spaces/s", "").await.status,
            StatusCode::OK,
            "reading goes on"
        );
    }
}
