//! Keys of one space try to reach another, on both ways to run: every route, id, cursor, watermark, filter, tool
//! argument, name and idempotency key.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use system::running::Running;
use system::running::api::Api;

use crate::distributed::{shared, talk};

/// Words that stand in the memory of alice only, and in no attempt.
const SECRETS: [&str; 3] = ["Marzipan", "shelter", "Lisbon"];

/// Keys: who is `alice` may all in alice, `reader` may read there, `mallory` may all in spaces that begin with mallory,
/// `ali` opens a space whose name is a part of alice's, `writer` may only write in mallory.
const KEYS: [(&str, &str, &str); 5] = [
    ("alice", "alice", r#""read", "write", "admin""#),
    ("reader", "alice", r#""read""#),
    ("mallory", "mallory*", r#""read", "write", "admin""#),
    ("ali", "ali", r#""read", "write", "admin""#),
    ("writer", "mallory", r#""write""#),
];

/// Key, method, path, body and the status that is due. `{...}` stands for something of alice's.
type Attempt = (&'static str, &'static str, &'static str, &'static str, u16);

/// Routes of the other space.
const ROUTES: &[Attempt] = &[
    ("mallory", "GET", "/spaces/alice", "", 404),
    ("mallory", "PUT", "/spaces/alice", "", 403),
    ("mallory", "DELETE", "/spaces/alice", "", 404),
    (
        "mallory",
        "POST",
        "/spaces/alice/records",
        r#"{"records":[{"id":"1","text":"mine now"}]}"#,
        404,
    ),
    (
        "mallory",
        "POST",
        "/spaces/alice/records",
        r#"{"records":[{"id":"new","text":"planted"}]}"#,
        404,
    ),
    ("mallory", "GET", "/spaces/alice/records", "", 404),
    ("mallory", "GET", "/spaces/alice/records?limit=1000", "", 404),
    ("mallory", "GET", "/spaces/alice/records/1", "", 404),
    ("mallory", "GET", "/spaces/alice/records/{record}", "", 404),
    ("mallory", "GET", "/spaces/alice/progress", "", 404),
    (
        "mallory",
        "GET",
        "/spaces/alice/progress?watermark={watermark}",
        "",
        404,
    ),
    (
        "mallory",
        "POST",
        "/spaces/alice/query",
        r#"{"question":"What did Ines adopt?"}"#,
        404,
    ),
    (
        "mallory",
        "POST",
        "/spaces/alice/query",
        r#"{"question":"Who?","after":"{watermark}"}"#,
        404,
    ),
    ("mallory", "GET", "/spaces/alice/units", "", 404),
    ("mallory", "GET", "/spaces/alice/units/{unit}", "", 404),
    ("mallory", "GET", "/spaces/alice/facts", "", 404),
    ("mallory", "GET", "/spaces/alice/facts/{unit}", "", 404),
    ("mallory", "GET", "/spaces/alice/entities", "", 404),
    ("mallory", "GET", "/spaces/alice/entities/{entity}", "", 404),
    ("mallory", "GET", "/spaces/alice/tools", "", 404),
    (
        "mallory",
        "POST",
        "/spaces/alice/tools/lexical_retrieve",
        r#"{"query":"greyhound"}"#,
        404,
    ),
    (
        "mallory",
        "POST",
        "/spaces/alice/tools/semantic_retrieve",
        r#"{"query":"a dog"}"#,
        404,
    ),
    (
        "mallory",
        "POST",
        "/spaces/alice/tools/expand_unit",
        r#"{"unit":"{unit}"}"#,
        404,
    ),
    (
        "mallory",
        "POST",
        "/spaces/alice/tools/query_event_context",
        r#"{"unit":"{unit}"}"#,
        404,
    ),
    ("ali", "GET", "/spaces/alice", "", 404),
    ("ali", "GET", "/spaces/alice/records", "", 404),
    (
        "ali",
        "POST",
        "/spaces/alice/query",
        r#"{"question":"What did Ines adopt?"}"#,
        404,
    ),
    ("ali", "DELETE", "/spaces/alice", "", 404),
    ("writer", "GET", "/spaces/alice/records", "", 404),
    ("writer", "GET", "/spaces/mallory/records", "", 403),
];

/// Names that some part of the way might take for another one.
const NAMES: &[Attempt] = &[
    ("mallory", "GET", "/spaces/mallory%2F..%2Falice/records", "", 422),
    ("mallory", "GET", "/spaces/mallory%2Falice/records", "", 422),
    ("mallory", "GET", "/spaces/mallory%00alice/records", "", 422),
    ("mallory", "GET", "/spaces/mallory*/records", "", 422),
    ("mallory", "GET", "/spaces/*/records", "", 422),
    ("mallory", "GET", "/spaces/%3E/records", "", 422),
    ("mallory", "GET", "/spaces/mallory%20OR%201=1/records", "", 422),
    ("mallory", "GET", "/spaces/ALICE/records", "", 422),
    ("mallory", "GET", "/spaces/alice%20/records", "", 422),
    ("mallory", "GET", "/spaces/%61lice/records", "", 404),
    ("mallory", "PUT", "/spaces/mallory'%7D)%20DETACH%20DELETE%20n", "", 422),
    (
        "mallory",
        "GET",
        "/spaces/mallory/records/..%2F..%2Falice%2Frecords%2F1",
        "",
        404,
    ),
];

/// What is alice's, asked of one's own space; 200 must hold nothing of hers.
const INSIDE: &[Attempt] = &[
    ("mallory", "GET", "/spaces/mallory/records/1", "", 404),
    ("mallory", "GET", "/spaces/mallory/records/{record}", "", 404),
    ("mallory", "GET", "/spaces/mallory/units/{unit}", "", 404),
    ("mallory", "GET", "/spaces/mallory/entities/{entity}", "", 404),
    ("mallory", "GET", "/spaces/mallory/facts/{unit}", "", 404),
    (
        "mallory",
        "GET",
        "/spaces/mallory/progress?watermark={watermark}",
        "",
        422,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/query",
        r#"{"question":"Who?","after":"{watermark}"}"#,
        422,
    ),
    ("mallory", "GET", "/spaces/mallory/units?after=0", "", 200),
    ("mallory", "GET", "/spaces/mallory/records?after=0", "", 200),
    ("mallory", "GET", "/spaces/mallory/records?after=1&limit=1000", "", 200),
    ("mallory", "GET", "/spaces/mallory/entities?after={entity}", "", 200),
    (
        "mallory",
        "GET",
        "/spaces/mallory/entities?after=00000000-0000-0000-0000-000000000000",
        "",
        200,
    ),
    (
        "mallory",
        "GET",
        "/spaces/mallory/facts?after=00000000-0000-0000-0000-000000000000",
        "",
        200,
    ),
    ("mallory", "GET", "/spaces?after=a", "", 200),
    ("mallory", "GET", "/spaces?limit=1000", "", 200),
    (
        "mallory",
        "POST",
        "/spaces/mallory/query",
        r#"{"question":"When did Ines adopt the greyhound?"}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/query",
        r#"{"question":"greyhound canoe","explain":100,"ranked":200}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/query",
        r#"{"question":"Who?","filter":{"actors":["Ines","Omar"]}}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/query",
        r#"{"question":"Who?","filter":{"sessions":["2026-03-02"]}}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/query",
        r#"{"question":"Who?","filter":{"from":"1990-01-01T00:00:00Z"}}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/query",
        r#"{"question":"Who?","space":"alice"}"#,
        422,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/query",
        r#"{"question":"Who?","filter":{"space":"alice"}}"#,
        422,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/query",
        r#"{"question":"MATCH (n) RETURN n // alice'}) //"}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/tools/expand_unit",
        r#"{"unit":"{unit}"}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/tools/query_event_context",
        r#"{"unit":"{unit}","before":20,"after":20}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/tools/expand_unit",
        r#"{"unit":"{unit}","space":"alice"}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/tools/lexical_retrieve",
        r#"{"query":"greyhound","limit":50}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/tools/lexical_retrieve",
        r#"{"query":"greyhound","space":"alice"}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/tools/semantic_retrieve",
        r#"{"query":"dog of a friend","limit":50}"#,
        200,
    ),
    (
        "mallory",
        "POST",
        "/spaces/mallory/records",
        r#"{"records":[{"id":"x","text":"hi","space":"alice"}]}"#,
        422,
    ),
];

/// What was given up (each key sees that of its own spaces), rights that are not held, and callers who are nobody.
const RIGHTS: &[Attempt] = &[
    ("mallory", "GET", "/admin/dead-letters", "", 200),
    ("mallory", "GET", "/admin/dead-letters/1", "", 404),
    ("mallory", "DELETE", "/admin/dead-letters/1", "", 404),
    ("mallory", "POST", "/admin/dead-letters/1/replay", "", 404),
    ("reader", "PUT", "/spaces/alice", "", 403),
    ("reader", "DELETE", "/spaces/alice", "", 403),
    (
        "reader",
        "POST",
        "/spaces/alice/records",
        r#"{"records":[{"id":"7","text":"planted"}]}"#,
        403,
    ),
    ("", "GET", "/spaces", "", 401),
    ("", "GET", "/spaces/alice/records", "", 401),
    ("", "POST", "/spaces/alice/query", r#"{"question":"Who?"}"#, 401),
    ("nobody", "GET", "/spaces/alice/records", "", 401),
    ("*", "GET", "/spaces/alice/records", "", 401),
    ("alice ", "GET", "/spaces/nowhere", "", 404),
];

fn keys() -> String {
    let key = |(name, spaces, rights): &(&str, &str, &str)| {
        let digest: String = Sha256::digest(name).iter().map(|it| format!("{it:02x}")).collect();
        format!(r#"{{name = "{name}", sha256 = "{digest}", spaces = ["{spaces}"], rights = [{rights}]}}"#)
    };
    format!("[{}]", KEYS.iter().map(key).collect::<Vec<_>>().join(", "))
}

/// What alice has, to be compared and stolen.
struct Owned {
    record: String,
    unit: String,
    entity: String,
    watermark: String,
}

impl Owned {
    fn put_into(&self, text: &str) -> String {
        text.replace("{record}", &self.record)
            .replace("{unit}", &self.unit)
            .replace("{entity}", &self.entity)
            .replace("{watermark}", &self.watermark)
    }
}

async fn state(alice: &Api) -> Value {
    let mut all = Vec::new();
    for list in ["records", "units", "entities", "facts"] {
        all.push(alice.list(&format!("/spaces/alice/{list}")).await);
    }
    json!(all)
}

/// Makes one attempt; says what is wrong with what came back.
async fn wrong(api: &Api, owned: &Owned, attempt: &Attempt) -> Option<String> {
    let (key, method, path, body, due) = *attempt;
    let api = if key.is_empty() { api.clone() } else { api.with_key(key) };
    let url = format!("{}{}", api.base, owned.put_into(path));
    let mut request = api.http.request(method.parse().unwrap(), url);
    if !body.is_empty() {
        request = request
            .header("content-type", "application/json")
            .body(owned.put_into(body));
    }
    let (status, body) = api.send(request).await;
    let text = body.to_string();
    let leaked = SECRETS.iter().any(|it| text.contains(it)) || (due == 200 && text.contains("\"alice\""));
    (status != due || leaked).then(|| format!("{key} {method} {path}: {status} instead of {due}, {text}"))
}

/// The same idempotency key and the same record ids are somebody else's in another space.
async fn same_names(api: &Api, owned: &Owned) -> Option<String> {
    let mallory = api.with_key("mallory");
    let request = mallory
        .http
        .post(format!("{}/spaces/mallory/records", mallory.base))
        .header("Idempotency-Key", "the-key")
        .json(&json!({ "records": [{ "id": "1", "text": "Something of my own." }] }));
    let (status, body) = mallory.send(request).await;
    let own = status == 202 && body["items"][0]["status"] == "accepted" && body["watermark"] != json!(owned.watermark);
    (!own).then(|| format!("the same key and id: {status} {body}"))
}

async fn attack(api: &Api) {
    let alice = api.with_key("alice");
    assert_eq!(alice.put("/spaces/alice").await.0, 201);
    assert_eq!(api.with_key("mallory").put("/spaces/mallory").await.0, 201);
    let request = alice
        .http
        .post(format!("{}/spaces/alice/records", alice.base))
        .header("Idempotency-Key", "the-key")
        .json(&json!({ "records": talk() }));
    let (status, body) = alice.send(request).await;
    assert_eq!(status, 202, "{body}");
    let watermark = body["watermark"].as_str().unwrap().to_owned();
    alice.written("alice", &watermark).await;
    alice.settled("alice").await;
    let before = state(&alice).await;
    let id = |list: usize, field: &str| before[list][0][field].as_str().unwrap().to_owned();
    let owned = Owned {
        record: body["items"][0]["record"].as_str().unwrap_or("1").to_owned(),
        unit: id(1, "id"),
        entity: id(2, "id"),
        watermark,
    };
    let attempts: Vec<&Attempt> = [ROUTES, NAMES, INSIDE, RIGHTS].into_iter().flatten().collect();
    let mut leaks = Vec::new();
    for attempt in &attempts {
        leaks.extend(wrong(api, &owned, attempt).await);
    }
    leaks.extend(same_names(api, &owned).await);
    alice.settled("alice").await;
    assert_eq!(state(&alice).await, before, "something changed what alice has");
    eprintln!("{} attempts, {} leaks", attempts.len() + 1, leaks.len());
    assert!(attempts.len() >= 60 && leaks.is_empty(), "{}", leaks.join("\n"));
}

fn guarded() -> Vec<(String, String)> {
    vec![("gateway.keys".to_owned(), keys())]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_key_reaches_another_space_standalone() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), &guarded()).await.unwrap();
    attack(&running.api).await;
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_key_reaches_another_space_distributed() {
    let Some(servers) = shared().await else { return };
    let running = Running::distributed(servers, &guarded()).await.unwrap();
    attack(&running.api).await;
    running.end().await.unwrap();
}
