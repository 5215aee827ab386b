//! The packer: chooses lines by probability and price, and puts them in reading order. Deterministic, without parameters
//! that are learnt.

mod display;
mod growth;
mod line;

use std::collections::{BTreeMap, BTreeSet};

use domain::evidence::{Amendment, EvidencePack, PackItem};
use domain::id::UnitId;
use domain::message::RouteV1;

use crate::query::Query;
use crate::route::Scored;
use crate::view::View;
pub use display::Display;
use display::{Labels, header};
use growth::{Growth, Source};
use line::Line;

/// At most this many of the best units are weighed against each other.
const WEIGHED: usize = 150;
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

/// Packs the best of `scored` (best first) into `tokens` o200k tokens; what is shown costs its tokens plus one a line. It stops
/// when the lines hold the share `enough` of the probability, 1 being never: the heads are fitted to the share of the evidence
/// that a unit holds, so the sum says how much of it the pack is thought to hold. The lines of a pack are among the lines of
/// every pack with a larger budget, which shows at least as much of each. Units that the request has selected come before all
/// others, in its order.
pub fn pack(view: &View, query: &Query, scored: &[Scored], request: &RouteV1) -> Packed {
    let labels = Labels::of(view);
    let source = Source {
        view,
        query,
        scored,
        labels: &labels,
        enough: request.enough,
    };
    let chosen: BTreeMap<UnitId, usize> = request.selected.iter().copied().zip(0..).collect();
    let weighed = scored.iter().take(WEIGHED).enumerate();
    let open: Vec<Line<'_>> = weighed
        .map(|(rank, it)| {
            let unit = view.turns()[it.place].unit.id;
            let mut line = Line::of(view, query, &labels, (rank, it));
            line.chosen = chosen.get(&unit).copied();
            line.annotate(note(view.amended(unit, request.as_of)));
            line
        })
        .collect();
    let mut prices: Vec<u32> = open.iter().map(|it| it.price).collect();
    let mut growth = Growth::of(source, open);
    growth.grow(source, request.tokens);
    for line in &growth.lines {
        prices[line.rank] = line.price;
    }
    Packed {
        pack: render(source, &growth.lines, request.tokens),
        fates: growth.fates,
        prices,
    }
}

/// What a line says of its statements that were corrected or taken back: its words stay as they were.
fn note<'a>(amended: impl Iterator<Item = &'a Amendment>) -> String {
    let one = |it: &Amendment| match &it.now {
        Some(now) => format!(" [corrected since: \"{}\" is \"{now}\"]", it.was),
        None => format!(" [taken back since: \"{}\"]", it.was),
    };
    amended.map(|it| format!(" {}", text::one_line(&one(it)))).collect()
}

fn render(source: Source<'_>, chosen: &[Line<'_>], budget: u32) -> EvidencePack {
    let Source {
        view, scored, labels, ..
    } = source;
    let mut order: Vec<&Line<'_>> = chosen.iter().collect();
    order.sort_by_key(|it| {
        let place = scored[it.rank].place;
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
        let scored = &scored[it.rank];
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
