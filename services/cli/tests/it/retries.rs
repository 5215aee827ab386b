//! Requests that are sent again while the server is full.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::scripted_server::{Reply, ScriptedServer};

/// The scripted server requests a pause of one second; without the header, the first pause is 200 ms.
#[test]
fn a_retry_waits_as_long_as_the_server_requests() {
    let mut attempts = 0;
    let server = ScriptedServer::start(move |_| {
        attempts += 1;
        match attempts {
            1 => Reply::problem("503 Service Unavailable", "busy", &json!({})),
            _ => Reply::new("201 Created", json!({})),
        }
    });
    let started = Instant::now();
    let output = server.run(&["spaces", "create", "ann"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(server.calls(), ["PUT /v1/spaces/ann", "PUT /v1/spaces/ann"]);
}
