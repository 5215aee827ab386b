//! Requests and their servers (request/reply, RPC): as values inside one process, as JSON over the bus otherwise.

use std::collections::BTreeMap;
use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use domain::message::Request;
use domain::port::{Frame, Inquiry};
use domain::{Classify, ErrorKind, PortError};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use tokio::time::{Instant, timeout};
use tracing::{Instrument, debug, field, info_span, warn};

use super::{RESUBSCRIBE, encode_json};
use crate::in_process::{LocalRequest, Unserved};
use crate::{Context, propagation, with_deadline};

/// A request as a server gets it, whichever way it came.
struct Call<R: Request> {
    request: Result<R, PortError>,
    headers: BTreeMap<String, String>,
    reply: Box<dyn FnOnce(Result<R::Reply, PortError>) + Send>,
    abandoned: BoxFuture<'static, ()>,
}

impl<R: Request> From<LocalRequest<R>> for Call<R> {
    fn from(local_request: LocalRequest<R>) -> Call<R> {
        let LocalRequest {
            request,
            headers,
            reply,
            abandoned,
        } = local_request;
        Call {
            request: Ok(request),
            headers,
            // The sender of the request has stopped waiting, so the reply goes nowhere.
            reply: Box::new(move |outcome| drop(reply.send(outcome))),
            abandoned: abandoned.cancelled_owned().boxed(),
        }
    }
}

impl<R: Request> From<Inquiry> for Call<R> {
    fn from(inquiry: Inquiry) -> Call<R> {
        let Inquiry {
            frame,
            reply,
            abandoned,
        } = inquiry;
        let unreadable =
            |error| PortError::new("serve", ErrorKind::Invalid, "the request cannot be read").caused_by(error);
        Call {
            request: serde_json::from_slice(&frame.payload).map_err(unreadable),
            headers: frame.headers,
            reply: Box::new(|outcome| reply(outcome.and_then(|it| encode_json("serve", &it)))),
            abandoned,
        }
    }
}

