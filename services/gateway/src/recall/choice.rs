//! Recall with a language model (MemCog, the proactive protocol). The model sees candidates for the message, may
//! explore the memory, and chooses. Its choices must meet the conditions of all hints, which the router applies. If the
//! model cannot be used, the hints by rule are used.

use chrono::{DateTime, FixedOffset, TimeDelta};
use domain::code::DegradedCode;
use domain::id::UnitId;
use domain::message::{RecallV1, RecalledV1};
use tokio::time::Instant;

use super::Recalling;
use crate::agent::{Agent, Matter, RECALL, Seen, deadline};
use crate::model_budget::Reserve;
use crate::problem::Problem;

/// Number of candidates that the model sees at the start.
const CANDIDATES: u32 = 20;
/// Name of the loop in `degraded` and among the steps.
const NAME: &str = "recall";

/// Hints, and the reason why there are none if the model decided so.
#[derive(Default)]
pub(super) struct Decided {
    pub(super) recalled: RecalledV1,
    pub(super) silent: Option<&'static str>,
}

impl Recalling<'_> {
    /// Returns the hints that a language model chooses; if it cannot be used, the hints by rule, and `degraded` says
    /// so.
    pub(super) async fn by_model(&mut self, ask: &RecallV1) -> Result<Decided, Problem> {
        let wide = RecallV1 {
            limit: CANDIDATES,
            wide: true,
            ..ask.clone()
        };
        let candidates = self.ask("candidates", &wide).await?;
        let considered = candidates.considered;
        // With a single call the model can only choose, and there are no candidates.
        let idle = considered == 0 || candidates.hints.is_empty() && self.models.left().calls < 2;
        if idle {
            return Ok(Decided {
                recalled: candidates,
                silent: None,
            });
        }
        let Some(chosen) = self.chosen(ask, &candidates).await else {
            return Ok(Decided {
                recalled: self.ask("recall", ask).await?,
                silent: None,
            });
        };
        if chosen.is_empty() {
            return Ok(Decided {
                recalled: RecalledV1 {
                    considered,
                    ..RecalledV1::default()
                },
                silent: Some("the language model found nothing worth saying"),
            });
        }
        let ask = RecallV1 { chosen, ..ask.clone() };
        Ok(Decided {
            recalled: self.ask("recall", &ask).await?,
            silent: Some("what the language model chose was said or dismissed before, or may not be said here"),
        })
    }

    /// Runs the loop of the model; returns `None` if it makes no choice, and `degraded` says so.
    async fn chosen(&mut self, ask: &RecallV1, candidates: &RecalledV1) -> Option<Vec<UnitId>> {
        let begun = Instant::now();
        let mut seen = Seen::default();
        for hint in &candidates.hints {
            if let Some(unit) = hint.units.first() {
                seen.take(*unit, &hint.text);
            }
        }
        let agent = Agent {
            app: self.app,
            by: &self.by,
            name: NAME,
            degraded: DegradedCode::RecallWithoutModel,
            matter: Matter {
                space: ask.space.clone(),
                text: said_by(&ask.actor, &ask.message),
                asked_at: Some(ask.at),
                as_of: Some(before(ask.at)),
                labels: ask.labels.clone(),
                subgoals: Vec::new(),
                lines_max: Some(ask.limit),
            },
            table: RECALL,
            reserve: Reserve::default(),
            deadline: deadline(self.left()),
            models: &mut self.models,
            trail: &mut self.trail,
        };
        let looked = agent.run(seen).await;
        self.note("choice", begun);
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
fn before(at: DateTime<FixedOffset>) -> DateTime<FixedOffset> {
    at.checked_sub_signed(TimeDelta::microseconds(1)).unwrap_or(at)
}
