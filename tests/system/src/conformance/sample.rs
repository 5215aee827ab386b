use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::entity::{Bearer, Entity, EntityKind, Synonym};
use domain::fact::{Aspect, Fact, Origin, Stated};
use domain::id::{CurationId, EntityId, FactId, MergeId, PageId, RecordId, SessionId, SpaceId, TopicId, UnitId};
use domain::merge::{Merge, MergeOf, Standing};
use domain::page::{Dimension, FormerLine, Line, Link, LinkKind, Page, PageStatus, Section};
use domain::port::{Frame, Point};
use domain::recall::{Note, NoteKind};
use domain::record::{Modality, Record, ToolCall};
use domain::relation::{Relation, RelationKind};
use domain::time::TimeSpan;
use domain::topic::{Member, Topic};
use domain::unit::Unit;
use fixtures::{sample_fact, sample_record, sample_unit};
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
        session: SessionId::from_name(space, "s"),
        session_name: "s".to_owned(),
        ordinal: 7,
        modality: Modality::Action,
        actor: "Zoë".to_owned(),
        text: format!("текст 文 {external_id}"),
        image_caption: Some("a photo".to_owned()),
        tool: Some(ToolCall {
            name: "open".to_owned(),
            arguments: "{\"a\":1}".to_owned(),
            result: String::new(),
        }),
        observed_at: at("2026-03-01T12:00:00.5+05:30"),
        tags: vec!["t".to_owned()],
        metadata: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
        ..sample_record(space, external_id)
    }
}

pub(super) fn unit(number: u128) -> Unit {
    let id = UnitId::from_uuid(Uuid::from_u128(number));
    Unit {
        id,
        session: SessionId::from_uuid(Uuid::from_u128(1)),
        records: vec![RecordId::from_uuid(Uuid::from_u128(number))],
        observed_at: at("2026-03-01T12:00:00-08:00"),
        ordinal: u64::MAX,
        actor: "Ana".to_owned(),
        addressee: "Ben".to_owned(),
        text: format!("unit {number}"),
        summary: format!("On 1 March 2026 Ana said {number}"),
        times: vec![TimeSpan::from_instant(noon())],
        participants: vec!["Ana".to_owned()],
        step: Some(3),
        stated: vec![Stated {
            record: RecordId::from_uuid(Uuid::from_u128(number)),
            observed_at: at("2026-03-01T12:00:00-08:00"),
            told_by: "Ana".to_owned(),
            subject: "Ana".to_owned(),
            predicate: "lives in".to_owned(),
            object: "Malmö".to_owned(),
            aspect: Aspect::Place,
            positive: true,
            since: Some(TimeSpan::from_instant(noon())),
            until: None,
            ended: false,
            confidence: 0.9,
        }],
        cues: vec!["march".to_owned()],
        derived_by: "rules/1".to_owned(),
        confidence: 0.9,
        ..sample_unit(&space("a"), &number.to_string())
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

/// Returns one object of each kind. All have the same id, and all their texts are `text`.
pub(super) fn derived(number: u128, text: &str) -> [Derived; 7] {
    let id = Uuid::from_u128(number);
    let own = || text.to_owned();
    [
        Derived::Fact(fact(number, text)),
        Derived::Entity(Entity {
            id: EntityId::from_uuid(id),
            name: own(),
            kind: EntityKind::Place,
            aliases: vec![own()],
            mentions: 3,
            first_seen: Some(noon()),
            roles: vec![own()],
            bearers: vec![Bearer {
                name: own(),
                roles: vec![own()],
                tellers: vec![own()],
            }],
            synonyms: vec![Synonym {
                entity: EntityId::from_uuid(Uuid::from_u128(9)),
                cosine: 0.9,
            }],
        }),
        Derived::Topic(Topic {
            id: TopicId::from_uuid(id),
            label: own(),
            summary: Some(own()),
            keywords: vec![own()],
            units: 2,
            first_seen: noon(),
            last_seen: noon(),
        }),
        Derived::Member(Member {
            unit: UnitId::from_uuid(id),
            topic: TopicId::from_uuid(Uuid::from_u128(9)),
            similarity: 0.3,
        }),
        Derived::Page(page(number, text)),
        Derived::Merge(Merge {
            id: MergeId::from_uuid(id),
            of: MergeOf::Entities,
            kept: Uuid::from_u128(8),
            merged: Uuid::from_u128(9),
            names: [own(), own()],
            similarity: 0.7,
            same_event: true,
            has_overlap: true,
            relation_type: Some(RelationKind::SameAs),
            reason: own(),
            records: vec![RecordId::from_uuid(id)],
            since: Some(noon()),
            undone: true,
            undone_at: Some(noon()),
        }),
        // A standing has no text, so the length of the text replaces it.
        Derived::Standing(Standing {
            unit: UnitId::from_uuid(id),
            into: Some(MergeId::from_uuid(Uuid::from_u128(text.len() as u128))),
            absorbed: vec![MergeId::from_uuid(id)],
        }),
    ]
}

pub(super) fn fact(number: u128, text: &str) -> Fact {
    Fact {
        id: FactId::from_uuid(Uuid::from_u128(number)),
        valid_from: TimeSpan::from_instant(noon()),
        valid_until: Some(noon()),
        recorded_at: noon(),
        origin: Origin::Model,
        told_by: text.to_owned(),
        confidence: 0.1,
        retired_by: Some(FactId::from_uuid(Uuid::from_u128(9))),
        closed_at: Some(noon()),
        withdrawn: true,
        ..sample_fact(&unit(1), [text, "likes", text], Aspect::Preference)
    }
}

fn page(number: u128, text: &str) -> Page {
    let own = || text.to_owned();
    Page {
        id: PageId::from_uuid(Uuid::from_u128(number)),
        dimension: Dimension::Figure,
        title: own(),
        summary: own(),
        aliases: vec![own()],
        tags: vec![own()],
        sections: vec![Section {
            title: own(),
            category: own(),
            summary: Some(own()),
            lines: vec![Line {
                text: own(),
                unit: unit(1).id,
                observed_at: noon(),
                fact: Some(fact(1, "").id),
                until: Some(noon()),
            }],
            left_out: 1,
            former: vec![FormerLine {
                known_until: noon(),
                line: Line {
                    text: own(),
                    unit: unit(2).id,
                    observed_at: noon(),
                    fact: Some(fact(2, "").id),
                    until: None,
                },
            }],
            time: Some(TimeSpan::from_instant(noon())),
            confidence: 0.6,
        }],
        links: vec![Link {
            kind: LinkKind::CausedBy,
            page: PageId::from_uuid(Uuid::from_u128(9)),
            title: own(),
            weight: 0.2,
        }],
        confidence: 0.4,
        updated_at: noon(),
        status: PageStatus::Archived,
    }
}

pub(super) fn curation(number: u128, reason: &str) -> Curation {
    Curation {
        id: CurationId::from_uuid(Uuid::from_u128(number)),
        at: noon(),
        by: "key".to_owned(),
        act: Act::CorrectFact {
            fact: fact(1, "").id,
            object: reason.to_owned(),
        },
        reason: reason.to_owned(),
    }
}

/// Returns a note that a hint was given some seconds after noon.
pub(super) fn note(subject: u128, second: i64) -> Note {
    Note {
        subject: Uuid::from_u128(subject),
        kind: NoteKind::Said,
        at: noon() + TimeDelta::seconds(second),
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
