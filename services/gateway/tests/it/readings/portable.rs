//! Transfer of readings between spaces.

use super::*;

/// Imports readings into a space and returns the results.
async fn import(gateway: &Gateway, space: &str, items: &Value) -> Value {
    let body = json!({ "items": items }).to_string();
    let reply = gateway.send(&format!("PUT /v1/spaces/{space}/readings"), &body).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    reply.json()["items"].clone()
}

async fn portable(gateway: &Gateway, space: &str) -> Value {
    get(gateway, &format!("/v1/spaces/{space}/readings?portable=true")).await["items"].clone()
}

fn one() -> Value {
    json!({"session": SESSION, "records": ["1"], "digest": "ab".repeat(32), "prompt": "read/1", "model": "model-1",
        "at": "2026-03-02T12:00:00Z", "output": "{}"})
}

#[tokio::test]
async fn exported_readings_can_be_imported_unchanged() {
    let (gateway, s, copy) = (Gateway::new().await, space("s"), space("copy"));
    for it in [&s, &copy] {
        fill(&gateway, it, SESSION, &["1", "2", "3"]).await;
    }
    let later = |it: &SpaceId| Reading {
        beside: vec![RecordId::from_external_id(it, "2"), RecordId::from_external_id(it, "1")],
        earlier: vec![GistRef {
            first: RecordId::from_external_id(it, "1"),
            number: 7,
        }],
        ..reading(it, &["3"])
    };
    let broken = |it: &SpaceId| Reading {
        output: "no JSON".to_owned(),
        ..failed(it, &["2"])
    };
    let all = |it: &SpaceId| [reading(it, &["1"]), broken(it), later(it)];
    put(&gateway, &s, &all(&s)).await;

    let items = portable(&gateway, "s").await;
    let stored = import(&gateway, "copy", &items).await;
    let status: Vec<&Value> = stored.as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!(status, ["stored"; 3]);
    let mut expected = all(&copy);
    expected.sort_by_key(|it| it.id);
    let readings = &gateway.context.backends.readings;
    assert_eq!(readings.list(&copy, None, 9).await.unwrap(), expected);
    assert_eq!(
        readings.count_scheduled_sessions(&copy).await.unwrap(),
        1,
        "the writer derives from them"
    );
    let now = host::clock::now();
    let wanted = readings.lease_session(now, now, None).await.unwrap().unwrap();
    assert_eq!((wanted.space, wanted.wanted_at), (copy, DateTime::UNIX_EPOCH));

    let again = import(&gateway, "copy", &portable(&gateway, "copy").await).await;
    assert_eq!(again.as_array().unwrap().len(), 3);
    let page = get(&gateway, "/v1/spaces/copy/readings").await;
    assert_eq!(
        (&page["summary"]["done"], &page["summary"]["failed"]),
        (&json!(2), &json!(1))
    );
}

#[tokio::test]
async fn a_reading_with_a_missing_record_is_left_out() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["1", "2"]).await;
    let with = |field: &str, value: Value| {
        let mut it = one();
        it[field] = value;
        it
    };
    let items = json!([
        with("records", json!(["1", "gone"])),
        with("records", json!(["2"])),
        with("beside", json!(["gone"])),
    ]);
    assert_eq!(
        import(&gateway, "s", &items).await,
        json!([{"index": 0, "status": "left_out"}, {"index": 1, "status": "stored"}, {"index": 2, "status": "left_out"}])
    );
    let page = get(&gateway, "/v1/spaces/s/readings").await;
    assert_eq!(page["items"].as_array().unwrap().len(), 1);
    assert_eq!(page["items"][0]["records"], json!(["2"]));

    // Nothing is derived from missing records.
    fill(&gateway, &space("empty"), SESSION, &[]).await;
    import(&gateway, "empty", &json!([one()])).await;
    let wanted = gateway
        .context
        .backends
        .readings
        .count_scheduled_sessions(&space("empty"))
        .await
        .unwrap();
    assert_eq!(wanted, 0);
}

