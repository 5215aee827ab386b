//! Coreference of events by a language model (CompassMem, section 3.2): what the model is shown of two events, what
//! it is asked, and how much of its reply is used. Everything here is pure; `coreference_worker` makes the calls.
//!
//! The rules judge first. The model is asked only about pairs that the rules cannot decide. Its judgement of a pair
//! replaces that of the rules as long as both events are unchanged since the model was asked.

use domain::id::{ReadingId, UnitId};
use domain::reading::{Reading, ReadingKind};
use domain::relation::RelationKind;
use domain::unit::Unit;

mod grounding;
pub(crate) mod prompt;
pub(crate) mod reply;

pub use prompt::pair_digest;

use reply::UncheckedJudgement;

/// Two event units that may describe the same event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The event that was observed later; ties by id.
    pub later: UnitId,
    /// The earlier event.
    pub earlier: UnitId,
    /// The id of the reading in which a model judges the pair, derived from the first record of each event.
    pub reading: ReadingId,
}

/// An event, and the earlier events with which a language model has to compare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The later event.
    pub later: UnitId,
    /// One to three earlier events, the most similar first.
    pub earlier: Vec<UnitId>,
}

/// The usable content of the reading of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairJudgement {
    pub(crate) later: UnitId,
    pub(crate) earlier: UnitId,
    /// Digest of the text that the model was shown of both events.
    pub(crate) digest: String,
    /// None if the reading has no usable content; such a pair is left to the rules and not asked about again.
    pub(crate) judgement: Option<UsableJudgement>,
    /// True if the reading was made with the current prompt. An older one counts until a current one exists.
    pub(crate) is_current: bool,
}

/// A model's judgement of two events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsableJudgement {
    pub(crate) same: bool,
    pub(crate) overlap: bool,
    /// The relation of two different events, stored as `Merge::relation_type`.
    pub(crate) kind: Option<RelationKind>,
    /// The reason in words. The model's own words are quoted only if the events support them.
    pub(crate) reason: String,
}

impl PairJudgement {
    /// Returns the content of the reading of two events in their current state. Returns none for a reading of another
    /// kind or another pair, or if one of the events has changed since the model was asked.
    pub fn from_reading(reading: &Reading, earlier: &Unit, later: &Unit) -> Option<PairJudgement> {
        let digest = pair_digest(earlier, later);
        let is_of_both = reading.kind == ReadingKind::Events
            && reading.digest == digest
            && reading.records.first() == later.records.first()
            && reading.beside.first() == earlier.records.first();
        let unchecked = match reading.failure {
            None => UncheckedJudgement::parse_entry(&reading.output),
            Some(_) => None,
        };
        is_of_both.then(|| PairJudgement {
            later: later.id,
            earlier: earlier.id,
            digest,
            judgement: unchecked.map(|it| usable_judgement(&it, earlier, later)),
            is_current: reading.prompt == prompt::PROMPT,
        })
    }
}

/// Returns the usable part of a reply.
fn usable_judgement(unchecked: &UncheckedJudgement, earlier: &Unit, later: &Unit) -> UsableJudgement {
    let kind = unchecked.relation_kind().filter(|_| !unchecked.same_event);
    let quote = grounding::to_quotable_form(&unchecked.reasoning, [earlier, later]);
    let reason = match (quote, unchecked.same_event) {
        (Some(quote), _) => format!("a language model says: \u{201c}{quote}\u{201d}"),
        (None, true) => "a language model judged them to be one event".to_owned(),
        (None, false) => "a language model judged them to be two events".to_owned(),
    };
    UsableJudgement {
        same: unchecked.same_event,
        // An event overlaps with itself.
        overlap: unchecked.has_overlap || unchecked.same_event,
        kind,
        reason,
    }
}

/// Returns why the reasoning of a reply is not quoted, or none if it is.
pub(crate) fn left_out(unchecked: &UncheckedJudgement, earlier: &Unit, later: &Unit) -> Option<&'static str> {
    grounding::why_not(&unchecked.reasoning, [earlier, later])
}
