//! Requests over plain NATS: no stream, only an answer or an error.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::{HeaderMap, Message, Request, Subscriber};
use domain::port::{DEADLINE, Frame, Inquiry, Result};
use domain::{Classify, ErrorKind, PortError};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::debug;

use super::connection::{Link, failed_request_error};
use super::{Core, schema};
use crate::process::clock;
use crate::request_servers;
use crate::servers::nats::wire;

/// Queue group that the servers of a subject in all processes share.
const QUEUE: &str = "servers";
/// How long leaving servers keep refusing requests.
const LINGER: Duration = Duration::from_millis(50);
/// Error name of a server that is leaving and has not started the request.
const LEAVING: &str = "leaving";
const OPERATION: &str = "bus.request";

/// Answers one request. If it is dropped without an answer, it sends an error.
struct Replier {
    link: Arc<Link>,
    runtime: Handle,
    to: Option<String>,
}

/// Sends a request and waits for the answer. A request that reached a leaving server, which did not start it, is sent
/// to another one.
pub(super) async fn send_request(core: &Core, frame: &Frame, patience: Duration) -> Result<Vec<u8>> {
    let headers = wire::headers_of_frame(OPERATION, frame)?;
    let until = Instant::now() + patience;
    let answered = async {
        loop {
            let answer = send_once(core, frame, headers.clone(), until).await?;
            if answer
                .headers
                .as_ref()
                .and_then(|it| wire::text_header(it, wire::ERROR))
                .as_deref()
                != Some(LEAVING)
            {
                return Ok(answer);
            }
            sleep(LINGER / 2).await;
        }
    };
    let late = |_| {
        let detail = format!("no reply from {} in time", frame.subject);
        Err(PortError::new(OPERATION, ErrorKind::Timeout, detail))
    };
    let answer = timeout(patience, answered).await.unwrap_or_else(late)?;
    let error = answer
        .headers
        .as_ref()
        .and_then(|it| wire::text_header(it, wire::ERROR));
    let Some(name) = error else {
        return Ok(answer.payload.to_vec());
    };
    let kind = ErrorKind::ALL.into_iter().find(|it| it.name() == name);
    let detail = String::from_utf8_lossy(&answer.payload).into_owned();
    Err(PortError::new(OPERATION, kind.unwrap_or(ErrorKind::Internal), detail))
}

/// Sends a request once and waits while the connection lasts. After a reconnect, the answer could no longer be
/// received.
async fn send_once(core: &Core, frame: &Frame, mut headers: HeaderMap, until: Instant) -> Result<Message> {
    let subject = &frame.subject;
    let (mut connects, mut lost) = (core.link.watch_connects(), core.link.watch_losses());
    let left = || until.saturating_duration_since(Instant::now());
    core.link.ready_soon(OPERATION, left()).await?;
    connects.mark_unchanged();
    lost.mark_unchanged();
    wire::set_header(&mut headers, wire::LEFT, &left().as_millis().to_string());
    let request = Request::new()
        .headers(headers)
        .payload(frame.payload.clone().into())
        .timeout(None);
    let answer = core
        .link
        .client
        .send_request(core.names.request_subject(subject), request);
    tokio::select! {
        answer = answer => answer.map_err(|source| match source.kind() {
            RequestErrorKind::NoResponders => unavailable_error(format!("no service handles {subject}")).caused_by(source),
            RequestErrorKind::TimedOut
            | RequestErrorKind::InvalidSubject
            | RequestErrorKind::MaxPayloadExceeded
            | RequestErrorKind::Other => failed_request_error(OPERATION, source),
        }),
        _ = connects.changed() => Err(lost_connection_error(subject)),
        _ = lost.changed() => Err(lost_connection_error(subject)),
    }
}

/// Adds a server of a subject to those of this process.
pub(super) async fn serve_subject(core: &Arc<Core>, subject: &str) -> Result<BoxStream<'static, Inquiry>> {
    let (server, inquiries) = request_servers::inquiry_queue();
    if core.servers.add_if_served(subject, &server) {
        return Ok(inquiries);
    }
    core.link.wait_until_ready("bus.serve").await?;
    let subscriber = core
        .link
        .client
        .queue_subscribe(core.names.request_subject(subject), QUEUE.to_owned())
        .await
        .map_err(|source| {
            PortError::new("bus.serve", ErrorKind::Unavailable, "the connection to NATS failed").caused_by(source)
        })?;
    // An answer from the server proves that it has processed the subscription too.
    schema::check_stream_exists(&core.link, &core.names.dead_stream()).await?;
    core.servers.add_server(subject, server);
    tokio::spawn(hand_out(Arc::clone(core), subject.to_owned(), subscriber));
    Ok(inquiries)
}

