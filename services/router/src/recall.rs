//! Recall: hints that a memory gives without a question, when a message brings something to mind (MemCog, section 3.4,
//! the proactive protocol).
//!
//! A message is read ([`message`]). Remembered turns are ranked as for a question and scored by what they share with
//! the message ([`overlap`]). Facts that concern the message are added. Recall keeps only what matters to the message
//! ([`candidates`]), is not sensitive here, and was not given before. By default recall gives no hint. It uses nothing
//! that was observed later than the message. If a language model chooses the hints, it sees all candidates, and its
//! choice must meet the same conditions, but need not matter by rule.

pub mod candidates;
pub mod message;
pub mod overlap;
pub mod sensitive;
pub mod trigger;

mod hint_choice;
mod recall_service;
mod shared_names;

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use domain::message::{RecallV1, RecalledV1};
use domain::port::SearchResult;
use domain::recall::Trigger;

use crate::route::scoring::heads::Weights;
use crate::space::memory::MemoryAsOf;
use crate::space::view::View;

use candidates::hint_candidate::{Idea, Ideas};
use message::RecallMessage;
use shared_names::{AmbiguousNames, NameMatch};

/// Maximum number of hints, whatever the request asks for.
pub const LIMIT_MAX: u32 = 20;
/// The reason of a hint that shares nothing with the message and was chosen by a language model.
const FOUND: &str = "leads to this, according to the language model";

/// Returns the hints. `message` is the message read against `view`, and `found` the hits of the index for it. `known`
/// is the memory just before the message ([`moment_before`]), inside of the scope of its filter.
pub fn recall_hints(
    view: &View,
    known: MemoryAsOf<'_>,
    message: &RecallMessage,
    found: &SearchResult,
    request: &RecallV1,
    weights: &Weights,
) -> RecalledV1 {
    if message.is_small_talk() || request.limit == 0 {
        return RecalledV1::default();
    }
    let own = overlap::turns_of_message(view, request);
    let (ties, considered) = overlap::find_overlaps(view, message, &own, request, known.scope(), found, weights);
    let mut ideas = Ideas::default();
    let shared = AmbiguousNames::from_message(known, message, &request.actor);
    for tie in &ties {
        let matter = candidates::relevance::find_relevance(view, message, tie.place, request);
        let matters = matter.is_some();
        let (mut trigger, mut reason) =
            matter.unwrap_or_else(|| trigger::trigger_of_turn(view, message, tie, request.at));
        if !request.chosen.is_empty() && tie.words.is_empty() && trigger == Trigger::Topic {
            (trigger, reason) = (Trigger::MultiHop, FOUND.to_owned());
        }
        match shared.compare_turn(&view.turns()[tie.place]) {
            NameMatch::Nothing => {}
            NameMatch::One(which) => reason = format!("{reason}; {which}"),
            NameMatch::Other => continue,
        }
        ideas.add_idea(Idea {
            place: tie.place,
            trigger,
            reason,
            matters,
            score: tie.score,
            facts: Vec::new(),
            sides: Vec::new(),
        });
    }
    candidates::fact_hints::add_fact_ideas(view, known, &shared, message, &ties, request.at, &mut ideas);
    candidates::contradictions::add_contradictions(view, known, message, request, &mut ideas);
    let is_own = |place: usize| own.contains(&view.turns()[place].unit.id);
    ideas.0.retain(|place, _| !is_own(*place));
    RecalledV1 {
        hints: hint_choice::choose_hints(view, known, message, request, ideas),
        considered: considered as u32,
        steps: Vec::new(),
        degraded: Vec::new(),
        degraded_codes: Vec::new(),
    }
}

/// Returns the latest moment before a message at `at`, so that recall does not use the message itself.
pub fn moment_before(at: DateTime<FixedOffset>) -> DateTime<Utc> {
    let at = at.to_utc();
    at.checked_sub_signed(TimeDelta::microseconds(1)).unwrap_or(at)
}
