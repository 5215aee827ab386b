//! Publish, consume, request and serve: with tracing, limits, and one place that settles deliveries.

mod backoff;
mod decode;
mod requests;
mod settlement;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use decode::decode_message;
use domain::message::Message;
use domain::port::{DeadLetterId, Delivery, Frame, Position, Settler};
use domain::{Classify, ErrorKind, PortError};
use futures::{FutureExt, StreamExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settlement::{decide_settlement, given_up, settle_delivery};
use tokio::time::{Instant, timeout};
use tracing::{Instrument, debug, field, info_span, warn};

use crate::{Context, propagation};

/// Pause before a failed subscription is retried.
const RESUBSCRIBE: Duration = Duration::from_secs(1);

/// Settings in `[consumer]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Number of deliveries of a message before it becomes a dead letter; only failures that a retry may fix are
    /// retried. The default takes some 25 minutes, because a delivery to a killed process counts too.
    pub attempts_max: u32,
    /// Seconds between heartbeats to the bus while a handler works; must be well below the ack wait of the bus.
    pub heartbeat_secs: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            attempts_max: 20,
            heartbeat_secs: 5,
        }
    }
}

/// Data about a message that a handler gets in addition to its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Position of the message in its stream.
    pub position: Position,
    /// Number of this delivery, from 1.
    pub attempt: u32,
}

/// The result of running a handler.
enum Handled<E> {
    Outcome(Result<(), E>),
    Panicked,
    Unreadable(serde_json::Error),
}

impl Context {
    /// Publishes a message durably and returns its position. The trace continues at the consumers.
    ///
    /// # Errors
    ///
    /// Like [`domain::port::Bus::publish`].
    pub async fn publish_message<M: Message>(&self, message: &M) -> Result<Position, PortError> {
        let span = info_span!("publish", otel.kind = "producer", messaging.destination.name = M::SUBJECT, space = %message.space());
        let mut frame = Frame {
            subject: M::SUBJECT.to_owned(),
            space: message.space().to_string(),
            dedup_key: message.dedup_key(),
            payload: encode_json("bus.publish", message)?,
            ..Frame::default()
        };
        propagation::inject_trace_context(&span, &mut frame.headers);
        self.backends.bus.publish(frame).instrument(span).await
    }

    /// Passes every message of type `M` to `handler`, at most `in_flight_max` at a time, until shutdown; then finishes
    /// the messages in flight. A message may be delivered twice and out of order.
    ///
    /// A failure that [may pass](ErrorKind::is_retryable) is retried after 100 ms, 1 s, 2 s, 4 s ... 120 s, up to
    /// `consumer.attempts_max` deliveries. Every other failure makes the message a dead letter at once. Failures are
    /// logged here.
    ///
    /// # Errors
    ///
    /// Wrong settings in `[consumer]`.
    pub async fn consume_messages<M, E, F, Fut>(
        &self,
        group: &str,
        in_flight_max: usize,
        handler: F,
    ) -> anyhow::Result<()>
    where
        M: Message,
        E: Classify + Send + Sync + 'static,
        F: Fn(M, Meta) -> Fut,
        Fut: Future<Output = Result<(), E>>,
    {
        let buried = |_| std::future::ready(());
        self.consume_burying(group, in_flight_max, handler, buried).await
    }

