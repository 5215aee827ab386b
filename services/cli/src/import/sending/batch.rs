//! Reads an input in batches and sends them.

use anyhow::Context;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::api::Error;
use crate::import::convert::{Parsed, parse_piece};
use crate::import::formats::format::Kind;
use crate::import::input::byte_order::strip_byte_order_mark;
use crate::import::input::line::{Complaints, Line};
use crate::import::input::pieces::NextPiece;
use crate::import::sending::readings;
use crate::import::sending::state::State;
use crate::import::sending::tally::{Tally, halve_batch};
use crate::import::source::Source;
use crate::import::{BEHIND_MAX, Target};
use crate::remote_commands::keys::to_hex;

/// A request ends with the record that brings it to this many bytes. Even if that record has the greatest length, the
/// request stays below the server's limit for a body.
const BATCH_BYTES: usize = 2 << 20;

/// One batch: first the records, and then the readings, which refer to earlier records.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) records: Vec<Line>,
    pub(crate) readings: Vec<Line>,
    pub(crate) end: bool,
}

/// Reads pieces until there are `limit` records, [`readings::AT_ONCE`] readings or about [`BATCH_BYTES`] of them;
/// reports and skips invalid pieces. The last piece is never split, so a conversation may exceed the limit.
///
/// # Errors
/// If the input cannot be read any further.
pub(crate) fn read_batch(
    source: &mut Source,
    state: &mut State,
    limit: usize,
    complaints: &mut impl Complaints,
) -> anyhow::Result<Batch> {
    let kind = source.kind;
    let mut batch = Batch::default();
    let (mut piece, mut bytes) = (Vec::new(), 0);
    while batch.records.len() < limit && batch.readings.len() < readings::AT_ONCE && bytes < BATCH_BYTES {
        let next = source.pieces.read_next(&mut piece)?;
        if next == NextPiece::End {
            batch.end = true;
            break;
        }
        let number = state.count_piece(&piece);
        let place = format!("{} {number}", kind.piece_name());
        if let NextPiece::Broken(why) = next {
            complaints.report_skipped(&place, &why);
            continue;
        }
        let text = strip_byte_order_mark(&piece);
        if text.trim_ascii().is_empty() {
            continue;
        }
        bytes += text.len();
        match parse_piece(kind, text, number, complaints.left_out()) {
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
            Err(problem) => complaints.report_skipped(&place, &problem),
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
pub(crate) async fn send_records(target: &Target<'_>, lines: &[Line], tally: &mut Tally) -> anyhow::Result<()> {
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
fn with_tags(record: &Value, tags: &[String]) -> Value {
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
        let records: Vec<Value> = part.iter().map(|it| with_tags(&it.content, &target.args.tag)).collect();
        let digest = Sha256::new()
            .chain_update(target.run.to_be_bytes())
            .chain_update(serde_json::to_vec(&records)?)
            .finalize();
        match target
            .client
            .send_records(&target.args.space, &to_hex(&digest), &records)
            .await
        {
            Ok(accepted) => {
                tally.count_outcomes(part, accepted);
                // Without the right `read`, the oldest batch is dropped without a wait.
                if tally.watermarks.len() > BEHIND_MAX
                    && (!target.may_read
                        || target
                            .client
                            .wait_for_watermark(&target.args.space, &tally.watermarks[0])
                            .await?)
                {
                    tally.watermarks.pop_front();
                }
            }
            Err(Error::Refused {
                status: 400 | 409 | 413 | 422,
                title,
                detail,
            }) => {
                let halves = halve_batch(part, if detail.is_empty() { &title } else { &detail }, tally);
                waiting.extend(halves);
            }
            Err(error) => {
                tally.bar.finish_and_clear();
                return Err(error)
                    .context("stopped; run the same command again to continue, stored records are left unchanged");
            }
        }
    }
    Ok(())
}
