//! Selects the hints to return: those that matter to the message, are not sensitive here, and were not given before
//! (MemCog, section 3.4).

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{FixedOffset, NaiveTime, TimeDelta};
use domain::evidence::Amendment;
use domain::fact::Fact;
use domain::id::{FactId, HintId};
use domain::message::RecallV1;
use domain::recall::{Hint, Trigger};
use text::facts::fact_sentence;

use super::candidates::hint_candidate::{Idea, Ideas};
use super::message::RecallMessage;
use super::sensitive::{self, Domains};
use super::trigger;
use crate::route::pack::{Display, describe_amendments};
use crate::space::memory::MemoryAsOf;
use crate::space::view::View;

/// The least score of an idea that matters, and of one that a language model chooses from.
const KEEP: f32 = 0.25;
const WIDE: f32 = 0.05;
/// Number of hours before the message in which the turns of its own session are left out: the caller knows them.
const IN_CONTEXT_HOURS: i64 = 24;
/// Maximum number of o200k tokens of one line of a hint.
const LINE: u32 = 90;
/// Length of a line in characters if none of its sentences fits.
const CHARS: usize = 400;
/// Two turns count as the same if they share more than this much of their words.
const SAME: f32 = 0.8;

/// Chooses at most `limit` hints, best first, ties by id. If units were chosen, their order is kept.
pub(super) fn choose_hints(
    view: &View,
    known: MemoryAsOf<'_>,
    message: &RecallMessage,
    request: &RecallV1,
    ideas: Ideas,
) -> Vec<Hint> {
    let mut ideas = match request.chosen.is_empty() {
        true => best_first(view, request, ideas),
        false => as_chosen(view, request, ideas),
    };
    for idea in ideas.iter_mut().filter(|it| it.facts.is_empty()) {
        idea.facts = ended_facts_of_turn(view, known, request, idea.place);
    }
    let silent: BTreeSet<HintId> = request.silent.iter().copied().collect();
    let fact_ids: BTreeSet<FactId> = ideas.iter().flat_map(|it| &it.facts).map(|it| it.id).collect();
    let (mut hints, mut places): (Vec<Hint>, Vec<usize>) = (Vec::new(), Vec::new());
    for idea in ideas {
        let outdated = idea
            .facts
            .iter()
            .any(|it| it.retired_by.is_some_and(|it| fact_ids.contains(&it)));
        let contradicts = idea.trigger == Trigger::Contradiction;
        if hints.len() == request.limit as usize
            || outdated && !contradicts
            || is_in_ledger(view, known, &idea, &silent)
            || places.iter().any(|&it| have_same_words(view, it, idea.place))
        {
            continue;
        }
        let Some(hint) = make_hint(view, known, message, request, &idea) else {
            continue;
        };
        places.push(idea.place);
        hints.push(hint);
    }
    if request.chosen.is_empty() {
        hints.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    }
    hints
}

/// Returns the ideas that become hints, best first, ties by position: those that matter, or all for a language model.
fn best_first(view: &View, request: &RecallV1, ideas: Ideas) -> Vec<Idea> {
    let mut ideas: Vec<Idea> = ideas.0.into_values().collect();
    ideas.retain(|it| match request.wide {
        true => it.score >= WIDE,
        false => it.matters && it.score >= KEEP && !is_in_context(view, it, request),
    });
    ideas.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    ideas
}

/// Returns true if an idea repeats what was said a short time ago in the session of the message. A contradiction does
/// not: the caller may not have seen it.
fn is_in_context(view: &View, idea: &Idea, request: &RecallV1) -> bool {
    let unit = &view.turns()[idea.place].unit;
    idea.trigger != Trigger::Contradiction
        && request.session == Some(unit.session)
        && request.at - unit.observed_at <= TimeDelta::hours(IN_CONTEXT_HOURS)
}

/// Returns the ideas on the chosen turns, in the order of the choice.
fn as_chosen(view: &View, request: &RecallV1, mut ideas: Ideas) -> Vec<Idea> {
    let places = request.chosen.iter().filter_map(|it| view.position_of_unit(*it));
    places.filter_map(|it| ideas.0.remove(&it)).collect()
}

/// Returns the facts of a turn if none of them holds any more, so that its hint can say so.
fn ended_facts_of_turn(view: &View, known: MemoryAsOf<'_>, request: &RecallV1, place: usize) -> Vec<Arc<Fact>> {
    let facts: Vec<Arc<Fact>> = known.facts_from(view.turns()[place].unit.id).collect();
    match facts.iter().all(|it| is_over(it, request)) {
        true => facts,
        false => Vec::new(),
    }
}

/// Returns true if a fact does not hold any more when the message is sent.
fn is_over(fact: &Fact, request: &RecallV1) -> bool {
    fact.withdrawn || fact.valid_until.is_some_and(|it| it <= request.at.to_utc())
}

