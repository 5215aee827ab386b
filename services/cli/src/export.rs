use std::io::{BufWriter, ErrorKind, IsTerminal, Write, stdout};
use std::path::Path;

use anyhow::{Context, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use crate::api::Client;
use crate::args::Export;
use crate::{Outcome, out};

/// Writes the records of a space, one a line.
pub(crate) async fn export(args: &Export) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let records = client.space(&args.space).await?.records;
    if args.out == Path::new("-") {
        let bar = if stdout().is_terminal() {
            ProgressBar::hidden()
        } else {
            progress(records)
        };
        let target = Target {
            lines: BufWriter::new(stdout()),
            shown: stdout().is_terminal(),
        };
        return match copy(&client, args, target, &bar).await {
            Ok(count) => {
                out::complain(&format!("{count} records"));
                Ok(Outcome::Done)
            }
            // Nobody reads any more.
            Err(error) if closed(&error) => Ok(Outcome::Done),
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
    let written = copy(&client, args, target, &progress(records)).await;
    // Whole or not at all.
    let moved = written.and_then(|count| {
        file.sync_all()?;
        std::fs::rename(&partial, &args.out)?;
        Ok(count)
    });
    if moved.is_err() {
        // What stays does no harm.
        let _ = std::fs::remove_file(&partial);
    }
    out::say(&format!("{} records written to {shown}", moved?));
    Ok(Outcome::Done)
}

/// Where records are written.
struct Target<W> {
    lines: W,
    /// Whether it is a terminal, which must not obey what stands in a record.
    shown: bool,
}

/// Writes page by page; returns the number of records.
async fn copy<W: Write>(
    client: &Client,
    args: &Export,
    mut target: Target<W>,
    bar: &ProgressBar,
) -> anyhow::Result<u64> {
    let mut after: Option<String> = None;
    let mut count = 0;
    loop {
        let page = client.records(&args.space, &[], after.as_deref()).await?;
        for record in &page.items {
            let mut line = serde_json::to_string(record)?;
            if target.shown {
                line = out::json_for_terminal(&line);
            }
            line.push('\n');
            target.lines.write_all(line.as_bytes())?;
            count += 1;
        }
        bar.set_position(count);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    target.lines.flush()?;
    bar.finish_and_clear();
    Ok(count)
}

fn closed(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|it| it.kind() == ErrorKind::BrokenPipe)
}

fn progress(records: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("[{bar:40}] {pos}/{len} records {elapsed}, {eta} left");
    ProgressBar::new(records).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
