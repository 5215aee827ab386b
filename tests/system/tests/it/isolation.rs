//! Keys of one space try to reach another space, in both deployment modes: with every route, id, cursor, watermark,
//! filter, tool argument, name and idempotency key.

mod attempts;
mod counts;
mod made;

use std::collections::BTreeMap;

use attempts::{INSIDE, NAMES, RIGHTS, ROUTES};
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::Frame;
use fixtures::wait_for;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use system::running::Running;
use system::running::api::Api;

use crate::distributed::{sample_talk, shared_servers};

/// Minimum number of attempts in each deployment mode.
const ATTEMPTS_MIN: usize = 250;

/// Key, method, path, body and expected status. `{...}` is a placeholder for an object of alice.
type Attempt = (&'static str, &'static str, &'static str, &'static str, u16);

/// One attempt to reach another space.
#[derive(Clone)]
struct Try {
    key: &'static str,
    method: &'static str,
    path: String,
    body: String,
    headers: Vec<(&'static str, String)>,
    /// Expected status, and expected kind of the problem.
    due: u16,
    kind: &'static str,
}

impl Try {
    fn of(key: &'static str, method: &'static str, path: &str, body: &str, due: u16) -> Try {
        Try {
            key,
            method,
            path: path.to_owned(),
            body: body.to_owned(),
            headers: Vec::new(),
            due,
            kind: "",
        }
    }

    fn get(key: &'static str, path: String, due: u16) -> Try {
        Try::of(key, "GET", &path, "", due)
    }

    fn post(key: &'static str, path: &str, body: &Value, due: u16) -> Try {
        Try::of(key, "POST", path, &body.to_string(), due)
    }

