//! Recall: hints that a memory gives without a question, when a message brings something to mind (MemCog, section 3.4,
//! the proactive protocol).
//!
//! A message is read ([`heard`]). Remembered turns are ranked as for a question and scored by what they share with the
//! message ([`tie`]). Facts that concern the message and units that are reached over another one are added. Recall
//! keeps only hints that are relevant and valid now, not sensitive here, and not given before. By default recall gives
//! no hint. It uses nothing that was observed later than the message. If a language model chooses the hints, it sees
//! more candidates, and its choice must meet the same conditions except relevance.

pub mod heard;
pub mod idea;
pub mod sensitive;
pub mod tie;
pub mod trigger;

mod against;
mod choose;
mod hops;
mod serve;
mod shared;
mod told;

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use domain::message::{RecallV1, RecalledV1};
use domain::port::SearchResult;
use domain::recall::Trigger;

use crate::heads::Weights;
use crate::memory::Known;
use crate::view::View;

use heard::Heard;
use idea::{Idea, Ideas};
use shared::{Bears, Shared};

/// Maximum number of hints, whatever the request asks for.
pub const LIMIT_MAX: u32 = 20;
/// The reason of a hint that shares nothing with the message and was chosen by a language model.
const FOUND: &str = "leads to this, as the language model found";

/// Returns the hints. `heard` is the message read against `view`, and `found` the hits of the index for it. `known` is
/// the memory just before the message ([`before`]), inside of the scope of its filter.
pub fn recall(
    view: &View,
    known: Known<'_>,
    (heard, found): (&Heard, &SearchResult),
    request: &RecallV1,
    weights: &Weights,
) -> RecalledV1 {
    if heard.idle() || request.limit == 0 {
        return RecalledV1::default();
    }
    let own = tie::own(view, request);
    let (ties, considered) = tie::ties(view, (heard, &own), request, known.scope(), found, weights);
    let mut ideas = Ideas::default();
    let shared = Shared::of(known, heard, &request.actor);
    for tie in &ties {
        let (mut trigger, mut reason) = trigger::of(view, heard, tie, request.at);
        if !request.chosen.is_empty() && tie.words.is_empty() && trigger == Trigger::Topic {
            (trigger, reason) = (Trigger::MultiHop, FOUND.to_owned());
        }
        match shared.turn(&view.turns()[tie.place]) {
            Bears::Nothing => {}
            Bears::One(which) => reason = format!("{reason}; {which}"),
            Bears::Other => continue,
        }
        ideas.add(Idea {
            place: tie.place,
            over: None,
            trigger,
            reason,
            score: tie.score,
            facts: Vec::new(),
            sides: Vec::new(),
        });
    }
    told::add(view, (known, &shared), heard, (&ties, request.at), &mut ideas);
    against::add(view, known, heard, request, &mut ideas);
    hops::add(view, (known, &shared), heard, (&ties, request.at), &mut ideas);
    let is_own = |place: usize| own.contains(&view.turns()[place].unit.id);
    ideas
        .0
        .retain(|place, idea| !is_own(*place) && !idea.over.is_some_and(is_own));
    RecalledV1 {
        hints: choose::choose(view, known, heard, request, ideas),
        considered: considered as u32,
        steps: Vec::new(),
        degraded: Vec::new(),
        degraded_codes: Vec::new(),
    }
}

/// Returns the latest moment before a message at `at`, so that recall does not use the message itself.
pub fn before(at: DateTime<FixedOffset>) -> DateTime<Utc> {
    let at = at.to_utc();
    at.checked_sub_signed(TimeDelta::microseconds(1)).unwrap_or(at)
}
