//! Things to store.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::entity::{Entity, EntityKind};
use domain::fact::Fact;
use domain::id::{EntityId, FactId, RecordId, SessionId, SpaceId, UnitId};
use domain::record::{Modality, Record, ToolCall};
use domain::relation::{Relation, RelationKind};
use domain::time::TimeSpan;
use domain::unit::{Grain, StateChange, Status, Unit};
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

/// A record all of whose texts are `text`.
pub(super) fn record(space: &SpaceId, number: usize, text: &str) -> Record {
    let external_id = format!("{text}{number}");
    Record {
        id: RecordId::derive(space, &external_id),
        space: space.clone(),
        external_id,
        session: SessionId::derive(space, text),
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
        metadata: BTreeMap::from([(text.to_owned(), text.to_owned())]),
    }
}

/// A unit all of whose texts are `text`.
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
        tag: text.to_owned(),
        cues: all(),
        question: text.to_owned(),
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

/// A fact all of whose texts are `text`.
pub(super) fn fact(number: u128, text: &str) -> Fact {
    Fact {
        id: FactId::from_uuid(Uuid::from_u128(number)),
        subject: text.to_owned(),
        predicate: text.to_owned(),
        object: text.to_owned(),
        aspect: text.to_owned(),
        valid: span(text),
        recorded_at: noon(),
        source: unit_id(1),
        confidence: 0.1,
        retired_by: None,
    }
}

/// An entity all of whose texts are `text`.
pub(super) fn entity(number: u128, text: &str) -> Entity {
    Entity {
        id: EntityId::from_uuid(Uuid::from_u128(number)),
        name: text.to_owned(),
        kind: EntityKind::Place,
        aliases: vec![text.to_owned()],
        mentions: 1,
    }
}

fn span(words: &str) -> TimeSpan {
    TimeSpan {
        words: words.to_owned(),
        ..TimeSpan::instant(noon())
    }
}