    /// Returns the attempt with the expected kind of the problem.
    fn called(self, kind: &'static str) -> Try {
        Try { kind, ..self }
    }
}

/// Words that occur only in the memory of alice, and in no attempt.
const SECRETS: [&str; 3] = ["Marzipan", "shelter", "Lisbon"];

/// Keys. `alice` has all rights in alice, and `reader` may read there. `mallory` has all rights in spaces whose names
/// begin with mallory. `ali` opens a space whose name is the beginning of alice. `writer` may only write in mallory.
const KEYS: [(&str, &str, &str); 5] = [
    ("alice", "alice", r#""read", "write", "admin""#),
    ("reader", "alice", r#""read""#),
    ("mallory", "mallory*", r#""read", "write", "admin""#),
    ("ali", "ali", r#""read", "write", "admin""#),
    ("writer", "mallory", r#""write""#),
];

fn key_settings() -> String {
    let key = |(name, spaces, rights): &(&str, &str, &str)| {
        let digest: String = Sha256::digest(name).iter().map(|it| format!("{it:02x}")).collect();
        format!(r#"{{name = "{name}", sha256 = "{digest}", spaces = ["{spaces}"], rights = [{rights}]}}"#)
    };
    format!("[{}]", KEYS.iter().map(key).collect::<Vec<_>>().join(", "))
}

/// Each day of the conversation is a session of alice, so the names of her sessions are easy to guess.
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

/// Objects of alice that are compared and stolen, and objects of mallory that are misused.
struct Owned {
    record: String,
    unit: String,
    entity: String,
    page: String,
    watermark: String,
    /// Id of a dead letter.
    letter: String,
    /// Cursor after the first item, by list.
    cursors: BTreeMap<&'static str, String>,
    /// Ids of all her objects.
    ids: Vec<String>,
    own_watermark: String,
    /// Cursor in mallory's records.
    own_cursor: String,
    own_spaces_cursor: String,
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

/// Lists of a space.
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

async fn state_of_alice(alice: &Api) -> Value {
    let mut all = Vec::new();
    for list in LISTS {
        all.push(alice.list(&format!("/spaces/alice/{list}")).await);
    }
    json!(all)
}

/// Makes one attempt and returns a description of a wrong response, or `None` if the response is right.
async fn find_leak(api: &Api, owned: &Owned, attempt: &Try) -> Option<String> {
    let (status, body) = make_attempt(api, owned, attempt).await;
    let Try {
        key,
        method,
        path,
        due,
        kind,
        ..
    } = attempt;
    let text = body.to_string();
    let sent = owned.put_into(&format!("{path} {}", attempt.body));
    let theirs = *key == "mallory" || *key == "ali" || *key == "writer";
    let is_foreign = |it: &&String| text.contains(it.as_str()) && !sent.contains(it.as_str());
    let leaked = theirs
        && (SECRETS.iter().any(|it| text.contains(it))
            || (*due == 200 && text.contains("\"alice\""))
            || owned.ids.iter().any(|it| is_foreign(&it)));
    let other = !kind.is_empty() && body["type"] != format!("urn:mnemic:problem:{kind}");
    (status != *due || leaked || other).then(|| {
        format!(
            "{key} {method} {path} {}: {status} instead of {due} {kind}, {text}",
            attempt.body
        )
    })
}

async fn make_attempt(api: &Api, owned: &Owned, attempt: &Try) -> (u16, Value) {
    let api = if attempt.key.is_empty() {
        api.clone()
    } else {
        api.with_key(attempt.key)
    };
    let url = format!("{}{}", api.base, owned.put_into(&attempt.path));
    let mut request = api.http.request(attempt.method.parse().unwrap(), url);
    for (name, value) in &attempt.headers {
        request = request.header(*name, value);
    }
    if !attempt.body.is_empty() {
        request = request
            .header("content-type", "application/json")
            .body(owned.put_into(&attempt.body));
    }
    api.send(request).await
}

/// Returns a difference between the responses for a foreign and for an unknown space. A foreign space must look
/// unknown.
async fn find_difference(api: &Api, owned: &Owned, foreign: &Try, unknown: &Try) -> Option<String> {
    let foreign_reply = make_attempt(api, owned, foreign).await;
    let unknown_reply = make_attempt(api, owned, unknown).await;
    let [shown, expected] = [&foreign_reply, &unknown_reply].map(|it| it.1.to_string().replace("alice", "nowhere"));
    let same = foreign_reply.0 == unknown_reply.0 && shown == expected;
    (!same).then(|| {
        format!(
            "{} {}: {foreign_reply:?} is not {unknown_reply:?}",
            foreign.method, foreign.path
        )
    })
}

/// Pages through the list of spaces of a key, one space a page. Returns a description if the names are not exactly
/// `own`.
async fn scan_for_foreign_names(api: &Api, key: &str, own: &[&str]) -> Option<String> {
    let (api, mut names, mut after) = (api.with_key(key), Vec::new(), String::new());
    for _ in 0..=own.len() {
        let (_, page) = api.get(&format!("/spaces?limit=1{after}")).await;
        names.extend(page["items"].as_array().unwrap().iter().map(|it| it["space"].clone()));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => after.clear(),
        }
        if after.is_empty() {
            break;
        }
    }
    let right = after.is_empty() && names == own;
    (!right).then(|| format!("{key} finds {names:?}, and {after:?} is left"))
}

/// Uses an idempotency key and a record id of alice in another space, where they must be independent.
async fn same_names(api: &Api, owned: &Owned) -> Option<String> {
    let mallory = api.with_key("mallory");
    let request = mallory
        .http
        .post(format!("{}/spaces/mallory/records", mallory.base))
        .header("Idempotency-Key", "the-key")
        .json(&json!({ "records": [{ "id": "1", "text": "Something of my own." }] }));
    let (status, body) = mallory.send(request).await;
    let fresh = body["items"][0]["status"] == "accepted";
    let own = status == 202 && fresh && body["watermark"] != json!(owned.watermark);
    (!own).then(|| format!("the same key and id: {status} {body}"))
}

/// Creates the objects of alice and mallory.
async fn prepare_space(running: &Running) -> Owned {
    let api = &running.api;
    let (alice, mallory) = (api.with_key("alice"), api.with_key("mallory"));
    assert_eq!(alice.put("/spaces/alice").await.0, 201);
    let mut own = String::new();
    for space in ["mallory", "mallory2"] {
        assert_eq!(mallory.put(&format!("/spaces/{space}")).await.0, 201);
        let line = |id: u32| json!({ "id": format!("m{id}"), "session": "mine", "actor": "Piet", "text": "I keep the lighthouse at Westkapelle." });
        let mark = mallory.send_records(space, &json!([line(1), line(2), line(3)])).await;
        mallory.wait_until_settled(space).await;
        own = if space == "mallory" { mark } else { own };
    }
    let request = alice
        .http
        .post(format!("{}/spaces/alice/records", alice.base))
        .header("Idempotency-Key", "the-key")
        .json(&json!({ "records": sample_talk() }));
    let (status, body) = alice.send(request).await;
    assert_eq!(status, 202, "{body}");
    let watermark = body["watermark"].as_str().unwrap().to_owned();
    alice.wait_until_written("alice", &watermark).await;
    alice.wait_until_settled("alice").await;
    let state = state_of_alice(&alice).await;
    let id = |list: usize, field: &str| state[list][0][field].as_str().unwrap().to_owned();
    let unit = id(1, "id");
    let mut cursors = BTreeMap::new();
    for list in LISTS {
        let (_, page) = alice.get(&format!("/spaces/alice/{list}?limit=1")).await;
        cursors.extend(page["next"].as_str().map(|it| (list, it.to_owned())));
    }
    let next = async |path: &str| mallory.get(path).await.1["next"].as_str().unwrap().to_owned();
    Owned {
        record: body["items"][0]["record"].as_str().unwrap_or("1").to_owned(),
        entity: id(2, "id"),
        // A space may be too small for pages; then an id that belongs to no page is used.
        page: state[5][0]["id"].as_str().unwrap_or(&unit).to_owned(),
        unit,
        watermark,
        letter: publish_poison(running, &alice, 0).await,
        cursors,
        ids: ids_in(&state),
        own_watermark: own,
        own_cursor: next("/spaces/mallory/records?limit=1").await,
        own_spaces_cursor: next("/spaces?limit=1").await,
    }
}

/// Returns the ids of all listed objects: for records the id of Mnemic, for other objects their own.
fn ids_in(state: &Value) -> Vec<String> {
    let items = state.as_array().unwrap().iter().flat_map(|it| it.as_array().unwrap());
    let id = |it: &Value| {
        ["record", "id"]
            .iter()
            .find_map(|name| Some(it[*name].as_str()?.to_owned()))
    };
    items.filter_map(id).collect()
}

/// Publishes an unreadable message in alice's space, which the writer gives up. `before` is the number of her dead
/// letters. Returns the id of the new one.
async fn publish_poison(running: &Running, alice: &Api, before: usize) -> String {
    let poison = Frame {
        subject: RecordsAcceptedV1::SUBJECT.to_owned(),
        space: "alice".to_owned(),
        payload: b"{ Marzipan".to_vec(),
        ..Frame::default()
    };
    running.bus().publish(poison).await.unwrap();
    let page = wait_for("there is a dead letter", async || {
        let (_, page) = alice.get("/admin/dead-letters").await;
        if page["items"][before].is_object() {
            Ok(page)
        } else {
            Err(page)
        }
    })
    .await;
    assert!(page["items"][0]["payload"].as_str().unwrap().contains("Marzipan"));
    assert_eq!(
        (&page["items"][0]["number"], &page["items"][0]["position"]),
        (&Value::Null, &Value::Null)
    );
    page["items"][before]["id"].as_str().unwrap().to_owned()
}

async fn run_attempts(running: &Running) {
    let api = &running.api;
    let owned = prepare_space(running).await;
    let (alice, mallory) = (api.with_key("alice"), api.with_key("mallory"));
    let before = state_of_alice(&alice).await;
    let listed = [ROUTES, NAMES, INSIDE, RIGHTS, SESSIONS].into_iter().flatten();
    let listed = listed.map(|(key, method, path, body, due)| Try::of(key, method, path, body, *due));
    let catalogue = mallory.get("/tools").await.1;
    let tries: Vec<Try> = listed
        .chain(made::cursor_attempts(&owned))
        .chain(made::watermark_attempts(&owned))
        .chain(made::tool_attempts(&catalogue, &owned))
        .chain(made::curation_attempts())
        .chain(made::dead_letter_attempts(&owned))
        .collect();
    let (mut leaks, mut attempts) = (Vec::new(), tries.len());
    for attempt in &tries {
        leaks.extend(find_leak(api, &owned, attempt).await);
    }
    for (foreign, unknown) in made::pairs_of_attempts() {
        attempts += 1;
        leaks.extend(find_difference(api, &owned, &foreign, &unknown).await);
    }
    for (key, own) in [
        ("mallory", ["mallory", "mallory2"].as_slice()),
        ("ali", &[]),
        ("alice", &["alice"]),
    ] {
        attempts += 1;
        leaks.extend(scan_for_foreign_names(api, key, own).await);
    }
    leaks.extend(same_names(api, &owned).await);
    alice.wait_until_settled("alice").await;
    assert_eq!(state_of_alice(&alice).await, before, "something changed what alice has");

    mallory.wait_until_settled("mallory").await;
    let seen = counts::responses_for_key(&mallory).await;
    let (wrong, looks) = counts::while_others_write(&alice, &mallory).await;
    leaks.extend(wrong);
    publish_poison(running, &alice, 1).await;
    let now = counts::responses_for_key(&mallory).await;
    attempts += 1 + looks + seen.len();
    let changed = seen.iter().zip(&now).filter(|(before, now)| before != now);
    leaks.extend(changed.map(|(before, now)| format!("others wrote, and {before:?} is {now:?}")));
    eprintln!("{attempts} attempts, {} leaks", leaks.len());
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    assert!(attempts >= ATTEMPTS_MIN, "only {attempts} attempts");
}

fn settings_with_keys() -> Vec<(String, String)> {
    vec![("gateway.keys".to_owned(), key_settings())]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_key_reaches_another_space_standalone() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), &settings_with_keys()).await.unwrap();
    run_attempts(&running).await;
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_key_reaches_another_space_distributed() {
    let Some(servers) = shared_servers().await else { return };
    let running = Running::distributed(servers, &settings_with_keys()).await.unwrap();
    run_attempts(&running).await;
    running.end().await.unwrap();
}
