//! The store of the keys is away for a while. Keys that were just seen still work for a short time, and then no stored
//! key works.

use std::time::{Duration, Instant};

use fixtures::look_within;
use serde_json::json;
use system::running::Servers;
use system::running::processes::Processes;

/// Digest of the key `owner`.
const KEYS: &str = r#"[{name = "owner", sha256 = "4c1029697ee358715d3a14a2add817c4b01651440de808371f78165ac90dc581", spaces = ["*"], rights = ["read", "write", "admin"]}]"#;
/// Longest time for which a gateway trusts an answer of the store, doubled for a slow machine.
const AGE_MAX: Duration = Duration::from_secs(10);
/// Longest time until the store is used again after its return.
const BACK_MAX: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stored_key_is_rejected_while_its_store_is_unavailable() {
    let Some(mut servers) = Servers::start().await.unwrap() else {
        return;
    };
    let logs = tempfile::tempdir().unwrap();
    let mut settings = servers.settings();
    settings.push(("gateway.keys".to_owned(), KEYS.to_owned()));
    let processes = Processes::start(settings, logs.path()).await.unwrap();
    let owner = processes.api.with_key("owner");
    let made = async |name: &str| {
        let new = json!({"name": name, "spaces": ["*"], "rights": ["read"]});
        let (status, body) = owner.post("/keys", &new).await;
        assert_eq!(status, 201, "{body}");
        owner.with_key(body["token"].as_str().unwrap())
    };
    let (seen, unseen) = (made("seen").await, made("unseen").await);
    assert_eq!(seen.get("/access").await.0, 200);

    servers.neo4j.kill().unwrap();
    let begun = Instant::now();
    assert_eq!(seen.get("/access").await.0, 200, "it was seen a moment ago");
    assert_eq!(unseen.get("/access").await.0, 503);
    let refused = async || match seen.get("/access").await.0 {
        200 => Err(200),
        status => Ok(status),
    };
    let outcome = look_within(AGE_MAX.saturating_sub(begun.elapsed()), refused).await;
    assert!(outcome.is_ok(), "the word of the store is too old");
    assert_eq!(seen.get("/access").await.0, 503);
    assert_eq!(owner.get("/access").await.0, 200, "a key of the settings");
    assert_eq!(owner.with_key("wrong").get("/access").await.0, 401);

    servers.neo4j.restart().await.unwrap();
    let back = Instant::now();
    for api in [&seen, &unseen] {
        let admitted = async || match api.get("/access").await.0 {
            200 => Ok(()),
            status => Err(status),
        };
        let outcome = look_within(BACK_MAX.saturating_sub(back.elapsed()), admitted).await;
        assert_eq!(outcome, Ok(()), "a key is not let in again");
    }
    assert_eq!(owner.delete("/keys/seen").await.0, 204);
    assert_eq!(seen.get("/access").await.0, 401);
    assert_eq!(unseen.get("/access").await.0, 200);
}
