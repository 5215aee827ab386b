//! An `Idempotency-Key` belongs to one request, in both deployment modes and at every gateway.

use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;

use crate::distributed::shared_servers;

/// Returns the number of races of two different requests for one key.
fn number_of_rounds() -> usize {
    let asked = std::env::var("IDEMPOTENCY_ROUNDS").ok();
    asked.and_then(|it| it.parse().ok()).unwrap_or(20)
}

async fn send_with_key(api: &Api, key: &str, body: &Value) -> (u16, Value) {
    let url = format!("{}/spaces/race/records", api.base);
    api.send(api.http.post(url).header("Idempotency-Key", key).json(body))
        .await
}

/// Sends two different requests with one key at the same time to two gateways. One is accepted, and the other gets the
/// reason of its rejection.
async fn race_requests(first: &Api, second: &Api) {
    assert_eq!(first.put("/spaces/race").await.0, 201);
    let rounds = number_of_rounds();
    let mut both = 0;
    for round in 0..rounds {
        let key = format!("key-{round}");
        let body =
            |name: &str| json!({ "records": [{ "id": format!("{round}-{name}"), "text": format!("I am {name}.") }] });
        let (one, two) = (body("one"), body("two"));
        let (a, b) = tokio::join!(send_with_key(first, &key, &one), send_with_key(second, &key, &two));
        let (accepted, refused) = if a.0 == 202 { (a, b) } else { (b, a) };
        assert_eq!(accepted.0, 202, "{accepted:?} {refused:?}");
        both += usize::from(refused.0 == 202);
        let kind = "urn:mnemic:problem:idempotency-key-reused";
        assert!(
            refused.0 == 202 || (refused.0 == 422 && refused.1["type"] == kind),
            "{refused:?}"
        );
    }
    eprintln!("both of two different requests were accepted: {both} of {rounds}");
    assert_eq!(both, 0);
    // A writer handles several batches at once, so the last one may be written before others.
    first.wait_until_settled("race").await;
    assert_eq!(first.list("/spaces/race/records").await.len(), rounds);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_requests_with_the_same_key_is_accepted_standalone() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), &[]).await.unwrap();
    race_requests(&running.api, &running.api).await;
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_requests_with_the_same_key_is_accepted_at_two_gateways() {
    let Some(servers) = shared_servers().await else { return };
    let settings = servers.settings();
    let running = Running::start_with_servers(&settings).await.unwrap();
    let beside = Running::start_services(&settings).await.unwrap();
    beside.wait_until_ready().await.unwrap();
    race_requests(&running.api, &beside.api).await;
    beside.end().await.unwrap();
    running.end().await.unwrap();
}
