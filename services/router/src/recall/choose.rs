//! Selects the hints to return: those that are relevant and valid now, not sensitive here, and not given before
//! (MemCog, section 3.4).

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::fact::Fact;
use domain::id::{FactId, HintId, UnitId};
use domain::message::RecallV1;
use domain::recall::{Hint, Trigger};

use super::heard::Heard;
use super::idea::{Idea, Ideas};
use super::sensitive::{self, Domains};
use super::trigger;
use crate::memory::Known;
use crate::pack::Display;
use crate::view::View;

/// Hints are given only if one idea scores at least `WAKE`; then all ideas from `KEEP` on are used. Both were
/// calibrated on messages of our own, see `tests/eval/data/recall/README.md`.
const WAKE: f32 = 0.5;
const KEEP: f32 = 0.25;
/// Maximum number of hints that are reached over another unit.
const HOPS: usize = 1;
/// The least score of the ideas that a language model chooses from, and the maximum number of those reached over
/// another unit.
const WIDE: f32 = 0.05;
const WIDE_HOPS: usize = 5;
/// Maximum number of o200k tokens of one line of a hint.
const LINE: u32 = 90;
/// Length of a line in characters if none of its sentences fits.
const CHARS: usize = 400;
/// Two turns count as the same if they share more than this much of their words.
const SAME: f32 = 0.8;

/// The limits that ideas must meet.
struct Bar {
    /// Score that the best idea must reach; otherwise there are no hints.
    wake: f32,
    /// Score that every idea must reach.
    keep: f32,
    /// Maximum number of hints that are reached over another unit.
    hops: usize,
}

impl Bar {
    fn of(request: &RecallV1) -> Bar {
        match (request.wide, request.chosen.is_empty()) {
            (_, false) => Bar {
                wake: 0.0,
                keep: 0.0,
                hops: usize::MAX,
            },
            (true, true) => Bar {
                wake: WIDE,
                keep: WIDE,
                hops: WIDE_HOPS,
            },
            (false, true) => Bar {
                wake: WAKE,
                keep: KEEP,
                hops: HOPS,
            },
        }
    }
}

/// Chooses at most `limit` hints, best first, ties by id. If units were chosen, their order is kept.
pub(super) fn choose(view: &View, known: Known<'_>, heard: &Heard, request: &RecallV1, ideas: Ideas) -> Vec<Hint> {
    let bar = Bar::of(request);
    let ideas = match request.chosen.is_empty() {
        true => best_first(&bar, ideas),
        false => as_chosen(view, known, request, ideas),
    };
    let silent: BTreeSet<HintId> = request.silent.iter().copied().collect();
    let told: BTreeSet<FactId> = ideas.iter().flat_map(|it| &it.facts).map(|it| it.id).collect();
    let (mut hints, mut places, mut hops): (Vec<Hint>, Vec<usize>, usize) = (Vec::new(), Vec::new(), 0);
    for idea in ideas {
        let hop = usize::from(idea.trigger == Trigger::MultiHop);
        let outdated = idea
            .facts
            .iter()
            .any(|it| it.retired_by.is_some_and(|it| told.contains(&it)));
        let contradicts = idea.trigger == Trigger::Contradiction;
        if hints.len() == request.limit as usize
            || hops + hop > bar.hops
            || outdated && !contradicts
            || said(view, known, &idea, &silent)
            || places.iter().any(|&it| same(view, it, idea.place))
        {
            continue;
        }
        let Some(hint) = hint(view, known, heard, request, &idea) else {
            continue;
        };
        places.push(idea.place);
        hops += hop;
        hints.push(hint);
    }
    if request.chosen.is_empty() {
        hints.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    }
    hints
}

/// Returns the ideas that are relevant enough, best first, ties by position.
fn best_first(bar: &Bar, ideas: Ideas) -> Vec<Idea> {
    let mut ideas: Vec<Idea> = ideas.0.into_values().collect();
    if ideas.iter().all(|it| it.score < bar.wake) {
        return Vec::new();
    }
    ideas.retain(|it| it.score >= bar.keep);
    ideas.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    ideas
}

/// Returns the ideas on the chosen turns, in the order of the choice.
fn as_chosen(view: &View, known: Known<'_>, request: &RecallV1, mut ideas: Ideas) -> Vec<Idea> {
    let places = request.chosen.iter().filter_map(|it| view.place(*it));
    let chosen = places.filter_map(|it| ideas.0.remove(&it)).map(|mut idea| {
        if idea.facts.is_empty() {
            idea.facts = ended(view, known, request, idea.place);
        }
        idea
    });
    chosen.collect()
}

