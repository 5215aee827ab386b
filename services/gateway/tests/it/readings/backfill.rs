//! Requests to read unread records.

use super::*;

async fn order(gateway: &Gateway, body: &Value) -> (StatusCode, Value) {
    let reply = gateway.send("POST /v1/spaces/s/readings", &body.to_string()).await;
    assert!(reply.status.is_success(), "{reply:?}");
    (reply.status, reply.json())
}

async fn waiting(gateway: &Gateway) -> u64 {
    gateway
        .context
        .backends
        .readings
        .count_scheduled_sessions(&space("s"))
        .await
        .unwrap()
}

fn ids(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|it| format!("{it:05}")).collect()
}

/// Fills a session with numbered records.
async fn fill_numbered(gateway: &Gateway, session: &str, range: std::ops::Range<u32>) {
    let ids = ids(range);
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    fill(gateway, &space("s"), session, &ids).await;
}

/// Estimated for each session: one call for each 16 records, one token for each 4 bytes.
#[tokio::test]
async fn a_dry_run_estimates_and_queues_no_session() {
    let gateway = Gateway::new().await;
    let nothing = json!({"sessions": 0, "records": 0,
        "estimate": {"model_calls": 0, "prompt_tokens": 0, "completion_tokens": 0}});
    assert_eq!(
        order(&gateway, &json!({"dry_run": true})).await,
        (StatusCode::OK, nothing.clone())
    );
    fill_numbered(&gateway, SESSION, 0..17).await;
    fill_numbered(&gateway, "tuesday", 100..110).await;
    let bytes = TEXT.len() as u64;
    let (first, second) = (17 * bytes / 4, 10 * bytes / 4);
    let expected = json!({"sessions": 2, "records": 27, "estimate": {"model_calls": 3,
        "prompt_tokens": first + second + 3 * 1_100, "completion_tokens": first / 3 + second / 3}});
    assert_eq!(
        order(&gateway, &json!({"dry_run": true})).await,
        (StatusCode::OK, expected.clone())
    );
    assert_eq!(waiting(&gateway).await, 0);
    assert_eq!(order(&gateway, &json!({})).await, (StatusCode::ACCEPTED, expected));
    assert_eq!(waiting(&gateway).await, 2);
    let now = host::clock::now();
    let readings = &gateway.context.backends.readings;
    let wanted = readings.lease_session(now, now, None).await.unwrap().unwrap();
    assert_eq!(wanted.wanted_at, DateTime::UNIX_EPOCH, "it is read to its end");
}

#[tokio::test]
async fn only_sessions_with_unread_records_are_queued() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["1", "2"]).await;
    fill(&gateway, &s, "tuesday", &["3"]).await;
    let with_context = Reading {
        beside: vec![RecordId::from_external_id(&s, "3")],
        ..reading(&s, &["1", "2"])
    };
    put(&gateway, &s, &[with_context]).await;
    let (_, report) = order(&gateway, &json!({})).await;
    assert_eq!(
        (&report["sessions"], &report["records"]),
        (&json!(1), &json!(1)),
        "a record that a model was shown for another passage was not read"
    );
    let now = host::clock::now();
    let wanted = gateway
        .context
        .backends
        .readings
        .lease_session(now, now, None)
        .await
        .unwrap();
    assert_eq!(wanted.unwrap().session, SessionId::from_name(&s, "tuesday"));
}

#[tokio::test]
async fn a_single_session_can_be_queued_by_name_or_id() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["1", "2"]).await;
    fill(&gateway, &s, "tuesday", &["3"]).await;
    let monday = SessionId::from_name(&s, SESSION).to_string();
    for session in [SESSION, &monday] {
        let (_, report) = order(&gateway, &json!({"session": session, "dry_run": true})).await;
        assert_eq!(
            (&report["sessions"], &report["records"]),
            (&json!(1), &json!(2)),
            "{session}"
        );
    }
    for (session, problem) in [
        ("sunday", "404 the session has no records"),
        ("", "422 session: is empty; leave it out instead"),
        ("a\u{0}", "422 session: holds the control character U+0000"),
    ] {
        let body = json!({ "session": session }).to_string();
        let reply = gateway.send("POST /v1/spaces/s/readings", &body).await;
        assert!(reply.problem().starts_with(problem), "{reply:?}");
    }
}

