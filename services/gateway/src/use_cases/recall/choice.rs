//! Recall with a language model (MemCog, the proactive protocol). The model sees candidates for the message, may
//! explore the memory, and chooses. Its choices must meet the conditions of all hints, which the router applies. If the
//! model cannot be used, the hints by rule are used.

use chrono::{DateTime, FixedOffset, TimeDelta};
use domain::code::DegradedCode;
use domain::id::UnitId;
use domain::message::{QueryFilter, RecallV1, RecalledV1};
use tokio::time::Instant;

use super::RecallInProgress;
use crate::api::problem::Problem;
use crate::strategies::agent::{AgentLoop, LoopSubject, NumberedLines, RECALL, loop_deadline};
use crate::strategies::model_budget::Reserve;

/// Number of candidates that the model sees at the start.
const CANDIDATES: u32 = 20;
/// Name of the loop in `degraded` and among the steps.
const NAME: &str = "recall";

/// Hints, and the reason why there are none if the model decided so.
#[derive(Default)]
pub(super) struct HintDecision {
    pub(super) recall_result: RecalledV1,
    pub(super) silent: Option<&'static str>,
}

impl RecallInProgress<'_> {
    /// Returns the hints that a language model chooses; if it cannot be used, the hints by rule, and `degraded` says
    /// so.
    pub(super) async fn by_model(&mut self, ask: &RecallV1) -> Result<HintDecision, Problem> {
        let wide = RecallV1 {
            limit: CANDIDATES,
            wide: true,
            ..ask.clone()
        };
        let candidates = self.request_hints("candidates", &wide).await?;
        let considered = candidates.considered;
        // With a single call the model can only choose, and there are no candidates.
        let idle = considered == 0 || candidates.hints.is_empty() && self.models.remaining_allowance().calls < 2;
        if idle {
            return Ok(HintDecision {
                recall_result: candidates,
                silent: None,
            });
        }
        let Some(chosen) = self.choose_units(ask, &candidates).await else {
            return Ok(HintDecision {
                recall_result: self.request_hints("recall", ask).await?,
                silent: None,
            });
        };
        if chosen.is_empty() {
            return Ok(HintDecision {
                recall_result: RecalledV1 {
                    considered,
                    ..RecalledV1::default()
                },
                silent: Some("the language model found nothing worth saying"),
            });
        }
        let ask = RecallV1 { chosen, ..ask.clone() };
        Ok(HintDecision {
            recall_result: self.request_hints("recall", &ask).await?,
            silent: Some(
                "the hints that the language model chose were already said or dismissed, or may not be said here",
            ),
        })
    }

    /// Runs the loop of the model; returns `None` if it makes no choice, and `degraded` says so.
    async fn choose_units(&mut self, ask: &RecallV1, candidates: &RecalledV1) -> Option<Vec<UnitId>> {
        let begun = Instant::now();
        let mut lines = NumberedLines::default();
        for hint in &candidates.hints {
            if let Some(unit) = hint.units.first() {
                lines.add_unit(*unit, &hint.text);
            }
        }
        let agent = AgentLoop {
            app: self.app,
            by: &self.by,
            name: NAME,
            degraded: DegradedCode::RecallWithoutModel,
            matter: LoopSubject {
                space: ask.space.clone(),
                text: said_by(&ask.actor, &ask.message),
                asked_at: Some(ask.at),
                as_of: Some(moment_before(ask.at)),
                filter: QueryFilter {
                    labels: ask.labels.clone(),
                    ..QueryFilter::default()
                },
                subgoals: Vec::new(),
                lines_max: Some(ask.limit),
            },
            limits: RECALL,
            reserve: Reserve::default(),
            deadline: loop_deadline(self.time_left()),
            models: &mut self.models,
            trail: &mut self.trail,
        };
        let looked = agent.run_loop(lines).await;
        self.note_step("choice", begun);
        looked.chosen
    }
}

/// Returns a message with the name of its author before it, if the name is known.
fn said_by(actor: &str, message: &str) -> String {
    match &*text::shown_name(actor) {
        "" => message.to_owned(),
        name => format!("{name}: {message}"),
    }
}

/// Returns the last moment before a message, so that data stored together with the message are not found.
fn moment_before(at: DateTime<FixedOffset>) -> DateTime<FixedOffset> {
    at.checked_sub_signed(TimeDelta::microseconds(1)).unwrap_or(at)
}
