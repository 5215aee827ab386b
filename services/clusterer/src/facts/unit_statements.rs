//! Reads the statements and corrections of one unit.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, Utc};
use domain::fact::{Origin, Stated};
use domain::id::{RecordId, SessionId, UnitId};
use domain::record::Modality;
use domain::unit::{Grain, Status, Unit};
use domain::version::Versions;
use serde::{Deserialize, Serialize};
use text::facts::{Correction, Statement, Subject, Telling, read_correction, stated_in_reply};

use super::compact_statements::CompactStatements;
use crate::Acts;

/// Position of a unit in its session.
pub(super) type SessionPosition = (DateTime<FixedOffset>, u64, UnitId);

/// The statements of a unit about one record, or its correction of an earlier statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordStatements {
    pub(super) session: SessionId,
    pub(super) place: SessionPosition,
    pub(super) actor: String,
    /// The turn unit that makes the statements; for a gist, the turn unit of the record that the model read.
    pub(super) source: UnitId,
    pub(super) origin: Origin,
    pub(super) statements: CompactStatements,
    pub(super) correction: Option<Box<Correction>>,
}

/// The place of the statements of a unit in their session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct PlaceInSession {
    pub(super) session: SessionId,
    pub(super) place: SessionPosition,
}

impl PlaceInSession {
    pub(super) fn of_record(record: &RecordStatements) -> PlaceInSession {
        PlaceInSession {
            session: record.session,
            place: record.place,
        }
    }
}

impl RecordStatements {
    /// Returns the time since which the unit no longer counts, or none if it counts. The reason is that its turn or its
    /// gist was forgotten, or that a later version replaced its record.
    pub(super) fn forgotten_at(&self, acts: &Acts, versions: &Versions) -> Option<DateTime<Utc>> {
        let turn = match self.origin {
            Origin::Rule => acts.forgotten_at(self.source),
            // The model read the whole record, and each of its turns may hold a part of the text.
            Origin::Model => acts.turn_of_record_forgotten_at(self.source),
        };
        let forgotten = acts.forgotten_at(self.place.2).into_iter().chain(turn);
        forgotten.chain(versions.replaced_at(self.source)).min()
    }
}

/// Returns the statements of a unit; an empty list if the unit is no longer active. Event units are skipped because
/// they repeat the statements of their turns.
pub(super) fn statements_of_unit(unit: &Unit) -> Vec<RecordStatements> {
    if !matches!(unit.status, Status::Active | Status::Merged) {
        return Vec::new();
    }
    match unit.grain {
        Grain::Turn if unit.modality != Modality::Action => by_rule(unit).into_iter().collect(),
        Grain::Gist => by_model(unit),
        Grain::Turn | Grain::Event => Vec::new(),
    }
}

/// Returns the statements or the correction that the rules read in a turn; `None` if they read neither.
fn by_rule(unit: &Unit) -> Option<RecordStatements> {
    let telling = Telling {
        text: &unit.text,
        speaker: &unit.actor,
        addressee: &unit.addressee,
        observed_at: unit.observed_at,
    };
    let statements = stated_in_reply(&telling, &unit.question);
    let correction = if statements.is_empty() && !text::people::role::is_assistant_to(&unit.actor, &unit.addressee) {
        read_correction(&unit.text, &unit.question)
    } else {
        None
    };
    (!statements.is_empty() || correction.is_some()).then(|| RecordStatements {
        session: unit.session,
        place: (unit.observed_at, unit.ordinal, unit.id),
        actor: unit.actor.clone(),
        source: unit.id,
        origin: Origin::Rule,
        statements: statements.into_iter().collect(),
        correction: correction.map(Box::new),
    })
}

/// Returns the statements that a language model read in the records of a unit, grouped by record.
fn by_model(unit: &Unit) -> Vec<RecordStatements> {
    let mut records: BTreeMap<(DateTime<FixedOffset>, RecordId), Vec<&Stated>> = BTreeMap::new();
    for stated in &unit.stated {
        let key = (stated.observed_at, stated.record);
        records.entry(key).or_default().push(stated);
    }
    let to_record_statements = |((observed_at, record), stated): (_, Vec<&Stated>)| RecordStatements {
        session: unit.session,
        place: (observed_at, unit.ordinal, unit.id),
        actor: stated.first().map(|it| it.told_by.clone()).unwrap_or_default(),
        source: UnitId::of_turn(record),
        origin: Origin::Model,
        statements: stated.into_iter().map(to_statement).collect(),
        correction: None,
    };
    records.into_iter().map(to_record_statements).collect()
}

fn to_statement(it: &Stated) -> Statement {
    let speaks = !it.told_by.is_empty() && it.subject.eq_ignore_ascii_case(&it.told_by);
    Statement {
        subject: match speaks {
            true => Subject::Speaker,
            false => Subject::Name(it.subject.clone()),
        },
        predicate: it.predicate.clone(),
        object: it.object.clone(),
        aspect: it.aspect,
        positive: it.positive,
        since: it.since.clone(),
        until: it.until,
        ended: it.ended,
        event: false,
        corrects: false,
        confidence: it.confidence,
    }
}
