use domain::evidence::{NearMiss, ReasonCode, Sufficiency, Verdict};
use domain::message::AnsweredV1;

/// The objection of a check to an answer.
pub(crate) struct Objection {
    status: Sufficiency,
    reason: String,
    nearest: Vec<NearMiss>,
}

impl Objection {
    /// Returns an objection for evidence that does not support an answer.
    pub(crate) fn insufficient_evidence(reason: impl Into<String>, nearest: Vec<NearMiss>) -> Objection {
        Objection {
            status: Sufficiency::Insufficient,
            reason: reason.into(),
            nearest,
        }
    }

    /// Returns an objection for evidence that may contain the answer.
    pub(crate) fn partial_evidence(reason: impl Into<String>) -> Objection {
        Objection {
            status: Sufficiency::Partial,
            reason: reason.into(),
            nearest: Vec::new(),
        }
    }

    /// Returns the reply without an answer.
    pub(crate) fn into_reply(self, code: ReasonCode) -> AnsweredV1 {
        let verdict = Verdict {
            status: self.status,
            code: Some(code),
            reasons: vec![self.reason],
            nearest: self.nearest,
        };
        AnsweredV1::new(verdict, None)
    }
}
