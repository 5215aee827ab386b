//! The packer: chooses lines by probability and price within the token budget, and puts them in reading order. It is
//! deterministic and has no learnt parameters.

mod choice;
mod coverage;
mod display;
mod growth;
mod line;

use std::collections::{BTreeMap, BTreeSet};

use domain::evidence::{Amendment, EvidencePack, PackItem};
use domain::id::UnitId;
use domain::message::RouteV1;

use crate::route::Scored;
use crate::route::query::Query;
use crate::space::view::View;
pub use choice::{Choice, Key, ScoredUnits};
pub use coverage::Coverage;
pub use display::Display;

use display::{Labels, day_header};
use growth::{Growth, Source};
use line::Line;

/// Maximum number of the best units of each list that are compared with each other.
const WEIGHED: usize = 150;
/// The outcome for a scored unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The unit is in the pack.
    Packed,
    /// The unit repeats a line that is in the pack.
    Repeats,
    /// The remaining budget was too small for the unit.
    TooDear,
    /// The pack had reached the requested probability already.
    Spared,
    /// The unit was not among the compared units.
    Weak,
}

/// A pack with the outcome for every scored unit.
pub struct Packed {
    /// The pack.
    pub pack: EvidencePack,
    /// The turns that the gists of the pack were derived from, and the turns that the pack shows directly.
    pub coverage: Coverage,
    fates: BTreeMap<Key, Fate>,
    prices: BTreeMap<Key, u32>,
}

impl Packed {
    /// Returns the outcome for a scored unit.
    pub fn fate_of_unit(&self, key: Key) -> Fate {
        self.fates.get(&key).copied().unwrap_or(Fate::Weak)
    }

    /// Returns the price of a unit without a header, in o200k tokens; 0 if it was not compared.
    pub fn price_of_unit(&self, key: Key) -> u32 {
        self.prices.get(&key).copied().unwrap_or_default()
    }
}

/// Packs the best of the turns `scored` (best first). See [`pack_choice`].
pub fn pack_turns(view: &View, query: &Query, scored: &[Scored], request: &RouteV1) -> Packed {
    let turns = ScoredUnits { view, query, scored };
    pack_choice(&Choice { turns, gists: None }, request)
}

/// Packs the best units into `tokens` o200k tokens. A line costs the tokens of its text plus one.
///
/// Packing stops when the lines hold the share `enough` of the probability; with 1 it never stops for this reason. The
/// heads are fitted to the share of the evidence that a unit holds, so the sum estimates how much of the evidence is in
/// the pack. The lines of a pack are among the lines of every pack with a larger budget, which shows at least as much
/// of each. Units that the request has selected come before all others, in its order.
///
/// A gist and the turns that it was read from are one piece of evidence. Of a gist and one of its turns, only the first
/// to be chosen is packed, which is the one with more probability for its price, unless both were selected. Several
/// gists of a turn may be packed, and a gist together with some of its turns.
pub fn pack_choice(choice: &Choice<'_>, request: &RouteV1) -> Packed {
    let labels = Labels::from_view(choice.turns.view);
    let source = Source {
        choice,
        labels: &labels,
        enough: request.enough,
        mass: choice.total_probability(),
    };
    let chosen: BTreeMap<UnitId, usize> = request.selected.iter().copied().zip(0..).collect();
    let weighed = choice.best_units(WEIGHED);
    let open: Vec<Line<'_>> = weighed
        .map(|key| {
            let unit = choice.unit_of_key(key).unit.id;
            let mut line = Line::from_unit(choice, &labels, key);
            line.chosen = chosen.get(&unit).copied();
            line.append_note(describe_amendments(
                choice
                    .list_of_grain(key.grain)
                    .view
                    .amendments_of_unit(unit, request.as_of),
            ));
            line
        })
        .collect();
    let mut prices: BTreeMap<Key, u32> = open.iter().map(|it| (it.key, it.price)).collect();
    let mut growth = Growth::from_lines(open);
    let pack = growth.grow_to_budget(source, request.tokens);
    let mut coverage = Coverage::default();
    for line in &growth.lines {
        prices.insert(line.key, line.price);
        coverage.add_unit(line.key.grain, &line.turns);
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
pub(crate) fn describe_amendments<'a>(amended: impl Iterator<Item = &'a Amendment>) -> String {
    let one = |it: &Amendment| match &it.now {
        Some(now) => format!(" [corrected since: \"{}\" is \"{now}\"]", it.was),
        None => format!(" [taken back since: \"{}\"]", it.was),
    };
    amended.map(|it| format!(" {}", text::one_line(&one(it)))).collect()
}

fn render_pack(source: Source<'_>, chosen: &[Line<'_>], budget: u32) -> EvidencePack {
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
            source.labels.long_form(it.actor)
        } else {
            source.labels.short_form(it.actor)
        };
        let mut line = format!("{label}{}{}", it.display.text(it.turn), it.note);
        let day = unit.observed_at.date_naive();
        if last != Some(day) {
            line = format!("{}{line}", day_header(day, last));
            last = Some(day);
        }
        let tokens = text::count_tokens(&line) as u32 + 1;
        pack.tokens += tokens;
        pack.items.push(PackItem {
            unit: unit.id,
            records: unit.records.to_vec(),
            external_ids: unit.external_ids(),
            session: unit.session,
            observed_at: unit.observed_at,
            actor: unit.actor.to_string(),
            text: line,
            tokens,
            scores: it.scored.scores,
            probability: it.scored.probability,
            channels: it.scored.channels.clone(),
        });
    }
    pack
}
