//! Relations between the statements of speakers: answers, markers, and continuations.

use std::collections::BTreeSet;

use domain::relation::RelationKind;

use text::is_question;

use super::{Link, Told, stems};
use crate::{act, marker, speech};

/// Maximum number of sentences of a turn that are compared with those of another.
const SENTENCES_MAX: usize = 8;

/// Returns the relations of the turn at `at` to earlier turns.
pub(super) fn links(told: &Told<'_>, at: usize) -> Vec<Link> {
    let asked = told.asked(at).filter(|it| !act::is_world(&told.records[it.0]));
    let place = asked.as_ref().map(|it| it.0);
    let mut out = Vec::new();
    if let Some((place, question)) = &asked {
        out.push(Link::new(*place, RelationKind::FollowsUp, at, 90));
        out.extend(reason(told, *place, question, at));
        out.extend(detail(told, *place, question, at));
    }
    out.extend(marked(told, at, place));
    out.extend(opposed(told, at));
    if place.is_none() {
        out.extend(continued(told, at));
    }
    out
}

/// Returns the relation of an answer to a question about a cause or motive.
fn reason(told: &Told<'_>, place: usize, question: &str, at: usize) -> Option<Link> {
    let kind = marker::wanted(question)?;
    let last = text::sentences(&told.records[place].text)
        .last()
        .is_some_and(|it| is_question(it));
    if !last {
        return None;
    }
    let kind = marker::of(&told.records[at].text).map_or(kind, |it| match it.kind {
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
    let named = stems(question).len() > 1;
    let before = before(told, place, at).filter(|_| !named);
    Some(Link {
        through: before.map(|_| place),
        ..Link::new(at, kind, before.unwrap_or(place), 80)
    })
}

/// Returns the relation of an answer to the answerer's own statement directly before a question that asks for a
/// detail of it.
fn detail(told: &Told<'_>, place: usize, question: &str, at: usize) -> Option<Link> {
    if !marker::asks_detail(question) {
        return None;
    }
    let before = before(told, place, at)?;
    let about = stems(question);
    let asker = text::sentences(&told.records[place].text);
    let own = asker
        .iter()
        .filter(|it| **it != question)
        .flat_map(|it| stems(it))
        .collect();
    let shares = about
        .intersection(told.stems(before))
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
fn before(told: &Told<'_>, place: usize, at: usize) -> Option<usize> {
    let before = place.checked_sub(1)?;
    let said = &told.records[before];
    let own = said.actor == told.records[at].actor && !said.text.trim().is_empty();
    (own && !text::sentences(&said.text).into_iter().all(is_question)).then_some(before)
}

/// Returns the relation that is stated by the marker at the beginning of a turn.
fn marked(told: &Told<'_>, at: usize, asked: Option<usize>) -> Option<Link> {
    let place = at.checked_sub(1)?;
    let (record, before) = (&told.records[at], &told.records[place]);
    let found = marker::of(&record.text)?;
    let same = record.actor == before.actor;
    let reason = matches!(found.kind, RelationKind::Causes | RelationKind::Motivates);
    if asked.is_some() && reason || before.text.trim().is_empty() || act::is_world(record) {
        return None;
    }
    let asks = text::sentences(&before.text).last().is_some_and(|it| is_question(it));
    let tied = found.points_back || same || told.share(at, place);
    if !tied || asks && !same {
        return None;
    }
    let (source, target) = if found.from_before { (place, at) } else { (at, place) };
    Some(Link::new(source, found.kind, target, 80))
}

/// Returns the relation of a turn to the preceding one if the same speaker continues its subject: "She's called
/// Pipit."
fn continued(told: &Told<'_>, at: usize) -> Option<Link> {
    let place = at.checked_sub(1)?;
    let (record, before) = (&told.records[at], &told.records[place]);
    let own = record.actor == before.actor && speech::says(record) && !act::is_world(record);
    let tells = |text: &str| !text::sentences(text).first().is_some_and(|it| is_question(it));
    let fits = own && tells(&record.text) && !text::sentences(&before.text).last().is_some_and(|it| is_question(it));
    (fits && marker::takes_up(&record.text, &before.text)).then(|| Link::new(at, RelationKind::Elaborates, place, 75))
}

/// Returns the relation of a turn that refuses another speaker's proposal or states the opposite preference.
fn opposed(told: &Told<'_>, at: usize) -> Option<Link> {
    let place = at.checked_sub(1)?;
    let (record, before) = (&told.records[at], &told.records[place]);
    if record.actor == before.actor || act::is_world(record) || act::is_world(before) {
        return None;
    }
    let (own, sentences) = (text::sentences(&record.text), text::sentences(&before.text));
    let asks = sentences
        .last()
        .is_some_and(|it| is_question(it) || marker::asks_plainly(it));
    let proposed = |refused: &str| {
        let thing = stems(refused);
        let mut of_it = sentences
            .iter()
            .take(SENTENCES_MAX)
            .filter(|it| !thing.is_disjoint(&stems(it)))
            .peekable();
        // "No coins" after "Never suggest coins" is an agreement.
        !asks && of_it.peek().is_some() && of_it.all(|it| !marker::denies(it))
    };
    let refused = marker::refused(&record.text).is_some_and(proposed);
    let tastes = || {
        own.iter().take(SENTENCES_MAX).any(|one| {
            let against = |other: &&str| {
                if is_question(one) || is_question(other) {
                    return false;
                }
                let opposite = marker::likes(one)
                    .zip(marker::likes(other))
                    .is_some_and(|(a, b)| a != b);
                opposite && !stems(one).is_disjoint(&stems(other))
            };
            sentences.iter().take(SENTENCES_MAX).any(against)
        })
    };
    (refused || tastes()).then(|| Link::new(place, RelationKind::Contrasts, at, 80))
}
