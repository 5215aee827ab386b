//! Importing a JSONL file, so that it can be stopped and run again.

mod state;

use std::fs::File;
use std::io::{BufRead, BufReader};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::api::{Accepted, Client, Error};
use crate::args::Import;
use crate::keys::hex;
use crate::{Outcome, out};
use state::State;

/// Wrong lines that are named; the rest is counted.
const NAMED: u64 = 50;

/// A record with the line it stands on.
struct Line {
    number: u64,
    record: Value,
}

/// What became of the lines, and who is told.
struct Tally {
    bar: ProgressBar,
    accepted: u64,
    known: u64,
    wrong: u64,
    watermark: Option<String>,
}

/// Imports a file into a space and waits until all of it is searchable.
pub(crate) async fn import(args: &Import) -> anyhow::Result<Outcome> {
    let file = File::open(&args.file).with_context(|| format!("cannot open {}", args.file.display()))?;
    let bytes = file.metadata()?.len();
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    client.create(&args.space).await?;
    let mut source = BufReader::new(file);
    let mut state = State::load(&args.file, &args.space, &args.remote.url);
    if args.restart || !state.skip(&mut source)? {
        state = state.rewound(&mut source)?;
    }
    let mut tally = Tally {
        bar: bar(bytes),
        accepted: 0,
        known: 0,
        wrong: 0,
        watermark: None,
    };
    tally.bar.set_position(state.bytes());
    let skipped = state.lines();
    loop {
        let lines = read(&mut source, &mut state, usize::from(args.batch), &mut tally)?;
        send(&client, args, &lines.records, &mut tally).await?;
        state.save()?;
        tally.bar.set_position(state.bytes());
        if lines.end {
            break;
        }
    }
    tally.bar.finish_and_clear();
    let searchable = wait(&client, args, &tally).await?;
    report(&tally, skipped, state.lines(), searchable);
    Ok(if tally.wrong == 0 {
        Outcome::Done
    } else {
        Outcome::Lacking
    })
}

struct Batch {
    records: Vec<Line>,
    end: bool,
}

/// Reads up to `limit` records; wrong lines are named and left out.
fn read(source: &mut impl BufRead, state: &mut State, limit: usize, tally: &mut Tally) -> anyhow::Result<Batch> {
    let mut records = Vec::with_capacity(limit);
    let mut line = Vec::new();
    while records.len() < limit {
        line.clear();
        if source.read_until(b'\n', &mut line).context("cannot read on")? == 0 {
            return Ok(Batch { records, end: true });
        }
        let number = state.take(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        match parse(&line, number) {
            Ok(record) => records.push(Line { number, record }),
            Err(problem) => tally.wrong(number, &problem),
        }
    }
    Ok(Batch { records, end: false })
}

/// Returns the record of a line. One without an id gets one from its number and text, so that sending it twice stores
/// it once.
fn parse(line: &[u8], number: u64) -> Result<Value, String> {
    let mut record: Value = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    let Some(fields) = record.as_object_mut() else {
        return Err("not a JSON object".to_owned());
    };
    if !fields.contains_key("id") {
        let digest = Sha256::new()
            .chain_update(number.to_be_bytes())
            .chain_update(line.trim_ascii())
            .finalize();
        fields.insert("id".to_owned(), json!(format!("line-{}", &hex(&digest)[..16])));
    }
    Ok(record)
}

/// Sends records; a batch that is refused as a whole is halved until the records at fault stand alone.
async fn send(client: &Client, args: &Import, lines: &[Line], tally: &mut Tally) -> anyhow::Result<()> {
    let mut waiting = vec![lines];
    while let Some(part) = waiting.pop() {
        let Some(first) = part.first() else { continue };
        let records: Vec<Value> = part.iter().map(|it| it.record.clone()).collect();
        let key = hex(&Sha256::digest(serde_json::to_vec(&records)?));
        match client.add(&args.space, &key, &records).await {
            Ok(accepted) => tally.note(part, accepted),
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
                return Err(error).context("stopped; the same command goes on from here");
            }
        }
    }
    Ok(())
}

impl Tally {
    fn note(&mut self, lines: &[Line], accepted: Accepted) {
        for item in accepted.items {
            match (item.status.as_str(), lines.get(item.index)) {
                ("accepted", _) => self.accepted += 1,
                ("duplicate", _) => self.known += 1,
                (_, Some(line)) => {
                    let problem = item.problem.unwrap_or_default();
                    self.wrong(
                        line.number,
                        if problem.detail.is_empty() {
                            &problem.title
                        } else {
                            &problem.detail
                        },
                    );
                }
                (_, None) => {}
            }
        }
        self.watermark = Some(accepted.watermark);
    }

    fn wrong(&mut self, line: u64, problem: &str) {
        self.wrong += 1;
        if self.wrong <= NAMED {
            self.bar.suspend(|| out::complain(&format!("line {line}: {problem}")));
        }
    }
}

/// Waits until what was sent last is searchable; false if the server is behind for longer than is worth waiting.
async fn wait(client: &Client, args: &Import, tally: &Tally) -> anyhow::Result<bool> {
    /// Times the server may hold the question, ten seconds each.
    const HOLDS: u32 = 30;
    let Some(watermark) = &tally.watermark else {
        return Ok(true);
    };
    for _ in 0..HOLDS {
        if client.written(&args.space, watermark).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn report(tally: &Tally, skipped: u64, lines: u64, searchable: bool) {
    let mut parts = vec![format!("{} records in", tally.accepted)];
    if tally.known > 0 {
        parts.push(format!("{} were there before", tally.known));
    }
    if skipped > 0 {
        parts.push(format!("{skipped} lines were imported earlier"));
    }
    if tally.wrong > 0 {
        parts.push(format!("{} of {lines} lines left out", tally.wrong));
    }
    let state = if searchable {
        "all searchable"
    } else {
        "the server is still writing"
    };
    out::say(&format!("{}; {state}", parts.join(", ")));
}

fn bar(bytes: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("[{bar:40}] {bytes}/{total_bytes} {elapsed}, {eta} left");
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
