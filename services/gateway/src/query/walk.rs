//! What every strategy walks with: requests to router and reader under one budget, and what is told of each.

use std::time::Duration;

use domain::PortError;
use domain::id::UnitId;
use domain::message::{PlanV1, PlannedV1, Request, RouteV1, RoutedV1, ToolV1};
use futures::future::join_all;
use serde_json::Value;
use tokio::time::Instant;
use tracing::{Instrument, info_span, warn};

use super::overlap::Overlap;
use super::{ms, why};
use crate::api::{PathStep, StepTime};
use crate::state::App;

/// Requests that a walk may make, whatever its strategy.
const REQUESTS_MAX: usize = 64;
/// Share of the time left that a walk may take; the rest is for the route that ends it, and for the answer.
const SHARE: f64 = 0.6;
/// Units that a walk may hand to the router.
const GATHERED_MAX: usize = 64;
/// Steps of a path that are told, and characters of what a step was about.
const TOLD_MAX: usize = 128;
const WHAT_MAX: usize = 200;

/// A walk through the memory.
pub(super) struct Walk<'a> {
    app: &'a App,
    /// The question, with its time and filter.
    pub(super) asked: &'a RouteV1,
    strategy: &'static str,
    started: Instant,
    deadline: Instant,
    requests: usize,
    log: Log,
}

/// What a walk has to tell.
#[derive(Default)]
pub(super) struct Log {
    /// Its path, in order.
    pub(super) path: Vec<PathStep>,
    /// Milliseconds by step.
    pub(super) steps: Vec<StepTime>,
    /// What could not be used, each once.
    pub(super) degraded: Vec<String>,
}

impl<'a> Walk<'a> {
    /// Sets out with a share of `time`.
    pub(super) fn new(app: &'a App, asked: &'a RouteV1, strategy: &'static str, time: Duration) -> Walk<'a> {
        let started = Instant::now();
        Walk {
            app,
            asked,
            strategy,
            started,
            deadline: started + time.mul_f64(SHARE),
            requests: REQUESTS_MAX,
            log: Log::default(),
        }
    }

    /// Says whether no further step can be made; it is told why.
    pub(super) fn over(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            self.degrade("stopped early, the time of the budget was short");
            return true;
        }
        if self.requests == 0 {
            self.degrade("stopped early, after as many steps as it may make");
        }
        self.requests == 0
    }

    /// Asks the reader for the parts of the question; without it, the question is one part.
    pub(super) async fn plan(&mut self) -> PlannedV1 {
        let request = PlanV1 {
            space: self.asked.space.clone(),
            question: self.asked.question.clone(),
        };
        let planned = self.ask("plan", vec![request]).await.pop().flatten();
        planned
            .filter(|it| !it.subgoals.is_empty())
            .unwrap_or_else(|| PlannedV1 {
                subgoals: vec![self.asked.question.clone()],
                cues: text::stems(&self.asked.question),
                model_calls: 0,
            })
    }

    /// Asks the router once for each question, all at a time: `ranked` units and `scenes`, no pack.
    pub(super) async fn routes(&mut self, part: &str, questions: &[String], listed: Listed) -> Vec<Option<RoutedV1>> {
        let request = |question: &String| RouteV1 {
            question: question.clone(),
            tokens: 0,
            explain: 0,
            ranked: listed.ranked,
            scenes: listed.scenes,
            focus: Vec::new(),
            ..self.asked.clone()
        };
        let requests = questions.iter().map(request).collect();
        self.ask(part, requests).await
    }

    /// Weighs what the question shares with texts by how rare its words are in the space.
    pub(super) async fn weighed(&mut self, overlap: Overlap) -> Overlap {
        let question = [self.asked.question.clone()];
        let read = self.routes("anchors", &question, Listed::default()).await;
        let words = read.into_iter().flatten().next().map(|it| it.words);
        overlap.weighed(&words.unwrap_or_default())
    }

