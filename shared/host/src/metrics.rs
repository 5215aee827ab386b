//! The metrics of a process, in the OpenMetrics text format that Prometheus reads.
//!
//! Names of memory operations follow the memory semantic conventions v0.1.0 (operation duration, recall result count,
//! top similarity, items total, bytes total). Labels have few values: routes, subjects, groups, operations and outcomes
//! are closed sets; spaces, ids and texts are never labels.

mod machine;
mod model;
mod proxy;
mod reading;
mod totals;
mod webhook;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::ErrorKind;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::time::timeout;

use crate::Backends;
pub use model::ModelOutcome;
pub use proxy::ProxyOutcome;
use totals::count_records_and_units;
pub use webhook::WebhookOutcome;

/// Maximum count of unfinished erasures. The help text of the metric names this number.
const UNFINISHED_MAX: usize = 1_000;

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    Done,
    Retried,
    Dead,
}

/// An operation of a caller on a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Adds records.
    Store,
    /// Asks a question.
    Recall,
    /// Erases a space.
    Delete,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteOnly {
    method: String,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Delivered {
    subject: String,
    group: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Served {
    subject: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Subject {
    subject: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Consumer {
    subject: String,
    group: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Done {
    operation: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Item {
    kind: &'static str,
}

type Times<L> = Family<L, Histogram, fn() -> Histogram>;

/// The metrics of one process; clones share them.
#[derive(Clone)]
pub struct Metrics(Arc<Families>);

struct Families {
    registry: Registry,
    http: Family<Route, Counter>,
    http_times: Times<RouteOnly>,
    http_in_flight: Gauge,
    messages: Family<Delivered, Counter>,
    message_times: Times<Consumer>,
    served: Family<Served, Counter>,
    served_times: Times<Subject>,
    backlog: Family<Consumer, Gauge>,
    dead_letters: Gauge,
    unfinished_erasures: Gauge,
    operations: Times<Done>,
    results: Histogram,
    similarity: Histogram,
    items: Family<Item, Gauge<i64, AtomicI64>>,
    bytes: Counter<u64, AtomicU64>,
    machine: machine::Machine,
    model: model::Model,
    proxy: proxy::Proxy,
    readings: reading::Readings,
    webhooks: webhook::Webhooks,
    watched: Mutex<BTreeSet<(&'static str, String)>>,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut families = Families {
            registry: Registry::default(),
            http: Family::default(),
            http_times: Family::new_with_constructor(seconds_histogram),
            http_in_flight: Gauge::default(),
            messages: Family::default(),
            message_times: Family::new_with_constructor(seconds_histogram),
            served: Family::default(),
            served_times: Family::new_with_constructor(seconds_histogram),
            backlog: Family::default(),
            dead_letters: Gauge::default(),
            unfinished_erasures: Gauge::default(),
            operations: Family::new_with_constructor(seconds_histogram),
            results: Histogram::new([0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]),
            similarity: Histogram::new((1..=10).map(|it| f64::from(it) / 10.0)),
            items: Family::default(),
            bytes: Counter::default(),
            machine: machine::Machine::default(),
            model: model::Model::default(),
            proxy: proxy::Proxy::default(),
            readings: reading::Readings::default(),
            webhooks: webhook::Webhooks::default(),
            watched: Mutex::default(),
        };
        families.register_all();
        Metrics(Arc::new(families))
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Families {
    fn register_all(&mut self) {
        let it = &mut self.registry;
        it.register("http_requests", "HTTP requests answered", self.http.clone());
        it.register(
            "http_request_duration_seconds",
            "Time to answer an HTTP request",
            self.http_times.clone(),
        );
        it.register(
            "http_requests_in_flight",
            "HTTP requests being answered",
            self.http_in_flight.clone(),
        );
        it.register("mnemic_messages", "Durable messages settled", self.messages.clone());
        it.register(
            "mnemic_message_duration_seconds",
            "Time to handle a durable message",
            self.message_times.clone(),
        );
        it.register(
            "mnemic_requests_served",
            "Requests of other services answered",
            self.served.clone(),
        );
        it.register(
            "mnemic_request_duration_seconds",
            "Time to answer another service",
            self.served_times.clone(),
        );
        it.register(
            "mnemic_backlog",
            "Durable messages that a consumer group has not settled",
            self.backlog.clone(),
        );
        it.register(
            "mnemic_dead_letters",
            "Messages that became dead letters",
            self.dead_letters.clone(),
        );
        it.register(
            "mnemic_unfinished_erasures",
            "Deleted spaces whose data a store still holds, at most 1,000",
            self.unfinished_erasures.clone(),
        );
        it.register(
            "memory_operation_duration_seconds",
            "Time of a memory operation",
            self.operations.clone(),
        );
        it.register(
            "memory_recall_result_count",
            "Items of evidence per question",
            self.results.clone(),
        );
        it.register(
            "memory_recall_top_similarity",
            "Probability of the best item of evidence",
            self.similarity.clone(),
        );
        let items = "Items stored, over the first 20,000 spaces by name";
        it.register("memory_items", items, self.items.clone());
        it.register("memory_bytes", "Bytes of text accepted", self.bytes.clone());
        self.machine.register_in(it);
        self.model.register_in(it);
        self.proxy.register_in(it);
        self.readings.register_in(it);
        self.webhooks.register_in(it);
    }
}

impl Metrics {
    /// Counts one answered HTTP request; `route` is the pattern that matched, never the path.
    pub fn count_http_request(&self, method: &str, route: &str, status: u16, time: Duration) {
        let only = RouteOnly {
            method: method.to_owned(),
            route: route.to_owned(),
        };
        self.0.http_times.get_or_create(&only).observe(time.as_secs_f64());
        self.0
            .http
            .get_or_create(&Route {
                method: only.method,
                route: only.route,
                status,
            })
            .inc();
    }

    /// Sets the number of HTTP requests being answered.
    pub fn http_in_flight(&self, requests: usize) {
        self.0.http_in_flight.set(i64::try_from(requests).unwrap_or(i64::MAX));
    }

    /// Records one memory operation and whether it succeeded.
    pub fn observe_operation(&self, operation: Operation, ok: bool, time: Duration) {
        let operation = match operation {
            Operation::Store => "store",
            Operation::Recall => "recall",
            Operation::Delete => "delete",
        };
        let done = Done {
            operation,
            outcome: if ok { "ok" } else { "error" },
        };
        self.0.operations.get_or_create(&done).observe(time.as_secs_f64());
    }

    /// Records the result of a question: the number of evidence items, and the probability of the best one.
    pub fn observe_recall(&self, results: usize, top: Option<f32>) {
        self.0
            .results
            .observe(u32::try_from(results).unwrap_or(u32::MAX).into());
        if let Some(top) = top {
            self.0.similarity.observe(top.into());
        }
    }

    /// Adds bytes of accepted text.
    pub fn stored_bytes(&self, bytes: u64) {
        self.0.bytes.inc_by(bytes);
    }

    pub(crate) fn count_message(&self, subject: &str, group: &str, outcome: Outcome, time: Duration) {
        let consumer = Consumer {
            subject: subject.to_owned(),
            group: group.to_owned(),
        };
        self.0
            .message_times
            .get_or_create(&consumer)
            .observe(time.as_secs_f64());
        let outcome = match outcome {
            Outcome::Done => "done",
            Outcome::Retried => "retried",
            Outcome::Dead => "dead",
        };
        let delivered = Delivered {
            subject: consumer.subject,
            group: consumer.group,
            outcome,
        };
        self.0.messages.get_or_create(&delivered).inc();
    }

    pub(crate) fn count_served_request(&self, subject: &str, error: Option<ErrorKind>, time: Duration) {
        let outcome = error.map_or("ok", ErrorKind::name);
        self.0
            .served
            .get_or_create(&Served {
                subject: subject.to_owned(),
                outcome,
            })
            .inc();
        self.0
            .served_times
            .get_or_create(&Subject {
                subject: subject.to_owned(),
            })
            .observe(time.as_secs_f64());
    }

    pub(crate) fn watch_backlog(&self, subject: &'static str, group: &str) {
        self.0
            .watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert((subject, group.to_owned()));
    }

    /// Updates the metrics that are read from the stores. If a store does not answer in time, its metrics keep their
    /// last value.
    pub(crate) async fn refresh_from_stores(&self, backends: &Backends, patience: Duration) {
        let watched = self.0.watched.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (subject, group) in watched {
            if let Ok(Ok(backlog)) = timeout(patience, backends.bus.backlog(subject, &group)).await {
                let consumer = Consumer {
                    subject: subject.to_owned(),
                    group,
                };
                self.0
                    .backlog
                    .get_or_create(&consumer)
                    .set(i64::try_from(backlog).unwrap_or(i64::MAX));
            }
        }
        if let Ok(Ok(letters)) = timeout(patience, backends.dead_letters.count()).await {
            self.0.dead_letters.set(i64::try_from(letters).unwrap_or(i64::MAX));
        }
        let unfinished = backends.records.unfinished_erasures(None, UNFINISHED_MAX);
        if let Ok(Ok(unfinished)) = timeout(patience, unfinished).await {
            let unfinished = i64::try_from(unfinished.len()).unwrap_or(i64::MAX);
            self.0.unfinished_erasures.set(unfinished);
        }
        if let Ok(Some((records, units))) = timeout(patience, count_records_and_units(backends)).await {
            self.0.items.get_or_create(&Item { kind: "record" }).set(records);
            self.0.items.get_or_create(&Item { kind: "unit" }).set(units);
        }
    }

    pub(crate) fn to_openmetrics_text(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        text::encode(&mut out, &self.0.registry)?;
        Ok(out)
    }
}

/// Returns a histogram from 1 ms to 30 s: from a read in memory to a language model call.
fn seconds_histogram() -> Histogram {
    Histogram::new([
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    ])
}
