//! Measures what a remembered turn shares with a message, and the probability that the turn is worth a hint.

use std::collections::BTreeSet;

use domain::id::UnitId;
use domain::message::{QueryFilter, RecallV1, RouteV1};
use domain::port::SearchResult;

use super::message::RecallMessage;
use crate::route;
use crate::route::propose::{self, Gate};
use crate::route::scoring::edges::Related;
use crate::route::scoring::feature_slots as s;
use crate::route::scoring::heads::Weights;
use crate::route::scoring::matches::Matches;
use crate::space::scope::Scope;
use crate::space::view::{UnitHead, View};

/// Number of the best turns by the support head that are considered.
pub(super) const LOOKED_AT: usize = 48;
/// A turn contains a word of the message if one of its words is at least this similar to it.
const SAME: f32 = 0.5;
/// A similarity below this does not count.
const FAINT: f32 = 0.35;

/// Weights of the features of a tie (see [`Features`]), with a constant term. They were fitted on messages of our own,
/// of which some need a hint and some do not; see `tests/eval/data/recall/README.md`.
const CONSTANT: f32 = -4.2;
const WEIGHTS: Features = [2.2, 2.0, 2.5, 1.5, 0.8, -0.8, 0.5];

/// In this order: shared rarity (ln), its share of the message, cosine of the best sentence, rarest shared word,
/// whether a name is shared, whether the message is a question that is not about the speaker, how far the message
/// covers the best sentence.
pub type Features = [f32; 7];

/// The connection between one remembered turn and the message.
#[derive(Clone, Debug)]
pub struct MessageOverlap {
    /// Position of the turn in the view.
    pub place: usize,
    /// Score of the support head; 0 for a chosen turn that is not among the best.
    pub support: f32,
    /// Indices of the words of the query that are in the turn, strongest first.
    pub words: Vec<usize>,
    /// The input of `worth_saying`.
    pub features: Features,
    /// Probability that the turn is worth a hint, 0 to 1.
    pub score: f32,
}

/// Returns the ties and the number of candidates. It ranks the turns that were observed before the message as the
/// router does for a question, without the turns of the message itself. Then it scores the best of them and the chosen
/// ones. Ties come best support first, then the chosen turns that were not among the best.
pub fn find_overlaps(
    view: &View,
    message: &RecallMessage,
    own: &BTreeSet<UnitId>,
    request: &RecallV1,
    scope: Option<&Scope>,
    found: &SearchResult,
    weights: &Weights,
) -> (Vec<MessageOverlap>, usize) {
    let route_request = ranking_request(request);
    let shut = own | &view.marks().forgotten;
    let gate = Gate::from_request(&route_request)
        .with_scope(scope)
        .exclude_marked(view.marks())
        .exclude_units(&shut);
    let related = Related::new();
    let candidates = propose::propose_candidates(view, &message.query, &gate, found, &related);
    let mut scored = route::score_candidates(view, &message.query, &candidates, &related, weights);
    scored.truncate(LOOKED_AT);
    let mut chosen = chosen_positions(view, request, &shut);
    chosen.retain(|it| scope.is_none_or(|scope| scope.has_turn(view.turns()[*it].unit.id)));
    chosen.retain(|it| scored.iter().all(|scored| scored.place != *it));
    let mut places: Vec<usize> = scored.iter().map(|it| it.place).chain(chosen.iter().copied()).collect();
    places.sort_unstable();
    let matches = Matches::match_turns(view, &message.query, places);
    let soft = |place: usize| matches.word_similarities(matches.turns.binary_search(&place).unwrap_or_default());
    let ranked = scored.iter().map(|it| {
        let close = [it.values[s::DENSE_SENTENCE], it.values[s::COVERED_SENTENCE]];
        MessageOverlap {
            support: it.scores.support,
            ..measure_overlap(view, message, it.place, soft(it.place), close)
        }
    });
    let ties = ranked.chain(
        chosen
            .iter()
            .map(|&it| measure_overlap(view, message, it, soft(it), [0.0; 2])),
    );
    (ties.collect(), candidates.len())
}

