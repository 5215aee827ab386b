//! Connections: how many there may be, and how long a caller may take to say what it wants. Both hold before anybody has
//! shown a key.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use host::Context;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_io_timeout::TimeoutWriter;
use tracing::{debug, warn};

use crate::config::Config;

/// Pause after a connection could not be taken, for want of file descriptors for example.
const REST: Duration = Duration::from_millis(500);

/// Serves connections until shutdown, at most `connections_max` at a time; those beyond wait to be taken. Returns when the
/// last open request is finished.
pub(crate) async fn serve(listener: TcpListener, app: Router, config: &Config, context: &Context) {
    let patience = [config.header_ms_max, config.send_ms_max].map(Duration::from_millis);
    let slots = Arc::new(Semaphore::new(config.connections_max as usize));
    let take = async {
        while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
            let stream = taken(&listener).await;
            let (app, stop) = (app.clone(), context.shutdown.clone().cancelled_owned());
            tokio::spawn(async move {
                answer(stream, app, patience, stop).await;
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

async fn taken(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot take a connection, will try again"
                );
                sleep(REST).await;
            }
        }
    }
}

/// Answers the requests of one connection. It is closed when a request, the next one too, does not begin in time, and when
/// nobody takes the answer.
async fn answer(stream: TcpStream, app: Router, [head, send]: [Duration; 2], stop: impl Future<Output = ()>) {
    let mut server = Builder::new(TokioExecutor::new()).http1_only();
    server.http1().timer(TokioTimer::new()).header_read_timeout(head);
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(send));
    let connection = server.serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(app));
    let mut connection = std::pin::pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = stop => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        debug!(error = &*error, "a connection ended early");
    }
}
