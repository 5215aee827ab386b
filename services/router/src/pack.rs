//! The packer: chooses lines by probability and price, and puts them in reading order. Deterministic, without parameters
//! that are learnt.

mod display;

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};
use domain::evidence::{Amendment, EvidencePack, PackItem};
use domain::message::RouteV1;

use crate::query::Query;
use crate::route::Scored;
use crate::view::{Turn, View};
pub use display::Display;
use display::{Labels, header};

/// At most this many of the best units are weighed against each other.
const WEIGHED: usize = 150;
/// Tokens that every line is thought to cost beside its own, so that the shortest lines are not the cheapest by far.
const BASE: f32 = 4.0;
/// Tokens kept back for what the final lines add: names written out once.
const SLACK: u32 = 4;
/// Two lines of one speaker that share this much of the words of both say the same, and only the more probable is shown. That
/// a longer line holds the words of a shorter one is not enough: what is told of again on another day is evidence of its own.
const REPEATS: f32 = 0.85;

/// Sentences of a unit that did not fit whole are shown if it is at least this probable and at least this many tokens are
/// left.
const PROBABLE: f32 = 0.002;
const ROOM: u32 = 24;

/// What became of a weighed unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is shown.
    Packed,
    /// It says what is shown already.
    Repeats,
    /// The budget was too small for it when its turn came.
    TooDear,
    /// What was packed before it was enough.
    Spared,
    /// It was never near enough.
    Weak,
}

/// A pack with what became of every scored unit, in the order of `scored`.
pub struct Packed {
    /// The pack.
    pub pack: EvidencePack,
    /// Fates, by index in `scored`.
    pub fates: Vec<Fate>,
    /// Prices of the weighed units without a header, by index.
    pub prices: Vec<u32>,
}

struct Weighed<'a> {
    index: usize,
    actor: &'a str,
    display: Display,
    price: u32,
    words: BTreeSet<u32>,
    day: NaiveDate,
    /// Tokens of the header of its day, without and with the year.
    header: (u32, u32),
    /// What was decided by hand about what it states; mostly nothing.
    note: String,
}

/// Packs the best of `scored` (best first) into `tokens` o200k tokens; what is shown costs its tokens plus one a line. It stops
/// when the lines hold the share `enough` of the probability, 1 being never: the heads are fitted to the share of the evidence
/// that a unit holds, so the sum says how much of it the pack is thought to hold.
pub fn pack(view: &View, query: &Query, scored: &[Scored], request: &RouteV1) -> Packed {
    let (budget, enough) = (request.tokens, request.enough);
    let labels = Labels::of(view);
    let mut open: Vec<Weighed<'_>> = scored
        .iter()
        .take(WEIGHED)
        .enumerate()
        .map(|(index, it)| {
            let mut line = weigh(view, query, &labels, (index, it));
            line.remark(note(view.amended(view.turns()[it.place].unit.id, request.as_of)));
            line
        })
        .collect();
    let mut fates = vec![Fate::Weak; scored.len()];
    let mut prices: Vec<u32> = open.iter().map(|it| it.price).collect();
    let mut chosen = Chosen {
        used: SLACK,
        ..Chosen::default()
    };
    let stop = |chosen: &Chosen<'_>| enough < 1.0 && chosen.held >= enough;
    let mut dear: Vec<Weighed<'_>> = Vec::new();
    while let Some(at) = best(&open, scored, &chosen.days) {
        let next = open.remove(at);
        let (index, probability) = (next.index, scored[next.index].probability);
        fates[index] = if stop(&chosen) {
            Fate::Spared
        } else if chosen.repeats(&next) {
            chosen.held += probability;
            Fate::Repeats
        } else if chosen.used + next.cost(&chosen.days) > budget {
            dear.push(next);
            Fate::TooDear
        } else {
            chosen.add(next, probability);
            Fate::Packed
        };
    }
    // What is left goes to the best sentences of what did not fit whole.
    dear.sort_by_key(|it| it.index);
    for mut next in dear {
        let scored = &scored[next.index];
        let fixed = next.cost(&chosen.days) - next.display.tokens;
        let room = budget.saturating_sub(chosen.used + fixed);
        if scored.probability < PROBABLE || room < ROOM || stop(&chosen) {
            continue;
        }
        if let Some(display) = Display::within(query, &view.turns()[scored.place], room) {
            next.clip(display, &view.turns()[scored.place]);
            if chosen.repeats(&next) {
                chosen.held += scored.probability;
                fates[next.index] = Fate::Repeats;
                continue;
            }
            prices[next.index] = next.price;
            fates[next.index] = Fate::Packed;
            chosen.add(next, scored.probability);
        }
    }
    let pack = loop {
        let pack = render(view, scored, &chosen.lines, &labels, budget);
        if pack.tokens <= budget {
            break pack;
        }
        if let Some(dropped) = chosen.lines.pop() {
            fates[dropped.index] = Fate::TooDear;
        }
    };
    Packed { pack, fates, prices }
}

