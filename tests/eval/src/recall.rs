//! Measures recall: how often a message that needs no hint gets one, and how much of the expected evidence the hints
//! contain.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::data::{DataSet, read_lines};
use crate::drive::client::{Client, RecallReply};
use crate::drive::{import_data, spaces_of};

/// Number of hints that are requested.
pub const HINTS: usize = 5;
/// Time limit of a message, in milliseconds. A slow response is measured as slow and not as missing.
const PATIENCE_MS: u32 = 20_000;

/// One message with the turns that its hints should cite. The expected turns never leave this program.
#[derive(Clone, Debug, Deserialize)]
pub struct Message {
    /// Id of the message; unique in the file.
    pub id: String,
    /// Id of the conversation whose memory gets the message.
    pub conversation_id: String,
    /// Text of the message.
    #[serde(alias = "question")]
    pub message: String,
    /// Name of the speaker; empty if it does not matter.
    #[serde(default)]
    pub actor: String,
    /// Time of the message, ISO 8601. The default is a day after the last turn.
    pub at: Option<String>,
    /// Kind of message, for tables.
    pub category: String,
    /// Groups of turns; the hints should cite one turn of each group. Empty if the message needs no hint.
    #[serde(default)]
    pub evidence_groups: Vec<Vec<String>>,
}

/// Response to one message.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Id of the message.
    pub id: String,
    /// Kind of the message.
    pub category: String,
    /// Number of groups that the hints should cite.
    pub groups: usize,
    /// Number of groups of which the hints cite a turn.
    pub found: usize,
    /// The hints: ids of the caller, trigger, and number of o200k tokens.
    pub hints: Vec<(Vec<String>, String, usize)>,
}

/// Totals of the lines of one kind.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Number of messages that need no hint, and how many of them got one.
    pub silent: (usize, usize),
    /// Number of messages that need a hint, and how many of them got at least one.
    pub waking: (usize, usize),
    /// Sum of the shares of found groups, over the messages that need a hint.
    pub found: f64,
    /// Number of hints, and of their tokens.
    pub hints: (usize, usize),
}

impl Row {
    /// Returns the share of the messages without need for a hint that got one.
    pub fn unwanted(&self) -> f64 {
        self.silent.1 as f64 / self.silent.0.max(1) as f64
    }

    /// Returns recall at 5: the mean share of found groups.
    pub fn recall(&self) -> f64 {
        self.found / self.waking.0.max(1) as f64
    }
}

/// Reads the messages of a folder from `messages.jsonl`, or from `questions.jsonl` of a data set whose questions are
/// messages.
///
/// # Errors
/// If neither file exists, or if a line does not fit.
pub fn read_messages(dir: &Path) -> anyhow::Result<Vec<Message>> {
    let own = dir.join("messages.jsonl");
    read_lines(&if own.exists() { own } else { dir.join("questions.jsonl") })
}

/// Sends the conversations, waits `settle` so that the server can derive facts and topics, and sends every message in
/// its own session.
///
/// # Errors
/// If the server rejects a request, or if a message is about an unknown conversation.
pub async fn run_messages(
    client: &Client,
    data: &DataSet,
    messages: &[Message],
    settle: std::time::Duration,
    jobs: usize,
    sensitive: bool,
) -> anyhow::Result<Vec<Line>> {
    let spaces = spaces_of(data, |id| messages.iter().any(|it| it.conversation_id == id))?;
    import_data(client, data, &spaces, jobs).await?;
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
        let response = client.recall(space, &body).await;
        response
            .map(|it| line_of_message(message, it))
            .with_context(|| format!("message {}", message.id))
    });
    let lines: Vec<anyhow::Result<Line>> = lines.buffered(jobs).collect().await;
    lines.into_iter().collect()
}

/// Returns the time one day after an ISO time without a zone.
fn day_after(time: &str) -> Option<String> {
    let time: chrono::NaiveDateTime = time.parse().ok()?;
    Some((time + chrono::TimeDelta::days(1)).and_utc().to_rfc3339())
}

fn line_of_message(message: &Message, response: RecallReply) -> Line {
    let woken = |group: &&Vec<String>| {
        let mut ids = response.hints.iter().take(HINTS).flat_map(|it| &it.external_ids);
        ids.any(|it| group.contains(it))
    };
    Line {
        id: message.id.clone(),
        category: message.category.clone(),
        groups: message.evidence_groups.len(),
        found: message.evidence_groups.iter().filter(woken).count(),
        hints: response
            .hints
            .into_iter()
            .map(|it| (it.external_ids, it.trigger, text::count_tokens(&it.text)))
            .collect(),
    }
}

/// Returns the totals of the lines by kind, and the totals of all lines under `all`.
pub fn score_lines(lines: &[Line]) -> BTreeMap<String, Row> {
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
pub fn render_table(rows: &BTreeMap<String, Row>) -> String {
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