/// Passes requests to the servers of this process in turn until all are gone; later requests are refused as leaving.
async fn hand_out(core: Arc<Core>, subject: String, mut subscriber: Subscriber) {
    while let Some(serving) = core.servers.in_turn(&subject) {
        let message = tokio::select! {
            () = serving.first_gone() => continue,
            message = subscriber.next() => message,
        };
        let Some(message) = message else {
            core.servers.remove_servers(&subject);
            return;
        };
        // If all servers have left, the request is dropped, which sends an error to its caller.
        drop(
            serving
                .pass_inquiry(inquiry_from_message(&core.link, &subject, message))
                .await,
        );
    }
    // The client drops incoming messages as soon as it unsubscribes, so requests that are on their way are first sent
    // elsewhere.
    let until = Instant::now() + LINGER;
    while let Ok(Some(message)) = timeout_at(until, subscriber.next()).await {
        Replier::new(&core.link, &message).send_leaving();
    }
    if let Err(error) = subscriber.drain().await {
        debug!(%error, "cannot unsubscribe");
    }
    while let Some(message) = subscriber.next().await {
        Replier::new(&core.link, &message).send_leaving();
    }
}

/// Makes an inquiry from a message. The clock of the caller may differ, so the deadline is computed from the time that
/// was left.
fn inquiry_from_message(link: &Arc<Link>, subject: &str, message: Message) -> Inquiry {
    let mut frame = wire::frame_of(subject, &message);
    let left = message
        .headers
        .as_ref()
        .and_then(|it| wire::number_header(it, wire::LEFT));
    if let (Some(left), Some(deadline)) = (left, frame.headers.get_mut(DEADLINE)) {
        let left = i64::try_from(left).unwrap_or(i64::MAX);
        *deadline = clock::now().timestamp_millis().saturating_add(left).to_string();
    }
    let replier = Replier::new(link, &message);
    Inquiry {
        frame,
        reply: Box::new(move |result| replier.send_result(result)),
        abandoned: Box::pin(pending()),
    }
}

impl Replier {
    fn new(link: &Arc<Link>, message: &Message) -> Replier {
        Replier {
            link: Arc::clone(link),
            runtime: Handle::current(),
            to: message.reply.as_ref().map(ToString::to_string),
        }
    }

    fn send_result(mut self, result: Result<Vec<u8>>) {
        let most = self.link.client.max_payload();
        match result {
            Ok(payload) if payload.len() >= most => {
                let detail = format!("the reply has {} bytes, NATS allows fewer than {most}", payload.len());
                self.send_error(&PortError::new(OPERATION, ErrorKind::Internal, detail));
            }
            Ok(payload) => self.send_reply(HeaderMap::new(), payload),
            Err(error) => self.send_error(&error),
        }
    }

    /// Tells the caller that this server has not started the request and will not.
    fn send_leaving(mut self) {
        let mut headers = HeaderMap::new();
        wire::set_header(&mut headers, wire::ERROR, LEAVING);
        self.send_reply(headers, Vec::new());
    }

    fn send_error(&mut self, error: &PortError) {
        let mut headers = HeaderMap::new();
        wire::set_header(&mut headers, wire::ERROR, error.kind().name());
        self.send_reply(headers, error.to_string().into_bytes());
    }

    fn send_reply(&mut self, headers: HeaderMap, payload: Vec<u8>) {
        let Some(to) = self.to.take() else { return };
        let client = self.link.client.clone();
        let sent = async move {
            if let Err(error) = client.publish_with_headers(to, headers, payload.into()).await {
                debug!(%error, "cannot reply");
            }
        };
        let mut sent = sent.boxed();
        // Polled here first, so that a later flush waits for it.
        if (&mut sent).now_or_never().is_none() {
            self.runtime.spawn(sent);
        }
    }
}

impl Drop for Replier {
    fn drop(&mut self) {
        self.send_error(&unavailable_error("the request was given up".to_owned()));
    }
}

fn lost_connection_error(subject: &str) -> PortError {
    unavailable_error(format!("the connection was lost while {subject} worked"))
}

fn unavailable_error(detail: String) -> PortError {
    PortError::new(OPERATION, ErrorKind::Unavailable, detail)
}
