//! Lists of a reply apart from the pack: ranked units, and scenes for the reader.

use std::sync::Arc;

use domain::evidence::{RankedUnit, Scene, Turn as Shown};
use domain::unit::Grain;

use super::Scored;
use crate::route::pack::{Choice, Display, Fate, Key, Packed};
use crate::route::propose::Gate;
use crate::space::view::{Turn, View};

/// Maximum number of scenes in addition to the best ones: for units that were gathered or pinned, or whose facts answer
/// the question.
const WANTED: usize = 4;
/// Number of records before an answer among which the writer looks for its question, in `find_answered_question`
/// (`services/writer/src/units/speech.rs`).
const ASKED_BEFORE: usize = 3;

/// Returns the `count` best units. If gists are used, it returns the best of both, and each piece of evidence in one
/// form only.
pub(super) fn list_ranked_units(choice: &Choice<'_>, count: usize) -> Vec<RankedUnit> {
    // Without gists, evidence has only one form.
    let keys: Vec<Key> = match choice.gists {
        Some(_) if count > 0 => choice.distinct_evidence().take(count).collect(),
        _ => choice.by_probability().into_iter().take(count).collect(),
    };
    keys.into_iter().map(|it| ranked_unit(choice, it)).collect()
}

fn ranked_unit(choice: &Choice<'_>, key: Key) -> RankedUnit {
    let (turn, scored) = (choice.unit_of_key(key), choice.scored_unit(key));
    let date = turn.unit.observed_at.format("%-d %b %Y");
    let (actor, display) = match key.grain {
        Grain::Gist => ("", Display::from_all_sentences(turn)),
        Grain::Turn | Grain::Event => (
            &*turn.unit.actor,
            Display::from_best_sentences(choice.turns.query, turn, scored.probability),
        ),
    };
    let actor = if actor.is_empty() {
        String::new()
    } else {
        format!(" {}", text::shown_name(actor))
    };
    RankedUnit {
        unit: turn.unit.id,
        external_ids: turn.unit.external_ids(),
        text: format!("[{date}]{actor}: {}", display.text(turn)),
        score: scored.scores.support,
        topic: None,
    }
}

/// Returns the scenes of the best turns.
pub(super) fn list_scenes(choice: &Choice<'_>, packed: &Packed, gate: &Gate<'_>) -> Vec<Scene> {
    let best = gate.request().scenes as usize;
    let is_read = |at: usize, it: &Scored| at < best || best > 0 && it.favour > 0.0;
    let turns = choice.turns.scored.iter().enumerate();
    let read = turns.filter(|(at, it)| is_read(*at, it)).take(best + WANTED);
    let scene = |(rank, it): (usize, &Scored)| {
        let grain = Grain::Turn;
        let is_packed =
            packed.fate_of_unit(Key { rank, grain }) == Fate::Packed || packed.coverage.covers_unit(grain, &[it.place]);
        make_scene(choice.turns.view, it, is_packed, gate)
    };
    read.map(scene).collect()
}

fn make_scene(view: &View, scored: &Scored, packed: bool, gate: &Gate<'_>) -> Scene {
    let session = &view.session_ranges()[view.session_of(scored.place)];
    let range = scored.place.saturating_sub(3).max(session.start)..(scored.place + 3).min(session.end);
    let places: Vec<usize> = range
        .filter(|it| *it == scored.place || gate.may_be_evidence(&view.turns()[*it]))
        .collect();
    let turns = places.iter().map(|&it| {
        let unit = &view.turns()[it].unit;
        Shown {
            unit: unit.id,
            external_ids: unit.external_ids(),
            session: unit.session,
            observed_at: unit.observed_at,
            actor: unit.actor.to_string(),
            addressee: unit.addressee.to_string(),
            text: unit.text().to_owned(),
            question: shown_question(view, it, gate).to_owned(),
            caption: unit.caption().to_owned(),
            times: unit.times.to_vec(),
            amended: view
                .amendments_of_unit(unit.id, gate.request().as_of)
                .cloned()
                .collect(),
        }
    });
    Scene {
        score: scored.scores.support,
        probability: scored.probability,
        center: places.iter().position(|it| *it == scored.place).unwrap_or_default(),
        turns: turns.collect(),
        packed,
    }
}

/// Returns the question that a turn answers. Returns an empty text if there is none, or if the turn that asks it must
/// not be shown.
///
/// The writer copies the question word for word from a turn of another speaker directly before the answer. A filter by
/// actors does not hide that turn: the question is of another actor by definition, and an answer such as "Two" cannot
/// be understood without it.
fn shown_question<'a>(view: &'a View, place: usize, gate: &Gate<'_>) -> &'a str {
    let answer = &view.turns()[place].unit;
    let question = answer.question();
    if question.is_empty() {
        return question;
    }
    let start = view.session_ranges()[view.session_of(place)].start;
    let records_before = view.turns()[start..place].chunk_by(|a, b| a.unit.records == b.unit.records);
    let may_be_source =
        |it: &Arc<Turn>| it.unit.actor != answer.actor && it.unit.text().contains(question) && gate.may_be_context(it);
    let is_shown = records_before.rev().take(ASKED_BEFORE).flatten().any(may_be_source);
    if is_shown { question } else { "" }
}
