use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, Utc};
use domain::entity::{Entity, EntityKind};
use domain::fact::Fact;
use domain::id::{EntityId, FactId, RecordId, SessionId, SpaceId, UnitId};
use domain::port::{Frame, Point};
use domain::record::{Modality, Record, ToolCall};
use domain::relation::{Relation, RelationKind};
use domain::time::TimeSpan;
use domain::unit::{Grain, Status, Unit};
use uuid::Uuid;

pub(super) fn space(name: &str) -> SpaceId {
    name.parse().unwrap()
}

pub(super) fn at(text: &str) -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339(text).unwrap()
}

pub(super) fn noon() -> DateTime<Utc> {
    at("2026-03-01T12:00:00.123456789Z").to_utc()
}

pub(super) fn record(space: &SpaceId, external_id: &str) -> Record {
    Record {
        id: RecordId::derive(space, external_id),
        space: space.clone(),
        external_id: external_id.to_owned(),
        session: SessionId::derive(space, "s"),
        session_name: "s".to_owned(),
        ordinal: 7,
        modality: Modality::Action,
        actor: "Zoë".to_owned(),
        text: format!("текст 文 {external_id}"),
        image_caption: Some("a photo".to_owned()),
        image_uri: None,
        tool: Some(ToolCall {
            name: "open".to_owned(),
            arguments: "{\"a\":1}".to_owned(),
            result: String::new(),
        }),
        observed_at: at("2026-03-01T12:00:00.5+05:30"),
        metadata: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
    }
}

pub(super) fn unit(number: u128) -> Unit {
    let id = UnitId::from_uuid(Uuid::from_u128(number));
    Unit {
        id,
        grain: Grain::Turn,
        session: SessionId::from_uuid(Uuid::from_u128(1)),
        records: vec![RecordId::from_uuid(Uuid::from_u128(number))],
        external_ids: vec![number.to_string()],
        observed_at: at("2026-03-01T12:00:00-08:00"),
        ordinal: u64::MAX,
        modality: Modality::Text,
        actor: "Ana".to_owned(),
        addressee: "Ben".to_owned(),
        text: format!("unit {number}"),
        caption: String::new(),
        summary: format!("On 1 March 2026 Ana said {number}"),
        times: vec![TimeSpan::instant(noon())],
        participants: vec!["Ana".to_owned()],
        location: String::new(),
        action: String::new(),
        step: Some(3),
        changes: Vec::new(),
        tag: String::new(),
        cues: vec!["march".to_owned()],
        question: String::new(),
        derived_by: "rules/1".to_owned(),
        status: Status::Active,
        confidence: 0.9,
    }
}

pub(super) fn relation(source: u128, kind: RelationKind, label: &str, target: u128) -> Relation {
    Relation {
        source: unit(source).id,
        target: unit(target).id,
        kind,
        label: label.to_owned(),
        weight: 0.25,
        evidence: vec![
            RecordId::from_uuid(Uuid::from_u128(9)),
            RecordId::from_uuid(Uuid::from_u128(8)),
        ],
    }
}

pub(super) fn fact(number: u128, object: &str) -> Fact {
    Fact {
        id: FactId::from_uuid(Uuid::from_u128(number)),
        subject: "Ana".to_owned(),
        predicate: "likes".to_owned(),
        object: object.to_owned(),
        aspect: "preference".to_owned(),
        valid: TimeSpan::instant(noon()),
        recorded_at: noon(),
        source: unit(1).id,
        confidence: 0.5,
        retired_by: None,
    }
}

pub(super) fn entity(number: u128, mentions: u64) -> Entity {
    Entity {
        id: EntityId::from_uuid(Uuid::from_u128(number)),
        name: format!("E{number}"),
        kind: EntityKind::Place,
        aliases: vec!["e".to_owned()],
        mentions,
    }
}

pub(super) fn point(number: u128, part: u16, dense: Vec<f32>) -> Point {
    Point {
        unit: unit(number).id,
        part,
        dense,
        words: vec![(1, 1.0)],
        pieces: vec![(2, 1.0)],
        observed_at: 0,
    }
}

pub(super) fn frame(subject: &str, space: &str, key: &str, payload: &str) -> Frame {
    Frame {
        subject: subject.to_owned(),
        space: space.to_owned(),
        dedup_key: key.to_owned(),
        headers: BTreeMap::from([("traceparent".to_owned(), "00-1-2-01".to_owned())]),
        payload: payload.as_bytes().to_vec(),
    }
}
