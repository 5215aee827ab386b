//! The report of a request: the steps of its strategy, and the components that could not be used.

use domain::code::DegradedCode;
use domain::id::UnitId;
use domain::{Classify, ErrorKind, PortError};
use tokio::sync::mpsc::UnboundedSender;

use crate::api::PathStep;

/// Maximum number of reported steps, of characters for the object of a step, and of units that it kept.
const STEPS_MAX: usize = 128;
const WHAT_MAX: usize = 200;
const KEPT_MAX: usize = 64;

/// The report of one request.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// The steps; `None` if no step was reported.
    pub(crate) path: Option<Vec<PathStep>>,
    /// Components that could not be used, with reasons, without duplicates.
    pub(crate) degraded: Vec<String>,
    /// The codes of the entries of `degraded`, in the same order.
    pub(crate) degraded_codes: Vec<String>,
    /// Receives the steps as they are made.
    step_sender: Option<UnboundedSender<PathStep>>,
}

impl Trail {
    /// Returns an empty report whose steps are also sent to `step_sender`.
    pub(crate) fn with_step_sender(step_sender: Option<UnboundedSender<PathStep>>) -> Trail {
        Trail {
            step_sender,
            ..Trail::default()
        }
    }

    /// Reports a step: its object, the number of results, and the units that it kept.
    pub(crate) fn report_step(&mut self, step: &str, what: &str, found: usize, kept: &[UnitId]) {
        let path = self.path.get_or_insert_default();
        if path.len() >= STEPS_MAX {
            return;
        }
        let step = PathStep {
            step: step.to_owned(),
            what: what.chars().take(WHAT_MAX).collect(),
            found: found.try_into().unwrap_or(u32::MAX),
            kept: kept.iter().take(KEPT_MAX).copied().collect(),
        };
        if let Some(step_sender) = &self.step_sender {
            // A caller that disconnected receives nothing more, and its query is cancelled.
            let _ = step_sender.send(step.clone());
        }
        path.push(step);
    }

    /// Reports that a component could not be used, and why.
    pub(crate) fn report_degraded(&mut self, code: DegradedCode, why: String) {
        if !self.degraded.contains(&why) {
            self.degraded.push(why);
            self.degraded_codes.push(code.name().to_owned());
        }
    }

    /// Reports the degraded parts of a service, which may have another version. A sentence without a code gets
    /// [`DegradedCode::Other`].
    pub(crate) fn report_each_degraded(&mut self, sentences: Vec<String>, codes: Vec<DegradedCode>) {
        let codes = codes.into_iter().chain(std::iter::repeat(DegradedCode::Other));
        for (why, code) in sentences.into_iter().zip(codes) {
            self.report_degraded(code, why);
        }
    }
}

/// Returns in words why a step had no result.
pub(crate) fn describe_failure(error: &PortError) -> &'static str {
    match error.kind() {
        ErrorKind::Timeout => "took too long",
        ErrorKind::Unavailable | ErrorKind::Exhausted => "cannot be reached",
        ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::Damaged | ErrorKind::Internal => {
            "failed"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_is_reported_once_with_its_code() {
        let mut trail = Trail::default();
        let sentences = ["index failed", "graph failed", "index failed"]
            .map(str::to_owned)
            .to_vec();
        // An older router sends no codes; a newer one may send fewer codes than sentences.
        trail.report_each_degraded(sentences, vec![DegradedCode::IndexUnavailable]);
        assert_eq!(trail.degraded, ["index failed", "graph failed"]);
        assert_eq!(trail.degraded_codes, ["index_unavailable", "other"]);
    }
}
