//! The command line of `mnemic-eval`.

mod ablate;
mod asking_args;
mod convert;
mod judge;

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use serde::Serialize;

use self::asking_args::AskingArgs;
use crate::data::{DataSet, read_lines};
use crate::drive::client::Client;
use crate::drive::server::{Server, Setting};
use crate::report::{self, Floor};
use crate::score::{self, Labels, summary};
use crate::{check, drive, recall, run_file};

/// Metrics for which an interval is computed.
const INTERVALS: [&str; 13] = [
    "R@5", "R@10", "nDCG@10", "E@256", "E@512", "E@1024", "E@2048", "all@512", "right", "answer", "F1", "BLEU-1", "EM",
];

/// Measures Mnemic on a data set: evidence under token budgets, refusals, short answers.
///
/// A data set is a folder with conversations.jsonl and questions.jsonl.
#[derive(Debug, Parser)]
#[command(
    name = "mnemic-eval",
    version,
    after_help = "\
Examples:
  mnemic-eval run --data tests/eval/data/house --out run.jsonl
  mnemic-eval score --data tests/eval/data/house --run run.jsonl --ci
  mnemic-eval check --data tests/eval/data/house
  mnemic-eval convert locomo downloaded.json --out data/locomo
  mnemic-eval score --data data/locomo --run run.jsonl --answers answers.jsonl
  mnemic-eval judge answers.jsonl --judge http://127.0.0.1:11434/v1 --model NAME
  mnemic-eval recall --data tests/eval/data/recall --conversations tests/eval/data/house

Exit codes: 0 done, 1 failed, 2 wrong command line, 3 a question failed, below the floor, or not in form."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Send the conversations, ask the questions, and write the answers of the server.
    Run(RunArgs),
    /// Compare a run with the gold labels.
    Score(ScoreArgs),
    /// Check the format of a data set.
    Check(CheckArgs),
    /// Convert files of a public data set, or runs of an agent, into a data set.
    Convert(convert::ConvertArgs),
    /// Let a language model judge answers, twice each.
    Judge(judge::JudgeArgs),
    /// Remove parts of the memory, one at a time, and compare the answers with those of the whole memory.
    Ablate(ablate::AblateArgs),
    /// Send the conversations and then the messages, and count unwanted hints and found evidence.
    Recall(RecallArgs),
}

#[derive(Debug, Args)]
struct RunArgs {
    /// Folder of the data set.
    #[arg(long)]
    data: PathBuf,
    /// Split of the data set; `all` takes everything.
    #[arg(long, default_value = "all")]
    split: String,
    /// File for the run, with one line for each question.
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    asking: AskingArgs,
    /// Seconds to wait before the questions, so that the server can derive facts and topics from the turns.
    #[arg(long, default_value_t = 0)]
    settle: u64,
    /// Record the calls of the language model in this file; a call that it already contains is answered from it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "replay"])]
    record: Option<PathBuf>,
    /// Replay the calls of the language model from this file; no endpoint is called.
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    replay: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ServerArgs {
    /// Server to measure; without this option, a standalone server is started and stopped.
    #[arg(long, env = "MNEMIC_URL")]
    url: Option<String>,
    /// Key for the server.
    #[arg(long, env = "MNEMIC_KEY", hide_env_values = true)]
    key: Option<String>,
    /// Program to start when there is no URL [default: `mnemic` next to this program].
    #[arg(long)]
    mnemic: Option<PathBuf>,
}

impl ServerArgs {
    /// Returns a client, and the server if one had to be started. The server stops when it is dropped.
    async fn client(self, settings: &[Setting]) -> anyhow::Result<(Client, Option<Server>)> {
        let server = match &self.url {
            Some(_) => None,
            None => Some(Server::start(&self.mnemic.map_or_else(Server::beside, Ok)?, settings).await?),
        };
        let url = self
            .url
            .or_else(|| server.as_ref().map(Server::url))
            .unwrap_or_default();
        Ok((Client::new(&url, self.key)?, server))
    }
}

#[derive(Debug, Args)]
struct RecallArgs {
    /// Folder with messages.jsonl, or a data set whose questions are messages.
    #[arg(long)]
    data: PathBuf,
    /// Folder of the data set with the conversations [default: the folder of the messages].
    #[arg(long)]
    conversations: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
    /// Allow hints with sensitive content.
    #[arg(long)]
    sensitive: bool,
    /// Seconds between sending the conversations and the first message, so that the server can derive facts and
    /// topics.
    #[arg(long, default_value_t = 10)]
    settle: u64,
    /// Also write one line for each message to this file.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Fail if more than this share of the messages that need no hint get one, 0 to 1.
    #[arg(long)]
    unwanted_max: Option<f64>,
    /// Fail if recall at 5 is below this value, 0 to 1.
    #[arg(long)]
    recall_min: Option<f64>,
    /// Number of parallel requests.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    jobs: u8,
}

#[derive(Debug, Args)]
struct ScoreArgs {
    /// Folder of the data set.
    #[arg(long)]
    data: PathBuf,
    /// File of the run.
    #[arg(long)]
    run: PathBuf,
    /// Split of the data set; `all` takes everything.
    #[arg(long, default_value = "all")]
    split: String,
    /// Gold labels to use.
    #[arg(long, value_enum, default_value_t)]
    gold: Labels,
    /// Also write the numbers to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Also write questions, right answers and given answers to this file, one a line, for `judge`.
    #[arg(long)]
    answers: Option<PathBuf>,
    /// Fail if a metric is below its floor. The file is a JSON object from metric (or `category/metric`) to the minimum
    /// share, 0 to 1.
    #[arg(long)]
    floor: Option<PathBuf>,
    /// Add 95 % intervals, drawn over conversations and their questions.
    #[arg(long)]
    ci: bool,
    /// Seed of the draws.
    #[arg(long, default_value_t = 7)]
    seed: u64,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Folder of the data set.
    #[arg(long)]
    data: PathBuf,
}

/// Runs the command line.
pub fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(args) => run_questions(args),
        Command::Score(args) => run_score(&args),
        Command::Check(args) => check_form(&args.data),
        Command::Convert(args) => convert::run_convert(args),
        Command::Judge(args) => judge::run_judge(args),
        Command::Ablate(args) => ablate::run_ablate(args),
        Command::Recall(args) => run_recall(args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("mnemic-eval: {error:#}");
        ExitCode::FAILURE
    })
}

