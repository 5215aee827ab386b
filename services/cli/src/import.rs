//! Importing JSON lines, so that it can be stopped and run again.

mod readings;
mod source;
mod state;

use std::collections::VecDeque;
use std::io::BufRead;

use anyhow::Context;
use domain::id::RecordId;
use gateway::api::{Accepted, ItemStatus};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::api::{Client, Error};
use crate::args::Import;
use crate::keys::hex;
use crate::readings::waiting_line;
use crate::{Outcome, out};
use state::State;

/// Wrong lines that are named; the rest is counted.
const NAMED: u64 = 50;
/// Batches that may not be searchable yet; beyond, sending waits a while for the first of them. Those of several writers are
/// not done in order, so each is asked for.
const BEHIND_MAX: usize = 256;

/// A batch ends with the line that brings it to so many bytes, so that with a line of a record as long as can be it stays within the
/// body that a server takes.
const BATCH_BYTES: usize = 2 << 20;

/// A record or a reading with the number of its line.
struct Line {
    number: u64,
    content: Value,
}

/// What became of the lines, and who is told.
struct Tally {
    bar: ProgressBar,
    accepted: u64,
    known: u64,
    readings: u64,
    wrong: u64,
    /// Lines left out by an earlier import of the same file.
    wrong_before: u64,
    /// Of the batches that may not be searchable yet, the latest last.
    watermarks: VecDeque<String>,
    /// Whether the server has no route for readings.
    lacks_readings: bool,
}

/// Where lines go.
struct Target<'a> {
    client: Client,
    args: &'a Import,
    /// Names this run, so that an answer to an earlier one never stands for what is sent now.
    run: i64,
}

/// Imports lines into a space and waits until all of them are searchable.
pub(crate) async fn import(args: &Import) -> anyhow::Result<Outcome> {
    let mut source = source::open(&args.file)?;
    source::refuse_utf16(&mut *source.lines, args)?;
    source::refuse_list(&mut *source.lines, args)?;
    let target = Target {
        client: Client::new(&args.remote.url, args.remote.key.clone())?,
        args,
        run: host::clock::now().timestamp_micros(),
    };
    target.client.create(&args.space).await?;
    let created_at = target.client.space(&args.space).await?.created_at;
    let file = source.again.then_some(args.file.as_path());
    let mut state = State::load(file, &args.space, &args.remote.url, created_at);
    if !args.restart && !state.skip(&mut *source.lines)? {
        state.rewind();
        source = source::open(&args.file)?;
    }
    let skipped = state.lines();
    let (wrong_before, watermark) = state.earlier();
    let watermark = known(&target, watermark).await?;
    if watermark.is_none() {
        state.drop_watermark();
    }
    let mut tally = Tally {
        bar: bar(source.bytes),
        accepted: 0,
        known: 0,
        readings: 0,
        wrong: 0,
        wrong_before,
        watermarks: watermark.into_iter().collect(),
        lacks_readings: false,
    };
    tally.bar.set_position(state.bytes());
    loop {
        let lines = read(&mut *source.lines, &mut state, usize::from(args.batch), &mut tally)?;
        send(&target, &lines.records, &mut tally).await?;
        readings::send(&target, &lines.readings, &mut tally).await?;
        tally
            .bar
            .suspend(|| state.save(tally.left_out(), tally.watermarks.back()));
        tally.bar.set_position(state.bytes());
        if lines.end {
            break;
        }
    }
    tally.bar.finish_and_clear();
    let searchable = wait(&target, &tally.watermarks).await?;
    report(&tally, skipped, state.lines(), searchable);
    say_waiting(&target).await;
    Ok(match tally.left_out() {
        0 => Outcome::Done,
        _ => Outcome::Lacking,
    })
}