/// A gist keeps its index if the record that names it was erased, because labels in the reply depend on it.
#[tokio::test]
async fn an_earlier_gist_of_an_erased_record_keeps_its_place() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["1", "2"]).await;
    let gist = |id: &str, number: u16| GistRef {
        first: RecordId::from_external_id(&s, id),
        number,
    };
    let later = Reading {
        earlier: vec![gist("gone", 1), gist("1", 2)],
        ..reading(&s, &["2"])
    };
    put(&gateway, &s, &[later]).await;
    let items = portable(&gateway, "s").await;
    assert_eq!(
        items[0]["earlier"],
        json!([{"first": "", "number": 1}, {"first": "1", "number": 2}])
    );
    let stored = import(&gateway, "s", &items).await;
    assert_eq!(stored[0]["status"], "stored");
    assert_eq!(portable(&gateway, "s").await, items);
}

/// Returns fields of a reading with an invalid value, and the expected error.
fn unusable() -> Vec<(&'static str, Value, &'static str)> {
    let names = |count: usize| -> Value { (0..count).map(|it| json!(it.to_string())).collect() };
    let gist = json!({"first": "1", "number": 1});
    vec![
        ("records", json!([]), "records: must be 1 to 24"),
        ("records", names(25), "records: must be 1 to 24"),
        ("records", json!(["1", "1"]), "records: `1` is named twice"),
        ("records", json!([""]), "records: is empty"),
        (
            "records",
            json!(["t"]),
            "session: the record `t` belongs to another session",
        ),
        ("beside", names(65), "beside: has more than 64 records"),
        ("beside", json!([" "]), "beside: is empty"),
        ("earlier", vec![gist; 65].into(), "earlier: has more than 64 gists"),
        (
            "earlier",
            json!([["1", 1]]),
            "earlier[0]: invalid type: sequence, expected an object",
        ),
        ("session", json!(""), "session: is empty"),
        (
            "session",
            json!("x".repeat(257)),
            "session: has 257 bytes, more than 256",
        ),
        ("digest", json!("ab"), "digest: must be 64 hexadecimal digits"),
        ("digest", json!("x".repeat(64)), "digest: must be 64 hexadecimal digits"),
        ("prompt", json!(" "), "prompt: is empty"),
        ("model", json!("a\nb"), "model: holds the control character U+000A"),
        (
            "at",
            json!("2999-01-01T00:00:00Z"),
            "at: must be between the year 1900 and now",
        ),
        ("at", json!("then"), "at: "),
        (
            "output",
            json!("x".repeat((256 << 10) + 1)),
            "output: has 262145 bytes, more than 262144",
        ),
        (
            "failure",
            json!("x".repeat(1_025)),
            "failure: has 1025 bytes, more than 1024",
        ),
        (
            "outcome",
            json!([1, 2, 3, []]),
            "outcome: invalid type: sequence, expected an object",
        ),
        (
            "outcome",
            json!({"gists": 0, "facts": 0, "relations": 0, "left_out": [{"what": "x".repeat(1_025), "why": ""}]}),
            "outcome.left_out: what: has 1025 bytes, more than 1024",
        ),
        (
            "spent",
            json!({"model_ms": -1.0}),
            "spent.model_ms: is not a number of milliseconds",
        ),
        ("spent", json!({"model_calls": -1}), "spent.model_calls: "),
        ("colour", json!("red"), "colour: unknown field `colour`"),
    ]
}

#[tokio::test]
async fn invalid_readings_are_refused_by_field() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["1"]).await;
    fill(&gateway, &s, "tuesday", &["t"]).await;
    for (field, value, problem) in unusable() {
        let mut item = one();
        item[field] = value;
        let body = json!({"items": [one(), item]}).to_string();
        let reply = gateway.send("PUT /v1/spaces/s/readings", &body).await;
        let expected = format!("422 items[1].{problem}");
        assert!(reply.problem().starts_with(&expected), "{expected}: {reply:?}");
    }
    for (items, problem) in [
        (json!([]), "422 items: must be 1 to 100"),
        (vec![one(); 101].into(), "422 items: must be 1 to 100"),
        (
            json!([[SESSION]]),
            "422 items[0]: invalid type: sequence, expected an object",
        ),
    ] {
        let body = json!({ "items": items }).to_string();
        let reply = gateway.send("PUT /v1/spaces/s/readings", &body).await;
        assert!(reply.problem().starts_with(problem), "{reply:?}");
    }
    let there = get(&gateway, "/v1/spaces/s/readings").await;
    assert_eq!(there["items"], json!([]), "nothing of a refused request is stored");
    let stored = import(&gateway, "s", &json!([one()])).await;
    assert_eq!(stored[0]["status"], "stored", "the item that stood first each time");
}