/// The lines of a pack in the making.
#[derive(Default)]
struct Chosen<'a> {
    lines: Vec<Weighed<'a>>,
    days: BTreeSet<NaiveDate>,
    used: u32,
    /// Probability of what is shown.
    held: f32,
}

impl<'a> Chosen<'a> {
    fn add(&mut self, next: Weighed<'a>, probability: f32) {
        self.held += probability;
        self.used += next.cost(&self.days);
        self.days.insert(next.day);
        self.lines.push(next);
    }

    /// Says whether a line shows already what `next` would.
    fn repeats(&self, next: &Weighed<'_>) -> bool {
        let same = |it: &Weighed<'_>| {
            let shared = next.words.intersection(&it.words).count();
            it.actor == next.actor && shared as f32 >= REPEATS * (next.words.len() + it.words.len() - shared) as f32
        };
        next.words.len() > 3 && self.lines.iter().any(same)
    }
}

impl Weighed<'_> {
    /// Shows less of the turn.
    fn clip(&mut self, display: Display, turn: &Turn) {
        self.price = self.price - self.display.tokens + display.tokens;
        self.words = words(&display, turn);
        self.display = display;
    }

    fn remark(&mut self, note: String) {
        if !note.is_empty() {
            self.price += text::tokens(&note) as u32;
            self.note = note;
        }
    }

    fn cost(&self, days: &BTreeSet<NaiveDate>) -> u32 {
        let header = if days.contains(&self.day) {
            0
        } else if days.iter().any(|it| it.year() == self.day.year()) {
            self.header.0
        } else {
            self.header.1
        };
        self.price + header
    }
}

fn weigh<'a>(view: &'a View, query: &Query, labels: &Labels, (index, scored): (usize, &Scored)) -> Weighed<'a> {
    let turn = &view.turns()[scored.place];
    let display = Display::of(query, turn, scored.probability);
    let price = labels.price(&turn.unit.actor) + display.tokens + 1;
    let words = words(&display, turn);
    let day = turn.unit.observed_at.date_naive();
    Weighed {
        index,
        actor: &turn.unit.actor,
        display,
        price,
        words,
        header: [Some(day), None]
            .map(|last| text::tokens(&header(day, last)) as u32)
            .into(),
        day,
        note: String::new(),
    }
}

/// Stems that a line shows.
fn words(display: &Display, turn: &Turn) -> BTreeSet<u32> {
    let sentences = display.sentences.iter().map(|it| &turn.sentences[*it]);
    sentences.flat_map(|it| it.words.iter().copied()).collect()
}

/// What a line says of its statements that were corrected or taken back: its words stay as they were.
fn note<'a>(amended: impl Iterator<Item = &'a Amendment>) -> String {
    let one = |it: &Amendment| match &it.now {
        Some(now) => format!(" [corrected since: \"{}\" is \"{now}\"]", it.was),
        None => format!(" [taken back since: \"{}\"]", it.was),
    };
    amended.map(|it| format!(" {}", text::one_line(&one(it)))).collect()
}

/// Returns the open unit with the most probability for its price, ties by rank.
fn best(open: &[Weighed<'_>], scored: &[Scored], days: &BTreeSet<NaiveDate>) -> Option<usize> {
    let worth = |it: &Weighed<'_>| scored[it.index].probability.max(1e-30).ln() - (it.cost(days) as f32 + BASE).ln();
    let better = |a: &(usize, f32), b: &(usize, f32)| a.1.total_cmp(&b.1).then(open[b.0].index.cmp(&open[a.0].index));
    open.iter().map(worth).enumerate().max_by(better).map(|it| it.0)
}

fn render(view: &View, scored: &[Scored], chosen: &[Weighed<'_>], labels: &Labels, budget: u32) -> EvidencePack {
    let mut order: Vec<&Weighed<'_>> = chosen.iter().collect();
    order.sort_by_key(|it| {
        let place = scored[it.index].place;
        (view.turns()[place].unit.observed_at, place)
    });
    let mut pack = EvidencePack {
        items: Vec::with_capacity(order.len()),
        tokens: 0,
        budget,
    };
    let mut last = None;
    let mut met = BTreeSet::new();
    for it in order {
        let scored = &scored[it.index];
        let unit = &view.turns()[scored.place].unit;
        let label = if met.insert(unit.actor.clone()) {
            labels.long(&unit.actor)
        } else {
            labels.short(&unit.actor)
        };
        let mut line = format!("{label}{}{}", it.display.text(&view.turns()[scored.place]), it.note);
        let day = unit.observed_at.date_naive();
        if last != Some(day) {
            line = format!("{}{line}", header(day, last));
            last = Some(day);
        }
        let tokens = text::tokens(&line) as u32 + 1;
        pack.tokens += tokens;
        pack.items.push(PackItem {
            unit: unit.id,
            records: unit.records.clone(),
            external_ids: unit.external_ids.clone(),
            session: unit.session,
            observed_at: unit.observed_at,
            actor: unit.actor.clone(),
            text: line,
            tokens,
            scores: scored.scores,
            probability: scored.probability,
            channels: scored.channels.clone(),
        });
    }
    pack
}