/// Returns the watermark of an earlier import unless the server refuses it, for example because its seal key was changed:
/// the lines are in all the same, and only the wait for them is left out.
async fn known(target: &Target<'_>, watermark: Option<String>) -> anyhow::Result<Option<String>> {
    let Some(watermark) = watermark else { return Ok(None) };
    match target.client.written(&target.args.space, &watermark).await {
        Ok(_) => Ok(Some(watermark)),
        Err(Error::Refused { status: 422, .. }) => {
            out::complain("the server does not take the watermark of the earlier import; going on without it");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Lines that are sent together: first the records, and then the readings, which are of records before them.
struct Batch {
    records: Vec<Line>,
    readings: Vec<Line>,
    end: bool,
}

/// Reads up to `limit` records and [`readings::AT_ONCE`] readings, or about [`BATCH_BYTES`] of them; wrong lines are named and left out.
fn read(source: &mut dyn BufRead, state: &mut State, limit: usize, tally: &mut Tally) -> anyhow::Result<Batch> {
    let mut batch = Batch {
        records: Vec::with_capacity(limit),
        readings: Vec::new(),
        end: false,
    };
    let (mut line, mut bytes) = (Vec::new(), 0);
    while batch.records.len() < limit && batch.readings.len() < readings::AT_ONCE && bytes < BATCH_BYTES {
        line.clear();
        if source.read_until(b'\n', &mut line).context("cannot read on")? == 0 {
            batch.end = true;
            break;
        }
        let number = state.take(&line);
        let text = source::unmarked(&line);
        if text.trim_ascii().is_empty() {
            continue;
        }
        bytes += text.len();
        match parse(text, number) {
            Ok(Parsed::Record(content)) => batch.records.push(Line { number, content }),
            Ok(Parsed::Reading(content)) => batch.readings.push(Line { number, content }),
            Err(problem) => tally.wrong(number, &problem),
        }
    }
    Ok(batch)
}

/// What a line holds.
enum Parsed {
    Record(Value),
    Reading(Value),
}

/// Returns the record or the reading of a line. A record without an id gets one from its number and text, so that sending it twice stores
/// it once. Mnemic's own id, which stands in the records of its lists, is left out: it derives from the other.
fn parse(line: &[u8], number: u64) -> Result<Parsed, String> {
    let mut record: Value = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    if let Some(reading) = readings::of_line(&mut record) {
        return Ok(Parsed::Reading(reading));
    }
    let Some(fields) = record.as_object_mut() else {
        return Err("not a JSON object".to_owned());
    };
    let listed = |it: &Value| it.as_str().is_some_and(|it| it.parse::<RecordId>().is_ok());
    if fields.get("record").is_some_and(listed) {
        fields.remove("record");
    }
    if !fields.contains_key("id") {
        let digest = Sha256::new()
            .chain_update(number.to_be_bytes())
            .chain_update(line.trim_ascii())
            .finalize();
        fields.insert("id".to_owned(), json!(format!("line-{}", &hex(&digest)[..16])));
    }
    Ok(Parsed::Record(record))
}

/// Sends records; a batch that is refused as a whole is halved until the records at fault stand alone.
async fn send(target: &Target<'_>, lines: &[Line], tally: &mut Tally) -> anyhow::Result<()> {
    let mut waiting = vec![lines];
    while let Some(part) = waiting.pop() {
        let Some(first) = part.first() else { continue };
        let records: Vec<Value> = part.iter().map(|it| it.content.clone()).collect();
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
                if part.len() == 1 {
                    tally.wrong(first.number, if detail.is_empty() { &title } else { &detail });
                } else {
                    let (left, right) = part.split_at(part.len() / 2);
                    waiting.extend([right, left]);
                }
            }
            Err(error) => {
                tally.bar.finish_and_clear();
                return Err(error).context("stopped; run the same command again, what is in stays as it is");
            }
        }
    }
    Ok(())
}

impl Tally {
    fn note(&mut self, lines: &[Line], accepted: Accepted) {
        for item in accepted.items {
            match item.status {
                ItemStatus::Accepted => self.accepted += 1,
                ItemStatus::Duplicate => self.known += 1,
                ItemStatus::Rejected => {
                    let why = item.problem.as_deref();
                    let why = why.map_or("", |it| if it.detail.is_empty() { &it.title } else { &it.detail });
                    if let Some(line) = lines.get(item.index) {
                        self.wrong(line.number, why);
                    }
                }
            }
        }
        self.watermarks.push_back(accepted.watermark);
    }

    fn left_out(&self) -> u64 {
        self.wrong_before + self.wrong
    }

    fn wrong(&mut self, line: u64, problem: &str) {
        self.wrong += 1;
        if self.wrong <= NAMED {
            self.bar.suspend(|| out::complain(&format!("line {line}: {problem}")));
        }
    }
}

/// Waits until what was sent is searchable; false if the server is behind for longer than is worth waiting.
async fn wait(target: &Target<'_>, watermarks: &VecDeque<String>) -> anyhow::Result<bool> {
    /// Times the server may hold the question, ten seconds each.
    const HOLDS: u32 = 30;
    let mut holds = 0;
    for watermark in watermarks {
        while !target.client.written(&target.args.space, watermark).await? {
            holds += 1;
            if holds == HOLDS {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Says how many sessions wait to be read by a language model. A server that does not say so is older, or the key may not read.
async fn say_waiting(target: &Target<'_>) {
    if let Ok(summary) = target.client.reading_summary(&target.args.space).await
        && let Some(line) = waiting_line(&summary, &target.args.space)
    {
        out::say(&line);
    }
}

fn report(tally: &Tally, skipped: u64, lines: u64, searchable: bool) {
    let mut parts = vec![format!("{} records in", tally.accepted)];
    if tally.readings > 0 {
        parts.push(format!("{} readings in", tally.readings));
    }
    if tally.known > 0 {
        parts.push(format!("{} were there before", tally.known));
    }
    if skipped > 0 {
        parts.push(format!("{skipped} lines were read earlier"));
    }
    if tally.left_out() > 0 {
        parts.push(format!("{} of {lines} lines left out", tally.left_out()));
    }
    if tally.wrong_before > 0 {
        parts.push(format!(
            "{} of them earlier: --restart sends them again",
            tally.wrong_before
        ));
    }
    let state = if searchable {
        "all searchable"
    } else {
        "the server is still writing"
    };
    out::say(&format!("{}; {state}", parts.join(", ")));
}

fn bar(bytes: u64) -> ProgressBar {
    let template = match bytes {
        0 => "{bytes} {elapsed}",
        _ => "[{bar:40}] {bytes}/{total_bytes} {elapsed}, {eta} left",
    };
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
