//! Judges whether two events are the same (CompassMem, section 3.2: same event, overlap, kind of relation,
//! reasoning).

use domain::relation::RelationKind;
use domain::time::TimeSpan;
use serde::{Deserialize, Serialize};

use super::event_features::EventFeatures;
use crate::judgements::coreference::UsableJudgement;
use crate::space::word_set::WordSet;

/// Maximum number of names in a reason.
const NAMES_MAX: usize = 3;
/// Minimum cosine of two accounts of the same event; it must be exceeded.
const SAME_MIN: f32 = 0.9;
/// Above this cosine, accounts are surely of the same event if nothing contradicts it.
const SURE_MIN: f32 = 0.97;
/// Maximum number of weak objections that leave a pair undecided.
const DOUBTS_MAX: usize = 1;

/// The judgement of two similar events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Judgement {
    pub(super) similarity: f32,
    /// Nothing contradicts a single event, and something specific supports it.
    pub(super) same: bool,
    /// True if both events share named people who do not speak, a place, or a time mentioned in the text.
    pub(super) overlap: bool,
    /// Relation of the later account to the earlier one, if they are not the same.
    pub(super) kind: Option<RelationKind>,
    pub(super) reason: String,
    /// True if the rules cannot decide: the two share something, but only weak objections separate them or little
    /// connects them.
    pub(super) unsure: bool,
    /// True if a language model made the judgement.
    pub(super) by_model: bool,
}

/// Objections against a single event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Against {
    StepsOfTheirOwn,
    ToldByOthers,
    WithOthers,
    AtOtherTimes,
    OnAnotherDay,
    OtherNumbers,
    AtOtherPlaces,
    OtherActions,
    OneDenies,
}

impl Against {
    fn reason_text(self) -> &'static str {
        match self {
            Against::StepsOfTheirOwn => "different steps",
            Against::ToldByOthers => "told by different people",
            Against::WithOthers => "with others",
            Against::AtOtherTimes => "at different times",
            Against::OnAnotherDay => "done on different days",
            Against::OtherNumbers => "other numbers",
            Against::AtOtherPlaces => "at different places",
            Against::OtherActions => "other actions",
            Against::OneDenies => "one denies what the other says",
        }
    }

    /// Returns true if the objection may also occur between accounts of one event: by another speaker, on a later
    /// day, or with other details.
    fn is_weak(self) -> bool {
        match self {
            Against::ToldByOthers | Against::OnAnotherDay | Against::OtherNumbers | Against::OtherActions => true,
            Against::StepsOfTheirOwn
            | Against::WithOthers
            | Against::AtOtherTimes
            | Against::AtOtherPlaces
            | Against::OneDenies => false,
        }
    }
}

impl Judgement {
    /// Returns true if two different events are related. A model may name a relation between events that share
    /// nothing else.
    pub(super) fn is_related(&self) -> bool {
        self.kind.is_some() && (self.overlap || self.by_model)
    }

    /// Returns the language model's judgement in place of the one made by the rules.
    pub(super) fn by_model(self, model_judgement: &UsableJudgement) -> Judgement {
        Judgement {
            same: model_judgement.same,
            overlap: model_judgement.overlap,
            kind: model_judgement.kind,
            reason: model_judgement.reason.clone(),
            by_model: true,
            ..self
        }
    }
}

/// Judges the `later` account against the `earlier` one.
pub(super) fn judge_by_rules(earlier: &EventFeatures, later: &EventFeatures, similarity: f32) -> Judgement {
    let shared: Vec<&str> = earlier.named.intersection(&later.named).collect();
    let place = !earlier.place.is_empty() && earlier.place == later.place;
    let same_time = times_overlap(&earlier.times, &later.times);
    let overlap = !shared.is_empty() || place || same_time;
    let against = find_objections(earlier, later);
    let nothing_against = overlap && against.is_empty();
    let same = nothing_against && similarity > SAME_MIN;
    let kind = match against.as_slice() {
        [] | [Against::OnAnotherDay] if overlap => Some(RelationKind::SameAs),
        [Against::AtOtherTimes] => Some(RelationKind::FollowsUp),
        _ => None,
    };
    let signs = shared.len().min(2) + usize::from(place) + usize::from(same_time);
    let has_doubts = against.len() <= DOUBTS_MAX && against.iter().all(|it| it.is_weak());
    let is_sure = same && (signs > 1 || similarity > SURE_MIN);
    let unsure = overlap && has_doubts && !is_sure;
    let mut reasons: Vec<String> = Vec::new();
    if !shared.is_empty() {
        reasons.push(format!(
            "both mention {}",
            shared[..shared.len().min(NAMES_MAX)].join(", ")
        ));
    }
    if place {
        reasons.push("at the same place".to_owned());
    }
    if same_time {
        reasons.push("the stated times overlap".to_owned());
    }
    if nothing_against {
        reasons.push("nothing contradicts it".to_owned());
    }
    reasons.extend(against.iter().map(|it| it.reason_text().to_owned()));
    Judgement {
        similarity,
        same,
        overlap,
        kind,
        reason: reasons.join("; "),
        unsure,
        by_model: false,
    }
}

/// Returns the objections against a single event.
fn find_objections(one: &EventFeatures, other: &EventFeatures) -> Vec<Against> {
    let mut out = Vec::new();
    let both = |a: &WordSet, b: &WordSet| !a.is_empty() && !b.is_empty();
    if (one.action || other.action) && (one.session != other.session || one.step != other.step) {
        out.push(Against::StepsOfTheirOwn);
    }
    if both(&one.speakers, &other.speakers) && one.speakers.is_disjoint(&other.speakers) {
        out.push(Against::ToldByOthers);
    }
    if both(&one.named, &other.named) && one.named.is_disjoint(&other.named) {
        out.push(Against::WithOthers);
    }
    if !one.times.is_empty() && !other.times.is_empty() {
        if !times_overlap(&one.times, &other.times) {
            out.push(Against::AtOtherTimes);
        }
    } else if !times_overlap(&one.possible_times(), &other.possible_times()) {
        out.push(Against::OnAnotherDay);
    }
    let apart = |a: &WordSet, b: &WordSet| !a.is_subset(b) && !b.is_subset(a);
    if apart(&one.numbers, &other.numbers) {
        out.push(Against::OtherNumbers);
    }
    let (a, b) = (&*one.place, &*other.place);
    if !a.is_empty() && !b.is_empty() && !a.contains(b) && !b.contains(a) {
        out.push(Against::AtOtherPlaces);
    }
    if both(&one.did, &other.did) && one.did.is_disjoint(&other.did) {
        out.push(Against::OtherActions);
    }
    if (one.negations == 0) != (other.negations == 0) {
        out.push(Against::OneDenies);
    }
    out
}

fn times_overlap(one: &[TimeSpan], other: &[TimeSpan]) -> bool {
    one.iter().any(|a| other.iter().any(|b| a.overlaps(b)))
}
