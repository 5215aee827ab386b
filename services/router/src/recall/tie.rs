//! How a remembered turn is tied to a message, and how likely it is worth saying.

use std::collections::BTreeSet;

use domain::id::UnitId;
use domain::message::{QueryFilter, RecallV1, RouteV1};
use domain::port::SearchResult;
use domain::unit::Unit;

use super::heard::Heard;
use crate::edges::Related;
use crate::heads::Weights;
use crate::matches::Matches;
use crate::propose::{self, Gate};
use crate::route;
use crate::scope::Scope;
use crate::slots as s;
use crate::view::View;

/// Best turns by the support head that are looked at.
pub(super) const LOOKED_AT: usize = 48;
/// A word of the message is in a turn if it is at least this alike to a word of it.
const SAME: f32 = 0.5;
/// Likeness below this does not count.
const FAINT: f32 = 0.35;

/// Weights of the features of a tie, by [`Features`], and the constant before them. Fitted on messages of our own that need
/// a hint and that need none; see `tests/eval/data/recall/README.md`.
const CONSTANT: f32 = -4.2;
const WEIGHTS: Features = [2.2, 2.0, 2.5, 1.5, 0.8, -0.8, 0.5];

/// What is shared by rarity (ln), its share of the message, cosine of the best sentence, the rarest word shared, a name shared,
/// a question of nobody's own matters, how far the message covers the best sentence.
pub type Features = [f32; 7];

/// One remembered turn and the message.
#[derive(Clone, Debug)]
pub struct Tie {
    /// Place of the turn in the view.
    pub place: usize,
    /// Score of the support head; 0 of a chosen turn that is not among the best.
    pub support: f32,
    /// The numbers of the query's words that are in the turn, strongest first.
    pub words: Vec<usize>,
    /// What `worth_saying` reads.
    pub features: Features,
    /// How likely the turn is worth saying, 0 to 1.
    pub score: f32,
}

/// Ranks the turns that were observed before the message as the router does for a question, all but those that are the message
/// itself, and weighs the best of them and those that were chosen. Returns the ties, best support first, then the chosen ones
/// that were not among the best, and the number of candidates.
pub fn ties(
    view: &View,
    (heard, own): (&Heard, &BTreeSet<UnitId>),
    request: &RecallV1,
    scope: Option<&Scope>,
    found: &SearchResult,
    weights: &Weights,
) -> (Vec<Tie>, usize) {
    let asked = asked(request);
    let shut = own | &view.marks().forgotten;
    let gate = Gate::of(&asked).within(scope).without(view.marks()).except(&shut);
    let related = Related::new();
    let candidates = propose::propose(view, &heard.query, &gate, found, &related);
    let mut scored = route::score(view, &heard.query, &candidates, &related, weights);
    scored.truncate(LOOKED_AT);
    let mut chosen = chosen(view, request, &shut);
    chosen.retain(|it| scope.is_none_or(|scope| scope.has(view.turns()[*it].unit.id)));
    chosen.retain(|it| scored.iter().all(|scored| scored.place != *it));
    let mut places: Vec<usize> = scored.iter().map(|it| it.place).chain(chosen.iter().copied()).collect();
    places.sort_unstable();
    let matches = Matches::of(view, &heard.query, places);
    let soft = |place: usize| matches.soft(matches.turns.binary_search(&place).unwrap_or_default());
    let ranked = scored.iter().map(|it| {
        let close = [it.values[s::DENSE_SENTENCE], it.values[s::COVERED_SENTENCE]];
        Tie {
            support: it.scores.support,
            ..tie(view, heard, it.place, soft(it.place), close)
        }
    });
    let ties = ranked.chain(chosen.iter().map(|&it| tie(view, heard, it, soft(it), [0.0; 2])));
    (ties.collect(), candidates.len())
}

/// Returns the places of the chosen turns, each once in the order of the choice; those that were observed with the message or
/// later, and those in `shut`, are left out.
fn chosen(view: &View, request: &RecallV1, shut: &BTreeSet<UnitId>) -> Vec<usize> {
    let open = |it: &&UnitId| !shut.contains(it) && view.marks().tells(**it, None);
    let places = request.chosen.iter().filter(open).filter_map(|it| view.place(*it));
    let mut out: Vec<usize> = Vec::new();
    for place in places {
        if view.turns()[place].unit.observed_at < request.at && !out.contains(&place) {
            out.push(place);
        }
    }
    out
}

/// Returns the turns that are the message itself, stored before recall was asked, as far as it is known who says it and where.
pub(super) fn own(view: &View, request: &RecallV1) -> BTreeSet<UnitId> {
    let message = request.message.trim();
    let actor = request.actor.to_lowercase();
    let is_own = |it: &&Unit| {
        it.text.trim() == message
            && (actor.is_empty() || it.actor.to_lowercase() == actor)
            && request.session.is_none_or(|session| it.session == session)
    };
    let units = view.turns().iter().map(|it| &it.unit);
    units.filter(is_own).map(|it| it.id).collect()
}

/// What a message shares with a text.
pub(super) struct Weighed {
    /// What [`worth_saying`] reads.
    pub(super) features: Features,
    /// The numbers of the query's words that are in the text, strongest first.
    pub(super) words: Vec<usize>,
}

/// Weighs what a message shares with a text, by the likeness of each of its words to the best word there, and how close the
/// text is as a whole.
pub(super) fn weigh(heard: &Heard, soft: &[f32], named: bool, close: [f32; 2]) -> Weighed {
    let mut shared = 0.0;
    let mut words: Vec<(f32, usize)> = Vec::new();
    for (number, (&worth, &like)) in heard.worth.iter().zip(soft).enumerate() {
        if like >= FAINT {
            shared += worth * like;
        }
        if like >= SAME && worth > 0.0 {
            words.push((worth * like, number));
        }
    }
    words.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let flag = |it: bool| if it { 1.0 } else { 0.0 };
    let features = [
        (1.0_f32 + shared).ln() / 3.0,
        shared / heard.total.max(1.0),
        close[0],
        words.first().map_or(0.0, |it| it.0) / 6.0,
        flag(named),
        flag(heard.asks && !heard.mine),
        close[1],
    ];
    Weighed {
        features,
        words: words.into_iter().map(|it| it.1).collect(),
    }
}

/// Returns how likely something with these features is worth saying, 0 to 1.
pub(super) fn worth_saying(features: &Features, bonus: f32) -> f32 {
    let sum: f32 = WEIGHTS.iter().zip(features).map(|(weight, value)| weight * value).sum();
    1.0 / (1.0 + (-(CONSTANT + bonus + sum)).exp())
}

/// Returns the question that the router ranks turns for: what was observed before the message, and nothing of what it asks.
pub(super) fn asked(request: &RecallV1) -> RouteV1 {
    RouteV1 {
        filter: QueryFilter {
            labels: request.labels.clone(),
            ..QueryFilter::default()
        },
        as_of: Some(super::before(request.at).fixed_offset()),
        ..RouteV1::new(request.space.clone(), String::new(), 0)
    }
}

/// Weighs a turn that the router did not rank.
fn tie(view: &View, heard: &Heard, place: usize, soft: &[f32], close: [f32; 2]) -> Tie {
    let turn = &view.turns()[place];
    let named = heard
        .names
        .iter()
        .chain(&heard.places)
        .any(|it| turn.names.binary_search(it).is_ok());
    let weighed = weigh(heard, soft, named, close);
    Tie {
        place,
        support: 0.0,
        words: weighed.words,
        score: worth_saying(&weighed.features, 0.0),
        features: weighed.features,
    }
}