impl Context {
    /// Sends a request to a server of `R`, in this process if there is one, and returns the reply. The trace continues
    /// there, and the work stops after `patience`.
    ///
    /// # Errors
    ///
    /// Like [`domain::port::Bus::request`].
    pub fn send_request<R: Request>(
        &self,
        request: R,
        patience: Duration,
    ) -> BoxFuture<'_, Result<R::Reply, PortError>> {
        // Boxed: an opaque future would be laid out by every crate that polls it, and is too deep for some.
        Box::pin(async move {
            let span = info_span!("request", otel.kind = "client", messaging.destination.name = R::SUBJECT);
            let mut headers = BTreeMap::new();
            propagation::inject_trace_context(&span, &mut headers);
            propagation::set_deadline(patience, &mut headers);
            let asked = self.in_process.ask_server(Unserved { request, headers }, patience);
            let Unserved { request, headers } = match asked.instrument(span.clone()).await {
                Ok(outcome) => return outcome,
                Err(unserved) => unserved,
            };
            let frame = Frame {
                subject: R::SUBJECT.to_owned(),
                headers,
                payload: encode_json("bus.request", &request)?,
                ..Frame::default()
            };
            let reply = self.backends.bus.request(frame, patience).instrument(span).await?;
            serde_json::from_slice(&reply).map_err(|source| {
                let detail = format!("reply to {} cannot be read", R::SUBJECT);
                PortError::new("bus.request", ErrorKind::Internal, detail).caused_by(source)
            })
        })
    }

    /// Answers every request of `R`, at most `in_flight_max` at a time, until shutdown and until all tokens of
    /// [`keep_serving`](Context::keep_serving) are dropped. A request is skipped if its sender has stopped waiting, and
    /// the work on it is dropped when the sender stops waiting.
    ///
    /// # Errors
    /// None; a subscription that fails is tried again.
    pub async fn serve_requests<R, E, F, Fut>(&self, in_flight_max: usize, handler: F) -> anyhow::Result<()>
    where
        R: Request,
        E: Classify + Send + Sync + 'static,
        F: Fn(R) -> Fut,
        Fut: Future<Output = Result<R::Reply, E>>,
    {
        let is_ready = self.readiness.register_component(format!("serves {}", R::SUBJECT));
        while !self.shutdown.is_cancelled() {
            let inquiries = match self.backends.bus.serve(R::SUBJECT).await {
                Ok(inquiries) => inquiries,
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        subject = R::SUBJECT,
                        "cannot serve, will try again"
                    );
                    self.sleep_or_shutdown(RESUBSCRIBE).await;
                    continue;
                }
            };
            let over_bus = inquiries
                .map(|it| Some(Call::from(it)))
                .chain(stream::once(ready(None)));
            let in_process = self.in_process.add_server::<R>().map(|it| Some(Call::from(it)));
            // A subscription that ends, ends both.
            let calls = stream::select(over_bus, in_process)
                .take_while(|it| ready(it.is_some()))
                .filter_map(ready);
            is_ready.set_is_up(true);
            let handler = &handler;
            calls
                .take_until(self.nobody_asks())
                .for_each_concurrent(in_flight_max.max(1), |call| {
                    self.answer_call::<R, E, F, Fut>(call, handler)
                })
                .await;
            is_ready.set_is_up(false);
        }
        Ok(())
    }

    async fn answer_call<R, E, F, Fut>(&self, call: Call<R>, handler: &F)
    where
        R: Request,
        E: Classify + Send + Sync + 'static,
        F: Fn(R) -> Fut,
        Fut: Future<Output = Result<R::Reply, E>>,
    {
        let Call {
            request,
            headers,
            reply,
            abandoned,
        } = call;
        let span = info_span!(
            "serve",
            otel.kind = "server",
            messaging.destination.name = R::SUBJECT,
            trace_id = field::Empty
        );
        propagation::adopt_trace_context(&span, &headers);
        crate::telemetry::note_trace_id(&span);
        let left = propagation::time_left(&headers);
        let work = async {
            let started = Instant::now();
            let outcome = match request {
                // Looked at first: a bound of no time still begins the work.
                _ if left.is_some_and(|it| it.is_zero()) => Err(asker_gone_error(R::SUBJECT)),
                Ok(request) => tokio::select! {
                    biased;
                    outcome = run_within_time_left(left, AssertUnwindSafe(handler(request)).catch_unwind(), R::SUBJECT) => outcome,
                    () = abandoned => Err(asker_gone_error(R::SUBJECT)),
                },
                Err(error) => Err(error),
            };
            if let Err(error) = &outcome {
                let cause = error as &dyn std::error::Error;
                match error.kind() {
                    // The asker decides whether this is a failure: the first chat of a user asks about a space that does
                    // not exist yet.
                    ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::Conflict => {
                        debug!(error = cause, "request refused");
                    }
                    ErrorKind::Exhausted
                    | ErrorKind::Timeout
                    | ErrorKind::Unavailable
                    | ErrorKind::Damaged
                    | ErrorKind::Internal => warn!(error = cause, "request failed"),
                }
            }
            self.metrics.count_served_request(
                R::SUBJECT,
                outcome.as_ref().err().map(Classify::kind),
                started.elapsed(),
            );
            reply(outcome);
        };
        work.instrument(span).await;
    }
}

async fn run_within_time_left<T, E: Classify + Send + Sync + 'static>(
    left: Option<Duration>,
    work: impl Future<Output = std::thread::Result<Result<T, E>>>,
    subject: &'static str,
) -> Result<T, PortError> {
    let outcome = match left {
        Some(left) => timeout(left, with_deadline(left, work)).await,
        None => Ok(work.await),
    };
    match outcome {
        Err(_) => Err(asker_gone_error(subject)),
        Ok(Err(_)) => Err(PortError::new(subject, ErrorKind::Internal, "the handler panicked")),
        Ok(Ok(outcome)) => {
            outcome.map_err(|error| PortError::new(subject, error.kind(), error.to_string()).caused_by(error))
        }
    }
}

fn asker_gone_error(subject: &'static str) -> PortError {
    PortError::new(subject, ErrorKind::Timeout, "the caller's deadline passed")
}