#[tokio::test]
async fn failed_readings_are_repeated_only_on_request() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["1", "2", "3"]).await;
    put(&gateway, &s, &[failed(&s, &["1", "2"]), reading(&s, &["3"])]).await;
    let summary = async || get(&gateway, "/v1/spaces/s/readings").await["summary"].clone();
    for (body, records, failed, wanted) in [
        (json!({}), 0, 1, 0),
        (json!({"again": true, "dry_run": true}), 2, 1, 0),
        (json!({"again": true}), 2, 0, 1),
    ] {
        let (_, report) = order(&gateway, &body).await;
        assert_eq!(report["records"], records, "{body}");
        assert_eq!(summary().await["failed"], failed, "{body}");
        assert_eq!(waiting(&gateway).await, wanted, "{body}");
    }
    assert_eq!(summary().await["done"], 1, "what is done stays");
}

#[tokio::test]
async fn failed_readings_of_topics_are_removed_only_on_request() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["1", "2"]).await;
    let first = RecordId::from_external_id(&s, "1");
    let label = Reading {
        id: ReadingId::of_topic_label(first),
        kind: ReadingKind::Label,
        ..failed(&s, &["1"])
    };
    put(&gateway, &s, &[reading(&s, &["1", "2"]), label]).await;
    for (body, failed) in [
        (json!({}), 1),
        (json!({"again": true, "dry_run": true}), 1),
        (json!({"again": true}), 0),
    ] {
        let (_, report) = order(&gateway, &body).await;
        let summary = get(&gateway, "/v1/spaces/s/readings").await["summary"].clone();
        assert_eq!(
            (&summary["done"], &summary["failed"]),
            (&json!(1), &json!(failed)),
            "{body}"
        );
        assert_eq!((&report["records"], waiting(&gateway).await), (&json!(0), 0), "{body}");
    }
}

#[tokio::test]
async fn pictures_without_description_are_described_only_on_request() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["1"]).await;
    let pictured = |id: &str, caption: Option<&str>| Record {
        image_uri: Some("https://pictures.example.com/1.png".to_owned()),
        image_caption: caption.map(str::to_owned),
        ..record(&s, SESSION, id)
    };
    let pictures = ["2", "3", "4"].map(|it| pictured(it, None));
    let stores = &gateway.context.backends;
    stores.records.put(&s, &pictures).await.unwrap();
    stores.records.put(&s, &[pictured("5", Some("a fern"))]).await.unwrap();
    let of_picture = |reading: Reading| Reading {
        id: ReadingId::of_picture(reading.records[0]),
        kind: ReadingKind::Picture,
        ..reading
    };
    let (described, not) = (of_picture(reading(&s, &["3"])), of_picture(failed(&s, &["4"])));
    put(&gateway, &s, &[reading(&s, &["1", "2", "3", "4", "5"]), described, not]).await;
    for (body, records, wanted) in [
        (json!({}), 0, 0),
        (json!({"again": true, "dry_run": true}), 2, 0),
        (json!({"again": true}), 2, 1),
    ] {
        let (_, report) = order(&gateway, &body).await;
        assert_eq!(report["records"], records, "{body}: the second and the fourth");
        assert_eq!(waiting(&gateway).await, wanted, "{body}");
    }
    let summary = get(&gateway, "/v1/spaces/s/readings").await["summary"].clone();
    assert_eq!((&summary["done"], &summary["failed"]), (&json!(2), &json!(0)));
}

/// A request has a time limit; the scan continues where it stopped.
#[tokio::test]
async fn a_space_too_large_for_one_request_is_scanned_in_several() {
    let gateway = Gateway::with("[gateway]\nrequest_ms_max = 1").await;
    fill_numbered(&gateway, SESSION, 0..700).await;
    fill_numbered(&gateway, "tuesday", 700..1_200).await;
    let (mut records, mut requests, mut after) = (0, 0, Value::Null);
    loop {
        let (_, report) = order(&gateway, &json!({ "after": after })).await;
        records += report["records"].as_u64().unwrap();
        requests += 1;
        after = report["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!((records, waiting(&gateway).await), (1_200, 2));
    assert!(requests > 1);
    for body in [json!({"after": "x"}), json!({"colour": "red"}), json!([true])] {
        let reply = gateway.send("POST /v1/spaces/s/readings", &body.to_string()).await;
        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{reply:?}");
    }
}
