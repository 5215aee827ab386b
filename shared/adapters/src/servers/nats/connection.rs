//! The connection: every call has a timeout, every failure a kind.

use std::time::Duration;

use async_nats::client::{RequestError, RequestErrorKind};
use async_nats::connection::State;
use async_nats::jetstream::response::Response;
use async_nats::{Client, ConnectErrorKind, HeaderMap, Message, Request, ServerAddr};
use domain::port::Result;
use domain::{ErrorKind, PortError};
use futures::FutureExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::debug;

use super::connection_events::{ConnectionState, Refusals};
use super::options::Options;

/// If the connection is lost for longer than this, requests to other services no longer wait for it.
const GRACE: Duration = Duration::from_secs(1);
/// Pause before a publish that may have failed is retried.
const REPEAT: Duration = Duration::from_millis(100);
/// Prefix of JetStream API subjects.
const API: &str = "$JS.API";
/// The stream is full, or its file cannot be written.
const STORE_FAILED: u64 = 10_077;
/// There is no such stream, message, consumer, or message of a subject.
const MISSING: [u64; 4] = [10_059, 10_043, 10_014, 10_037];
/// A message cannot be deleted; only the text says whether it does not exist.
const DELETE_FAILED: u64 = 10_057;
/// The message is larger than the stream allows.
const MESSAGE_TOO_LARGE: u64 = 10_054;
/// Nothing can be stored: memory, disk or streams of the server or account are exhausted.
const NO_ROOM: [u64; 5] = [10_023, 10_047, 10_026, 10_028, 10_002];

/// One connection and everything needed to use it.
pub(super) struct Link {
    pub(super) client: Client,
    call_timeout: Duration,
    publish_timeout: Duration,
    /// Number of times the client connected.
    connects: watch::Receiver<u64>,
    /// Time at which the connection was last lost.
    lost: watch::Receiver<Option<Instant>>,
    refusals: watch::Receiver<Refusals>,
}

/// The sequence of a stored message, and whether it was stored before.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredMessage {
    pub(super) sequence: u64,
    pub(super) duplicate: bool,
}

#[derive(Deserialize)]
struct Acknowledged {
    #[serde(rename = "seq")]
    sequence: u64,
    #[serde(default)]
    duplicate: bool,
}

enum Failure {
    /// A retry soon may succeed.
    Passing(PortError),
    Lasting(PortError),
}

impl Failure {
    fn into_error(self) -> PortError {
        match self {
            Failure::Passing(error) | Failure::Lasting(error) => error,
        }
    }
}