/// Returns true if the ledger contains a hint about one of the turns or about any of their facts, whatever its trigger.
/// The ledger stores only the most relevant fact of each hint, which may be another fact of the same turn.
fn is_in_ledger(view: &View, known: MemoryAsOf<'_>, idea: &Idea, silent: &BTreeSet<HintId>) -> bool {
    if silent.is_empty() {
        return false;
    }
    let unit = view.turns()[idea.place].unit.id;
    let ids_from_unit = known.facts_from(unit).map(|it| it.id.uuid());
    let facts = idea.facts.iter().map(|it| it.id.uuid()).chain(ids_from_unit);
    let subjects = facts.chain([unit.uuid()]);
    let mut ids = subjects
        .flat_map(|subject| trigger::ALL.map(|it| HintId::from_subject_and_trigger(subject, trigger::json_name(it))));
    ids.any(|it| silent.contains(&it))
}

/// Returns true if two turns say the same in nearly the same words.
fn have_same_words(view: &View, a: usize, b: usize) -> bool {
    let words = |place: usize| -> BTreeSet<u32> { view.turns()[place].words().iter().copied().collect() };
    let (a, b) = (words(a), words(b));
    let both = a.intersection(&b).count() as f32;
    both > SAME * (a.len() + b.len()) as f32 / 2.0
}

/// Makes a hint of an idea; `None` if it is too sensitive to be given here.
fn make_hint(
    view: &View,
    known: MemoryAsOf<'_>,
    message: &RecallMessage,
    request: &RecallV1,
    idea: &Idea,
) -> Option<Hint> {
    let unit = &view.turns()[idea.place].unit;
    let amendments: Vec<&Amendment> = view.amendments_of_unit(unit.id, Some(request.at)).collect();
    let note = describe_amendments(amendments.iter().copied());
    let mut lines = vec![format!("{}{note}", dated_line(view, message, idea.place))];
    // If a turn has several facts, the first is the most relevant one for the message. Ends of the other facts are not
    // worth mentioning.
    let closed: Option<&Fact> = idea.facts.first().map(AsRef::as_ref).filter(|it| is_over(it, request));
    let stands = known.facts_from(unit.id).any(|it| !is_over(&it, request));
    if let Some(closed) = closed {
        lines.extend(describe_end_of_fact(known, closed, stands, *request.at.offset()));
    }
    // If no fact is the most relevant one, the hint is valid as long as any fact of the turn holds.
    let is_main = |it: &&Amendment| idea.facts.first().map_or(!stands, |fact| fact.object == it.was);
    let is_taken_back = amendments.iter().copied().filter(is_main).any(|it| it.now.is_none());
    // The reason and the sides contain facts too, and every line may be in another language.
    let texts: Vec<&str> = lines
        .iter()
        .chain([&idea.reason])
        .chain(&idea.sides)
        .map(String::as_str)
        .collect();
    let matters = texts
        .iter()
        .map(|it| sensitive::find_domains(it))
        .fold(Domains::default(), Domains::union_with);
    if !request.sensitive && !matters.is_subset_of(message.domains) {
        return None;
    }
    let sensitivity = sensitive::classify_sensitivity(&texts, matters);
    let subject = idea.facts.first().map_or(unit.id.uuid(), |it| it.id.uuid());
    Some(Hint {
        id: HintId::from_subject_and_trigger(subject, trigger::json_name(idea.trigger)),
        trigger: idea.trigger,
        sensitivity,
        reason: idea.reason.clone(),
        units: vec![unit.id],
        external_ids: unit.external_ids(),
        facts: idea.facts.iter().map(|it| it.id).collect(),
        observed_at: unit.observed_at,
        valid: closed.is_none() && !is_taken_back,
        valid_until: closed.and_then(|it| it.valid_until),
        sides: idea.sides.clone(),
        score: idea.score,
        text: lines.join("\n"),
    })
}

/// Returns a turn as a dated line with the sentences that are most relevant for the message.
fn dated_line(view: &View, message: &RecallMessage, place: usize) -> String {
    let turn = &view.turns()[place];
    let clipped = Display::fit_turn(&message.query, turn, LINE).map(|it| it.text(turn));
    let clipped = clipped.unwrap_or_else(|| text::one_line(turn.shown()).chars().take(CHARS).collect());
    let date = turn.unit.observed_at.format("%-d %B %Y");
    let actor = text::shown_name(&turn.unit.actor);
    if actor.is_empty() {
        format!("[{date}] {clipped}")
    } else {
        format!("[{date}] {actor}: {clipped}")
    }
}

/// Returns the time until which a fact held and the value that holds since then, if they are known. If only the day is
/// known on which somebody said that it is over, says so. Names the fact if another fact of the turn still holds
/// (`stands`). Days are those of the time zone of the message.
fn describe_end_of_fact(known: MemoryAsOf<'_>, closed: &Fact, stands: bool, time_zone: FixedOffset) -> Option<String> {
    let ended_at = closed.valid_until?.with_timezone(&time_zone);
    let (end, last) = match closed.ended_at_unknown_time() {
        true => ("no longer, as told on", ended_at),
        // The end does not belong to the fact: a fact that ends at midnight held until the day before.
        false if ended_at.time() == NaiveTime::MIN => ("until", ended_at - TimeDelta::microseconds(1)),
        false => ("until", ended_at),
    };
    let date = last.format("%-d %B %Y");
    let which = if stands {
        format!(": {}", fact_sentence(closed))
    } else {
        String::new()
    };
    let newer = closed.retired_by.and_then(|it| known.find_fact(it));
    let since = newer.map(|it| format!("; since then: {}", fact_sentence(&*it)));
    Some(format!("({end} {date}{which}{})", since.unwrap_or_default()))
}
