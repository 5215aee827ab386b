//! Language models that cannot be reached: names that do not resolve, servers that are not trusted, servers without
//! TLS.

use std::error::Error;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use adapters::models::endpoint::chat::{ChatEndpoint, Options};
use domain::port::LanguageModel;
use domain::{Classify, ErrorKind};
use serde_json::{Value, json};
use system::running::Running;
use system::servers::chat::{KEY, Server};
#[cfg(feature = "https")]
use system::servers::untrusted::Untrusted;
use tokio::time::sleep;

use super::reading::{reading_settings, wait_for_readings, write_session};
use super::sample_prompt;

/// Timeout of a call, set by the test.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Time that a busy machine may need in addition to it.
const BUSY: Duration = Duration::from_secs(5);

/// Returns an address on which no program listens.
fn closed_address() -> String {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", free.local_addr().unwrap())
}

/// Returns the text of an error with all its causes.
fn all_of(error: &(dyn Error + 'static)) -> String {
    let mut causes = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        causes += &format!(" {error} {error:?}");
        source = error.source();
    }
    causes
}

/// Checks that a call to an unreachable endpoint fails in time, with a kind that allows a retry and without a secret
/// in the error.
async fn assert_away(server: &Server, url: &str) {
    let options = Options {
        url: url.to_owned(),
        timeout_secs: TIMEOUT.as_secs(),
        ..server.options()
    };
    let chat = ChatEndpoint::new(&options).unwrap();
    let begun = Instant::now();
    let error = chat.complete(&sample_prompt()).await.unwrap_err();
    assert!(begun.elapsed() < TIMEOUT + BUSY, "{url}: {:?}", begun.elapsed());
    // A resolver may take longer than the connect timeout.
    let outcome = (error.kind(), error.detail());
    let expected = [
        (ErrorKind::Unavailable, "its endpoint does not answer"),
        (ErrorKind::Timeout, "it took too long"),
    ];
    assert!(expected.contains(&outcome), "{url}: {outcome:?}");
    let error_text = all_of(&error);
    assert!(
        !error_text.contains(KEY) && !error_text.contains("fern"),
        "{error_text}"
    );
    assert!(server.script().requests.is_empty(), "{url}");
}

#[tokio::test]
async fn unresolvable_names_and_closed_ports_are_reported_as_unavailable() {
    let server = Server::start().await.unwrap();
    for url in ["http://model.invalid/v1".to_owned(), closed_address()] {
        assert_away(&server, &url).await;
    }
}

#[cfg(feature = "https")]
#[tokio::test]
async fn untrusted_servers_and_servers_without_tls_are_reported_as_unavailable() {
    host::provide_tls();
    let server = Server::start().await.unwrap();
    let untrusted = Untrusted::start().unwrap();
    for url in [
        untrusted.url.clone(),
        server.options().url.replace("http://", "https://"),
    ] {
        assert_away(&server, &url).await;
    }
    assert!(untrusted.handshakes() > 0, "nobody came");
    assert_eq!(
        untrusted.requests(),
        0,
        "the key was sent to a server that is not trusted"
    );
}

/// A build without TLS rejects an address that needs TLS at the start of the process, and not at the first call.
#[cfg(not(feature = "https"))]
#[tokio::test]
async fn a_build_without_tls_rejects_https_addresses() {
    if host::SPEAKS_TLS {
        return;
    }
    let server = Server::start().await.unwrap();
    let options = Options {
        url: server.options().url.replace("http://", "https://"),
        ..server.options()
    };
    let error_text = ChatEndpoint::new(&options).map(drop).unwrap_err().to_string();
    assert!(
        error_text.contains("[language_model]") && error_text.contains("--features https"),
        "{error_text}"
    );
    assert!(!error_text.contains(KEY), "{error_text}");
}

/// Sessions wait while the model cannot be reached, and no reading fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_wait_while_the_model_is_unavailable() {
    let server = Server::start().await.unwrap();
    for url in ["http://model.invalid/v1".to_owned(), closed_address()] {
        let mut settings = reading_settings(&server);
        settings.retain(|it| it.0 != "language_model.url");
        settings.push(("language_model.url".to_owned(), url));
        let dir = tempfile::tempdir().unwrap();
        let running = Running::standalone(dir.path(), &settings).await.unwrap();
        assert_eq!(running.api.put("/spaces/talk").await.0, 201);
        write_session(&running.api, "monday", 1).await;
        let waits = |body: &Value| body["summary"]["waiting_sessions"] == 1;
        wait_for_readings(&running.api, "talk", waits).await;
        // This is enough time for a call that fails immediately.
        sleep(Duration::from_secs(2)).await;
        let body = wait_for_readings(&running.api, "talk", waits).await;
        let summary = &body["summary"];
        assert_eq!((&summary["done"], &summary["failed"]), (&json!(0), &json!(0)), "{body}");
        running.end().await.unwrap();
    }
}