/// Returns the positions of the chosen turns, each once, in the order of choice. Turns in `shut` and turns that were
/// not observed before the message are left out.
fn chosen_positions(view: &View, request: &RecallV1, shut: &BTreeSet<UnitId>) -> Vec<usize> {
    let open = |it: &&UnitId| !shut.contains(it) && view.marks().is_evidence_at(**it, None);
    let places = request
        .chosen
        .iter()
        .filter(open)
        .filter_map(|it| view.position_of_unit(*it));
    let mut out: Vec<usize> = Vec::new();
    for place in places {
        if view.turns()[place].unit.observed_at < request.at && !out.contains(&place) {
            out.push(place);
        }
    }
    out
}

/// Returns the turns that are the message itself, if it was stored before recall. Speaker and session are compared if
/// they are known.
pub(super) fn turns_of_message(view: &View, request: &RecallV1) -> BTreeSet<UnitId> {
    let message = request.message.trim();
    let actor = request.actor.to_lowercase();
    let is_own = |it: &&UnitHead| {
        it.text().trim() == message
            && (actor.is_empty() || it.actor.to_lowercase() == actor)
            && request.session.is_none_or(|session| it.session == session)
    };
    let units = view.turns().iter().map(|it| &it.unit);
    units.filter(is_own).map(|it| it.id).collect()
}

/// The words that a message shares with a text.
pub(super) struct SharedWords {
    /// The input of [`worth_saying`].
    pub(super) features: Features,
    /// Indices of the words of the query that are in the text, strongest first.
    pub(super) words: Vec<usize>,
}

/// Measures what a message shares with a text. `soft` is the similarity of each word of the message to the best word of
/// the text, `close` the similarity of the whole text.
pub(super) fn measure_shared_words(
    message: &RecallMessage,
    soft: &[f32],
    shares_name: bool,
    close: [f32; 2],
) -> SharedWords {
    let mut shared = 0.0;
    let mut words: Vec<(f32, usize)> = Vec::new();
    for (number, (&worth, &like)) in message.worth.iter().zip(soft).enumerate() {
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
        shared / message.total.max(1.0),
        close[0],
        words.first().map_or(0.0, |it| it.0) / 6.0,
        flag(shares_name),
        flag(message.asks && !message.mine),
        close[1],
    ];
    SharedWords {
        features,
        words: words.into_iter().map(|it| it.1).collect(),
    }
}

/// Returns the probability that a turn with these features is worth a hint, 0 to 1.
pub(super) fn worth_saying(features: &Features, bonus: f32) -> f32 {
    let sum: f32 = WEIGHTS.iter().zip(features).map(|(weight, value)| weight * value).sum();
    1.0 / (1.0 + (-(CONSTANT + bonus + sum)).exp())
}

/// Returns the request for which the router ranks turns: turns that were observed before the message, with its filter
/// and without a question.
pub(super) fn ranking_request(request: &RecallV1) -> RouteV1 {
    RouteV1 {
        filter: QueryFilter {
            labels: request.labels.clone(),
            ..QueryFilter::default()
        },
        as_of: Some(super::moment_before(request.at).fixed_offset()),
        ..RouteV1::new(request.space.clone(), String::new(), 0)
    }
}

/// Measures the tie of a turn that the router did not rank.
fn measure_overlap(
    view: &View,
    message: &RecallMessage,
    place: usize,
    soft: &[f32],
    close: [f32; 2],
) -> MessageOverlap {
    let turn = &view.turns()[place];
    let shares_name = message
        .names
        .iter()
        .chain(&message.places)
        .any(|it| turn.names().binary_search(it).is_ok());
    let weighed = measure_shared_words(message, soft, shares_name, close);
    MessageOverlap {
        place,
        support: 0.0,
        words: weighed.words,
        score: worth_saying(&weighed.features, 0.0),
        features: weighed.features,
    }
}