impl Link {
    pub(super) async fn connect(options: &Options) -> Result<Link> {
        let addresses = parse_addresses(&options.url)?;
        let shown: Vec<String> = addresses
            .iter()
            .map(|it| format!("{}:{}", it.host(), it.port()))
            .collect();
        let hears = ConnectionState::default();
        let (mut connects, lost, refusals) = (
            hears.connects.subscribe(),
            hears.lost.subscribe(),
            hears.refusals.subscribe(),
        );
        let shown = shown.join(",");
        let listening = options.connect_options()?.event_callback(move |event| {
            hears.handle_event(&event);
            async {}
        });
        let client = listening.connect(addresses).await.map_err(|source| {
            let (kind, detail) = match source.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    (ErrorKind::Invalid, format!("NATS at {shown} refuses the credentials"))
                }
                ConnectErrorKind::Tls => (ErrorKind::Invalid, format!("cannot establish TLS with NATS at {shown}")),
                ConnectErrorKind::ServerParse => (ErrorKind::Invalid, "`url` is not an address of NATS".to_owned()),
                ConnectErrorKind::Dns
                | ConnectErrorKind::TimedOut
                | ConnectErrorKind::Io
                | ConnectErrorKind::MaxReconnects => {
                    (ErrorKind::Unavailable, format!("cannot connect to NATS at {shown}"))
                }
            };
            PortError::new("bus.connect", kind, detail).caused_by(source)
        })?;
        // Consume the first "connected" event, so that subscribers do not treat it as a reconnect.
        drop(timeout(options.call_timeout(), connects.wait_for(|it| *it > 0)).await);
        Ok(Link {
            client,
            call_timeout: options.call_timeout(),
            publish_timeout: options.publish_timeout(),
            connects,
            lost,
            refusals,
        })
    }

    pub(super) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Returns a receiver that changes whenever the server refuses something because of missing permissions.
    pub(super) fn watch_refusals(&self) -> watch::Receiver<Refusals> {
        self.refusals.clone()
    }

    /// Returns a receiver that changes after every reconnect.
    pub(super) fn watch_connects(&self) -> watch::Receiver<u64> {
        self.connects.clone()
    }

    /// Returns a receiver that changes whenever the connection is lost.
    pub(super) fn watch_losses(&self) -> watch::Receiver<Option<Instant>> {
        self.lost.clone()
    }

    /// Waits for the connection, for at most the timeout of a call.
    pub(super) async fn wait_until_ready(&self, operation: &'static str) -> Result<()> {
        self.ready_within(operation, self.call_timeout).await
    }

    /// Waits for the connection for at most half of `patience`. Does not wait if the connection has been lost for long,
    /// so that the caller gets the error in time.
    pub(super) async fn ready_soon(&self, operation: &'static str, patience: Duration) -> Result<()> {
        let long = (*self.lost.borrow()).is_some_and(|it| it.elapsed() > GRACE);
        let wait = if long { Duration::ZERO } else { patience / 2 };
        self.ready_within(operation, wait.min(self.call_timeout)).await
    }

    async fn ready_within(&self, operation: &'static str, wait: Duration) -> Result<()> {
        let deadline = Instant::now() + wait;
        while !self.is_connected() {
            if Instant::now() >= deadline {
                return Err(PortError::new(
                    operation,
                    ErrorKind::Unavailable,
                    "no connection to NATS",
                ));
            }
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// Calls the JetStream API.
    pub(super) async fn call_api<T: DeserializeOwned>(
        &self,
        operation: &'static str,
        subject: &str,
        body: &impl Serialize,
    ) -> Result<T> {
        self.wait_until_ready(operation).await?;
        let answer = self.send_api_request(operation, subject, body, self.call_timeout).await;
        parse_answer(operation, &answer.map_err(Failure::into_error)?)
    }

    /// Creates or changes something in JetStream. Has the timeout of a publish, as the server often waits for its disk.
    /// Sends one request at a time: a second would report that the object exists before the first has completed it.
    pub(super) async fn create_or_update<T: DeserializeOwned>(
        &self,
        operation: &'static str,
        subject: &str,
        body: &impl Serialize,
    ) -> Result<T> {
        self.wait_until_ready(operation).await?;
        let deadline = Instant::now() + self.publish_timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.send_api_request(operation, subject, body, left).await {
                Ok(answer) => return parse_answer(operation, &answer),
                Err(Failure::Passing(_)) if Instant::now() + REPEAT < deadline => sleep(REPEAT).await,
                Err(failure) => return Err(failure.into_error()),
            }
        }
    }

    async fn send_api_request(
        &self,
        operation: &'static str,
        subject: &str,
        body: &impl Serialize,
        patience: Duration,
    ) -> std::result::Result<Message, Failure> {
        let body = serde_json::to_vec(body).map_err(|source| {
            Failure::Lasting(internal_error(operation, "a request to NATS cannot be written").caused_by(source))
        })?;
        let request = Request::new().payload(body.into()).timeout(Some(patience));
        self.send_request(operation, &format!("{API}.{subject}"), request).await
    }

    /// Sends a request. A refusal because of missing permissions is an error at once, since no answer will come.
    async fn send_request(
        &self,
        operation: &'static str,
        subject: &str,
        request: Request,
    ) -> std::result::Result<Message, Failure> {
        let mut refusals = self.refusals.clone();
        let (before, quoted) = (refusals.borrow().count, format!("\"{subject}\""));
        let refused = refusals.wait_for(|it| it.count > before && it.last.contains(&quoted));
        tokio::select! {
            answer = self.client.send_request(subject.to_owned(), request) => answer.map_err(|source| {
                match source.kind() {
                    RequestErrorKind::TimedOut | RequestErrorKind::NoResponders | RequestErrorKind::Other => {
                        Failure::Passing(failed_request_error(operation, source))
                    }
                    RequestErrorKind::InvalidSubject | RequestErrorKind::MaxPayloadExceeded => {
                        Failure::Lasting(failed_request_error(operation, source))
                    }
                }
            }),
            refused = refused => {
                let detail = refused.map_or_else(|_| "the connection is closed".to_owned(), |it| it.last.clone());
                let detail = format!("NATS refuses: {detail}");
                Err(Failure::Lasting(PortError::new(operation, ErrorKind::Unavailable, detail)))
            }
        }
    }

    /// Asks the server to settle a delivery, and waits for the confirmation.
    pub(super) async fn settle_delivery(&self, operation: &'static str, reply: &str, verdict: &str) -> Result<()> {
        let request = Request::new()
            .payload(verdict.to_owned().into())
            .timeout(Some(self.call_timeout));
        match self.client.send_request(reply.to_owned(), request).await {
            Ok(_) => Ok(()),
            Err(source) => Err(failed_request_error(operation, source)),
        }
    }

    /// Sends the server something that needs no answer. Without a connection, it is sent after the reconnect.
    pub(super) fn send_without_reply(&self, subject: &str, payload: &'static str) {
        let (client, subject) = (self.client.clone(), subject.to_owned());
        // The client is held until everything is written: when its last clone is dropped, it drops unsent messages.
        let sent = timeout(self.call_timeout, async move {
            if let Err(error) = client.publish(subject, payload.into()).await {
                debug!(%error, "cannot send a message to NATS");
            }
            drop(client.flush().await);
        });
        let mut sent = sent.boxed();
        // Polled here first, so that it is sent before the caller's next message.
        if (&mut sent).now_or_never().is_none()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(sent);
        }
    }

    /// Waits until everything sent so far is written, at most for the timeout of a call.
    pub(super) async fn flush(&self, operation: &'static str) -> Result<()> {
        let failed = || PortError::new(operation, ErrorKind::Unavailable, "NATS does not accept the messages");
        match timeout(self.call_timeout, self.client.flush()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(failed().caused_by(source)),
            Err(source) => Err(failed().caused_by(source)),
        }
    }

    /// Stores a message on disk, with retries under the same id. After a failure it is unknown whether it is stored.
    pub(super) async fn store_message(
        &self,
        operation: &'static str,
        subject: &str,
        headers: HeaderMap,
        payload: &[u8],
    ) -> Result<StoredMessage> {
        crate::servers::nats::wire::check_payload_size(operation, payload, self.client.max_payload())?;
        let deadline = Instant::now() + self.publish_timeout;
        loop {
            let request = Request::new()
                .headers(headers.clone())
                .payload(payload.to_vec().into())
                .timeout(Some(self.call_timeout));
            let tried = timeout_at(deadline, self.send_request(operation, subject, request)).await;
            let outcome = match tried {
                Ok(Ok(answer)) => parse_acknowledgement(operation, &answer),
                Ok(Err(failure)) => Err(failure),
                Err(_) => {
                    let detail = "NATS has not confirmed the message in time";
                    let late = PortError::new(operation, ErrorKind::Unavailable, detail);
                    Err(Failure::Passing(late))
                }
            };
            match outcome {
                Ok(stored) => return Ok(stored),
                Err(Failure::Lasting(error)) => return Err(error),
                Err(Failure::Passing(error)) if Instant::now() + REPEAT >= deadline => return Err(error),
                Err(Failure::Passing(error)) => {
                    debug!(error = &error as &dyn std::error::Error, "repeating a publish");
                    sleep(REPEAT).await;
                }
            }
        }
    }

    /// Returns a unique id.
    pub(super) fn fresh_id(&self) -> String {
        self.client.new_inbox()
    }
}

