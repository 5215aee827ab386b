//! The packer: chooses lines by probability and price, and puts them in reading order. It is deterministic and has no
//! learnt parameters.

mod choice;
mod coverage;
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
pub use choice::{Choice, Key, Listed};
pub use coverage::Coverage;
pub use display::Display;
use display::{Labels, header};
use growth::{Growth, Source};
use line::Line;

/// Maximum number of the best units of each list that are compared with each other.
const WEIGHED: usize = 150;
/// The outcome for a compared unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is in the pack.
    Packed,
    /// It repeats a line that is in the pack.
    Repeats,
    /// The remaining budget was too small for it.
    TooDear,
    /// The pack had already enough of the probability.
    Spared,
    /// It was not among the compared units.
    Weak,
}

/// A pack with the outcome for every scored unit.
pub struct Packed {
    /// The pack.
    pub pack: EvidencePack,
    /// The turns that its gists were read in, and the turns that the pack shows directly.
    pub coverage: Coverage,
    fates: BTreeMap<Key, Fate>,
    prices: BTreeMap<Key, u32>,
}

impl Packed {
    /// Returns the outcome for a scored unit.
    pub fn fate(&self, key: Key) -> Fate {
        self.fates.get(&key).copied().unwrap_or(Fate::Weak)
    }

    /// Returns the price of a unit without a header, in o200k tokens; 0 if it was not compared.
    pub fn price(&self, key: Key) -> u32 {
        self.prices.get(&key).copied().unwrap_or_default()
    }
}

/// Packs the best of the turns `scored` (best first). See [`pack_choice`].
pub fn pack(view: &View, query: &Query, scored: &[Scored], request: &RouteV1) -> Packed {
    let turns = Listed { view, query, scored };
    pack_choice(&Choice { turns, gists: None }, request)
}

/// Packs the best units into `tokens` o200k tokens. A line costs the tokens of its text plus one.
///
/// Packing stops when the lines hold the share `enough` of the probability; with 1 it never stops for this reason. The
/// heads are fitted to the share of the evidence that a unit holds, so the sum estimates how much of the evidence is in
/// the pack. The lines of a pack are among the lines of every pack with a larger budget, which shows at least as much
/// of each. Units that the request has selected come before all others, in its order.
///
/// A gist and the turns that it was read in are one piece of evidence. Of a gist and one of its turns, only the first
/// to be chosen is packed, which is the one with more probability for its price, unless both were selected. Several
/// gists of a turn may be packed, and a gist together with some of its turns.
pub fn pack_choice(choice: &Choice<'_>, request: &RouteV1) -> Packed {
    let labels = Labels::of(choice.turns.view);
    let source = Source {
        choice,
        labels: &labels,
        enough: request.enough,
        mass: choice.mass(),
    };
    let chosen: BTreeMap<UnitId, usize> = request.selected.iter().copied().zip(0..).collect();
    let weighed = choice.best(WEIGHED);
    let open: Vec<Line<'_>> = weighed
        .map(|key| {
            let unit = choice.unit(key).unit.id;
            let mut line = Line::of(choice, &labels, key);
            line.chosen = chosen.get(&unit).copied();
            line.annotate(note(choice.list(key.grain).view.amended(unit, request.as_of)));
            line
        })
        .collect();
    let mut prices: BTreeMap<Key, u32> = open.iter().map(|it| (it.key, it.price)).collect();
    let mut growth = Growth::of(open);
    let pack = growth.grow(source, request.tokens);
    let mut coverage = Coverage::default();
    for line in &growth.lines {
        prices.insert(line.key, line.price);
        coverage.add(line.key.grain, &line.turns);
    }
    Packed {
        pack,
        coverage,
        fates: growth.fates,
        prices,
    }
}

/// Returns a note for a line whose statements were corrected or taken back. The words of the line itself stay
/// unchanged.
fn note<'a>(amended: impl Iterator<Item = &'a Amendment>) -> String {
    let one = |it: &Amendment| match &it.now {
        Some(now) => format!(" [corrected since: \"{}\" is \"{now}\"]", it.was),
        None => format!(" [taken back since: \"{}\"]", it.was),
    };
    amended.map(|it| format!(" {}", text::one_line(&one(it)))).collect()
}

fn render(source: Source<'_>, chosen: &[Line<'_>], budget: u32) -> EvidencePack {
    let mut order: Vec<&Line<'_>> = chosen.iter().collect();
    order.sort_by_key(|it| (it.turn.unit.observed_at, it.key.grain, it.scored.place));
    let mut pack = EvidencePack {
        items: Vec::with_capacity(order.len()),
        tokens: 0,
        budget,
    };
    let mut last = None;
    let mut met = BTreeSet::new();
    for it in order {
        let unit = &it.turn.unit;
        let label = if met.insert(it.actor) {
            source.labels.long(it.actor)
        } else {
            source.labels.short(it.actor)
        };
        let mut line = format!("{label}{}{}", it.display.text(it.turn), it.note);
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
            scores: it.scored.scores,
            probability: it.scored.probability,
            channels: it.scored.channels.clone(),
        });
    }
    pack
}
