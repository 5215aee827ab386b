//! Reads the statements and corrections of one unit.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, Utc};
use domain::fact::{Origin, Stated};
use domain::id::{RecordId, SessionId, UnitId};
use domain::record::Modality;
use domain::unit::{Grain, Status, Unit};
use domain::version::Versions;
use text::facts::{Correction, Statement, Subject, Telling, correction, stated_in_reply};

use crate::Acts;

/// Position of a unit in its session.
pub(super) type Place = (DateTime<FixedOffset>, u64, UnitId);

/// The statements of a unit about one record, or its correction of an earlier statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) session: SessionId,
    pub(super) place: Place,
    pub(super) actor: String,
    /// The turn unit that makes the statements; for a gist, the turn unit of the record that the model read.
    pub(super) source: UnitId,
    pub(super) origin: Origin,
    pub(super) statements: Vec<Statement>,
    pub(super) correction: Option<Correction>,
}

impl Told {
    /// Returns the time since which it no longer counts, or none if it counts. The reason is that its turn or its
    /// gist was forgotten, or that a later version replaced its record.
    pub(super) fn forgotten_at(&self, acts: &Acts, versions: &Versions) -> Option<DateTime<Utc>> {
        let forgotten = [self.place.2, self.source]
            .into_iter()
            .filter_map(|it| acts.forgotten_at(it));
        forgotten.chain(versions.replaced_at(self.source)).min()
    }
}

/// Reads the statements of a unit, or nothing if it is no longer active. Event units are skipped because they repeat
/// the statements of their turns.
pub(super) fn told(unit: &Unit) -> Vec<Told> {
    if !matches!(unit.status, Status::Active | Status::Merged) {
        return Vec::new();
    }
    match unit.grain {
        Grain::Turn if unit.modality != Modality::Action => by_rule(unit).into_iter().collect(),
        Grain::Gist => by_model(unit),
        Grain::Turn | Grain::Event => Vec::new(),
    }
}

/// Reads a turn with the rules.
fn by_rule(unit: &Unit) -> Option<Told> {
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
        source: unit.id,
        origin: Origin::Rule,
        statements,
        correction,
    })
}

/// Takes the statements that a language model read, record by record.
fn by_model(unit: &Unit) -> Vec<Told> {
    let mut records: BTreeMap<(DateTime<FixedOffset>, RecordId), Vec<&Stated>> = BTreeMap::new();
    for stated in &unit.stated {
        let key = (stated.observed_at, stated.record);
        records.entry(key).or_default().push(stated);
    }
    let told = |((observed_at, record), stated): (_, Vec<&Stated>)| Told {
        session: unit.session,
        place: (observed_at, unit.ordinal, unit.id),
        actor: stated.first().map(|it| it.told_by.clone()).unwrap_or_default(),
        source: UnitId::turn(record),
        origin: Origin::Model,
        statements: stated.into_iter().map(statement).collect(),
        correction: None,
    };
    records.into_iter().map(told).collect()
}

fn statement(it: &Stated) -> Statement {
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
