//! The answer of a language model, from the lines of the pack alone. Its reply counts only as far as it names lines that hold
//! it up; what cannot be used leaves the answer as it was read without a model.

mod prompt;
mod reply;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use domain::evidence::{Answer, NearMiss, PackItem, Sufficiency, Verdict};
use domain::message::{AnswerV1, AnsweredV1};
use domain::port::{self, Completion, LanguageModel, Prompt, Usage};
use domain::{Classify, ErrorKind, PortError};
use host::Metrics;
use host::metrics::ModelOutcome;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use reply::{Reply, Unreadable};

/// Calls for one answer: a reply that cannot be read is asked for once more.
const CALLS_MAX: u32 = 2;
/// How long a reader that is to stop still waits for a reply: less than a process may take to end.
const STOPPING: Duration = Duration::from_secs(10);
/// Near misses of a refusal, and characters of each that are shown.
const MISSES: usize = 2;
const SHOWN: usize = 200;

/// Answers with a language model.
#[derive(Clone)]
pub(crate) struct Asker {
    model: Arc<dyn LanguageModel>,
    metrics: Metrics,
    shutdown: CancellationToken,
}

impl Asker {
    pub(crate) fn new(model: Arc<dyn LanguageModel>, metrics: Metrics, shutdown: CancellationToken) -> Asker {
        Asker {
            model,
            metrics,
            shutdown,
        }
    }

    /// Returns what was read, answered by the model if it gives something that can be used.
    pub(crate) async fn answer(&self, request: &AnswerV1, mut read: AnsweredV1) -> AnsweredV1 {
        let (mut calls, mut usage) = (0, Usage::default());
        let mut why: Option<String> = None;
        while calls < request.model_calls.min(CALLS_MAX) {
            let prompt = prompt::of(request, why.is_some());
            let begun = Instant::now();
            let outcome = self.complete(&prompt).await;
            let (replied, cost) = match outcome {
                Ok(completion) => (understood(&completion), completion.usage),
                Err(error) => {
                    why = Some(error.detail().to_owned());
                    // Without a cause nothing was asked: the model is known to be away, or there is no time for it.
                    if error.kind() != ErrorKind::Unavailable || error.source().is_some() {
                        calls += 1;
                        self.metrics
                            .model(ModelOutcome::Failed, Usage::default(), begun.elapsed());
                        warn!(error = &error as &dyn Error, "no answer of the language model");
                    }
                    break;
                }
            };
            calls += 1;
            usage.add(cost);
            let outcome = match &replied {
                Ok(_) => ModelOutcome::Done,
                Err(_) => ModelOutcome::Unreadable,
            };
            self.metrics.model(outcome, cost, begun.elapsed());
            match replied {
                Ok(reply) => {
                    let answered = judged(request, &read, reply);
                    return AnsweredV1 {
                        model_calls: calls,
                        usage,
                        ..answered
                    };
                }
                Err(unreadable) => why = Some(unreadable.told().to_owned()),
            }
        }
        (read.model_calls, read.usage) = (calls, usage);
        read.degraded
            .extend(why.map(|it| format!("no answer of the language model: {it}; answered without it")));
        read
    }

    /// Asks, and waits no longer than a reader that is to stop may.
    async fn complete(&self, prompt: &Prompt) -> port::Result<Completion> {
        let stopping = async {
            self.shutdown.cancelled().await;
            sleep(STOPPING).await;
        };
        tokio::select! {
            outcome = self.model.complete(prompt) => outcome,
            () = stopping => Err(PortError::new("model.complete", ErrorKind::Timeout, "the reader stops")),
        }
    }
}

fn understood(completion: &Completion) -> Result<Reply, Unreadable> {
    reply::read(&completion.text).map_err(|it| if completion.cut { Unreadable::Cut } else { it })
}

/// Says what a reply comes to. Without a line that there is an answer stands on nothing, and is none.
fn judged(request: &AnswerV1, read: &AnsweredV1, reply: Reply) -> AnsweredV1 {
    let items = &request.pack.items;
    let cited: Vec<&PackItem> = reply
        .lines
        .iter()
        .filter_map(|it| items.get(it.checked_sub(1)?))
        .collect();
    match reply.answer {
        Some(text) if !cited.is_empty() => accepted(request, read, text, &cited),
        Some(_) => refused(
            items,
            read,
            "the answer of the language model named no line that holds it up".to_owned(),
        ),
        None => {
            let missing = reply.reason.map_or(String::new(), |it| format!(": {it}"));
            refused(
                items,
                read,
                format!("the language model finds no answer in the evidence{missing}"),
            )
        }
    }
}

fn accepted(request: &AnswerV1, read: &AnsweredV1, text: String, cited: &[&PackItem]) -> AnsweredV1 {
    let supports = cited.iter().map(|it| it.unit).collect::<Vec<_>>();
    let shares = |it: &Answer| it.supports.iter().any(|unit| supports.contains(unit));
    let conflicting = read.verdict.status == Sufficiency::Conflicting && read.answer.as_ref().is_some_and(shares);
    let verdict = match conflicting {
        true => read.verdict.clone(),
        false => Verdict {
            status: Sufficiency::Supported,
            code: None,
            reasons: vec!["a language model answers from the lines it names".to_owned()],
            nearest: Vec::new(),
        },
    };
    let held: f32 = cited.iter().map(|it| it.probability).sum();
    let answer = Answer {
        text,
        kind: request.anchors.answer,
        supports,
        external_ids: cited.iter().flat_map(|it| it.external_ids.clone()).collect(),
        confidence: if conflicting { 0.5 * held } else { held }.clamp(0.0, 1.0),
    };
    AnsweredV1::new(verdict, Some(answer))
}

fn refused(items: &[PackItem], read: &AnsweredV1, reason: String) -> AnsweredV1 {
    let mut best: Vec<&PackItem> = items.iter().collect();
    best.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.unit.cmp(&b.unit)));
    let miss = |it: &&PackItem| NearMiss {
        unit: it.unit,
        external_ids: it.external_ids.clone(),
        text: prompt::line(it).1.chars().take(SHOWN).collect(),
        reason: "weak".to_owned(),
    };
    let nearest = match read.verdict.nearest.is_empty() {
        true => best.iter().take(MISSES).map(miss).collect(),
        false => read.verdict.nearest.clone(),
    };
    let verdict = Verdict {
        status: Sufficiency::Insufficient,
        code: None,
        reasons: vec![reason],
        nearest,
    };
    AnsweredV1::new(verdict, None)
}
