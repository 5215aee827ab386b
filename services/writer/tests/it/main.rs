//! Tests of the writer from outside: records in, units and relations out.

#![expect(clippy::unwrap_used, reason = "tests")]

mod contested_letters;
mod corpus;
mod erase;
mod late_curations;
mod letters;
mod model_outage;
mod order;
mod pictures;
mod precision;
mod reasons;
mod rules;
mod segments;
mod version;

use chrono::{DateTime, FixedOffset, TimeDelta};
use domain::id::{SessionId, SpaceId};
use domain::record::{Modality, Record, ToolCall};
use fixtures::sample_record;

/// Returns Monday, 8 May 2023, 13:00 in Berlin.
fn start() -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339("2023-05-08T13:00:00+02:00").unwrap()
}

fn space() -> SpaceId {
    "home".parse().unwrap()
}

/// Returns the `number`th record of a session, a minute after the one before it.
fn record(session: &str, number: u64, actor: &str, text: &str) -> Record {
    let minutes = i64::try_from(number).unwrap();
    Record {
        session: SessionId::from_name(&space(), session),
        session_name: session.to_owned(),
        ordinal: number,
        actor: actor.to_owned(),
        text: text.to_owned(),
        observed_at: start() + TimeDelta::minutes(minutes),
        ..sample_record(&space(), &format!("{session}:{number}"))
    }
}

/// Returns a session of lines such as `Ana: Hello`.
fn talk(lines: &[&str]) -> Vec<Record> {
    let records = lines.iter().zip(1..).map(|(line, number)| {
        let (actor, text) = line.split_once(": ").unwrap();
        record("talk", number, actor, text)
    });
    records.collect()
}

fn call(number: u64, name: &str, arguments: &str, result: &str) -> Record {
    let tool = ToolCall {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        result: result.to_owned(),
    };
    Record {
        modality: Modality::Action,
        tool: Some(tool),
        ..record("run", number, "agent", "")
    }
}
