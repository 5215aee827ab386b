//! Requests and their servers: as values inside one process, as JSON over the bus otherwise.

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
use tracing::{Instrument, field, info_span, warn};

use super::in_process::{LocalRequest, Unserved};
use super::{RESUBSCRIBE, encode};
use crate::{Context, propagation, within};

/// Asks whoever serves `R`, those of this process first.
pub(crate) async fn request<R: Request>(
    context: &Context,
    request: R,
    patience: Duration,
) -> Result<R::Reply, PortError> {
    let span = info_span!("request", otel.kind = "client", messaging.destination.name = R::SUBJECT);
    let mut headers = BTreeMap::new();
    propagation::inject(&span, &mut headers);
    propagation::set_deadline(patience, &mut headers);
    let asked = context.in_process.ask(Unserved { request, headers }, patience);
    let Unserved { request, headers } = match asked.instrument(span.clone()).await {
        Ok(outcome) => return outcome,
        Err(unserved) => unserved,
    };
    let frame = Frame {
        subject: R::SUBJECT.to_owned(),
        headers,
        payload: encode("bus.request", &request)?,
        ..Frame::default()
    };
    let reply = context.backends.bus.request(frame, patience).instrument(span).await?;
    serde_json::from_slice(&reply).map_err(|source| {
        PortError::new(
            "bus.request",
            ErrorKind::Internal,
            format!("reply to {} cannot be read", R::SUBJECT),
        )
        .caused_by(source)
    })
}

/// A request as a server gets it, whichever way it came.
struct Call<R: Request> {
    request: Result<R, PortError>,
    headers: BTreeMap<String, String>,
    reply: Box<dyn FnOnce(Result<R::Reply, PortError>) + Send>,
    abandoned: BoxFuture<'static, ()>,
}

impl<R: Request> From<LocalRequest<R>> for Call<R> {
    fn from(asked: LocalRequest<R>) -> Call<R> {
        let LocalRequest {
            request,
            headers,
            reply,
            abandoned,
        } = asked;
        Call {
            request: Ok(request),
            headers,
            // An asker that has run out of patience is gone; the reply goes nowhere.
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
            reply: Box::new(|outcome| reply(outcome.and_then(|it| encode("serve", &it)))),
            abandoned,
        }
    }
}

impl Context {
    /// Answers every request of `R`, at most `in_flight_max` at a time, until shutdown and until those who
    /// [`keep_serving`](Context::keep_serving) are done. A request whose asker has
    /// stopped waiting is not begun, and the work on it is dropped when the asker stops.
    ///
    /// # Errors
    /// None; a subscription that fails is tried again.
    pub async fn serve<R, E, F, Fut>(&self, in_flight_max: usize, handler: F) -> anyhow::Result<()>
    where
        R: Request,
        E: Classify + Send + Sync + 'static,
        F: Fn(R) -> Fut,
        Fut: Future<Output = Result<R::Reply, E>>,
    {
        let is_ready = self.readiness.expect(format!("serves {}", R::SUBJECT));
        while !self.shutdown.is_cancelled() {
            let inquiries = match self.backends.bus.serve(R::SUBJECT).await {
                Ok(inquiries) => inquiries,
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        subject = R::SUBJECT,
                        "cannot serve, will try again"
                    );
                    self.pause(RESUBSCRIBE).await;
                    continue;
                }
            };
            let over_bus = inquiries
                .map(|it| Some(Call::from(it)))
                .chain(stream::once(ready(None)));
            let in_process = self.in_process.serve::<R>().map(|it| Some(Call::from(it)));
            // A subscription that ends, ends both.
            let calls = stream::select(over_bus, in_process)
                .take_while(|it| ready(it.is_some()))
                .filter_map(ready);
            is_ready.set(true);
            let handler = &handler;
            calls
                .take_until(self.nobody_asks())
                .for_each_concurrent(in_flight_max.max(1), |call| self.answer::<R, E, F, Fut>(call, handler))
                .await;
            is_ready.set(false);
        }
        Ok(())
    }

    async fn answer<R, E, F, Fut>(&self, call: Call<R>, handler: &F)
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
        propagation::adopt(&span, &headers);
        crate::telemetry::note_trace_id(&span);
        let left = propagation::time_left(&headers);
        let work = async {
            let started = Instant::now();
            let outcome = match request {
                // Looked at first: a bound of no time still begins the work.
                _ if left.is_some_and(|it| it.is_zero()) => Err(gone(R::SUBJECT)),
                Ok(request) => tokio::select! {
                    biased;
                    outcome = bounded(left, AssertUnwindSafe(handler(request)).catch_unwind(), R::SUBJECT) => outcome,
                    () = abandoned => Err(gone(R::SUBJECT)),
                },
                Err(error) => Err(error),
            };
            if let Err(error) = &outcome {
                warn!(error = error as &dyn std::error::Error, "request failed");
            }
            self.metrics.served(
                R::SUBJECT,
                outcome.as_ref().err().map(Classify::kind),
                started.elapsed(),
            );
            reply(outcome);
        };
        work.instrument(span).await;
    }
}

async fn bounded<T, E: Classify + Send + Sync + 'static>(
    left: Option<Duration>,
    work: impl Future<Output = std::thread::Result<Result<T, E>>>,
    subject: &'static str,
) -> Result<T, PortError> {
    let outcome = match left {
        Some(left) => timeout(left, within(left, work)).await,
        None => Ok(work.await),
    };
    match outcome {
        Err(_) => Err(gone(subject)),
        Ok(Err(_)) => Err(PortError::new(subject, ErrorKind::Internal, "the handler panicked")),
        Ok(Ok(outcome)) => {
            outcome.map_err(|error| PortError::new(subject, error.kind(), error.to_string()).caused_by(error))
        }
    }
}

fn gone(subject: &'static str) -> PortError {
    PortError::new(subject, ErrorKind::Timeout, "the asker stopped waiting")
}
