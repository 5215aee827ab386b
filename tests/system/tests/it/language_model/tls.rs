//! Ways to a language model that lead nowhere: names that do not resolve, servers that nobody trusts, servers without TLS.

use std::error::Error;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use adapters::endpoint::chat::{ChatEndpoint, Options};
use domain::port::LanguageModel;
use domain::{Classify, ErrorKind};
use serde_json::{Value, json};
use system::running::Running;
use system::servers::chat::{KEY, Server};
#[cfg(feature = "https")]
use system::servers::untrusted::Untrusted;
use tokio::time::sleep;

use super::prompt;
use super::reading::{readings, settings, write};

/// Longest time of a call, by the settings of the test.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Returns an address at which nobody listens.
fn nobody() -> String {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", free.local_addr().unwrap())
}

/// Returns what an error says, with all that caused it.
fn all_of(error: &(dyn Error + 'static)) -> String {
    let mut said = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        said += &format!(" {error} {error:?}");
        source = error.source();
    }
    said
}

/// Checks that a call over a way that leads nowhere fails in time with a kind that passes, without a secret in what is said of it.
async fn assert_away(server: &Server, url: &str) {
    let options = Options {
        url: url.to_owned(),
        timeout_secs: TIMEOUT.as_secs(),
        ..server.options()
    };
    let chat = ChatEndpoint::new(&options).unwrap();
    let begun = Instant::now();
    let error = chat.complete(&prompt()).await.unwrap_err();
    assert!(
        begun.elapsed() < TIMEOUT + Duration::from_secs(1),
        "{url}: {:?}",
        begun.elapsed()
    );
    // A resolver may take longer than the connection is waited for.
    let outcome = (error.kind(), error.detail());
    let expected = [
        (ErrorKind::Unavailable, "its endpoint does not answer"),
        (ErrorKind::Timeout, "it took too long"),
    ];
    assert!(expected.contains(&outcome), "{url}: {outcome:?}");
    let said = all_of(&error);
    assert!(!said.contains(KEY) && !said.contains("fern"), "{said}");
    assert!(server.heard().requests.is_empty(), "{url}");
}

#[tokio::test]
async fn a_name_that_does_not_resolve_and_a_port_without_a_server_are_away() {
    let server = Server::start().await.unwrap();
    for url in ["http://model.invalid/v1".to_owned(), nobody()] {
        assert_away(&server, &url).await;
    }
}

#[cfg(feature = "https")]
#[tokio::test]
async fn a_server_that_is_not_trusted_or_speaks_no_tls_is_away() {
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

/// Without TLS in the build, an address that wants it is refused when the process starts, and not first when it is used.
#[cfg(not(feature = "https"))]
#[tokio::test]
async fn a_build_without_tls_refuses_an_address_with_it() {
    if host::SPEAKS_TLS {
        return;
    }
    let server = Server::start().await.unwrap();
    let options = Options {
        url: server.options().url.replace("http://", "https://"),
        ..server.options()
    };
    let said = ChatEndpoint::new(&options).map(drop).unwrap_err().to_string();
    assert!(
        said.contains("[language_model]") && said.contains("--features https"),
        "{said}"
    );
    assert!(!said.contains(KEY), "{said}");
}

/// Sessions wait while there is no way to the model: no reading fails for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_wait_while_the_model_is_away() {
    let server = Server::start().await.unwrap();
    for url in ["http://model.invalid/v1".to_owned(), nobody()] {
        let mut settings = settings(&server);
        settings.retain(|it| it.0 != "language_model.url");
        settings.push(("language_model.url".to_owned(), url));
        let dir = tempfile::tempdir().unwrap();
        let running = Running::standalone(dir.path(), &settings).await.unwrap();
        assert_eq!(running.api.put("/spaces/talk").await.0, 201);
        write(&running.api, "monday", 1).await;
        running.api.settled("talk").await;
        let waits = |body: &Value| body["summary"]["waiting_sessions"] == 1;
        readings(&running.api, "talk", waits).await;
        // Time for a call that fails at once.
        sleep(Duration::from_secs(2)).await;
        let body = readings(&running.api, "talk", waits).await;
        let summary = &body["summary"];
        assert_eq!((&summary["done"], &summary["failed"]), (&json!(0), &json!(0)), "{body}");
        running.end().await.unwrap();
    }
}
