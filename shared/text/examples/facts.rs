//! Writes the facts that the turns of conversations state, one per line: conversation, turn, rule, statement, text.
//!
//! `cargo run -p text --example facts -- tests/eval/data/house/conversations.jsonl`

use std::io::{BufRead, Write};

use chrono::{DateTime, FixedOffset, NaiveDateTime};
use serde_json::Value;
use text::facts::{Statement, Subject, Telling, stated_by_rules};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("the path of conversations.jsonl is missing")?;
    let lines = std::io::BufReader::new(std::fs::File::open(path)?).lines();
    let mut out = std::io::stdout().lock();
    let (mut turns, mut count) = (0, 0);
    for line in lines {
        let talk: Value = serde_json::from_str(&line?)?;
        let speakers: Vec<&str> = list(&talk["speakers"]).filter_map(Value::as_str).collect();
        for turn in list(&talk["turns"]) {
            let text = |name: &str| turn[name].as_str().unwrap_or_default();
            let (speaker, at) = (text("speaker"), text("timestamp"));
            let addressee = speakers
                .iter()
                .find(|it| speakers.len() == 2 && **it != speaker)
                .copied();
            let telling = Telling {
                text: text("text"),
                speaker,
                addressee: addressee.unwrap_or_default(),
                observed_at: time(at)?,
            };
            turns += 1;
            for (statement, rule) in stated_by_rules(&telling, "") {
                count += 1;
                let talk = talk["conversation_id"].as_str().unwrap_or_default();
                let words = telling.text.replace('\n', " ");
                writeln!(
                    out,
                    "{talk}\t{}\t{rule}\t{}\t{words}",
                    text("id"),
                    shown(&statement, speaker)
                )?;
            }
        }
    }
    writeln!(out, "{turns} turns, {count} statements")?;
    Ok(())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn time(text: &str) -> Result<DateTime<FixedOffset>, chrono::ParseError> {
    DateTime::parse_from_rfc3339(text).or_else(|_| Ok(text.parse::<NaiveDateTime>()?.and_utc().fixed_offset()))
}

fn shown(it: &Statement, speaker: &str) -> String {
    let subject = match &it.subject {
        Subject::Speaker => speaker.to_owned(),
        Subject::Phrase(phrase) => format!("{speaker}: {phrase}"),
        Subject::Name(name) => name.clone(),
    };
    let since = it
        .since
        .as_ref()
        .map_or(String::new(), |it| format!(" since {}", it.start.date_naive()));
    let until = it
        .until
        .map_or(String::new(), |it| format!(" until {}", it.date_naive()));
    let ended = if it.ended { " ended" } else { "" };
    let (aspect, predicate, object) = (it.aspect, &it.predicate, &it.object);
    format!(
        "{aspect:?}\t[{subject}] {predicate} | {object}\t{:.2}{since}{until}{ended}",
        it.confidence
    )
}
