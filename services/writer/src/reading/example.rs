//! Example records and readings for unit tests.

use chrono::{DateTime, FixedOffset, TimeDelta};
use domain::id::{SessionId, SpaceId};
use domain::reading::Reading;
use domain::record::{Modality, Record, ToolCall};
use serde_json::Value;

use super::derive::{DerivedFromReading, derive_from_reading};

/// Returns Friday, 9 June 2023, 18:00.
pub(super) fn start_time() -> DateTime<FixedOffset> {
    "2023-06-09T18:00:00+02:00".parse().unwrap()
}

fn sample_space() -> SpaceId {
    "talk".parse().unwrap()
}

/// Returns a record observed `number` minutes after [`start_time`].
pub(crate) fn sample_record(number: u64, actor: &str, text: &str) -> Record {
    Record {
        session: SessionId::from_name(&sample_space(), "friday"),
        session_name: "friday".to_owned(),
        ordinal: number,
        actor: actor.to_owned(),
        text: text.to_owned(),
        observed_at: start_time() + TimeDelta::minutes(i64::try_from(number).unwrap()),
        ..fixtures::sample_record(&sample_space(), &format!("r{number}"))
    }
}

/// Returns records for lines such as `Ann: Hello`.
pub(super) fn records_of_talk(lines: &[&str]) -> Vec<Record> {
    let split = |(line, number): (&&str, u64)| {
        let (actor, text) = line.split_once(": ").unwrap();
        sample_record(number, actor, text)
    };
    lines.iter().zip(1..).map(split).collect()
}

/// Returns a record of a tool call by an agent.
pub(super) fn tool_call_record(number: u64, name: &str, arguments: &str, result: &str) -> Record {
    Record {
        modality: Modality::Action,
        tool: Some(ToolCall {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            result: result.to_owned(),
        }),
        ..sample_record(number, "agent", "")
    }
}

/// Returns a reading of the records with this reply.
pub(crate) fn sample_reading(records: &[Record], output: &str) -> Reading {
    Reading {
        session: records[0].session,
        records: records.iter().map(|it| it.id).collect(),
        prompt: super::prompts::prompt::PROMPT.to_owned(),
        model: "a model".to_owned(),
        at: start_time().to_utc(),
        output: output.to_owned(),
        ..fixtures::sample_reading(&sample_space(), records[0].id)
    }
}

/// Returns the data derived from a reply about lines such as `Ann: Hello`.
pub(super) fn derive_talk(lines: &[&str], reply: &Value) -> DerivedFromReading {
    let records = records_of_talk(lines);
    derive_from_reading(&sample_reading(&records, &reply.to_string()), &[], &records)
}

/// Returns the reasons for rejected items.
pub(super) fn rejection_reasons(derived: &DerivedFromReading) -> Vec<&str> {
    derived.left_out.iter().map(|it| it.why.as_str()).collect()
}

/// Returns the texts of the units.
pub(super) fn unit_texts(derived: &DerivedFromReading) -> Vec<&str> {
    derived.units.iter().map(|it| it.text.as_str()).collect()
}
