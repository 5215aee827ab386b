//! Objects to store.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::curation::{Act, Curation};
use domain::fact::{Aspect, Fact, Origin};
use domain::id::{CurationId, FactId, RecordId, SessionId, SpaceId, UnitId};
use domain::recall::{Note, NoteKind};
use domain::record::{Modality, Record, ToolCall};
use domain::relation::{Relation, RelationKind};
use domain::time::TimeSpan;
use domain::unit::{Grain, StateChange, Status, Unit};
use fixtures::{sample_fact, sample_record};
use uuid::Uuid;

pub(super) fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_772_366_400, 5).unwrap()
}

pub(super) fn space(name: &str) -> SpaceId {
    name.parse().unwrap()
}

pub(super) fn unit_id(number: u128) -> UnitId {
    UnitId::from_uuid(Uuid::from_u128(number))
}

/// Returns a record whose texts are all `text`.
pub(super) fn record(space: &SpaceId, number: usize, text: &str) -> Record {
    let external_id = format!("{text}{number}");
    Record {
        session: SessionId::from_name(space, text),
        session_name: text.to_owned(),
        ordinal: number as u64,
        modality: Modality::Action,
        actor: text.to_owned(),
        text: text.to_owned(),
        image_caption: Some(text.to_owned()),
        image_uri: Some(text.to_owned()),
        tool: Some(ToolCall {
            name: text.to_owned(),
            arguments: text.to_owned(),
            result: text.to_owned(),
        }),
        observed_at: noon().fixed_offset(),
        tags: vec![text.to_owned()],
        metadata: BTreeMap::from([(text.to_owned(), text.to_owned())]),
        ..sample_record(space, &external_id)
    }
}

/// Returns a unit whose texts are all `text`.
pub(super) fn unit(number: u128, text: &str) -> Unit {
    let all = || vec![text.to_owned()];
    Unit {
        id: unit_id(number),
        grain: Grain::Turn,
        session: SessionId::from_uuid(Uuid::from_u128(1)),
        records: vec![RecordId::from_uuid(Uuid::from_u128(number))],
        external_ids: all(),
        observed_at: noon().fixed_offset(),
        ordinal: 1,
        modality: Modality::Text,
        actor: text.to_owned(),
        addressee: text.to_owned(),
        text: text.to_owned(),
        caption: text.to_owned(),
        summary: text.to_owned(),
        times: vec![span(text)],
        participants: all(),
        location: text.to_owned(),
        action: text.to_owned(),
        step: Some(1),
        changes: vec![StateChange {
            subject: text.to_owned(),
            key: text.to_owned(),
            before: text.to_owned(),
            after: text.to_owned(),
        }],
        version: None,
        stated: Vec::new(),
        tag: text.to_owned(),
        cues: all(),
        question: text.to_owned(),
        tags: all(),
        metadata: BTreeMap::from([(text.to_owned(), text.to_owned())]),
        derived_by: text.to_owned(),
        status: Status::Active,
        confidence: 0.1,
    }
}

pub(super) fn relation(source: u128, kind: RelationKind, label: &str, target: u128) -> Relation {
    Relation {
        source: unit_id(source),
        target: unit_id(target),
        kind,
        label: label.to_owned(),
        weight: 0.1,
        evidence: vec![RecordId::from_uuid(Uuid::from_u128(source))],
    }
}

/// Returns a fact whose texts are all `text`.
pub(super) fn fact(number: u128, text: &str) -> Fact {
    Fact {
        id: FactId::from_uuid(Uuid::from_u128(number)),
        valid_from: span(text),
        recorded_at: noon(),
        origin: Origin::Model,
        confidence: 0.1,
        ..sample_fact(&unit(1, text), [text; 3], Aspect::Habit)
    }
}

/// Returns a curation whose texts are all `text`.
pub(super) fn curation(number: u128, text: &str) -> Curation {
    Curation {
        id: CurationId::from_uuid(Uuid::from_u128(number)),
        at: noon(),
        by: text.to_owned(),
        act: Act::CorrectFact {
            fact: FactId::from_uuid(Uuid::from_u128(1)),
            object: text.to_owned(),
        },
        reason: text.to_owned(),
    }
}

pub(super) fn note() -> Note {
    Note {
        subject: Uuid::from_u128(1),
        kind: NoteKind::Read,
        at: noon(),
    }
}

fn span(words: &str) -> TimeSpan {
    TimeSpan {
        words: words.to_owned(),
        ..TimeSpan::from_instant(noon())
    }
}
