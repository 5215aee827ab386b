//! Relations between the statements of speakers: answers, markers, and continuations.

use std::collections::BTreeSet;

use domain::relation::RelationKind;

use text::is_question;

use super::{Link, RecordFeatures, connecting_stems};
use crate::segments::marker;
use crate::units::{act, speech};

/// Maximum number of sentences of a turn that are compared with those of another.
const SENTENCES_MAX: usize = 8;

/// Returns the relations of the turn at `at` to earlier turns.
pub(super) fn links_of_turn(features: &RecordFeatures<'_>, at: usize) -> Vec<Link> {
    let question_before =
        speech::find_answered_question(features.records, at).filter(|it| !act::is_world(&features.records[it.0]));
    let place = question_before.as_ref().map(|it| it.0);
    let mut out = Vec::new();
    if let Some((place, question)) = &question_before {
        out.push(Link::new(*place, RelationKind::FollowsUp, at, 90));
        out.extend(link_reason(features, *place, question, at));
        out.extend(link_detail(features, *place, question, at));
    }
    out.extend(link_by_marker(features, at, place));
    out.extend(link_opposition(features, at));
    if place.is_none() {
        out.extend(link_continuation(features, at));
    }
    out
}

/// Returns the relation of an answer to a question about a cause or motive.
fn link_reason(features: &RecordFeatures<'_>, place: usize, question: &str, at: usize) -> Option<Link> {
    let kind = marker::asked_relation_kind(question)?;
    let last = text::split_sentences(&features.records[place].text)
        .last()
        .is_some_and(|it| is_question(it));
    if !last {
        return None;
    }
    let kind = marker::find_marker(&features.records[at].text).map_or(kind, |it| match it.kind {
        RelationKind::Causes | RelationKind::Motivates => it.kind,
        RelationKind::Enables
        | RelationKind::FollowsUp
        | RelationKind::Before
        | RelationKind::Contrasts
        | RelationKind::PartOf
        | RelationKind::Parallel
        | RelationKind::Elaborates
        | RelationKind::SameAs
        | RelationKind::Other => kind,
    });
    // "Why?" alone asks about the statement before it.
    let is_specific = connecting_stems(question).len() > 1;
    let before = statement_before(features, place, at).filter(|_| !is_specific);
    Some(Link {
        through: before.map(|_| place),
        ..Link::new(at, kind, before.unwrap_or(place), 80)
    })
}

/// Returns the relation of an answer to the answerer's own statement directly before a question that asks for a
/// detail of it.
fn link_detail(features: &RecordFeatures<'_>, place: usize, question: &str, at: usize) -> Option<Link> {
    if !marker::asks_detail(question) {
        return None;
    }
    let before = statement_before(features, place, at)?;
    let about = connecting_stems(question);
    let asker = text::split_sentences(&features.records[place].text);
    let own = asker
        .iter()
        .filter(|it| **it != question)
        .flat_map(|it| connecting_stems(it))
        .collect();
    let shares = about
        .intersection(features.stems_at(before))
        .any(|it| !BTreeSet::contains(&own, it));
    if asker.len() > SENTENCES_MAX {
        return None;
    }
    let tied = shares || asker.len() <= 2 && marker::is_anaphoric(question);
    tied.then(|| Link {
        through: Some(place),
        ..Link::new(at, RelationKind::Elaborates, before, 75)
    })
}

/// Returns the place directly before `place` if the speaker at `at` made a statement there.
fn statement_before(features: &RecordFeatures<'_>, place: usize, at: usize) -> Option<usize> {
    let before = place.checked_sub(1)?;
    let record = &features.records[before];
    let own = record.actor == features.records[at].actor && !record.text.trim().is_empty();
    (own && !text::split_sentences(&record.text).into_iter().all(is_question)).then_some(before)
}

/// Returns the relation that is stated by the marker at the beginning of a turn.
fn link_by_marker(features: &RecordFeatures<'_>, at: usize, question_place: Option<usize>) -> Option<Link> {
    let place = at.checked_sub(1)?;
    let (record, before) = (&features.records[at], &features.records[place]);
    let found = marker::find_marker(&record.text)?;
    let same = record.actor == before.actor;
    let reason = matches!(found.kind, RelationKind::Causes | RelationKind::Motivates);
    if question_place.is_some() && reason || before.text.trim().is_empty() || act::is_world(record) {
        return None;
    }
    let asks = text::split_sentences(&before.text)
        .last()
        .is_some_and(|it| is_question(it));
    let tied = found.points_back || same || features.share_stems(at, place);
    if !tied || asks && !same {
        return None;
    }
    let (source, target) = if found.from_before { (place, at) } else { (at, place) };
    Some(Link::new(source, found.kind, target, 80))
}

/// Returns the relation of a turn to the preceding one if the same speaker continues its subject: "She's called
/// Pipit."
fn link_continuation(features: &RecordFeatures<'_>, at: usize) -> Option<Link> {
    let place = at.checked_sub(1)?;
    let (record, before) = (&features.records[at], &features.records[place]);
    let own = record.actor == before.actor && speech::is_speech(record) && !act::is_world(record);
    let tells = |text: &str| !text::split_sentences(text).first().is_some_and(|it| is_question(it));
    let fits = own
        && tells(&record.text)
        && !text::split_sentences(&before.text)
            .last()
            .is_some_and(|it| is_question(it));
    (fits && marker::takes_up(&record.text, &before.text)).then(|| Link::new(at, RelationKind::Elaborates, place, 75))
}

/// Returns the relation of a turn that refuses another speaker's proposal or states the opposite preference.
fn link_opposition(features: &RecordFeatures<'_>, at: usize) -> Option<Link> {
    let place = at.checked_sub(1)?;
    let (record, before) = (&features.records[at], &features.records[place]);
    if record.actor == before.actor || act::is_world(record) || act::is_world(before) {
        return None;
    }
    let (own, sentences) = (text::split_sentences(&record.text), text::split_sentences(&before.text));
    let asks = sentences
        .last()
        .is_some_and(|it| is_question(it) || marker::asks_plainly(it));
    let proposed = |refused: &str| {
        let thing = connecting_stems(refused);
        let mut of_it = sentences
            .iter()
            .take(SENTENCES_MAX)
            .filter(|it| !thing.is_disjoint(&connecting_stems(it)))
            .peekable();
        // "No coins" after "Never suggest coins" is an agreement.
        !asks && of_it.peek().is_some() && of_it.all(|it| !marker::has_denial(it))
    };
    let refused = marker::find_refusal(&record.text).is_some_and(proposed);
    let tastes = || {
        own.iter().take(SENTENCES_MAX).any(|one| {
            let against = |other: &&str| {
                if is_question(one) || is_question(other) {
                    return false;
                }
                let opposite = marker::read_liking(one)
                    .zip(marker::read_liking(other))
                    .is_some_and(|(a, b)| a != b);
                opposite && !connecting_stems(one).is_disjoint(&connecting_stems(other))
            };
            sentences.iter().take(SENTENCES_MAX).any(against)
        })
    };
    (refused || tastes()).then(|| Link::new(place, RelationKind::Contrasts, at, 80))
}
