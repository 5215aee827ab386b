//! Reads an input in batches and sends them.

use anyhow::Context;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::convert::{Parsed, parse};
use super::draft::LeftOut;
use super::format::Kind;
use super::pieces::Next;
use super::readings;
use super::source::{Source, unmarked};
use super::state::State;
use super::tally::Tally;
use super::{BEHIND_MAX, Target};
use crate::api::Error;
use crate::keys::hex;

/// A request ends with the record that brings it to this many bytes. Even if that record has the greatest length, the
/// request stays below the server's limit for a body.
const BATCH_BYTES: usize = 2 << 20;

/// A record or a reading with its place in the input.
pub(super) struct Line {
    pub(super) place: String,
    pub(super) content: Value,
    /// Approximate length.
    bytes: usize,
}

/// One batch: first the records, and then the readings, which refer to earlier records.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) records: Vec<Line>,
    pub(super) readings: Vec<Line>,
    pub(super) end: bool,
}

/// Receives reports about entries that cannot be imported.
pub(super) trait Complaints {
    /// Reports that the entry at `place` is skipped.
    fn wrong(&mut self, place: &str, problem: &str);
    /// Returns the counts of entries that are omitted on purpose.
    fn left_out(&mut self) -> &mut LeftOut;
}

/// Reads pieces until there are `limit` records, [`readings::AT_ONCE`] readings or about [`BATCH_BYTES`] of them;
/// reports and skips invalid pieces. The last piece is never split, so a conversation may exceed the limit.
///
/// # Errors
/// If the input cannot be read any further.
pub(super) fn read(
    source: &mut Source,
    state: &mut State,
    limit: usize,
    complaints: &mut impl Complaints,
) -> anyhow::Result<Batch> {
    let kind = source.kind;
    let mut batch = Batch::default();
    let (mut piece, mut bytes) = (Vec::new(), 0);
    while batch.records.len() < limit && batch.readings.len() < readings::AT_ONCE && bytes < BATCH_BYTES {
        let next = source.pieces.next(&mut piece)?;
        if next == Next::End {
            batch.end = true;
            break;
        }
        let number = state.take(&piece);
        let place = format!("{} {number}", kind.piece());
        if let Next::Broken(why) = next {
            complaints.wrong(&place, &why);
            continue;
        }
        let text = unmarked(&piece);
        if text.trim_ascii().is_empty() {
            continue;
        }
        bytes += text.len();
        match parse(kind, text, number, complaints.left_out()) {
            Ok(Parsed::Records(records)) => {
                let share = text.len() / records.len().max(1);
                let lines = records.into_iter().map(|content| Line {
                    place: place_of(&place, kind, &content),
                    bytes: share.max(text_bytes(&content)),
                    content,
                });
                batch.records.extend(lines);
            }
            Ok(Parsed::Reading(content)) => batch.readings.push(Line {
                place,
                content,
                bytes: text.len(),
            }),
            Err(problem) => complaints.wrong(&place, &problem),
        }
    }
    Ok(batch)
}

/// Returns the place of a record: its piece, with the id or the session if that helps to find it.
fn place_of(piece: &str, kind: Kind, record: &Value) -> String {
    let name = match kind {
        Kind::Records => None,
        Kind::ChatGpt | Kind::Claude | Kind::Mem0 | Kind::Hindsight => record["id"].as_str(),
        Kind::Text | Kind::Markdown => record["session"].as_str(),
    };
    name.map_or_else(|| piece.to_owned(), |name| format!("{piece} ({name})"))
}

fn text_bytes(record: &Value) -> usize {
    record["text"].as_str().map_or(0, str::len)
}

/// Sends records, in requests of up to `--batch` records and about [`BATCH_BYTES`].
///
/// # Errors
/// If the server accepts no more.
pub(super) async fn send(target: &Target<'_>, lines: &[Line], tally: &mut Tally) -> anyhow::Result<()> {
    let limit = usize::from(target.args.batch);
    let mut rest = lines;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |line: &&Line| {
            let fits = bytes < BATCH_BYTES;
            bytes += line.bytes;
            fits
        };
        let count = rest.iter().take(limit).take_while(fits).count();
        let (now, later) = rest.split_at(count.max(1).min(rest.len()));
        send_together(target, now, tally).await?;
        rest = later;
    }
    Ok(())
}

/// Returns a record with additional tags. A record with invalid tags is returned unchanged, and the server refuses it.
fn tagged(record: &Value, tags: &[String]) -> Value {
    let mut record = record.clone();
    if let (Some(fields), false) = (record.as_object_mut(), tags.is_empty()) {
        let own = fields.entry("tags").or_insert_with(|| json!([]));
        if let Some(own) = own.as_array_mut() {
            own.extend(tags.iter().map(|it| json!(it)));
        }
    }
    record
}

/// Sends records. A batch that is refused as a whole is halved until each refused record is alone.
async fn send_together(target: &Target<'_>, lines: &[Line], tally: &mut Tally) -> anyhow::Result<()> {
    let mut waiting = vec![lines];
    while let Some(part) = waiting.pop() {
        let records: Vec<Value> = part.iter().map(|it| tagged(&it.content, &target.args.tag)).collect();
        let digest = Sha256::new()
            .chain_update(target.run.to_be_bytes())
            .chain_update(serde_json::to_vec(&records)?)
            .finalize();
        match target.client.add(&target.args.space, &hex(&digest), &records).await {
            Ok(accepted) => {
                tally.note(part, accepted);
                if tally.watermarks.len() > BEHIND_MAX
                    && target.client.written(&target.args.space, &tally.watermarks[0]).await?
                {
                    tally.watermarks.pop_front();
                }
            }
            Err(Error::Refused {
                status: 400 | 409 | 413 | 422,
                title,
                detail,
            }) => {
                let halves = halved(part, if detail.is_empty() { &title } else { &detail }, tally);
                waiting.extend(halves);
            }
            Err(error) => {
                tally.bar.finish_and_clear();
                return Err(error).context("stopped; run the same command again, what is in stays as it is");
            }
        }
    }
    Ok(())
}

/// Returns the halves of a refused batch, the second half first. A single line is the cause of the refusal; it is
/// reported with the reason.
pub(super) fn halved<'a>(lines: &'a [Line], reason: &str, tally: &mut Tally) -> Vec<&'a [Line]> {
    match lines {
        [] => Vec::new(),
        [line] => {
            tally.wrong(&line.place, reason);
            Vec::new()
        }
        _ => {
            let (first, second) = lines.split_at(lines.len() / 2);
            vec![second, first]
        }
    }
}
