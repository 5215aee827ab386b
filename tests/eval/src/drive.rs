//! Drives a server: sends conversations, asks questions, and records the responses.

pub mod client;
pub mod server;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use domain::id::SpaceId;
use futures::{StreamExt, TryStreamExt, stream};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::data::{Conversation, DataSet, Question, QuestionTimes, Turn};
use crate::run_file::{Item, Line};
use client::{Client, Reply, ShownItem};

/// Token budgets of the queries. The first one is timed, ranked and answered.
const BUDGETS: [u32; 4] = [512, 256, 1024, 2048];

/// Time limit of a question, in milliseconds. It is longer than a production server should allow, so that a slow
/// answer is measured as slow and not as missing.
const PATIENCE_MS: u32 = 20_000;

/// Time limit of a question if calls of a language model are allowed, in milliseconds.
const MODEL_PATIENCE_MS: u32 = 120_000;

/// Number of ranked units that are requested in addition to the pack, best first.
const RANKED: u32 = 50;

/// Number of records in one request.
const BATCH: usize = 64;

/// The part of a question that the server sees; it contains no gold labels.
struct AskedQuestion<'a> {
    id: &'a str,
    space: &'a SpaceId,
    question: &'a str,
    /// Time at which the question is asked. By default this is the time of the last turn, because questions come after
    /// the conversation.
    asked_at: Option<&'a str>,
}

/// Options for asking the questions of a data set.
#[derive(Clone, Debug)]
pub struct Asking {
    /// Number of questions to ask, starting with the first.
    pub limit: usize,
    /// Number of parallel requests.
    pub jobs: usize,
    /// Share of the evidence at which packing stops; 1 means never.
    pub enough: f32,
    /// Strategy for finding evidence.
    pub strategy: String,
    /// Time to wait before the questions, so that the server can derive facts and topics.
    pub settle: Duration,
    /// Maximum number of calls of a language model for one answer.
    pub model_calls: u32,
    /// Whether gists may be evidence. Answers by rule are then not asked for, because they use literal text.
    pub with_gists: bool,
    /// Times at which the questions are asked.
    pub asked_at: QuestionTimes,
}

/// Spaces of the conversations, by the ids of the conversations.
pub type Spaces<'a> = HashMap<&'a str, SpaceId>;

/// Sends the conversations that questions are about, asks the questions, and writes one line for each to `out`.
///
/// Lines keep the order of the questions. Returns the number of lines, and the errors of the questions that have no
/// line.
///
/// # Errors
/// If the server cannot be reached or rejects a turn, or if `out` cannot be written.
pub async fn run_questions(
    client: &Client,
    data: &DataSet,
    asking: &Asking,
    out: &mut dyn Write,
) -> anyhow::Result<(usize, Vec<anyhow::Error>)> {
    let spaces = spaces_asked(data, asking)?;
    import_data(client, data, &spaces, asking.jobs).await?;
    tokio::time::sleep(asking.settle).await;
    ask_all(client, data, &spaces, asking, out).await
}

/// Returns the spaces of the conversations that questions are about.
///
/// # Errors
/// If the id of a conversation gives no valid name of a space; the mapping of ids avoids that.
pub fn spaces_asked<'a>(data: &'a DataSet, asking: &Asking) -> anyhow::Result<Spaces<'a>> {
    let questions = questions_to_ask(data, asking);
    spaces_of(data, |id| questions.iter().any(|it| it.conversation_id == id))
}

fn questions_to_ask<'a>(data: &'a DataSet, asking: &Asking) -> &'a [Question] {
    &data.questions[..asking.limit.min(data.questions.len())]
}

/// Asks the questions about conversations that the server already has, as [`run_questions`] does.
///
/// # Errors
/// If `out` cannot be written, or a question is about an unknown conversation.
pub async fn ask_all(
    client: &Client,
    data: &DataSet,
    spaces: &Spaces<'_>,
    asking: &Asking,
    out: &mut dyn Write,
) -> anyhow::Result<(usize, Vec<anyhow::Error>)> {
    let mut wanted = Vec::new();
    for it in questions_to_ask(data, asking) {
        let space = spaces.get(it.conversation_id.as_str());
        let space = space.with_context(|| format!("question {} is about an unknown conversation", it.id))?;
        wanted.push(AskedQuestion {
            id: &it.id,
            space,
            question: &it.question,
            asked_at: asking
                .asked_at
                .get(&it.id)
                .map(String::as_str)
                .or_else(|| last_turn(data, &it.conversation_id)),
        });
    }
    let bar = progress_bar(wanted.len(), "questions");
    let mut lines = stream::iter(&wanted)
        .map(|it| ask_question(client, it, asking))
        .buffered(asking.jobs);
    let mut failures = Vec::new();
    while let Some(line) = lines.next().await {
        bar.inc(1);
        match line {
            Ok(line) => {
                serde_json::to_writer(&mut *out, &line)?;
                out.write_all(b"\n")?;
            }
            Err(error) => failures.push(error),
        }
    }
    out.flush()?;
    bar.finish();
    Ok((wanted.len() - failures.len(), failures))
}

/// Returns the time of the last turn of a conversation. Times without a zone sort correctly as texts.
fn last_turn<'a>(data: &'a DataSet, conversation: &str) -> Option<&'a str> {
    let conversation = data
        .conversations
        .iter()
        .find(|it| it.conversation_id == conversation)?;
    conversation.turns.iter().map(|it| it.timestamp.as_str()).max()
}

/// Returns the spaces of the conversations that `wanted` selects, by the ids of the conversations.
pub(crate) fn spaces_of(data: &DataSet, wanted: impl Fn(&str) -> bool) -> anyhow::Result<Spaces<'_>> {
    let ids = data.conversations.iter().map(|it| it.conversation_id.as_str());
    ids.filter(|it| wanted(it))
        .map(|it| Ok((it, space_of_conversation(it)?)))
        .collect()
}