    /// Calls tools, all at a time. A call that gave nothing is none.
    pub(super) async fn tools(&mut self, part: &str, calls: Vec<(&str, Value)>) -> Vec<Option<Value>> {
        let names: Vec<String> = calls.iter().map(|it| it.0.to_owned()).collect();
        let request = |(name, arguments): (&str, Value)| ToolV1 {
            space: self.asked.space.clone(),
            name: name.to_owned(),
            arguments,
            as_of: self.asked.as_of,
        };
        let requests = calls.into_iter().map(request).collect();
        let replies = self.ask(part, requests).await;
        let mut out = Vec::with_capacity(replies.len());
        for (name, reply) in names.iter().zip(replies) {
            let reply = reply.unwrap_or_default();
            if let Some(error) = reply.error.filter(|it| it.code != "not_found") {
                self.degrade(&format!("the tool {name} gave nothing ({})", error.code));
            }
            out.push(reply.result);
        }
        out
    }

    /// Calls a tool; null if it gave nothing.
    pub(super) async fn tool(&mut self, part: &str, name: &str, arguments: Value) -> Value {
        let reply = self.tools(part, vec![(name, arguments)]).await.pop();
        reply.flatten().unwrap_or_default()
    }

    /// Tells a step: what it was about, how much it found, what was kept of it.
    pub(super) fn tell(&mut self, step: &str, what: &str, found: usize, kept: &[UnitId]) {
        if self.log.path.len() < TOLD_MAX {
            self.log.path.push(PathStep {
                step: step.to_owned(),
                what: what.chars().take(WHAT_MAX).collect(),
                found: found.try_into().unwrap_or(u32::MAX),
                kept: kept.iter().take(GATHERED_MAX).copied().collect(),
            });
        }
    }

    /// Says what went wrong, once.
    pub(super) fn degrade(&mut self, why: &str) {
        let told = format!("{}: {why}", self.strategy);
        if !self.log.degraded.contains(&told) {
            self.log.degraded.push(told);
        }
    }

    /// Ends the walk: what it has to tell, its own time first.
    pub(super) fn end(mut self) -> Log {
        let whole = StepTime {
            step: self.strategy.to_owned(),
            ms: ms(self.started),
        };
        self.log.steps.insert(0, whole);
        self.log
    }

    /// Makes requests at a time; those that fail, and those there is no time or right for any more, give none.
    async fn ask<R: Request>(&mut self, part: &str, mut requests: Vec<R>) -> Vec<Option<R::Reply>> {
        let wanted = requests.len();
        if requests.is_empty() || self.over() {
            return (0..wanted).map(|_| None).collect();
        }
        requests.truncate(self.requests);
        self.requests -= requests.len();
        let begun = Instant::now();
        let patience = self.deadline.saturating_duration_since(begun);
        let span = info_span!("step", strategy = self.strategy, part, requests = requests.len());
        let context = &self.app.context;
        let replies = join_all(requests.iter().map(|it| context.request(it, patience)));
        let replies = replies.instrument(span).await;
        self.log.steps.push(StepTime {
            step: format!("{}.{part}", self.strategy),
            ms: ms(begun),
        });
        let mut out = Vec::with_capacity(wanted);
        for reply in replies {
            out.push(reply.map_err(|error| self.failed(part, &error)).ok());
        }
        out.resize_with(wanted, || None);
        out
    }

    fn failed(&mut self, part: &str, error: &PortError) {
        warn!(
            error = error as &dyn std::error::Error,
            strategy = self.strategy,
            part,
            "a step failed"
        );
        self.degrade(&format!("the step {part} {}", why(error)));
    }
}

/// How much a route lists.
#[derive(Clone, Copy, Default)]
pub(super) struct Listed {
    pub(super) ranked: u32,
    pub(super) scenes: u32,
}

/// Returns the units gathered, each once, no more than the router takes.
pub(super) fn gathered(units: impl IntoIterator<Item = UnitId>) -> Vec<UnitId> {
    let mut out = Vec::new();
    for unit in units {
        if !out.contains(&unit) && out.len() < GATHERED_MAX {
            out.push(unit);
        }
    }
    out
}
