//! Whether two events are one (CompassMem, section 3.2: same event, overlap, kind of relation, reasoning).

use std::collections::BTreeSet;

use domain::relation::RelationKind;
use domain::time::TimeSpan;

use super::scene::Scene;

/// Most names told in a reason.
const NAMES_MAX: usize = 3;

/// How two similar events stand to each other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) similarity: f32,
    /// Nothing speaks against one event, and something specific speaks for it.
    pub(super) same: bool,
    /// They share people who do not speak, a place or a told time.
    pub(super) overlap: bool,
    /// How the later telling stands to the earlier one, if they are not the same.
    pub(super) kind: Option<RelationKind>,
    pub(super) reason: String,
}

/// Judges the `later` telling by the `earlier` one.
pub(super) fn judge(earlier: &Scene, later: &Scene, similarity: f32) -> Judgement {
    let shared: Vec<&str> = earlier.named.intersection(&later.named).map(String::as_str).collect();
    let place = !earlier.place.is_empty() && earlier.place == later.place;
    let told = meet(&earlier.times, &later.times);
    let overlap = !shared.is_empty() || place || told;
    let against = against(earlier, later);
    let same = overlap && against.is_empty();
    let kind = match against.as_slice() {
        [] | ["done on another day"] if overlap => Some(RelationKind::SameAs),
        ["at other times"] => Some(RelationKind::FollowsUp),
        _ => None,
    };
    let mut reasons: Vec<String> = Vec::new();
    if !shared.is_empty() {
        reasons.push(format!(
            "both tell of {}",
            shared[..shared.len().min(NAMES_MAX)].join(", ")
        ));
    }
    if place {
        reasons.push("at the same place".to_owned());
    }
    if told {
        reasons.push("told times overlap".to_owned());
    }
    if same {
        reasons.push("nothing speaks against it".to_owned());
    }
    reasons.extend(against.iter().map(|it| (*it).to_owned()));
    Judgement {
        similarity,
        same,
        overlap,
        kind,
        reason: reasons.join("; "),
    }
}

/// What speaks against one event.
fn against(one: &Scene, other: &Scene) -> Vec<&'static str> {
    let mut out = Vec::new();
    let both = |a: &BTreeSet<String>, b: &BTreeSet<String>| !a.is_empty() && !b.is_empty();
    if (one.action || other.action) && (one.session != other.session || one.step != other.step) {
        out.push("steps of their own");
    }
    if both(&one.speakers, &other.speakers) && one.speakers.is_disjoint(&other.speakers) {
        out.push("told by others");
    }
    if both(&one.named, &other.named) && one.named.is_disjoint(&other.named) {
        out.push("with others");
    }
    if !one.times.is_empty() && !other.times.is_empty() {
        if !meet(&one.times, &other.times) {
            out.push("at other times");
        }
    } else if !meet(one.when(), other.when()) {
        out.push("done on another day");
    }
    let apart = |a: &BTreeSet<String>, b: &BTreeSet<String>| !a.is_subset(b) && !b.is_subset(a);
    if apart(&one.numbers, &other.numbers) {
        out.push("other numbers");
    }
    let (a, b) = (one.place.as_str(), other.place.as_str());
    if !a.is_empty() && !b.is_empty() && !a.contains(b) && !b.contains(a) {
        out.push("at other places");
    }
    if both(&one.did, &other.did) && one.did.is_disjoint(&other.did) {
        out.push("other actions");
    }
    if (one.negations == 0) != (other.negations == 0) {
        out.push("one says it is not so");
    }
    out
}

fn meet(one: &[TimeSpan], other: &[TimeSpan]) -> bool {
    one.iter().any(|a| other.iter().any(|b| a.overlaps(b)))
}
