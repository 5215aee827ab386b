//! Recall: what a memory says unasked when a message wakes it (MemCog, section 3.4, the proactive protocol).
//!
//! A message is read ([`heard`]), remembered turns are ranked as for a question and weighed by what they share with it
//! ([`tie`]), facts that bear on it are added, what leads on is followed, and of all that only what is relevant now, still
//! valid, not delicate here and not said before is kept. Silent by default. Nothing observed later than the message is used.
//! Where a language model chooses what is said, it sees more of this, and its choice passes the same conditions but relevance.

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

/// Hints given at most, whatever is asked for.
pub const LIMIT_MAX: u32 = 20;
/// Why a turn is told that shares nothing with the message.
const FOUND: &str = "leads to this, as the language model found";

/// Returns what is worth saying. `heard` is the message read against `view`, `found` the hits of the index for it,
/// `known` what was known just before it was said ([`before`]), inside of the scope of its filter.
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

/// Returns the moment whose knowledge a message at `at` may wake: what the message itself tells is not among it.
pub fn before(at: DateTime<FixedOffset>) -> DateTime<Utc> {
    let at = at.to_utc();
    at.checked_sub_signed(TimeDelta::microseconds(1)).unwrap_or(at)
}
