//! The list of readings, and the command that requests readings of a space.

use std::time::Duration;

use domain::id::SpaceId;
use domain::reading::ReadingKind;
use gateway::api::{BackfillReport, Reading, ReadingCost, ReadingEstimate, ReadingState, ReadingSummary};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::api::Client;
use crate::args::{Read, Readings};
use crate::output::{Paint, Style};
use crate::render::one_line;
use crate::{Outcome, output};

/// Interval of the progress checks.
const PAUSE: Duration = Duration::from_secs(1);

/// The reason why the wait for readings ended.
enum End {
    /// No session is waiting.
    AllRead,
    /// Nothing changed during the longest allowed wait.
    Stalled,
    /// The user pressed Ctrl-C.
    Interrupted,
}

/// Lists readings.
pub(crate) async fn print_readings(args: &Readings) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let mut readings = client.list_readings(&args.space).await?;
    readings.sort_by_key(|reading| (reading.at, reading.id));
    if args.json {
        readings.iter().try_for_each(output::say_json_line)?;
        return Ok(Outcome::Done);
    }
    let paint = Paint::of_terminal();
    for reading in &readings {
        output::print_line(&reading_line(reading, paint));
        let left_out = reading.outcome.left_out.iter().filter(|_| args.left_out);
        for it in left_out {
            let why = paint.paint_text(Style::Dim, &format!("({})", it.why));
            output::print_line(&format!("    left out: {} {why}", one_line(&it.what)));
        }
    }
    output::print_line(&summary_line(&client.reading_summary(&args.space).await?));
    Ok(Outcome::Done)
}

/// Requests readings of a space, and waits until they are complete.
pub(crate) async fn read_space(args: &Read) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let space = &args.space;
    let report = backfill_space(&client, args).await?;
    if args.dry_run {
        let ReadingEstimate {
            model_calls,
            prompt_tokens,
            completion_tokens,
        } = report.estimate;
        output::print_line(&format!(
            "{} records in {} sessions of {space} have not been read; reading them may take {model_calls} calls, {prompt_tokens} \
             prompt tokens and {completion_tokens} completion tokens (estimated)",
            report.records, report.sessions
        ));
        return Ok(Outcome::Done);
    }
    let (end, summary) = follow_progress(&client, args, report.sessions).await?;
    let waiting = summary.waiting_sessions;
    match end {
        End::AllRead => output::print_line(&format!("no session of {space} is waiting; {}", counts_text(&summary))),
        End::Stalled => output::print_line(&format!(
            "{waiting} sessions of {space} are still waiting, and nothing has changed for {} seconds; {}. They are read once the writer \
             has a language model that answers (`mnemic doctor`) and budget left for the day ([writer.readings]); run \
             the same command again to see the progress",
            args.wait,
            counts_text(&summary)
        )),
        End::Interrupted => output::print_line(&format!(
            "the server continues: {waiting} sessions of {space} are waiting; {}. Run the same command again to see the progress",
            counts_text(&summary)
        )),
    }
    if summary.failed > 0 {
        output::print_line(&format!(
            "`mnemic readings --space {space}` shows why readings failed; --again repeats them"
        ));
    }
    Ok(match end {
        End::AllRead if summary.failed == 0 => Outcome::Done,
        End::AllRead | End::Stalled | End::Interrupted => Outcome::Lacking,
    })
}

/// Sends requests until the server has gone through the whole space; returns the sums of their counts.
async fn backfill_space(client: &Client, args: &Read) -> anyhow::Result<BackfillReport> {
    let mut sum = BackfillReport {
        sessions: 0,
        records: 0,
        estimate: ReadingEstimate::default(),
        next: None,
    };
    loop {
        let body = json!({ "dry_run": args.dry_run, "session": args.session, "again": args.again, "after": sum.next });
        let part = client.request_backfill(&args.space, &body).await?;
        sum.sessions += part.sessions;
        sum.records += part.records;
        sum.estimate.model_calls += part.estimate.model_calls;
        sum.estimate.prompt_tokens += part.estimate.prompt_tokens;
        sum.estimate.completion_tokens += part.estimate.completion_tokens;
        sum.next = part.next;
        if sum.next.is_none() {
            return Ok(sum);
        }
    }
}

