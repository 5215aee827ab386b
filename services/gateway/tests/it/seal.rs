//! Sealed values reveal nothing about spaces that a key does not open, and cannot be forged.

use axum::body::Body;
use axum::http::Request;
use domain::message::{Message, RecordsAcceptedV1};
use futures::StreamExt;
use host::{Context, Settings};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::harness::{Gateway, Reply};

/// Returns keys with these names: `owner` opens every space, `zz` the prefix `zz-`, `two` the space `s` and the prefix
/// `team-`.
fn keys() -> String {
    let key = |name: &str, spaces: &str| {
        let digest: String = Sha256::digest(name).iter().map(|it| format!("{it:02x}")).collect();
        let rights = r#"["read", "write", "admin"]"#;
        format!("[[gateway.keys]]\nname = \"{name}\"\nsha256 = \"{digest}\"\nspaces = [{spaces}]\nrights = {rights}\n")
    };
    [
        key("owner", r#""*""#),
        key("zz", r#""zz-*""#),
        key("two", r#""team-*", "s", "none-such""#),
    ]
    .concat()
}

async fn by(gateway: &Gateway, key: &str, call: &str, body: &str) -> Reply {
    let bearer = format!("Bearer {key}");
    gateway.send_with(call, body, &[("authorization", &bearer)]).await
}

/// Follows the cursors of a list; returns the ids or names on each page, and the text of all responses.
async fn pages(gateway: &Gateway, key: &str, path: &str) -> (Vec<Vec<String>>, String) {
    let (mut pages, mut bodies, mut after) = (Vec::new(), String::new(), String::new());
    loop {
        let reply = by(gateway, key, &format!("GET {path}{after}"), "").await;
        assert_eq!(reply.status, 200, "{reply:?}");
        bodies.push_str(&reply.text);
        let page = reply.json();
        let name = |it: &Value| {
            ["id", "space"]
                .iter()
                .find_map(|name| Some(it[*name].as_str()?.to_owned()))
        };
        pages.push(page["items"].as_array().unwrap().iter().filter_map(name).collect());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return (pages, bodies),
        }
    }
}

#[tokio::test]
async fn a_list_of_spaces_reveals_neither_names_nor_number_of_others() {
    let gateway = Gateway::with(&keys()).await;
    let mut before = Vec::new();
    for round in 0..2 {
        for name in ["zz-1", "zz-2", "team-a"] {
            by(&gateway, "owner", &format!("PUT /v1/spaces/{name}"), "").await;
        }
        for (key, own) in [("zz", ["zz-1", "zz-2"].as_slice()), ("two", &["s", "team-a"])] {
            let (pages, bodies) = pages(&gateway, key, "/v1/spaces?limit=1").await;
            let names: Vec<&str> = pages.iter().flatten().map(String::as_str).collect();
            assert_eq!(names, own, "{bodies}");
            assert!(!bodies.contains("customer"), "{bodies}");
            before.push(pages);
        }
        for number in 0..if round == 0 { 150 } else { 0 } {
            by(
                &gateway,
                "owner",
                &format!("PUT /v1/spaces/customer-{number:03}-acme"),
                "",
            )
            .await;
        }
    }
    assert_eq!(before[..2], before[2..], "as many pages as before the others came");
    let all = by(&gateway, "owner", "GET /v1/spaces?limit=1000", "").await.json();
    assert_eq!(all["items"].as_array().unwrap().len(), 154);
}

#[tokio::test]
async fn a_cursor_is_valid_only_for_its_own_list() {
    let gateway = Gateway::with(&keys()).await;
    gateway.start_writer();
    by(&gateway, "owner", "PUT /v1/spaces/team-a", "").await;
    for space in ["s", "team-a"] {
        let body =
            json!({"records": [{"id": "1", "text": "a", "actor": "Ann"}, {"id": "2", "text": "b", "actor": "Ann"}]});
        let call = format!("POST /v1/spaces/{space}/records");
        let mark = by(&gateway, "owner", &call, &body.to_string()).await.json();
        let mark = mark["watermark"].as_str().unwrap();
        let call = format!("GET /v1/spaces/{space}/progress?wait_ms=20000&watermark={mark}");
        assert_eq!(by(&gateway, "owner", &call, "").await.status, 200);
    }
    let next = async |key: &str, path: &str| {
        let page = by(&gateway, key, &format!("GET {path}"), "").await.json();
        page["next"].as_str().unwrap().to_owned()
    };
    let records = next("two", "/v1/spaces/s/records?limit=1").await;
    let spaces = next("two", "/v1/spaces?limit=1").await;
    let owners = next("owner", "/v1/spaces?limit=1").await;
    let altered = records.replacen(|it: char| it != '0', "0", 1);
    let refused = "422 after: must be the `next` of a page of this list";
    for (key, call, cursor, fits) in [
        ("two", "/v1/spaces/s/records?limit=1", &records, true),
        ("owner", "/v1/spaces/s/records?limit=9", &records, true),
        ("two", "/v1/spaces?limit=9", &spaces, true),
        ("two", "/v1/spaces/team-a/records?limit=1", &records, false),
        ("two", "/v1/spaces/s/records?actor=Ann", &records, false),
        ("two", "/v1/spaces/s/units?limit=1", &records, false),
        ("two", "/v1/spaces/s/facts?limit=1", &records, false),
        ("two", "/v1/spaces/s/curations?limit=1", &records, false),
        ("two", "/v1/spaces?limit=1", &records, false),
        ("two", "/v1/spaces/s/records?limit=1", &spaces, false),
        ("two", "/v1/spaces/s/records?limit=1", &altered, false),
        ("zz", "/v1/spaces?limit=1", &spaces, false),
        ("two", "/v1/spaces?limit=1", &owners, false),
        ("owner", "/v1/admin/dead-letters?limit=1", &owners, false),
        ("two", "/v1/spaces/s/records?limit=1", &"1".to_owned(), false),
        ("two", "/v1/spaces?limit=1", &"customer".to_owned(), false),
    ] {
        let reply = by(&gateway, key, &format!("GET {call}&after={cursor}"), "").await;
        if fits {
            assert_eq!(reply.status, 200, "{call} {reply:?}");
        } else {
            assert!(reply.problem().starts_with(refused), "{call} {reply:?}");
            assert_eq!(reply.json()["type"], "urn:mnemic:problem:cursor");
        }
    }
}

/// Other callers write between two writes of a space, and no returned value shows how much.
#[tokio::test]
async fn no_response_reveals_how_much_others_write() {
    let gateway = Gateway::with(&keys()).await;
    let mut seen = Vec::new();
    for noise in [0, 40] {
        let (quiet, loud) = (format!("zz-{noise}"), format!("customer-{noise}"));
        for space in [&quiet, &loud] {
            by(&gateway, "owner", &format!("PUT /v1/spaces/{space}"), "").await;
        }
        let send = async |space: &str, id: &str| {
            let body = json!({"records": [{"id": id, "text": "x"}]}).to_string();
            by(&gateway, "owner", &format!("POST /v1/spaces/{space}/records"), &body).await
        };
        let first = send(&quiet, "1").await;
        for number in 0..noise {
            send(&loud, &number.to_string()).await;
        }
        let again = send(&quiet, "1").await;
        assert_eq!(
            first.json()["watermark"],
            again.json()["watermark"],
            "the same position"
        );
        let second = send(&quiet, "2").await;
        let marks = [&first, &second].map(|it| it.json()["watermark"].as_str().unwrap().to_owned());
        assert_ne!(marks[0], marks[1]);
        let mut bodies = String::new();
        for mark in &marks {
            let call = format!("GET /v1/spaces/{quiet}/progress?wait_ms=0&watermark={mark}");
            let reply = by(&gateway, "zz", &call, "").await;
            assert!(
                reply.problem().contains("2 accepted batches of this space wait"),
                "{reply:?}"
            );
            bodies.push_str(&reply.text.replace(&quiet, "SPACE"));
        }
        let call = format!("GET /v1/spaces/{quiet}/progress");
        bodies.push_str(&by(&gateway, "zz", &call, "").await.text);
        for mark in &marks {
            // A sealed position has the same length as any other, and does not start like the next one.
            assert_eq!(mark.len(), 48);
            assert_ne!(mark[..16], "0".repeat(16));
        }
        seen.push(without_sealed(&bodies));
    }
    assert_eq!(seen[0], seen[1], "with and without others");
}

/// Removes the sealed texts, which differ from space to space.
fn without_sealed(body: &str) -> String {
    let sealed = |it: &str| it.len() == 48 && it.bytes().all(|it| it.is_ascii_hexdigit());
    let parts = body.split('"').filter(|it| !sealed(it));
    parts.collect::<Vec<_>>().join("\"")
}

/// Gives up the messages that wait for the writer, without reading them.
async fn give_up(gateway: &Gateway, count: usize) {
    let bus = &gateway.context.backends.bus;
    let subject = RecordsAcceptedV1::SUBJECT;
    let mut deliveries = bus.subscribe(subject, RecordsAcceptedV1::GROUP).await.unwrap();
    for _ in 0..count {
        let delivery = deliveries.next().await.unwrap().unwrap();
        delivery.settler.dead_letter("broken").await.unwrap();
    }
}

#[tokio::test]
async fn dead_letters_of_other_spaces_are_neither_shown_nor_counted() {
    let gateway = Gateway::with(&keys()).await;
    let spaces = ["zz-1", "zz-2", "team-a", "customer-1", "agency"];
    for space in spaces {
        by(&gateway, "owner", &format!("PUT /v1/spaces/{space}"), "").await;
    }
    let send = async |space: &str, id: usize| {
        let body = json!({"records": [{"id": id.to_string(), "text": format!("of {space}")}]}).to_string();
        let sent = by(&gateway, "owner", &format!("POST /v1/spaces/{space}/records"), &body).await;
        sent.json()["watermark"].as_str().unwrap().to_owned()
    };
    for number in 0..60 {
        for space in ["agency", "customer-1"] {
            send(space, number).await;
        }
    }
    for space in ["zz-2", "zz-1", "team-a"] {
        send(space, 1).await;
    }
    let mark = send("zz-2", 2).await;
    give_up(&gateway, 124).await;

    let (pages, bodies) = pages(&gateway, "zz", "/v1/admin/dead-letters?limit=1").await;
    let ids: Vec<&String> = pages.iter().flatten().collect();
    assert_eq!(
        (ids.len(), pages.len()),
        (3, 4),
        "one a page, and an empty one at most: {bodies}"
    );
    for hidden in ["customer", "agency", "team", "\"number\"", "\"position\""] {
        assert!(!bodies.contains(hidden), "{hidden} in {bodies}");
    }
    let all = by(&gateway, "owner", "GET /v1/admin/dead-letters?limit=1000", "")
        .await
        .json();
    let all = all["items"].as_array().unwrap();
    assert_eq!(all.len(), 124);
    let of = |space: &str| all.iter().find(|it| it["space"] == space).unwrap();
    assert!(of("zz-1")["position"].is_u64() && of("zz-1")["number"].is_u64());

    let (own, foreign) = (of("zz-1"), of("customer-1"));
    for (key, letter, name, status) in [
        ("zz", own, "id", 200),
        ("zz", own, "number", 404),
        ("zz", foreign, "id", 404),
        ("zz", foreign, "number", 404),
        ("two", own, "id", 404),
        ("owner", foreign, "id", 200),
        ("owner", foreign, "number", 200),
    ] {
        let named = letter[name]
            .as_str()
            .map_or_else(|| letter[name].to_string(), str::to_owned);
        let call = format!("GET /v1/admin/dead-letters/{named}");
        assert_eq!(by(&gateway, key, &call, "").await.status, status, "{key} {call}");
    }
    let call = format!("GET /v1/spaces/zz-2/progress?wait_ms=0&watermark={mark}");
    let problem = by(&gateway, "zz", &call, "").await.problem();
    let named = problem.split("dead letter ").nth(1).unwrap().split(';').next().unwrap();
    assert!(ids.iter().any(|it| *it == named), "{problem}");
    let call = format!("POST /v1/admin/dead-letters/{named}/replay");
    assert_eq!(by(&gateway, "zz", &call, "").await.status, 204);
}

/// Returns a gateway over a folder that exists longer than the gateway.
async fn over(dir: &TempDir, settings: &str) -> (Context, axum::Router) {
    let settings = Settings::from_toml(settings, "test").unwrap();
    let context = Context::embedded_with(dir.path(), settings).await.unwrap();
    let router = gateway::build_router(context.clone()).unwrap();
    (context, router)
}

async fn call(router: &axum::Router, method: &str, path: &str, body: &str) -> (u16, Value) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json");
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

/// Returns the key that seals; `None` if it is the key in the store.
fn sealing(settings: &str) -> Option<&str> {
    settings.split(['"', ',']).nth(1)
}

#[tokio::test]
async fn watermarks_stay_valid_after_a_restart_and_a_key_rotation() {
    let dir = tempfile::tempdir().unwrap();
    let key = |byte: &str| byte.repeat(32);
    let configured = |keys: &[String]| format!("[gateway]\nseal_key = \"{}\"", keys.join(","));
    let mut marks: Vec<(String, String)> = Vec::new();
    for (settings, opens) in [
        (String::new(), vec![]),
        (String::new(), vec![0]),
        (configured(&[key("aa")]), vec![]),
        (configured(&[key("bb"), key("aa")]), vec![2]),
        (configured(&[key("bb")]), vec![3]),
        (String::new(), vec![0, 1]),
    ] {
        let (context, router) = over(&dir, &settings).await;
        call(&router, "PUT", "/v1/spaces/s", "").await;
        let (_, sent) = call(
            &router,
            "POST",
            "/v1/spaces/s/records",
            r#"{"records":[{"id":"1","text":"x"}]}"#,
        )
        .await;
        let mark = sent["watermark"].as_str().unwrap().to_owned();
        for (at, (before, with)) in marks.iter().enumerate() {
            let path = format!("/v1/spaces/s/progress?watermark={before}");
            let (status, problem) = call(&router, "GET", &path, "").await;
            assert_eq!(
                status,
                if opens.contains(&at) { 200 } else { 422 },
                "{at}: {settings} {with} {problem}"
            );
            assert_eq!(
                *before == mark,
                opens.contains(&at) && sealing(&settings) == sealing(with),
                "the same position, the same key"
            );
            if status == 422 {
                assert_eq!(problem["type"], "urn:mnemic:problem:watermark");
            }
        }
        marks.push((mark, settings));
        context.shutdown.cancel();
    }
}

#[tokio::test]
async fn a_watermark_of_an_earlier_release_is_refused_with_a_solution() {
    let gateway = Gateway::new().await;
    let before = "00000000000000070123456789abcdef";
    let expected = "422 this is not a watermark of the space `s` any more: it is from an older release with other watermarks; \
                    leave it out, or send the write again";
    for (call, body) in [
        (format!("GET /v1/spaces/s/progress?watermark={before}"), String::new()),
        (
            "POST /v1/spaces/s/query".to_owned(),
            format!(r#"{{"question":"Who?","after":"{before}"}}"#),
        ),
        (
            "POST /v1/spaces/s/recall".to_owned(),
            format!(r#"{{"message":"Hello.","after":"{before}"}}"#),
        ),
    ] {
        let reply = gateway.send(&call, &body).await;
        assert!(reply.problem().starts_with(expected), "{reply:?}");
    }
}

#[tokio::test]
async fn an_invalid_seal_key_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings::from_toml("[gateway]\nseal_key = \"0123456789\"", "test").unwrap();
    let context = Context::embedded_with(dir.path(), settings).await.unwrap();
    let error = format!("{:#}", gateway::build_router(context.clone()).unwrap_err());
    assert!(
        error.contains("openssl rand -hex 32") && !error.contains("0123456789"),
        "{error}"
    );
    let shown = context.settings.in_force().unwrap();
    assert!(shown.contains("seal_key = \"***\""), "{shown}");
}
