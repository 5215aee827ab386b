//! Webhooks, with receivers that speak HTTP.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::erasure::{ErasureKind, Receipt};
use domain::id::{ErasureId, RecordId};
use domain::port::Position;
use fixtures::{wait_for, wait_until};
use hmac::{Hmac, KeyInit, Mac};
use host::{Context, Settings};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::harness::Gateway;

mod made;

/// Longest wait for an expected event; long enough for a loaded machine.
const SOON: Duration = Duration::from_secs(60);
/// Time within which an unwanted event must not happen.
const QUIET: Duration = Duration::from_millis(300);
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Behaviour of a receiver.
#[derive(Clone, Copy)]
enum Manner {
    /// The receiver answers 500 to this many attempts of each event, and then 200.
    Fails(usize),
    /// The receiver answers with this status.
    Says(u16),
    /// The receiver never answers.
    Silent,
}

/// One received attempt.
#[derive(Clone, Debug)]
struct Attempt {
    id: String,
    body: Value,
    taken: bool,
}

struct ReceivedRequests {
    manner: Mutex<Manner>,
    /// The secret that must sign the events.
    secret: Mutex<String>,
    attempts: Mutex<Vec<Attempt>>,
}

/// A receiver on this machine.
struct Receiver {
    url: String,
    received: Arc<ReceivedRequests>,
}

impl Receiver {
    async fn start(manner: Manner) -> Receiver {
        let received = Arc::new(ReceivedRequests {
            manner: Mutex::new(manner),
            secret: Mutex::new(SECRET.to_owned()),
            attempts: Mutex::default(),
        });
        let routes = Router::new()
            .route("/hook", post(receive))
            .with_state(Arc::clone(&received));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Receiver { url, received }
    }

    /// Returns the settings of a webhook with this name whose target is the receiver.
    fn hook(&self, name: &str, more: &str) -> String {
        format!(
            "[[gateway.webhooks]]\nname = \"{name}\"\nurl = \"{}\"\nspaces = [\"s\"]\nsecret = \"{SECRET}\"\n\
             allow_http = true\nallow_private = true\nretry_ms = 10\n{more}\n",
            self.url
        )
    }

    fn attempts(&self) -> Vec<Attempt> {
        self.received.attempts.lock().unwrap().clone()
    }

    /// Waits for the event that the test expects, and returns all attempts to send it.
    async fn taken(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Attempt> {
        wait_for("the event is taken", async || {
            let attempts = self.attempts();
            match attempts.iter().find(|it| it.taken && wanted(&it.body)) {
                Some(taken) => {
                    let id = taken.id.clone();
                    Ok(attempts.into_iter().filter(|it| it.id == id).collect())
                }
                None => Err(attempts),
            }
        })
        .await
    }
}

/// Checks the signature like a real receiver, and answers according to its behaviour.
async fn receive(State(received): State<Arc<ReceivedRequests>>, headers: HeaderMap, text: String) -> Response {
    let header_text = |name: &str| headers[name].to_str().unwrap();
    let (id, at) = (header_text("webhook-id"), header_text("webhook-timestamp"));
    let secret = received.secret.lock().unwrap().clone();
    let key = STANDARD.decode(&secret["whsec_".len()..]).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{id}.{at}.{text}").as_bytes());
    let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    assert_eq!(header_text("webhook-signature"), expected);
    assert!(
        host::clock::now().timestamp().abs_diff(at.parse().unwrap()) < 60,
        "{at}"
    );
    assert_eq!(header_text("content-type"), "application/json");
    let manner = *received.manner.lock().unwrap();
    let status = {
        let mut attempts = received.attempts.lock().unwrap();
        let before = attempts.iter().filter(|it| it.id == id).count();
        let status = match manner {
            Manner::Fails(times) if before < times => 500,
            Manner::Fails(_) => 200,
            Manner::Says(status) => status,
            Manner::Silent => 0,
        };
        attempts.push(Attempt {
            id: id.to_owned(),
            body: serde_json::from_str(&text).unwrap(),
            taken: status == 200,
        });
        status
    };
    match status {
        0 => std::future::pending().await,
        status => StatusCode::from_u16(status).unwrap().into_response(),
    }
}

/// A gateway that sends events, and its service.
struct Sending {
    gateway: Gateway,
    service: JoinHandle<anyhow::Result<()>>,
    written: usize,
}

impl Sending {
    async fn with(hooks: &str) -> Sending {
        let settings = format!("[gateway]\nlisten = \"127.0.0.1:0\"\n[gateway.events]\npoll_ms = 10\n{hooks}");
        let gateway = Gateway::with(&settings).await;
        gateway.start_writer();
        let service = tokio::spawn(gateway::run(gateway.context.clone()));
        gateway.settled().await;
        Sending {
            gateway,
            service,
            written: 0,
        }
    }

    /// Writes a record and returns the watermark.
    async fn write(&mut self) -> String {
        self.written += 1;
        let record = json!({"id": format!("r{}", self.written), "session": "m", "text": "Quaxbank"});
        let body = json!({"records": [record]}).to_string();
        let reply = self.gateway.send("POST /v1/spaces/s/records", &body).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
        reply.json()["watermark"].as_str().unwrap().to_owned()
    }

