//! What a request reports of how it was done: the steps of its path, and what could not be used.

use domain::code::DegradedCode;
use domain::id::UnitId;
use domain::{Classify, ErrorKind, PortError};
use tokio::sync::mpsc::UnboundedSender;

use crate::api::PathStep;

/// Steps of a path that are told, characters of what a step was about, and units that it kept.
const TOLD_MAX: usize = 128;
const WHAT_MAX: usize = 200;
const KEPT_MAX: usize = 64;

/// The report of one request.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// The steps made; none if no step was worth telling.
    pub(crate) path: Option<Vec<PathStep>>,
    /// What could not be used and why, each once.
    pub(crate) degraded: Vec<String>,
    /// The codes of the entries of `degraded`, in their order.
    pub(crate) degraded_codes: Vec<String>,
    /// Hears the steps as they are made.
    heard: Option<UnboundedSender<PathStep>>,
}

impl Trail {
    /// Returns an empty report whose steps `heard` hears.
    pub(crate) fn heard_by(heard: Option<UnboundedSender<PathStep>>) -> Trail {
        Trail {
            heard,
            ..Trail::default()
        }
    }

    /// Tells a step: what it was about, how much it found, what was kept of it.
    pub(crate) fn tell(&mut self, step: &str, what: &str, found: usize, kept: &[UnitId]) {
        let path = self.path.get_or_insert_default();
        if path.len() >= TOLD_MAX {
            return;
        }
        let step = PathStep {
            step: step.to_owned(),
            what: what.chars().take(WHAT_MAX).collect(),
            found: found.try_into().unwrap_or(u32::MAX),
            kept: kept.iter().take(KEPT_MAX).copied().collect(),
        };
        if let Some(heard) = &self.heard {
            // Whoever left hears nothing more, and the question ends with them.
            let _ = heard.send(step.clone());
        }
        path.push(step);
    }

    /// Notes that a part could not be used, and why.
    pub(crate) fn degrade(&mut self, code: DegradedCode, why: String) {
        if !self.degraded.contains(&why) {
            self.degraded.push(why);
            self.degraded_codes.push(code.name().to_owned());
        }
    }

    /// Notes what a service of this or another version could not use. A sentence without a code gets [`DegradedCode::Other`].
    pub(crate) fn degrade_each(&mut self, sentences: Vec<String>, codes: Vec<DegradedCode>) {
        let codes = codes.into_iter().chain(std::iter::repeat(DegradedCode::Other));
        for (why, code) in sentences.into_iter().zip(codes) {
            self.degrade(code, why);
        }
    }
}

/// Says in words why a step gave nothing.
pub(crate) fn why(error: &PortError) -> &'static str {
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
    fn each_sentence_is_noted_once_with_its_code() {
        let mut trail = Trail::default();
        let sentences = ["index failed", "graph failed", "index failed"]
            .map(str::to_owned)
            .to_vec();
        // An older router sends no codes, a newer one may send fewer than this gateway expects.
        trail.degrade_each(sentences, vec![DegradedCode::IndexUnavailable]);
        assert_eq!(trail.degraded, ["index failed", "graph failed"]);
        assert_eq!(trail.degraded_codes, ["index_unavailable", "other"]);
    }
}