/// Sends the conversations that have a space and waits until they are searchable.
pub(crate) async fn import_data(
    client: &Client,
    data: &DataSet,
    spaces: &Spaces<'_>,
    jobs: usize,
) -> anyhow::Result<()> {
    let wanted: Vec<(&Conversation, &SpaceId)> = data
        .conversations
        .iter()
        .filter_map(|it| Some((it, spaces.get(it.conversation_id.as_str())?)))
        .collect();
    let bar = progress_bar(wanted.iter().map(|(it, _)| it.turns.len()).sum(), "turns");
    let imports =
        stream::iter(&wanted).map(|(conversation, space)| send_conversation(client, conversation, space, &bar));
    imports.buffered(jobs).try_collect::<Vec<()>>().await?;
    bar.finish();
    Ok(())
}

/// Sends one conversation and waits until all of it is searchable. Sending it again has no effect.
async fn send_conversation(
    client: &Client,
    conversation: &Conversation,
    space: &SpaceId,
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    client.create(space).await?;
    let mut ordinals = HashMap::<&str, u32>::new();
    let mut records = Vec::with_capacity(conversation.turns.len());
    for turn in &conversation.turns {
        let ordinal = ordinals.entry(&turn.session).or_default();
        records.push(record_of_turn(turn, *ordinal));
        *ordinal += 1;
    }
    let mut watermarks = Vec::new();
    for batch in records.chunks(BATCH) {
        let body = json!({ "records": batch });
        let accepted = client.add(space, &digest_of_text(&body.to_string()), &body).await?;
        let rejected: Vec<_> = accepted.items.iter().filter(|it| it.status == "rejected").collect();
        ensure!(
            rejected.is_empty(),
            "the server rejected {} turns of {space}: {:?}",
            rejected.len(),
            rejected
        );
        watermarks.push(accepted.watermark);
        bar.inc(batch.len() as u64);
    }
    for watermark in &watermarks {
        client.wait_until_written(space, watermark).await?;
    }
    Ok(())
}

fn record_of_turn(turn: &Turn, ordinal: u32) -> serde_json::Value {
    let mut record = json!({
        "id": turn.id,
        "session": turn.session,
        "ordinal": ordinal,
        "actor": turn.speaker,
        "text": turn.text,
        "observed_at": turn.timestamp,
    });
    if let Some(caption) = &turn.image_caption {
        record["image_caption"] = json!(caption);
    }
    if let Some(uri) = &turn.image_uri {
        record["image_uri"] = json!(uri);
    }
    if !turn.metadata.is_empty() {
        record["metadata"] = json!(turn.metadata);
    }
    record
}

async fn ask_question(client: &Client, asked: &AskedQuestion<'_>, asking: &Asking) -> anyhow::Result<Line> {
    let mut line = Line {
        question_id: asked.id.to_owned(),
        ..Line::default()
    };
    for budget in BUDGETS {
        let first = budget == BUDGETS[0];
        let ranked = if first { RANKED } else { 0 };
        let calls = if first { asking.model_calls } else { 0 };
        let ms = if calls > 0 { MODEL_PATIENCE_MS } else { PATIENCE_MS };
        let body = json!({
            "question": asked.question,
            "asked_at": asked.asked_at,
            "budget": { "tokens": budget, "ms": ms, "enough": asking.enough, "model_calls": calls },
            "strategy": asking.strategy,
            "answer": first && (!asking.with_gists || calls > 0),
            "verbatim": !asking.with_gists,
            "ranked": ranked,
        });
        let started = Instant::now();
        let reply: Reply = client
            .query(asked.space, &body)
            .await
            .with_context(|| format!("question {}", asked.id))?;
        let without = reply
            .degraded
            .iter()
            .find(|it| it.starts_with("answer:") || it.starts_with("select:"));
        if let Some(without) = without.filter(|_| first && asking.model_calls > 0) {
            anyhow::bail!("question {}: {without}", asked.id);
        }
        if first {
            line.latency_ms = Some(started.elapsed().as_secs_f64() * 1000.0);
            line.packed_tokens = Some(f64::from(reply.pack.tokens));
            line.abstained = Some(reply.verdict.status == "insufficient");
            line.answer = Some(reply.answer.map(|it| it.text).unwrap_or_default());
            line.ranked = to_items(reply.ranked.unwrap_or_default());
        }
        line.packs.insert(budget, to_items(reply.pack.items));
    }
    Ok(line)
}

fn to_items(shown: Vec<ShownItem>) -> Vec<Item> {
    shown
        .into_iter()
        .map(|it| Item {
            turn_ids: it.external_ids,
            text: it.text,
        })
        .collect()
}

/// Returns the space of a conversation: `eval-` and the id, reduced to the letters that a space may have. An id that
/// had to be changed or cut gets a digest at its end, so that two conversations never share a space.
fn space_of_conversation(conversation: &str) -> anyhow::Result<SpaceId> {
    let plain = |c: char| {
        if c.is_ascii_lowercase() || c.is_ascii_digit() || ".-_".contains(c) {
            c
        } else {
            '-'
        }
    };
    let mut name: String = conversation.to_lowercase().chars().map(plain).take(48).collect();
    if name != conversation {
        name = format!("{name}-{}", &digest_of_text(conversation)[..8]);
    }
    Ok(format!("eval-{name}").parse()?)
}

pub(crate) fn digest_of_text(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

pub(crate) fn progress_bar(length: usize, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:>10} [{bar:40}] {pos}/{len} {elapsed}, {eta} left");
    ProgressBar::new(length as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(what)
}
