//! Example records and readings for unit tests.

use chrono::{DateTime, FixedOffset, TimeDelta};
use domain::id::{ReadingId, RecordId, SessionId, SpaceId};
use domain::port::ModelCost;
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::record::{Modality, Record, ToolCall};
use serde_json::Value;

use super::derive::{Derived, derive};

/// Returns Friday, 9 June 2023, 18:00.
pub(super) fn start() -> DateTime<FixedOffset> {
    "2023-06-09T18:00:00+02:00".parse().unwrap()
}

fn space() -> SpaceId {
    "talk".parse().unwrap()
}

/// Returns a record observed `number` minutes after [`start`].
pub(crate) fn record(number: u64, actor: &str, text: &str) -> Record {
    let external_id = format!("r{number}");
    Record {
        id: RecordId::derive(&space(), &external_id),
        space: space(),
        external_id,
        session: SessionId::derive(&space(), "friday"),
        session_name: "friday".to_owned(),
        ordinal: number,
        modality: Modality::Text,
        actor: actor.to_owned(),
        text: text.to_owned(),
        image_caption: None,
        image_uri: None,
        version: None,
        tool: None,
        observed_at: start() + TimeDelta::minutes(i64::try_from(number).unwrap()),
        tags: Vec::new(),
        metadata: Default::default(),
    }
}

/// Returns records for lines such as `Ann: Hello`.
pub(super) fn talk(lines: &[&str]) -> Vec<Record> {
    let split = |(line, number): (&&str, u64)| {
        let (actor, text) = line.split_once(": ").unwrap();
        record(number, actor, text)
    };
    lines.iter().zip(1..).map(split).collect()
}

/// Returns a record of a tool call by an agent.
pub(super) fn call(number: u64, name: &str, arguments: &str, result: &str) -> Record {
    Record {
        modality: Modality::Action,
        tool: Some(ToolCall {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            result: result.to_owned(),
        }),
        ..record(number, "agent", "")
    }
}

/// Returns a reading of the records with this reply.
pub(crate) fn reading(records: &[Record], output: &str) -> Reading {
    Reading {
        id: ReadingId::derive(records[0].id),
        kind: ReadingKind::Passage,
        session: records[0].session,
        records: records.iter().map(|it| it.id).collect(),
        beside: Vec::new(),
        earlier: Vec::new(),
        digest: String::new(),
        prompt: super::prompt::PROMPT.to_owned(),
        model: "a model".to_owned(),
        at: start().to_utc(),
        output: output.to_owned(),
        failure: None,
        outcome: ReadingOutcome::default(),
        spent: ModelCost::default(),
    }
}

/// Returns the data derived from a reply about lines such as `Ann: Hello`.
pub(super) fn derived(lines: &[&str], reply: &Value) -> Derived {
    let records = talk(lines);
    derive(&reading(&records, &reply.to_string()), &[], &records)
}

/// Returns the reasons for rejected items.
pub(super) fn reasons(derived: &Derived) -> Vec<&str> {
    derived.left_out.iter().map(|it| it.why.as_str()).collect()
}

/// Returns the texts of the units.
pub(super) fn texts(derived: &Derived) -> Vec<&str> {
    derived.units.iter().map(|it| it.text.as_str()).collect()
}
