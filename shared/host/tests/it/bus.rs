use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::message::{Message, Request, RouteV1, RoutedV1, UnitsWrittenV1};
use domain::port::{DEADLINE, DeadLetter, Frame, Position};
use domain::{Classify, ErrorKind, PortError};
use fixtures::wait_until;
use host::{Context, Meta};

use crate::{context, message};

/// Consumes until `calls` deliveries were handled. Returns `position/attempt` of each, in order.
async fn consume(context: &Context, calls: usize, handle: impl Fn(Meta) -> Result<(), ErrorKind>) -> Vec<String> {
    let seen = Mutex::new(Vec::new());
    let handler = async |message: UnitsWrittenV1, meta: Meta| {
        let seen_now = {
            let mut seen = seen.lock().unwrap();
            seen.push(format!("{}/{}", message.position.0, meta.attempt));
            seen.len()
        };
        if seen_now >= calls {
            context.shutdown.cancel();
        }
        handle(meta).map_err(|kind| PortError::new("test", kind, "refused").caused_by(std::fmt::Error))
    };
    let work = context.consume_messages::<UnitsWrittenV1, PortError, _, _>("test", 1, handler);
    tokio::time::timeout(Duration::from_secs(60), work)
        .await
        .unwrap()
        .unwrap();
    seen.into_inner().unwrap()
}

async fn dead(context: &Context) -> Vec<DeadLetter> {
    context.backends.dead_letters.list(0, 10).await.unwrap()
}

async fn ready(context: &Context) {
    let is_ready = async || context.readiness.missing_components().is_empty();
    wait_until("the service is ready", is_ready).await;
}

#[tokio::test]
async fn every_message_is_handled_and_settled() {
    let (context, _dir) = context().await;
    for position in 1..=3 {
        context.publish_message(&message(position)).await.unwrap();
    }
    context.publish_message(&message(3)).await.unwrap();
    assert_eq!(consume(&context, 3, |_| Ok(())).await, ["1/1", "2/1", "3/1"]);
    assert_eq!(
        context
            .backends
            .bus
            .backlog(UnitsWrittenV1::SUBJECT, "test")
            .await
            .unwrap(),
        0
    );
    assert!(dead(&context).await.is_empty());
}

#[tokio::test]
async fn a_temporary_failure_is_retried() {
    let (context, _dir) = context().await;
    context.publish_message(&message(1)).await.unwrap();
    let handle = |meta: Meta| {
        if meta.attempt < 3 {
            Err(ErrorKind::Unavailable)
        } else {
            Ok(())
        }
    };
    assert_eq!(consume(&context, 3, handle).await, ["1/1", "1/2", "1/3"]);
    assert!(dead(&context).await.is_empty());
}

#[tokio::test]
async fn a_permanent_failure_makes_a_dead_letter_with_the_reason() {
    let (context, _dir) = context().await;
    context.publish_message(&message(1)).await.unwrap();
    assert_eq!(consume(&context, 1, |_| Err(ErrorKind::Conflict)).await, ["1/1"]);
    let letters = dead(&context).await;
    assert_eq!(
        letters[0].reason,
        "test: refused: an error occurred when formatting an argument"
    );
    assert_eq!((letters[0].group.as_str(), letters[0].attempts), ("test", 1));
}

#[tokio::test]
async fn a_panic_makes_one_dead_letter_and_the_consumer_continues() {
    let (context, _dir) = context().await;
    context.publish_message(&message(1)).await.unwrap();
    context.publish_message(&message(2)).await.unwrap();
    let handle = |meta: Meta| {
        if meta.position == Position(1) {
            panic!("bad message")
        } else {
            Ok(())
        }
    };
    assert_eq!(consume(&context, 2, handle).await, ["1/1", "2/1"]);
    assert_eq!(dead(&context).await[0].reason, "the handler panicked");
}

fn question(text: &str) -> RouteV1 {
    RouteV1::new("s".parse().unwrap(), text.to_owned(), 0)
}

