//! How right the facts of whole conversations are: every statement of two sets of this repository and of `data/plain_talk.txt`
//! was judged by reading; the judgements are kept in `data/judged.tsv`.
//!
//! A statement that nobody judged fails the test and is printed: read its turn, judge it, and add the line.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::{DateTime, FixedOffset, NaiveDateTime};
use serde_json::Value;
use text::facts::{Statement, Subject, Telling, stated};

const JUDGED: &str = include_str!("data/judged.tsv");
const PLAIN: &str = include_str!("data/plain_talk.txt");

#[test]
fn statements_are_right() {
    let judged: BTreeMap<&str, bool> = JUDGED
        .lines()
        .filter_map(|it| it.split_once('\t'))
        .map(|(mark, line)| (line, mark == "right"))
        .collect();
    let found = found();
    let unjudged: Vec<&String> = found.iter().filter(|it| !judged.contains_key(it.as_str())).collect();
    assert!(
        unjudged.is_empty(),
        "{} not judged:\n{}",
        unjudged.len(),
        unjudged.iter().map(|it| it.as_str()).collect::<Vec<_>>().join("\n")
    );
    let right = found.iter().filter(|it| judged[it.as_str()]).count();
    let ever = judged.values().filter(|it| **it).count();
    let (precision, kept) = (share(right, found.len()), share(right, ever));
    assert!(
        found.len() >= 300 && precision >= 0.93,
        "{precision} of {}",
        found.len()
    );
    assert!(kept >= 0.95, "{kept} of what was found and right is still found");
}

fn share(part: usize, whole: usize) -> f64 {
    f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap())
}

fn found() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut out = BTreeSet::new();
    for set in ["train/data/corpus", "eval/data/house"] {
        let lines = std::fs::read_to_string(root.join(set).join("conversations.jsonl")).unwrap();
        for line in lines.lines() {
            talk(&serde_json::from_str(line).unwrap(), &mut out);
        }
    }
    plain(&mut out);
    out
}

fn talk(talk: &Value, out: &mut BTreeSet<String>) {
    let speakers: Vec<&str> = list(&talk["speakers"]).filter_map(Value::as_str).collect();
    let name = talk["conversation_id"].as_str().unwrap();
    for turn in list(&talk["turns"]) {
        let text = |name: &str| turn[name].as_str().unwrap_or_default();
        let said: NaiveDateTime = text("timestamp").parse().unwrap();
        let other = speakers
            .iter()
            .find(|it| speakers.len() == 2 && **it != text("speaker"));
        let told = Telling {
            text: text("text"),
            speaker: text("speaker"),
            addressee: other.copied().unwrap_or_default(),
            observed_at: said.and_utc().fixed_offset(),
        };
        add(&format!("{name}/{}", text("id")), &told, out);
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Turns `Name: text`; lines that begin with a dash say what a reader takes from the turn before.
fn plain(out: &mut BTreeSet<String>) {
    let said: DateTime<FixedOffset> = DateTime::parse_from_rfc3339("2024-06-03T09:00:00Z").unwrap();
    for (number, line) in PLAIN.lines().filter(|it| !it.starts_with("- ")).enumerate() {
        let (speaker, text) = line.split_once(": ").unwrap();
        let told = Telling {
            text,
            speaker,
            addressee: if speaker == "Priya" { "assistant" } else { "" },
            observed_at: said,
        };
        add(&format!("plain/{}", number + 1), &told, out);
    }
}

fn add(place: &str, told: &Telling<'_>, out: &mut BTreeSet<String>) {
    out.extend(
        stated(told)
            .iter()
            .map(|it| format!("{place}\t{}", shown(it, told.speaker))),
    );
}

fn shown(it: &Statement, speaker: &str) -> String {
    let subject = match &it.subject {
        Subject::Speaker => speaker.to_owned(),
        Subject::Phrase(phrase) => format!("{speaker}: {phrase}"),
        Subject::Name(name) => name.clone(),
    };
    let since = it.since.as_ref().map(|it| format!(" since {}", it.start.date_naive()));
    let until = it.until.map(|it| format!(" until {}", it.date_naive()));
    let (since, until) = (since.unwrap_or_default(), until.unwrap_or_default());
    let ended = if it.ended { " ended" } else { "" };
    format!("[{subject}] {} | {}{since}{until}{ended}", it.predicate, it.object)
}
