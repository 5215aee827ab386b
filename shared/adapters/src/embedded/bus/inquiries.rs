use std::time::Duration;

use domain::port::{Frame, Inquiry, Result};
use domain::{ErrorKind, PortError};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::request_servers::Servers;

const OPERATION: &str = "bus.request";

/// Sends a request and waits for the reply for at most `patience`.
pub(super) async fn send_request(servers: &Servers, frame: Frame, patience: Duration) -> Result<Vec<u8>> {
    let late = format!("no reply from {} in time", frame.subject);
    timeout(patience, wait_for_reply(servers, frame))
        .await
        .unwrap_or_else(|_| Err(PortError::new(OPERATION, ErrorKind::Timeout, late)))
}

async fn wait_for_reply(servers: &Servers, frame: Frame) -> Result<Vec<u8>> {
    let unavailable = |detail| PortError::new(OPERATION, ErrorKind::Unavailable, detail);
    let subject = frame.subject.clone();
    let (reply, answer) = oneshot::channel();
    // If the caller no longer waits, the reply is dropped.
    let reply = Box::new(move |result| drop(reply.send(result)));
    // Cancelled when this future is dropped, because no caller waits any more.
    let waits = CancellationToken::new();
    let abandoned = Box::pin(waits.clone().cancelled_owned());
    let _guard = waits.drop_guard();
    let mut inquiry = Inquiry {
        frame,
        reply,
        abandoned,
    };
    // While this waits for one server, all servers may leave and others may come.
    loop {
        let Some(serving) = servers.in_turn(&subject) else {
            return Err(unavailable(format!("no service handles {subject}")));
        };
        match serving.pass_inquiry(inquiry).await {
            Ok(()) => break,
            Err(back) => inquiry = back,
        }
    }
    answer
        .await
        .unwrap_or_else(|_| Err(unavailable(format!("{subject} dropped the request"))))
}
