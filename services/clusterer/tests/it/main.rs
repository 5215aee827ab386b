//! Tests of the clusterer from outside: units in, derived data out.

#![expect(clippy::unwrap_used, reason = "tests")]

mod coreference;
mod coreference_worker;
mod endpoint;
mod entities;
mod events;
mod facts;
mod follow;
mod gists;
mod held;
mod labels;
mod pages;
mod people;
mod roles;
mod summaries;
mod topics;
mod versions;
mod world;

use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::record::Modality;
use domain::unit::{Grain, Status, Unit};

fn space() -> SpaceId {
    "home".parse().unwrap()
}

fn unit(number: usize, actor: &str, text: &str) -> Unit {
    let record = RecordId::derive(&space(), &number.to_string());
    Unit {
        id: UnitId::turn(record),
        grain: Grain::Turn,
        session: SessionId::derive(&space(), "talk"),
        records: vec![record],
        external_ids: vec![number.to_string()],
        observed_at: chrono::DateTime::UNIX_EPOCH.fixed_offset(),
        ordinal: number as u64,
        modality: Modality::Text,
        actor: actor.to_owned(),
        addressee: String::new(),
        text: text.to_owned(),
        caption: String::new(),
        summary: String::new(),
        times: Vec::new(),
        participants: text::names(text)
            .into_iter()
            .chain(text::vocatives(text))
            .map(str::to_owned)
            .collect(),
        location: if text.contains("Oslo") {
            "Oslo".to_owned()
        } else {
            String::new()
        },
        action: String::new(),
        step: None,
        changes: Vec::new(),
        version: None,
        stated: Vec::new(),
        tag: String::new(),
        cues: Vec::new(),
        question: String::new(),
        tags: Vec::new(),
        metadata: Default::default(),
        derived_by: "test".to_owned(),
        status: Status::Active,
        confidence: 1.0,
    }
}
