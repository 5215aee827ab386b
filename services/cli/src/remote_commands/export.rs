use std::fmt;
use std::io::{BufWriter, ErrorKind, IsTerminal, Write, stdout};
use std::path::Path;

use anyhow::{Context, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::json;

use crate::api::{Client, Error};
use crate::args::Export;
use crate::{Outcome, output};

/// Writes the records of a space and then its readings, one per line.
pub(crate) async fn export_space(args: &Export) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let records = client.get_space(&args.space).await?.records;
    if args.out == Path::new("-") {
        let bar = if stdout().is_terminal() {
            ProgressBar::hidden()
        } else {
            record_progress_bar(records)
        };
        let target = Target {
            lines: BufWriter::new(stdout()),
            shown: stdout().is_terminal(),
        };
        return match copy_records_and_readings(&client, args, target, &bar).await {
            Ok(copied) => {
                output::print_error_line(&copied.to_string());
                Ok(Outcome::Done)
            }
            // The reader closed the pipe.
            Err(error) if is_closed_pipe(&error) => Ok(Outcome::Done),
            Err(error) => Err(error),
        };
    }
    let shown = args.out.display();
    ensure!(!args.out.exists(), "{shown} exists; export writes a new file");
    let partial = args.out.with_added_extension("partial");
    if partial.exists() {
        std::fs::remove_file(&partial).with_context(|| format!("cannot replace {}", partial.display()))?;
    }
    let file = host::upkeep::create_private(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
    let target = Target {
        lines: BufWriter::new(&file),
        shown: false,
    };
    let written = copy_records_and_readings(&client, args, target, &record_progress_bar(records)).await;
    // The file appears complete or not at all.
    let moved = written.and_then(|copied| {
        file.sync_all()?;
        std::fs::rename(&partial, &args.out)?;
        Ok(copied)
    });
    if moved.is_err() {
        // A remaining partial file is harmless.
        let _ = std::fs::remove_file(&partial);
    }
    output::print_line(&format!("{} written to {shown}", moved?));
    Ok(Outcome::Done)
}

/// The destination of an export.
struct Target<W> {
    lines: W,
    /// True for a terminal, where the text of records must be escaped.
    shown: bool,
}

impl<W: Write> Target<W> {
    fn write_line(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut line = serde_json::to_string(value)?;
        if self.shown {
            line = output::json_for_terminal(&line);
        }
        line.push('\n');
        self.lines.write_all(line.as_bytes())?;
        Ok(())
    }
}

/// The counts of an export.
struct Copied {
    records: u64,
    readings: u64,
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records", self.records)?;
        match self.readings {
            0 => Ok(()),
            count => write!(f, " and {count} readings"),
        }
    }
}

/// Copies records page by page; returns the counts.
async fn copy_records_and_readings<W: Write>(
    client: &Client,
    args: &Export,
    mut target: Target<W>,
    bar: &ProgressBar,
) -> anyhow::Result<Copied> {
    let records = copy_records(client, args, &mut target, bar).await?;
    let readings = match args.records_only {
        true => 0,
        false => copy_readings(client, args, &mut target).await?,
    };
    target.lines.flush()?;
    bar.finish_and_clear();
    Ok(Copied { records, readings })
}

async fn copy_records<W: Write>(
    client: &Client,
    args: &Export,
    target: &mut Target<W>,
    bar: &ProgressBar,
) -> anyhow::Result<u64> {
    let mut after: Option<String> = None;
    let mut count = 0;
    loop {
        let page = client.list_record_page(&args.space, &[], after.as_deref()).await?;
        for record in &page.items {
            target.write_line(record)?;
            count += 1;
        }
        bar.set_position(count);
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(count),
        }
    }
}

/// Copies the readings after the records that they refer to. A server without the route for readings is older.
async fn copy_readings<W: Write>(client: &Client, args: &Export, target: &mut Target<W>) -> anyhow::Result<u64> {
    let mut after: Option<String> = None;
    let mut count = 0;
    loop {
        let page = match client.portable_readings(&args.space, after.as_deref()).await {
            Err(Error::Refused { status: 404, .. }) => return Ok(count),
            page => page?,
        };
        for reading in &page.items {
            target.write_line(&json!({ "reading": reading }))?;
            count += 1;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(count),
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|it| it.kind() == ErrorKind::BrokenPipe)
}

fn record_progress_bar(records: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("[{bar:40}] {pos}/{len} records {elapsed}, {eta} left");
    ProgressBar::new(records).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