/// Returns kind and text of an error answer of JetStream.
pub(super) fn refusal_error(operation: &'static str, code: u64, description: &str) -> PortError {
    let kind = if MISSING.contains(&code) || (code == DELETE_FAILED && description.contains("no message found")) {
        ErrorKind::NotFound
    } else if code == MESSAGE_TOO_LARGE {
        ErrorKind::Invalid
    } else if code == STORE_FAILED && description.contains("maximum") {
        ErrorKind::Exhausted
    } else {
        ErrorKind::Unavailable
    };
    PortError::new(operation, kind, format!("NATS answers {code}: {description}"))
}

/// Returns kind and text of a failed request.
pub(super) fn failed_request_error(operation: &'static str, source: RequestError) -> PortError {
    let (kind, detail) = match source.kind() {
        RequestErrorKind::TimedOut => (ErrorKind::Unavailable, "no answer from NATS in time"),
        RequestErrorKind::NoResponders => (ErrorKind::Unavailable, "no service answers on NATS"),
        RequestErrorKind::MaxPayloadExceeded => (ErrorKind::Invalid, "the message is larger than NATS allows"),
        RequestErrorKind::InvalidSubject => (ErrorKind::Internal, "not a subject of NATS"),
        RequestErrorKind::Other => (ErrorKind::Unavailable, "the connection to NATS failed"),
    };
    PortError::new(operation, kind, detail).caused_by(source)
}

pub(super) fn internal_error(operation: &'static str, detail: &str) -> PortError {
    PortError::new(operation, ErrorKind::Internal, detail)
}

fn parse_answer<T: DeserializeOwned>(operation: &'static str, answer: &Message) -> Result<T> {
    match serde_json::from_slice(&answer.payload) {
        Ok(Response::Ok(it)) => Ok(it),
        Ok(Response::Err { error }) => Err(refusal_error(operation, error.error_code().0, &error.to_string())),
        Err(source) => Err(internal_error(operation, "a reply of NATS cannot be read").caused_by(source)),
    }
}

fn parse_acknowledgement(operation: &'static str, answer: &Message) -> std::result::Result<StoredMessage, Failure> {
    match serde_json::from_slice::<Response<Acknowledged>>(&answer.payload) {
        Ok(Response::Ok(it)) => Ok(StoredMessage {
            sequence: it.sequence,
            duplicate: it.duplicate,
        }),
        Ok(Response::Err { error }) => {
            let code = error.error_code().0;
            let failure = refusal_error(operation, code, &error.to_string());
            // Elections and restarts give status 503 with codes other than those of a full disk.
            let passing = error.code() == 503 && code != STORE_FAILED && !NO_ROOM.contains(&code);
            Err(if passing {
                Failure::Passing(failure)
            } else {
                Failure::Lasting(failure)
            })
        }
        Err(source) => Err(Failure::Lasting(
            internal_error(operation, "an acknowledgement of NATS cannot be read").caused_by(source),
        )),
    }
}

fn parse_addresses(url: &str) -> Result<Vec<ServerAddr>> {
    let wrong = |source: std::io::Error| {
        PortError::new("bus.connect", ErrorKind::Invalid, "`url` is not an address of NATS").caused_by(source)
    };
    url.split(',')
        .map(|it| it.trim().parse::<ServerAddr>().map_err(wrong))
        .collect()
}
