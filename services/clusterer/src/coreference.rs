//! Coreference of events by a language model (CompassMem, section 3.2): what the model is shown of two events, what it is asked,
//! and how much of its reply is used. All of it is pure; `coreference_worker` makes the calls.
//!
//! The rules judge first. Only pairs of which they are unsure are asked about, and what the model says of a pair takes the place
//! of what the rules say, as long as both events read as they did when it was asked.

use domain::id::{ReadingId, UnitId};
use domain::reading::{Reading, ReadingKind};
use domain::relation::RelationKind;
use domain::unit::Unit;

mod grounding;
pub(crate) mod prompt;
pub(crate) mod reply;

pub use prompt::pair_digest;

use reply::Said;

/// Two event units that may tell of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The one that was observed later; ties by id.
    pub later: UnitId,
    /// The other one.
    pub earlier: UnitId,
    /// The reading in which a model judges the two; derived from the first record of each.
    pub reading: ReadingId,
}

/// An event and the earlier ones about which a language model is to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The later event.
    pub later: UnitId,
    /// One to three earlier ones, the most similar one first.
    pub earlier: Vec<UnitId>,
}

/// What the reading of a pair says, as far as it can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub(crate) later: UnitId,
    pub(crate) earlier: UnitId,
    /// Of what the model was shown of both.
    pub(crate) digest: String,
    /// None if nothing came of the reading: such a pair is left to the rules and not asked about again.
    pub(crate) said: Option<Judged>,
    /// Whether it was made with the prompt of now. Else it counts until there is one that was.
    pub(crate) is_current: bool,
}

/// How a language model judged two events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) same: bool,
    pub(crate) overlap: bool,
    /// How the two stand to each other if they are not the same, as `Merge::relation_type`.
    pub(crate) kind: Option<RelationKind>,
    /// In words: the model's own as a quote, if they stand on the events.
    pub(crate) reason: String,
}

impl Verdict {
    /// Returns what a reading says of two events as they are now; none if it is a reading of something else, or if one of the
    /// two read differently when the model was asked.
    pub fn of(reading: &Reading, earlier: &Unit, later: &Unit) -> Option<Verdict> {
        let digest = pair_digest(earlier, later);
        let is_of_both = reading.kind == ReadingKind::Events
            && reading.digest == digest
            && reading.records.first() == later.records.first()
            && reading.beside.first() == earlier.records.first();
        let said = match reading.failure {
            None => Said::read(&reading.output),
            Some(_) => None,
        };
        is_of_both.then(|| Verdict {
            later: later.id,
            earlier: earlier.id,
            digest,
            said: said.map(|it| judged(&it, earlier, later)),
            is_current: reading.prompt == prompt::PROMPT,
        })
    }
}

/// Returns what is used of what a model said.
fn judged(said: &Said, earlier: &Unit, later: &Unit) -> Judged {
    let kind = said.kind().filter(|_| !said.same_event);
    let quote = grounding::quotable(&said.reasoning, [earlier, later]);
    let reason = match (quote, said.same_event) {
        (Some(quote), _) => format!("a language model says: \u{201c}{quote}\u{201d}"),
        (None, true) => "a language model takes them for one event".to_owned(),
        (None, false) => "a language model takes them for two events".to_owned(),
    };
    Judged {
        same: said.same_event,
        // One event overlaps with itself.
        overlap: said.has_overlap || said.same_event,
        kind,
        reason,
    }
}

/// Returns why the reasoning of a reply is not shown; none if it is.
pub(crate) fn left_out(said: &Said, earlier: &Unit, later: &Unit) -> Option<&'static str> {
    grounding::why_not(&said.reasoning, [earlier, later])
}