#[tokio::test]
async fn a_request_returns_the_kind_of_the_failure() {
    let (context, _dir) = context().await;
    let server = context.clone();
    tokio::spawn(async move {
        let handler = async |route: RouteV1| match route.question.as_str() {
            "slow" => std::future::pending().await,
            "panic" => panic!("bad question"),
            other => Err::<RoutedV1, _>(PortError::new("router", ErrorKind::Invalid, format!("no {other}"))),
        };
        server
            .serve_requests::<RouteV1, PortError, _, _>(4, handler)
            .await
            .unwrap();
    });
    ready(&context).await;
    let long = 60_000;
    for (text, patience_ms, kind) in [
        ("x", long, ErrorKind::Invalid),
        ("slow", 100, ErrorKind::Timeout),
        ("panic", long, ErrorKind::Internal),
        ("x", long, ErrorKind::Invalid),
    ] {
        let error = context
            .send_request(question(text), Duration::from_millis(patience_ms))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{text}: {error}");
    }
    context.shutdown.cancel();
}

/// The lines of a log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The name of a space that does not exist stays out of the log.
#[tokio::test]
async fn a_failure_of_a_request_is_logged_and_a_refusal_is_not() {
    let (context, _dir) = context().await;
    let server = context.clone();
    tokio::spawn(async move {
        let handler = async |route: RouteV1| match route.question.as_str() {
            "failure" => Err::<RoutedV1, _>(PortError::new("router", ErrorKind::Damaged, "a torn page")),
            _ => Err(PortError::new(
                "router",
                ErrorKind::NotFound,
                "there is no space quaxbank",
            )),
        };
        server
            .serve_requests::<RouteV1, PortError, _, _>(4, handler)
            .await
            .unwrap();
    });
    ready(&context).await;
    let refused = async |text: &str| {
        let asked = context.send_request(question(text), Duration::from_secs(60)).await;
        assert!(asked.is_err());
    };
    // Registers the call sites. A test in another thread could otherwise register them as disabled.
    refused("refusal").await;
    refused("failure").await;
    let log = Lines::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    refused("refusal").await;
    refused("failure").await;
    let lines = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(lines.contains("a torn page") && !lines.contains("quaxbank"), "{lines}");
    context.shutdown.cancel();
}

#[tokio::test]
async fn a_request_past_its_deadline_is_not_started() {
    let (context, _dir) = context().await;
    let (server, begun) = (context.clone(), Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&begun);
    tokio::spawn(async move {
        let handler = async |_: RouteV1| {
            count.fetch_add(1, Ordering::SeqCst);
            Err::<RoutedV1, _>(PortError::new("router", ErrorKind::NotFound, "nothing"))
        };
        server
            .serve_requests::<RouteV1, PortError, _, _>(4, handler)
            .await
            .unwrap();
    });
    ready(&context).await;
    let late = Frame {
        subject: RouteV1::SUBJECT.to_owned(),
        headers: [(DEADLINE.to_owned(), "1".to_owned())].into(),
        payload: serde_json::to_vec(&question("x")).unwrap(),
        ..Frame::default()
    };
    let error = context
        .backends
        .bus
        .request(late, Duration::from_secs(5))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), begun.load(Ordering::SeqCst)),
        (ErrorKind::Timeout, 0),
        "{error}"
    );
    context.shutdown.cancel();
}

#[tokio::test]
async fn a_request_without_a_server_is_unavailable() {
    let (context, _dir) = context().await;
    let error = context
        .send_request(question("x"), Duration::from_secs(5))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn work_in_progress_gets_replies_after_the_shutdown_signal() {
    let (context, _dir) = context().await;
    let server = context.clone();
    let serving = tokio::spawn(async move {
        let handler = async |_: RouteV1| Err::<RoutedV1, _>(PortError::new("router", ErrorKind::NotFound, "nothing"));
        server
            .serve_requests::<RouteV1, PortError, _, _>(4, handler)
            .await
            .unwrap();
    });
    ready(&context).await;
    let asking = context.keep_serving();
    context.shutdown.cancel();
    let error = context
        .send_request(question("x"), Duration::from_secs(5))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    drop(asking);
    tokio::time::timeout(Duration::from_secs(60), serving)
        .await
        .unwrap()
        .unwrap();
}
