//! Limits on connections, against slow clients and floods of connections: their number, and the time that a caller may
//! take to send a request. Both apply before a caller has shown a key.

mod connection_table;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use host::Context;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;
use tower::Service as _;
use tracing::{debug, warn};

use crate::api::ProblemDocument;
use crate::api::problem::Problem;
use crate::app::config::Config;
use connection_table::{ConnectionTable, Entry};

/// Maximum number of connections that are refused with a reason at the same time, and the time that each may take.
/// Further connections are closed without a response.
const REFUSED_MAX: usize = 64;
const REFUSED: Duration = Duration::from_secs(1);
/// Maximum number of bytes of a request that are read before it is refused.
const REFUSED_BYTES: usize = 8_192;

/// Pause after a failure to accept a connection, for example because no file descriptor is free.
const REST: Duration = Duration::from_millis(500);

/// Time limits of a connection.
#[derive(Clone, Copy)]
struct Patience {
    /// Limit until its first request.
    first: Duration,
    /// Limit until the head of each request.
    head: Duration,
    /// Limit without progress while a response is sent.
    send: Duration,
}

/// Serves connections until shutdown, at most `connections_max` at a time. At that number, a connection without a
/// request is closed for the next one; if each has a request, the next one waits. Returns when the last open request is
/// finished.
pub(crate) async fn serve_connections(listener: TcpListener, app: Router, config: &Config, context: &Context) {
    let [first, head, send] =
        [config.first_request_ms_max, config.header_ms_max, config.send_ms_max].map(Duration::from_millis);
    let patience = Patience { first, head, send };
    let slots = Arc::new(Semaphore::new(config.connections_max as usize));
    let table = ConnectionTable::default();
    let refusing = Arc::new(Semaphore::new(REFUSED_MAX));
    let take = async {
        loop {
            let (stream, address) = accept_connection(&listener).await;
            let Some(slot) = free_slot(&slots, &table).await else {
                break;
            };
            let Some(entry) = table.add_connection(address.ip(), config.connections_per_address_max as usize) else {
                if let Ok(permit) = Arc::clone(&refusing).try_acquire_owned() {
                    tokio::spawn(refuse_connection(stream, config.connections_per_address_max, permit));
                }
                continue;
            };
            let (app, stop) = (app.clone(), context.shutdown.clone().cancelled_owned());
            tokio::spawn(async move {
                serve_requests(stream, app, patience, entry, stop).await;
                drop(slot);
            });
        }
    };
    tokio::select! {
        () = take => (),
        () = context.shutdown.cancelled() => (),
    }
    drop(listener);
    drop(slots.acquire_many(config.connections_max).await);
}

/// Waits for a free slot, and closes a connection without a request to get one.
async fn free_slot(slots: &Arc<Semaphore>, table: &ConnectionTable) -> Option<OwnedSemaphorePermit> {
    loop {
        if let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
            return Some(slot);
        }
        if table.make_room() {
            return Arc::clone(slots).acquire_owned().await.ok();
        }
        tokio::select! {
            slot = Arc::clone(slots).acquire_owned() => return slot.ok(),
            () = table.wait_for_idle_connection() => (),
        }
    }
}

async fn accept_connection(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(taken) => return taken,
            Err(error) => {
                warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot accept a connection, will try again"
                );
                sleep(REST).await;
            }
        }
    }
}

/// Sends the reason of a refusal after the request has arrived. A client that opens connections before it has requests
/// would take an earlier message for the response to another request.
async fn refuse_connection(mut stream: TcpStream, most: u32, _permit: OwnedSemaphorePermit) {
    let problem = Problem::server_exhausted(format!("{most} connections of this address are busy; try again"));
    let Ok(body) = serde_json::to_string(&ProblemDocument::from(problem)) else {
        return;
    };
    let answer = format!(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\n\
         retry-after: 1\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut request = vec![0; REFUSED_BYTES];
    let send_refusal = async {
        if stream.read(&mut request).await? == 0 {
            return Ok(());
        }
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    };
    let outcome = timeout(REFUSED, send_refusal)
        .await
        .unwrap_or_else(|late| Err(late.into()));
    if let Err(error) = outcome {
        debug!(
            error = &error as &dyn std::error::Error,
            "a connection was refused before its request was read"
        );
    }
}

/// Serves the requests of one connection. The connection is closed if a request does not start in time, if the client
/// does not read the response, and if another connection needs its slot.
async fn serve_requests(
    stream: TcpStream,
    app: Router,
    patience: Patience,
    entry: Arc<Entry>,
    stop: impl Future<Output = ()>,
) {
    let mut server = Builder::new(TokioExecutor::new()).http1_only();
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(patience.head);
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(patience.send));
    let noted = Arc::clone(&entry);
    let service = tower::service_fn(move |request: Request<_>| {
        noted.begin_request();
        let (noted, answering) = (Answering(Arc::clone(&noted)), app.clone().call(request));
        async move {
            let response = answering.await;
            drop(noted);
            response
        }
    });
    let connection = server.serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(service));
    let mut connection = std::pin::pin!(connection);
    let spoken = async {
        sleep(patience.first).await;
        if !entry.is_silent() {
            std::future::pending::<()>().await;
        }
    };
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = spoken => return,
        () = entry.wait_for_close() => {
            if entry.is_silent() {
                return;
            }
            connection.as_mut().graceful_shutdown();
            let cut = async {
                sleep(patience.first).await;
                if entry.is_busy() {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                outcome = connection => outcome,
                () = cut => return,
            }
        }
        () = stop => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        debug!(error = &*error, "a connection ended early");
    }
}

/// A request in progress; it ends on drop.
struct Answering(Arc<Entry>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.end_request();
    }
}
