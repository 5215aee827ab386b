//! Recall measured: how often a message wakes a hint although none is needed, and how much of what it should wake is found.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::data::{DataSet, read_lines};
use crate::drive::client::{Client, Recalled};
use crate::drive::{import, spaces_of};

/// Hints asked for.
pub const HINTS: usize = 5;
/// Time a message may take, milliseconds: slow is measured as slow and not as silence.
const PATIENCE_MS: u32 = 20_000;

/// One message with what it should wake. The expected turns never leave this program.
#[derive(Clone, Debug, Deserialize)]
pub struct Message {
    /// Names it; unique in the file.
    pub id: String,
    /// The conversation whose memory it is said to.
    pub conversation_id: String,
    /// What is said.
    #[serde(alias = "question")]
    pub message: String,
    /// Who says it; empty if that does not matter.
    #[serde(default)]
    pub actor: String,
    /// When, ISO 8601; a day after the last turn if not told.
    pub at: Option<String>,
    /// Kind of message, for tables.
    pub category: String,
    /// Groups of turns of which one each should be woken; none if it should wake nothing.
    #[serde(default)]
    pub evidence_groups: Vec<Vec<String>>,
}

/// What came back for one message.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The message.
    pub id: String,
    /// Its kind.
    pub category: String,
    /// Groups that should be woken.
    pub groups: usize,
    /// Groups of which a turn stands in the hints.
    pub found: usize,
    /// The hints: the callers' ids, what woke them, o200k tokens.
    pub hints: Vec<(Vec<String>, String, usize)>,
}

/// How the lines of one kind add up.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Messages that need no hint, and how many of them got one.
    pub silent: (usize, usize),
    /// Messages that need one, and how many got any.
    pub waking: (usize, usize),
    /// Sum of the shares of groups found, over the waking ones.
    pub found: f64,
    /// Hints, and their tokens.
    pub hints: (usize, usize),
}

impl Row {
    /// Returns the share of messages without need that got a hint.
    pub fn unwanted(&self) -> f64 {
        self.silent.1 as f64 / self.silent.0.max(1) as f64
    }

    /// Returns recall at 5: the mean share of groups found.
    pub fn recall(&self) -> f64 {
        self.found / self.waking.0.max(1) as f64
    }
}

/// Reads the messages of a folder: `messages.jsonl`, or `questions.jsonl` of a data set whose questions are messages.
///
/// # Errors
/// If there is neither, or a line does not fit.
pub fn messages(dir: &Path) -> anyhow::Result<Vec<Message>> {
    let own = dir.join("messages.jsonl");
    read_lines(&if own.exists() { own } else { dir.join("questions.jsonl") })
}

/// Sends the conversations, waits `settle` for what is derived of them, says every message in a session of its own.
///
/// # Errors
/// If the server refuses something, or a message is about an unknown conversation.
pub async fn run(
    client: &Client,
    data: &DataSet,
    messages: &[Message],
    (settle, jobs): (std::time::Duration, usize),
    sensitive: bool,
) -> anyhow::Result<Vec<Line>> {
    let spaces = spaces_of(data, |id| messages.iter().any(|it| it.conversation_id == id))?;
    import(client, data, &spaces, jobs).await?;
    tokio::time::sleep(settle).await;
    let mut asked = Vec::new();
    for message in messages {
        let space = spaces.get(message.conversation_id.as_str());
        let space = space.with_context(|| format!("message {} is about an unknown conversation", message.id))?;
        let conversation = data
            .conversations
            .iter()
            .find(|it| it.conversation_id == message.conversation_id);
        let last = conversation
            .and_then(|it| it.turns.last())
            .map(|it| it.timestamp.as_str());
        asked.push((message, space, message.at.clone().or_else(|| day_after(last?))));
    }
    let lines = stream::iter(asked).map(|(message, space, at)| async move {
        let body = json!({
            "message": message.message,
            "actor": message.actor,
            "session": format!("eval-{}", message.id),
            "at": at,
            "limit": HINTS,
            "sensitive": sensitive,
            "budget": { "ms": PATIENCE_MS },
        });
        let recalled = client.recall(space, &body).await;
        recalled
            .map(|it| line(message, it))
            .with_context(|| format!("message {}", message.id))
    });
    let lines: Vec<anyhow::Result<Line>> = lines.buffered(jobs).collect().await;
    lines.into_iter().collect()
}

/// A day after an ISO time without a zone.
fn day_after(time: &str) -> Option<String> {
    let time: chrono::NaiveDateTime = time.parse().ok()?;
    Some((time + chrono::TimeDelta::days(1)).and_utc().to_rfc3339())
}

fn line(message: &Message, recalled: Recalled) -> Line {
    let woken = |group: &&Vec<String>| {
        let mut ids = recalled.hints.iter().take(HINTS).flat_map(|it| &it.external_ids);
        ids.any(|it| group.contains(it))
    };
    Line {
        id: message.id.clone(),
        category: message.category.clone(),
        groups: message.evidence_groups.len(),
        found: message.evidence_groups.iter().filter(woken).count(),
        hints: recalled
            .hints
            .into_iter()
            .map(|it| (it.external_ids, it.trigger, text::tokens(&it.text)))
            .collect(),
    }
}

/// Adds the lines up by kind, and all of them under `all`.
pub fn rows(lines: &[Line]) -> BTreeMap<String, Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for line in lines {
        for name in [line.category.as_str(), "all"] {
            let row = rows.entry(name.to_owned()).or_default();
            let given = usize::from(!line.hints.is_empty());
            let kind = if line.groups == 0 {
                &mut row.silent
            } else {
                &mut row.waking
            };
            kind.0 += 1;
            kind.1 += given;
            if line.groups > 0 {
                row.found += line.found as f64 / line.groups as f64;
            }
            row.hints.0 += line.hints.len();
            row.hints.1 += line.hints.iter().map(|it| it.2).sum::<usize>();
        }
    }
    rows
}

/// Returns the rows as a table.
pub fn table(rows: &BTreeMap<String, Row>) -> String {
    let mut out = format!(
        "{:<18} {:>6} {:>9} {:>6} {:>6} {:>9} {:>6} {:>7}\n",
        "kind", "silent", "unwanted", "waking", "woken", "recall@5", "hints", "tokens"
    );
    for (name, row) in rows {
        let share = |it: f64, of: usize| {
            if of == 0 {
                "-".to_owned()
            } else {
                format!("{:.1}", 100.0 * it)
            }
        };
        let woken = row.waking.1 as f64 / row.waking.0.max(1) as f64;
        let tokens = row.hints.1 as f64 / row.hints.0.max(1) as f64;
        let line = format!(
            "{name:<18} {:>6} {:>9} {:>6} {:>6} {:>9} {:>6} {tokens:>7.1}\n",
            row.silent.0,
            share(row.unwanted(), row.silent.0),
            row.waking.0,
            share(woken, row.waking.0),
            share(row.recall(), row.waking.0),
            row.hints.0,
        );
        out.push_str(&line);
    }
    out
}