/// Exit code of a run that did not reach the demanded values.
const SHORT: u8 = 3;

fn run_questions(args: RunArgs) -> anyhow::Result<ExitCode> {
    let data = DataSet::read(&args.data)?.only(&args.split);
    let out = File::create(&args.out).with_context(|| format!("cannot create {}", args.out.display()))?;
    let recording = recording_settings(args.record.as_deref(), args.replay.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (asked, failures) = runtime.block_on(async {
        let (client, server) = args.server.client(&recording).await?;
        let asking = args.asking.into_asking(&args.data, Duration::from_secs(args.settle))?;
        let asked = drive::run_questions(&client, &data, &asking, &mut BufWriter::new(out)).await;
        drop(server);
        asked
    })?;
    print_text(&format!("{asked} questions answered, see {}", args.out.display()));
    for failure in &failures {
        eprintln!("no line: {failure:#}");
    }
    Ok(if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(SHORT)
    })
}

/// Returns the settings about recordings for a server that is started.
fn recording_settings(record: Option<&Path>, replay: Option<&Path>) -> anyhow::Result<Vec<Setting>> {
    let named = [
        ("MNEMIC_LANGUAGE_MODEL__RECORD", record),
        ("MNEMIC_LANGUAGE_MODEL__REPLAY", replay),
    ];
    let named = named.into_iter().filter_map(|(name, path)| Some((name, path?)));
    // The server may have another working directory.
    named
        .map(|(name, path)| {
            Ok(Setting {
                name,
                value: std::path::absolute(path)?,
            })
        })
        .collect()
}

fn run_recall(args: RecallArgs) -> anyhow::Result<ExitCode> {
    let data = DataSet::read(args.conversations.as_deref().unwrap_or(&args.data))?;
    let messages = recall::read_messages(&args.data)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let lines = runtime.block_on(async {
        let (client, server) = args.server.client(&[]).await?;
        let (settle, jobs) = (Duration::from_secs(args.settle), usize::from(args.jobs));
        let lines = recall::run_messages(&client, &data, &messages, settle, jobs, args.sensitive).await;
        drop(server);
        lines
    })?;
    if let Some(path) = &args.out {
        write_lines(path, &lines)?;
    }
    let rows = recall::score_lines(&lines);
    print_text(recall::render_table(&rows).trim_end());
    let all = rows.get("all").cloned().unwrap_or_default();
    let short =
        args.unwanted_max.is_some_and(|it| all.unwanted() > it) || args.recall_min.is_some_and(|it| all.recall() < it);
    Ok(if short {
        ExitCode::from(SHORT)
    } else {
        ExitCode::SUCCESS
    })
}

fn run_score(args: &ScoreArgs) -> anyhow::Result<ExitCode> {
    let data = DataSet::read(&args.data)?.only(&args.split);
    let run: Vec<run_file::Line> = read_lines(&args.run)?;
    let rows = score::score_run(&data, &run, args.gold)?;
    let mut summary = summary::summarise_rows(&rows);
    if args.ci {
        summary.add_intervals(&rows, &INTERVALS, args.seed);
    }
    print_text(&report::summary_table(&summary));
    if let Some(path) = &args.json {
        fs::write(path, serde_json::to_vec_pretty(&summary)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &args.answers {
        let answers = crate::judge::answers_of(&data, &run)?;
        write_lines(path, &answers)?;
    }
    let short = match &args.floor {
        Some(path) => report::metrics_below_floor(&summary, &read_floor(path)?),
        None => Vec::new(),
    };
    short.iter().for_each(|it| eprintln!("{it}"));
    Ok(if short.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(SHORT)
    })
}

fn write_lines(path: &Path, lines: &[impl Serialize]) -> anyhow::Result<()> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line)?);
        text.push('\n');
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn read_floor(path: &Path) -> anyhow::Result<Floor> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not an object of numbers", path.display()))
}

fn check_form(dir: &Path) -> anyhow::Result<ExitCode> {
    let findings = check::check_data(&DataSet::read(dir)?);
    for (name, count) in &findings.counts {
        print_text(&format!("{count:>6} {name}"));
    }
    findings.notes.iter().for_each(|it| print_text(&format!("note: {it}")));
    findings.errors.iter().for_each(|it| eprintln!("error: {it}"));
    Ok(if findings.errors.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(SHORT)
    })
}

#[expect(clippy::print_stdout, reason = "the output of a command-line program")]
fn print_text(text: &str) {
    println!("{text}");
}
