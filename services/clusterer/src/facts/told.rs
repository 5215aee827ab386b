//! What one unit states, and what it puts right.

use chrono::{DateTime, FixedOffset};
use domain::id::{SessionId, UnitId};
use domain::record::Modality;
use domain::unit::{Grain, Status, Unit};
use text::facts::{Correction, Statement, Telling, correction, stated_in_reply};

/// Place of a unit inside its session.
pub(super) type Place = (DateTime<FixedOffset>, u64, UnitId);

/// A unit that states something, or puts right what was stated before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) session: SessionId,
    pub(super) place: Place,
    pub(super) actor: String,
    pub(super) statements: Vec<Statement>,
    pub(super) correction: Option<Correction>,
}

/// Reads a unit; none if it states nothing, or does not count any more. Event units repeat what their turns state.
pub(super) fn told(unit: &Unit) -> Option<Told> {
    let counts = unit.grain == Grain::Turn
        && matches!(unit.status, Status::Active | Status::Merged)
        && unit.modality != Modality::Action;
    if !counts {
        return None;
    }
    let telling = Telling {
        text: &unit.text,
        speaker: &unit.actor,
        addressee: &unit.addressee,
        observed_at: unit.observed_at,
    };
    let statements = stated_in_reply(&telling, &unit.question);
    let correction = if statements.is_empty() && !text::role::is_assistant_to(&unit.actor, &unit.addressee) {
        correction(&unit.text, &unit.question)
    } else {
        None
    };
    (!statements.is_empty() || correction.is_some()).then(|| Told {
        session: unit.session,
        place: (unit.observed_at, unit.ordinal, unit.id),
        actor: unit.actor.clone(),
        statements,
        correction,
    })
}