    /// Writes until the receiver gets an event: events before the first poll of the gateway are not sent.
    async fn begun(&mut self, receiver: &Receiver) {
        wait_until("the receiver gets an event", async || {
            self.write().await;
            !receiver.attempts().is_empty()
        })
        .await;
    }

    async fn end(self) {
        self.gateway.context.shutdown.cancel();
        timeout(SOON, self.service).await.unwrap().unwrap().unwrap();
    }
}

fn is_of(kind: &str, watermark: &str) -> impl Fn(&Value) -> bool {
    move |it| it["kind"] == kind && it["watermark"] == watermark
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_event_is_sent_again_until_the_receiver_accepts_it() {
    let receiver = Receiver::start(Manner::Fails(2)).await;
    let mut sending = Sending::with(&receiver.hook("one", "")).await;
    sending.begun(&receiver).await;
    let watermark = sending.write().await;
    let mut ids = BTreeMap::new();
    for kind in ["searchable", "organised"] {
        let attempts = receiver.taken(is_of(kind, &watermark)).await;
        assert_eq!(attempts.len(), 3, "{attempts:?}");
        assert!(attempts.iter().all(|it| it.body == attempts[0].body), "{attempts:?}");
        ids.insert(attempts[0].id.clone(), kind);
    }
    assert_eq!(ids.len(), 2, "{ids:?}");

    let now = host::clock::now();
    let erasure = Uuid::from_u128(2);
    let space: domain::id::SpaceId = "s".parse().unwrap();
    let receipt = Receipt {
        id: ErasureId::from_uuid(erasure),
        space: space.clone(),
        created_at: now,
        kind: ErasureKind::Records,
        by: String::new(),
        requested_at: now,
        completed_at: Some(now),
        position: Position(1_000_000),
        records: Vec::new(),
        sessions: Vec::new(),
        erased: BTreeMap::new(),
    };
    // The test writer stores no receipts.
    sending
        .gateway
        .context
        .backends
        .receipts
        .put_receipt(&receipt)
        .await
        .unwrap();
    let record = RecordId::from_external_id(&space, "r1");
    let reply = sending
        .gateway
        .send(&format!("DELETE /v1/spaces/s/records/{record}"), "")
        .await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let erased = receiver.taken(|it| it["erasure"] == json!(erasure)).await;
    assert_eq!((erased.len(), &erased[0].body["kind"]), (3, &json!("erased")));
    let deleted = sending.gateway.send("DELETE /v1/spaces/s", "").await;
    assert!(deleted.status.is_success(), "{deleted:?}");
    receiver
        .taken(|it| it["kind"] == "erased" && it["watermark"].is_null())
        .await;
    for attempt in receiver.attempts() {
        assert!(attempt.id.starts_with("msg_"), "{attempt:?}");
        assert!(!attempt.body.to_string().contains("Quaxbank"), "{attempt:?}");
    }
    sending.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_never_responds_delays_no_other() {
    let silent = Receiver::start(Manner::Silent).await;
    let receiver = Receiver::start(Manner::Fails(0)).await;
    let hooks =
        silent.hook("silent", "in_flight_max = 1\nqueue_max = 2\ntimeout_ms = 60000") + &receiver.hook("other", "");
    let mut sending = Sending::with(&hooks).await;
    sending.begun(&receiver).await;
    for _ in 0..5 {
        let watermark = sending.write().await;
        receiver.taken(is_of("searchable", &watermark)).await;
        receiver.taken(is_of("organised", &watermark)).await;
    }
    let is_called = async || !silent.attempts().is_empty();
    wait_until("the silent receiver gets an event", is_called).await;
    assert_eq!(silent.attempts().len(), 1, "one attempt is made at a time");
    sending.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_answers_410_gets_no_more_events() {
    let gone = Receiver::start(Manner::Says(410)).await;
    let receiver = Receiver::start(Manner::Fails(0)).await;
    let hooks = gone.hook("gone", "in_flight_max = 1") + &receiver.hook("other", "");
    let mut sending = Sending::with(&hooks).await;
    sending.begun(&gone).await;
    let watermark = sending.write().await;
    receiver.taken(is_of("organised", &watermark)).await;
    sleep(QUIET).await;
    assert_eq!(gone.attempts().len(), 1);
    sending.end().await;
}

#[tokio::test]
async fn a_receiver_at_an_internal_address_is_refused_at_startup() {
    let start = async |more: &str| {
        let dir = tempfile::tempdir().unwrap();
        let settings = format!(
            "[[gateway.webhooks]]\nname = \"inside\"\nurl = \"http://127.0.0.1:9/hook\"\nspaces = [\"*\"]\n\
             secret = \"{SECRET}\"\nallow_http = true\n{more}"
        );
        let settings = Settings::from_toml(&settings, "test").unwrap();
        let context = Context::embedded_with(dir.path(), settings).await.unwrap();
        match gateway::build_router(context) {
            Ok(_) => String::new(),
            Err(error) => format!("{error:#}"),
        }
    };
    let refused = start("").await;
    assert!(
        refused.starts_with("[[gateway.webhooks]] `inside`: `url` leads to an internal address")
            && refused.contains("allow_private = true"),
        "{refused}"
    );
    assert_eq!(start("allow_private = true").await, "");
}