/// Shows the progress of the readings until no session is waiting, nothing changes any more, or the user presses Ctrl-C.
async fn follow_progress(client: &Client, args: &Read, sessions: u64) -> anyhow::Result<(End, ReadingSummary)> {
    let style = ProgressStyle::with_template("[{bar:40}] {pos}/{len} sessions {elapsed}  {msg}");
    let bar = ProgressBar::new(sessions).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let patience = Duration::from_secs(args.wait.into());
    let mut last = client.reading_summary(&args.space).await?;
    let mut changed_at = Instant::now();
    let end = loop {
        let all = bar.length().unwrap_or_default().max(last.waiting_sessions);
        bar.set_length(all);
        bar.set_position(all - last.waiting_sessions);
        bar.set_message(counts_text(&last));
        if last.waiting_sessions == 0 {
            break End::AllRead;
        }
        if changed_at.elapsed() >= patience {
            break End::Stalled;
        }
        tokio::select! {
            () = sleep(PAUSE) => {}
            _ = tokio::signal::ctrl_c() => break End::Interrupted,
        }
        let now = client.reading_summary(&args.space).await?;
        if now != last {
            (last, changed_at) = (now, Instant::now());
        }
    };
    bar.finish_and_clear();
    Ok((end, last))
}

/// Returns the last line of `mnemic import` if sessions wait to be read.
pub(crate) fn waiting_line(summary: &ReadingSummary, space: &SpaceId) -> Option<String> {
    let waiting = summary.waiting_sessions;
    (waiting > 0)
        .then(|| format!("{waiting} sessions wait to be read; `mnemic readings --space {space}` shows the progress"))
}

fn reading_line(reading: &Reading, paint: Paint) -> String {
    let at = reading.at.format("%Y-%m-%d %H:%M");
    let records = match reading.records.as_slice() {
        [first, .., last] => format!("{first} to {last} ({})", reading.records.len()),
        [] | [_] => reading.records.concat(),
    };
    let head = paint.paint_text(Style::Dim, &format!("{at}  {records}"));
    let outcome = &reading.outcome;
    let kind = kind_name(reading.kind);
    match reading.state {
        ReadingState::Done => {
            let left_out = match outcome.left_out.len() {
                0 => String::new(),
                count => format!(", {count} left out"),
            };
            format!(
                "{head}  {kind}: {} gists, {} facts, {} relations{left_out}",
                outcome.gists, outcome.facts, outcome.relations
            )
        }
        ReadingState::Failed => {
            let reason = one_line(reading.reason.as_deref().unwrap_or_default());
            format!("{head}  {kind}: {} {reason}", paint.paint_text(Style::Bad, "failed:"))
        }
    }
}

fn kind_name(kind: ReadingKind) -> &'static str {
    match kind {
        ReadingKind::Passage => "passage",
        ReadingKind::Picture => "picture",
        ReadingKind::Events => "events",
        ReadingKind::Label => "label",
        ReadingKind::Page => "page",
        ReadingKind::People => "people",
    }
}

fn summary_line(summary: &ReadingSummary) -> String {
    let today = model_cost_text(&summary.cost_today);
    format!(
        "{}; {} sessions wait; today {today}",
        counts_text(summary),
        summary.waiting_sessions
    )
}

fn counts_text(summary: &ReadingSummary) -> String {
    let cost = model_cost_text(&summary.cost);
    format!("{} readings, {} failed, {cost}", summary.done, summary.failed)
}

fn model_cost_text(cost: &ReadingCost) -> String {
    let tokens = u64::from(cost.usage.prompt_tokens) + u64::from(cost.usage.completion_tokens);
    format!("{} calls, {tokens} tokens", cost.model_calls)
}
