//! Keys of one space try to reach another, on both ways to run: every route, id, cursor, watermark, filter, tool
//! argument, name and idempotency key.

mod attempts;

use attempts::{INSIDE, NAMES, RIGHTS, ROUTES};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use system::running::Running;
use system::running::api::Api;

use crate::distributed::{shared, talk};

/// Key, method, path, body and the status that is due. `{...}` stands for something of alice's.
type Attempt = (&'static str, &'static str, &'static str, &'static str, u16);

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

fn keys() -> String {
    let key = |(name, spaces, rights): &(&str, &str, &str)| {
        let digest: String = Sha256::digest(name).iter().map(|it| format!("{it:02x}")).collect();
        format!(r#"{{name = "{name}", sha256 = "{digest}", spaces = ["{spaces}"], rights = [{rights}]}}"#)
    };
    format!("[{}]", KEYS.iter().map(key).collect::<Vec<_>>().join(", "))
}

/// A day of the talk is a session of alice's, whose name is easily guessed.
const SESSIONS: &[Attempt] = &[
    ("mallory", "DELETE", "/spaces/alice/sessions/2026-03-02", "", 404),
    ("mallory", "DELETE", "/spaces/mallory/sessions/2026-03-02", "", 404),
    ("mallory", "GET", "/spaces/alice/records?session=2026-03-02", "", 404),
    (
        "mallory",
        "GET",
        "/spaces/mallory/records?session=2026-03-02&actor=Ines",
        "",
        200,
    ),
    ("reader", "DELETE", "/spaces/alice/sessions/2026-03-02", "", 403),
];

/// What alice has, to be compared and stolen.
struct Owned {
    record: String,
    unit: String,
    entity: String,
    page: String,
    watermark: String,
}

impl Owned {
    fn put_into(&self, text: &str) -> String {
        text.replace("{record}", &self.record)
            .replace("{unit}", &self.unit)
            .replace("{entity}", &self.entity)
            .replace("{page}", &self.page)
            .replace("{watermark}", &self.watermark)
    }
}

/// What can be listed of a space.
const LISTS: [&str; 8] = [
    "records",
    "units",
    "entities",
    "facts",
    "topics",
    "pages",
    "merges",
    "curations",
];

async fn state(alice: &Api) -> Value {
    let mut all = Vec::new();
    for list in LISTS {
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
    let unit = id(1, "id");
    let owned = Owned {
        record: body["items"][0]["record"].as_str().unwrap_or("1").to_owned(),
        entity: id(2, "id"),
        // A space may be too small for pages; then the id is of nothing.
        page: before[5][0]["id"].as_str().unwrap_or(&unit).to_owned(),
        unit,
        watermark,
    };
    let attempts: Vec<&Attempt> = [ROUTES, NAMES, INSIDE, RIGHTS, SESSIONS]
        .into_iter()
        .flatten()
        .collect();
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