/// Returns the facts of a turn if none of them holds any more, so that its hint can say so.
fn ended(view: &View, known: Known<'_>, request: &RecallV1, place: usize) -> Vec<Arc<Fact>> {
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
fn said(view: &View, known: Known<'_>, idea: &Idea, silent: &BTreeSet<HintId>) -> bool {
    if silent.is_empty() {
        return false;
    }
    let places = [Some(idea.place), idea.over].into_iter().flatten();
    let units: Vec<UnitId> = places.map(|it| view.turns()[it].unit.id).collect();
    let told = units.iter().flat_map(|it| known.facts_from(*it)).map(|it| it.id.uuid());
    let facts = idea.facts.iter().map(|it| it.id.uuid()).chain(told);
    let subjects = facts.chain(units.iter().map(|it| it.uuid()));
    let mut ids = subjects.flat_map(|subject| trigger::ALL.map(|it| HintId::derive(subject, trigger::name(it))));
    ids.any(|it| silent.contains(&it))
}

/// Returns true if two turns say the same in nearly the same words.
fn same(view: &View, a: usize, b: usize) -> bool {
    let words = |place: usize| -> BTreeSet<u32> {
        let parts = view.turns()[place].parts.iter();
        parts.flat_map(|it| it.words.iter().copied()).collect()
    };
    let (a, b) = (words(a), words(b));
    let both = a.intersection(&b).count() as f32;
    both > SAME * (a.len() + b.len()) as f32 / 2.0
}

/// Makes a hint of an idea; `None` if it is too sensitive to be given here.
fn hint(view: &View, known: Known<'_>, heard: &Heard, request: &RecallV1, idea: &Idea) -> Option<Hint> {
    let places: Vec<usize> = [Some(idea.place), idea.over].into_iter().flatten().collect();
    let mut lines: Vec<String> = places.iter().rev().map(|&it| line(view, heard, it)).collect();
    // If a turn has several facts, the first is the most relevant one for the message. Ends of the other facts are not
    // worth mentioning.
    let closed: Option<&Fact> = idea.facts.first().map(AsRef::as_ref).filter(|it| is_over(it, request));
    let stands = idea.facts.iter().any(|it| !is_over(it, request));
    if let Some(closed) = closed {
        lines.extend(outdated(known, closed, stands));
    }
    // The reason and the sides contain facts too, and every line may be in another language.
    let told: Vec<&str> = lines
        .iter()
        .chain([&idea.reason])
        .chain(&idea.sides)
        .map(String::as_str)
        .collect();
    let matters = told
        .iter()
        .map(|it| sensitive::domains(it))
        .fold(Domains::default(), Domains::with);
    if !request.sensitive && !matters.within(heard.domains) {
        return None;
    }
    let sensitivity = sensitive::class(&told, matters);
    let unit = |place: &usize| &view.turns()[*place].unit;
    let subject = idea
        .facts
        .first()
        .map_or(unit(&idea.place).id.uuid(), |it| it.id.uuid());
    let units: Vec<UnitId> = places.iter().map(|it| unit(it).id).collect();
    Some(Hint {
        id: HintId::derive(subject, trigger::name(idea.trigger)),
        trigger: idea.trigger,
        sensitivity,
        reason: idea.reason.clone(),
        units,
        external_ids: places.iter().flat_map(|it| unit(it).external_ids.clone()).collect(),
        facts: idea.facts.iter().map(|it| it.id).collect(),
        observed_at: unit(&idea.place).observed_at,
        valid: closed.is_none(),
        valid_until: closed.and_then(|it| it.valid_until),
        sides: idea.sides.clone(),
        score: idea.score,
        text: lines.join("\n"),
    })
}

/// Returns a turn as a dated line with the sentences that are most relevant for the message.
fn line(view: &View, heard: &Heard, place: usize) -> String {
    let turn = &view.turns()[place];
    let shown = Display::within(&heard.query, turn, LINE).map(|it| it.text(turn));
    let shown = shown.unwrap_or_else(|| text::one_line(&turn.shown).chars().take(CHARS).collect());
    let date = turn.unit.observed_at.format("%-d %B %Y");
    let actor = text::shown_name(&turn.unit.actor);
    if actor.is_empty() {
        format!("[{date}] {shown}")
    } else {
        format!("[{date}] {actor}: {shown}")
    }
}

/// Returns until when a fact held and what holds since then, as far as it is known. Names the fact if another fact of
/// the turn still holds (`stands`).
fn outdated(known: Known<'_>, closed: &Fact, stands: bool) -> Option<String> {
    let date = closed.valid_until?.format("%-d %B %Y");
    let told = |it: &Fact| format!("{} {} {}", it.subject, it.predicate, it.object);
    let which = if stands {
        format!(": {}", told(closed))
    } else {
        String::new()
    };
    let newer = closed.retired_by.and_then(|it| known.fact(it));
    let since = newer.map(|it| format!("; since then: {}", told(&it)));
    Some(format!("(until {date}{which}{})", since.unwrap_or_default()))
}