    /// Does the same as [`consume_messages`](Context::consume_messages), and calls `buried` with the id of each message that became a
    /// dead letter, unless the process ends before.
    ///
    /// # Errors
    ///
    /// Like [`consume_messages`](Context::consume_messages).
    pub async fn consume_burying<M, E, F, Fut, B, After>(
        &self,
        group: &str,
        in_flight_max: usize,
        handler: F,
        buried: B,
    ) -> anyhow::Result<()>
    where
        M: Message,
        E: Classify + Send + Sync + 'static,
        F: Fn(M, Meta) -> Fut,
        Fut: Future<Output = Result<(), E>>,
        B: Fn(DeadLetterId) -> After,
        After: Future<Output = ()>,
    {
        let config: Config = self.read_section("consumer")?;
        let ready = self
            .readiness
            .register_component(format!("{group} consumes {}", M::SUBJECT));
        self.metrics.watch_backlog(M::SUBJECT, group);
        while !self.shutdown.is_cancelled() {
            let deliveries = match self.backends.bus.subscribe(M::SUBJECT, group).await {
                Ok(deliveries) => deliveries,
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        group, "cannot subscribe, will try again"
                    );
                    self.sleep_or_shutdown(RESUBSCRIBE).await;
                    continue;
                }
            };
            ready.set_is_up(true);
            let (config, handler, buried) = (&config, &handler, &buried);
            deliveries
                .take_until(self.shutdown.cancelled())
                .for_each_concurrent(in_flight_max.max(1), |delivery| async move {
                    match delivery {
                        Ok(delivery) => self.process_delivery(config, group, delivery, handler, buried).await,
                        Err(error) => warn!(error = &error as &dyn std::error::Error, group, "receive failed"),
                    }
                })
                .await;
            ready.set_is_up(false);
            if !self.shutdown.is_cancelled() {
                warn!(
                    group,
                    subject = M::SUBJECT,
                    "the subscription ended, will subscribe again"
                );
                self.sleep_or_shutdown(RESUBSCRIBE).await;
            }
        }
        Ok(())
    }

    async fn process_delivery<M, E, F, Fut, B, After>(
        &self,
        config: &Config,
        group: &str,
        delivery: Delivery,
        handler: &F,
        buried: &B,
    ) where
        M: Message,
        E: Classify + Send + Sync + 'static,
        F: Fn(M, Meta) -> Fut,
        Fut: Future<Output = Result<(), E>>,
        B: Fn(DeadLetterId) -> After,
        After: Future<Output = ()>,
    {
        let Delivery {
            frame,
            position,
            attempt,
            settler,
        } = delivery;
        let span = info_span!(
            "process",
            otel.kind = "consumer",
            messaging.destination.name = M::SUBJECT,
            group,
            attempt,
            position = position.0,
            space = frame.space,
            trace_id = field::Empty
        );
        propagation::adopt_trace_context(&span, &frame.headers);
        crate::telemetry::note_trace_id(&span);
        async {
            let started = Instant::now();
            let work = self.handle_with_retries(&frame.payload, Meta { position, attempt }, handler);
            let verdict = match with_heartbeat(work, settler.as_ref(), config).await {
                Handled::Outcome(outcome) => decide_settlement(outcome, attempt, config.attempts_max),
                Handled::Panicked => given_up("the handler panicked".to_owned()),
                Handled::Unreadable(error) => given_up(format!("the payload cannot be read: {error}")),
            };
            self.metrics
                .count_message(M::SUBJECT, group, verdict.to_outcome(), started.elapsed());
            match settle_delivery(settler, verdict).await {
                Ok(Some(letter)) => buried(letter).await,
                Ok(None) => (),
                Err(error) => warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot settle a message; it will be delivered again"
                ),
            }
        }
        .instrument(span)
        .await;
    }

    /// Passes a message to its handler. If the handler fails because a server is unreachable, the work is retried here,
    /// as soon as the server may be tried again. This also stops the intake, and costs no delivery attempt of the
    /// message.
    async fn handle_with_retries<M, E, F, Fut>(&self, payload: &[u8], meta: Meta, handler: &F) -> Handled<E>
    where
        M: Message,
        E: Classify + Send + Sync + 'static,
        F: Fn(M, Meta) -> Fut,
        Fut: Future<Output = Result<(), E>>,
    {
        let mut tries = 1;
        loop {
            let message = match decode_message::<M>(payload).await {
                Ok(message) => message,
                Err(error) => return Handled::Unreadable(error),
            };
            let Ok(outcome) = AssertUnwindSafe(handler(message, meta)).catch_unwind().await else {
                return Handled::Panicked;
            };
            let passes = |it: &E| matches!(it.kind(), ErrorKind::Unavailable | ErrorKind::Timeout);
            if !outcome.as_ref().is_err_and(passes) || !self.circuit_breakers.may_pass(tries) {
                return Handled::Outcome(outcome);
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return Handled::Outcome(outcome),
                () = self.circuit_breakers.may_try() => tries += 1,
            }
        }
    }

    async fn sleep_or_shutdown(&self, time: Duration) {
        // Returns after the pause or at shutdown; the loop checks which.
        timeout(time, self.shutdown.cancelled()).await.unwrap_or(());
    }
}

async fn with_heartbeat<T>(work: impl Future<Output = T>, settler: &dyn Settler, config: &Config) -> T {
    let mut work = pin!(work);
    let period = Duration::from_secs(config.heartbeat_secs.max(1));
    loop {
        match timeout(period, work.as_mut()).await {
            Ok(outcome) => return outcome,
            Err(_) => {
                if let Err(error) = settler.extend().await {
                    debug!(error = &error as &dyn std::error::Error, "cannot extend the ack wait");
                }
            }
        }
    }
}

fn encode_json<T: Serialize>(operation: &'static str, value: &T) -> Result<Vec<u8>, PortError> {
    serde_json::to_vec(value)
        .map_err(|source| PortError::new(operation, ErrorKind::Internal, "cannot be written as JSON").caused_by(source))
}
