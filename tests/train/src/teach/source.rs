//! Reads the data of a user, which are exports of spaces and data sets, as conversations, and cuts them into
//! stretches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use chrono::{DateTime, NaiveDateTime};
use eval::data::{Conversation, Turn, read_lines};
use serde::Deserialize;
use serde_json::Value;

use super::prompt;
use crate::teach::stretch::Stretch;

/// Maximum number of turns of a stretch.
const TURNS_MAX: usize = 40;
/// Maximum number of bytes of the lines of a stretch, unless a single turn has more.
const BYTES_MAX: usize = 12_000;
/// Minimum number of turns of a stretch; the teacher is not asked about shorter ones.
const TURNS_MIN: usize = 3;

/// A record as `mnemic export` writes it.
#[derive(Deserialize)]
struct RecordLine {
    id: Option<String>,
    session: Option<String>,
    #[serde(default)]
    ordinal: Option<u64>,
    actor: Option<String>,
    text: Option<String>,
    image_caption: Option<String>,
    observed_at: Option<String>,
}

/// Returns the conversations in files and folders. A folder contributes its `conversations.jsonl`. A file holds
/// conversations or the export of a space; an export becomes one conversation named after the file.
///
/// # Errors
/// If a file cannot be read, a line is neither a conversation nor a record, two conversations have the same name, or
/// there is no conversation at all.
pub fn read_exports(paths: &[PathBuf]) -> anyhow::Result<Vec<Conversation>> {
    let mut all: Vec<Conversation> = Vec::new();
    for path in paths {
        all.extend(read_one(path)?);
    }
    let mut names = BTreeSet::new();
    for conversation in &all {
        let name = &conversation.conversation_id;
        ensure!(
            names.insert(name),
            "two conversations are called {name}: rename one of the files"
        );
    }
    ensure!(
        !all.is_empty(),
        "there is no talk in the data: give exports of `mnemic export`, or folders with conversations.jsonl"
    );
    Ok(all)
}

fn read_one(path: &Path) -> anyhow::Result<Vec<Conversation>> {
    let path = match path.is_dir() {
        true => path.join("conversations.jsonl"),
        false => path.to_owned(),
    };
    let (mut conversations, mut records) = (Vec::new(), Vec::new());
    for (value, number) in read_lines::<Value>(&path)?.into_iter().zip(1..) {
        let place = || format!("{}, object {number}", path.display());
        if value.get("turns").is_some() {
            conversations.push(serde_json::from_value(value).with_context(place)?);
        } else if value.get("reading").is_none() {
            let record: RecordLine = serde_json::from_value(value).with_context(place)?;
            records.extend(parse_turn(record).with_context(place)?);
        }
    }
    if !records.is_empty() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        conversations.push(build_conversation(&name, records));
    }
    Ok(conversations)
}

/// A turn with the values that it is sorted by.
struct SortedTurn {
    at: NaiveDateTime,
    ordinal: u64,
    turn: Turn,
}

/// Returns the turn of a record, or `None` if it has neither text nor a caption.
fn parse_turn(record: RecordLine) -> anyhow::Result<Option<SortedTurn>> {
    let text = record.text.unwrap_or_default();
    let caption = record.image_caption.filter(|it| !it.trim().is_empty());
    if text.trim().is_empty() && caption.is_none() {
        return Ok(None);
    }
    let id = record
        .id
        .context("a record has no `id`: take an export of `mnemic export`")?;
    let observed_at = record.observed_at.context("a record has no `observed_at`")?;
    let at = parse_moment(&observed_at).with_context(|| format!("`observed_at` {observed_at} is no time"))?;
    let turn = Turn {
        id,
        session: record.session.unwrap_or_else(|| "default".to_owned()),
        speaker: record.actor.unwrap_or_default(),
        text,
        timestamp: at.format("%Y-%m-%dT%H:%M:%S").to_string(),
        image_caption: caption,
        image_uri: None,
        metadata: BTreeMap::new(),
    };
    Ok(Some(SortedTurn {
        at,
        ordinal: record.ordinal.unwrap_or_default(),
        turn,
    }))
}

fn parse_moment(text: &str) -> Option<NaiveDateTime> {
    let zoned = DateTime::parse_from_rfc3339(text).map(|it| it.naive_utc());
    zoned.or_else(|_| text.parse::<NaiveDateTime>()).ok()
}

/// Returns records as one conversation. Sessions are ordered by their first record.
fn build_conversation(name: &str, records: Vec<SortedTurn>) -> Conversation {
    let mut began: BTreeMap<String, NaiveDateTime> = BTreeMap::new();
    for record in &records {
        let first = began.entry(record.turn.session.clone()).or_insert(record.at);
        *first = record.at.min(*first);
    }
    let mut records = records;
    records.sort_by(|a, b| {
        let key = |it: &SortedTurn| {
            (
                began.get(&it.turn.session).copied(),
                it.turn.session.clone(),
                it.at,
                it.ordinal,
            )
        };
        key(a).cmp(&key(b))
    });
    let speakers: BTreeSet<String> = records.iter().map(|it| it.turn.speaker.clone()).collect();
    Conversation {
        conversation_id: name.to_owned(),
        split: None,
        speakers: speakers.into_iter().collect(),
        turns: records.into_iter().map(|it| it.turn).collect(),
    }
}

/// Returns the stretches of conversations, in their order.
pub fn cut_stretches(conversations: &[Conversation]) -> Vec<Stretch<'_>> {
    let mut all = Vec::new();
    for conversation in conversations {
        let mut rest = conversation.turns.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |turn: &&Turn| {
                bytes += prompt::turn_line(turn).len();
                bytes <= BYTES_MAX
            };
            let count = rest.iter().take(TURNS_MAX).take_while(fits).count().max(1);
            let (turns, behind) = rest.split_at(count);
            rest = behind;
            if turns.len() >= TURNS_MIN {
                all.push(Stretch { conversation, turns });
            }
        }
    }
    all
}
