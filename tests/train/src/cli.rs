//! The command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use eval::data::DataSet;
use eval::score::retrieval::Metrics;
use eval::score::summary::ALL;
use reader::Reader;
use router::route::scoring::heads::Weights;
use serde_json::json;

use crate::certainty::command::Certainty;
use crate::data_digest::digest_of_folder;
use crate::encode::Encoder;
use crate::heads::{Plan, train_heads};
use crate::interval::bootstrap_interval;
use crate::measure::{ANSWERED_WELL, mean_metrics, measure_questions};
use crate::poured::{measure_channels, pour_into_spaces};
use crate::refusal::{self, Sample};
use crate::teach::command::Teach;
use crate::validate::{self, Finding};
use crate::world::{World, build_worlds};
use crate::{answers, weak};

/// Trains the router of Mnemic on conversations with questions, and compares weights.
#[derive(Parser)]
#[command(name = "mnemic-train", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fits all heads and writes a weights file.
    Fit(Fit),
    /// Scores weights files side by side on data sets.
    Measure(Measure),
    /// Reports how good the trained weights are on data that they have not seen; takes some minutes.
    Validate(Validate),
    /// Fits the reader's check whether to refuse, and reports its quality on conversations and settings that were left
    /// out.
    Refusal(Refusal),
    /// Fits how certain the reader is of an answer, and reports the quality of the answers on conversations that were
    /// left out.
    Certainty(Certainty),
    /// Fits the weights with which the reader chooses a short answer, and reports their quality on conversations that
    /// were left out.
    Answers(Answers),
    /// Lets a language model write questions about your own conversations and trajectories, to train on.
    Teach(Teach),
}

#[derive(Args)]
struct Answers {
    /// Folder with conversations.jsonl and questions.jsonl.
    #[arg(long)]
    data: PathBuf,
    /// File for the weights.
    #[arg(long)]
    out: PathBuf,
    /// Weights to start from, set by hand.
    #[arg(long)]
    prior: PathBuf,
    /// Name of the weights.
    #[arg(long, default_value = "answer-2")]
    name: String,
    /// Weight decay.
    #[arg(long, default_value_t = 0.002)]
    l2: f64,
    /// Number of parts into which the conversations are divided, to leave out one part at a time; 0 skips this step.
    #[arg(long, default_value_t = 3)]
    folds: usize,
}

#[derive(Args)]
struct Refusal {
    /// Folder with conversations.jsonl and questions.jsonl.
    #[arg(long)]
    data: PathBuf,
    /// File for the check.
    #[arg(long)]
    out: PathBuf,
    /// Name of the check.
    #[arg(long, default_value = "refusal-4")]
    name: String,
    /// Weight decay.
    #[arg(long, default_value_t = 0.01)]
    l2: f64,
    /// Share of the answerable questions that the check may refuse; the reader also refuses some questions for other
    /// reasons.
    #[arg(long, default_value_t = 0.06)]
    mistakes: f64,
    /// Number of spaces into which the conversations are merged, so that many people talk about the same subjects in
    /// one space. The check learns from the merged conversations and from the original ones.
    #[arg(long, default_value_t = 4)]
    poured: usize,
}

#[derive(Args)]
struct Fit {
    /// Folder with conversations.jsonl and questions.jsonl.
    #[arg(long)]
    data: PathBuf,
    /// File for the weights.
    #[arg(long)]
    out: PathBuf,
    /// Name of the weights.
    #[arg(long, default_value = "trained")]
    name: String,
    /// Weight decay.
    #[arg(long, default_value_t = Plan::default().l2)]
    l2: f64,
    /// Also learn from questions that a program makes from state changes.
    #[arg(long)]
    weak: bool,
    /// Leave out the features whose names start with this text.
    #[arg(long)]
    without: Vec<String>,
    /// Folder of a sentence encoder: fit the weights of a memory that embeds with it.
    #[arg(long)]
    encoder: Option<PathBuf>,
}

#[derive(Args)]
struct Measure {
    /// Folders with conversations.jsonl and questions.jsonl.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Weights files; without this option, the built-in weights.
    #[arg(long, num_args = 1..)]
    weights: Vec<PathBuf>,
    /// Weights of the reader's answers; without this option, the built-in ones.
    #[arg(long)]
    answers: Option<PathBuf>,
    /// Weights of the reader's refusals; without this option, the built-in ones.
    #[arg(long)]
    refusal: Option<PathBuf>,
    /// Folder of a sentence encoder: measure a memory that embeds with it.
    #[arg(long)]
    encoder: Option<PathBuf>,
    /// Print the interval that contains 95 of 100 means when the questions of each conversation are drawn again with
    /// replacement.
    #[arg(long)]
    intervals: bool,
    /// Also print the figures for each kind of question.
    #[arg(long)]
    kinds: bool,
}

#[derive(Args)]
struct Validate {
    /// Folder with conversations.jsonl and questions.jsonl, to train on.
    #[arg(long)]
    data: PathBuf,
    /// Folders with other data sets, for the learning curve and the ablations.
    #[arg(long, required = true, num_args = 1..)]
    guard: Vec<PathBuf>,
}

/// Columns of the table, in percent.
const FIGURES: [&str; 11] = [
    "E@256",
    "E@512",
    "E@1024",
    "ans@256",
    "ans@512",
    "ans@1024",
    "R@5",
    "refusal_F1",
    "false_refusal_rate",
    "answer",
    ANSWERED_WELL,
];

/// Runs the command line.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Fit(it) => it.run(),
        Command::Measure(it) => it.run(),
        Command::Refusal(it) => it.run(),
        Command::Certainty(it) => it.run(),
        Command::Answers(it) => it.run(),
        Command::Validate(it) => it.run(),
        Command::Teach(it) => it.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn load_data(dir: &Path) -> anyhow::Result<(DataSet, Vec<World>)> {
    let data = DataSet::read(dir)?;
    let worlds = build_worlds(data.clone())?;
    Ok((data, worlds))
}

fn reader_file(path: &Path) -> anyhow::Result<reader::weights::File> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no weights file", path.display()))
}

impl Fit {
    fn run(self) -> anyhow::Result<()> {
        let (_, mut worlds) = load_data(&self.data)?;
        if self.weak {
            weak::add_weak_questions(&mut worlds);
        }
        let encoder = self.encoder.as_deref().map(Encoder::open).transpose()?;
        if let Some(encoder) = &encoder {
            encoder.read(&mut worlds)?;
        }
        let plan = Plan {
            l2: self.l2,
            without: self.without,
        };
        let heads = train_heads(&worlds, &plan)?;
        let questions: usize = worlds
            .iter()
            .map(|it| it.questions.iter().filter(|it| it.answerable).count())
            .sum();
        let mut about = json!({
            "data": digest_of_folder(&self.data)?,
            "conversations": worlds.len(),
            "questions": questions,
            "weak": self.weak,
            "l2": plan.l2,
            "loss": heads.loss,
        });
        if let Some(encoder) = &encoder {
            about["encoder"] = json!(encoder.model());
        }
        let file = serde_json::to_string_pretty(&heads.file(&self.name, about))?;
        std::fs::write(&self.out, file + "\n").with_context(|| format!("cannot write {}", self.out.display()))
    }
}

impl Validate {
    #[expect(clippy::print_stdout, reason = "the table is what the command is for")]
    fn run(self) -> anyhow::Result<()> {
        let (_, seen) = load_data(&self.data)?;
        let mut guarded = DataSet {
            conversations: Vec::new(),
            questions: Vec::new(),
        };
        for dir in &self.guard {
            let data = DataSet::read(dir)?;
            guarded.conversations.extend(data.conversations);
            guarded.questions.extend(data.questions);
        }
        let guard = build_worlds(guarded.clone())?;
        let plan = Plan::default();
        let heads = train_heads(&seen, &plan)?;
        let weights = heads.weights()?;
        let tell = |findings: Vec<Finding>| {
            for it in findings {
                let (packed, whole) = (100.0 * it.packed, 100.0 * it.whole);
                println!(
                    "{:32} {:5} questions  {packed:5.1} %  (all: {whole:.1} %)",
                    it.what, it.questions
                );
            }
        };
        tell(validate::leave_settings_out(&seen, &weights, &plan)?);
        tell(validate::learning_curve(&seen, &guard, &weights, &plan)?);
        tell(validate::ablate_features(&seen, &guard, &weights, &plan)?);
        tell(validate::compare_heads(&seen, &guard, &heads, &plan)?);
        tell(measure_channels(guarded, &weights)?);
        Ok(())
    }
}

impl Refusal {
    #[expect(clippy::print_stdout, reason = "the tables are what the command is for")]
    fn run(self) -> anyhow::Result<()> {
        let (data, mut worlds) = load_data(&self.data)?;
        worlds.extend(build_worlds(pour_into_spaces(data, self.poured))?);
        let weights = Weights::builtin().map_err(|it| anyhow::anyhow!("{it}"))?;
        let samples = refusal::collect_samples(&self.data, &worlds, weights)?;
        let fitted = refusal::fit_refusal(&samples, self.l2, self.mistakes);
        for (name, group) in GROUPS {
            println!("one {name} left out at a time");
            let logits = refusal::left_out(&samples, self.l2, group);
            for line in refusal::report_lines(&samples, &logits, fitted.threshold) {
                println!("  {line}");
            }
        }
        let about = json!({
            "data": digest_of_folder(&self.data)?,
            "questions": samples.len(),
            "poured": self.poured,
            "l2": self.l2,
            "mistakes": self.mistakes,
        });
        let file = serde_json::to_string_pretty(&fitted.file(&self.name, &about))?;
        std::fs::write(&self.out, file + "\n").with_context(|| format!("cannot write {}", self.out.display()))
    }
}

impl Answers {
    #[expect(clippy::print_stdout, reason = "the table is what the command is for")]
    fn run(self) -> anyhow::Result<()> {
        let (_, worlds) = load_data(&self.data)?;
        let weights = Weights::builtin().map_err(|it| anyhow::anyhow!("{it}"))?;
        let prior = reader_file(&self.prior)?;
        let asked = answers::ask_questions(&worlds, weights)?;
        let mut lessons = answers::build_lessons(&asked, self.l2)?;
        if self.folds > 1 {
            for line in answers::left_out(&asked, &mut lessons, &prior, self.l2, self.folds)? {
                println!("{line}");
            }
        }
        let file = answers::fit_heads(&mut lessons, &prior, self.l2, &|_| true)?;
        let file = reader::weights::File {
            version: self.name,
            data: digest_of_folder(&self.data)?,
            about: json!({"questions": asked.len(), "l2": self.l2}),
            ..file
        };
        let text = serde_json::to_string_pretty(&file)?;
        std::fs::write(&self.out, text + "\n").with_context(|| format!("cannot write {}", self.out.display()))
    }
}

/// Returns the group of a sample; a validation leaves out one group at a time.
type Group = fn(&Sample) -> &String;
const GROUPS: [(&str, Group); 2] = [("conversation", |it| &it.conversation), ("setting", |it| &it.setting)];

impl Measure {
    #[expect(clippy::print_stdout, reason = "the table is what the command is for")]
    fn run(self) -> anyhow::Result<()> {
        let encoder = self.encoder.as_deref().map(Encoder::open).transpose()?;
        let mut all = Vec::new();
        for path in &self.weights {
            all.push((path.display().to_string(), Weights::from_file(path)?));
        }
        if all.is_empty() {
            let builtin = match encoder {
                Some(_) => Weights::builtin_for_encoder(),
                None => Weights::builtin(),
            };
            let builtin = builtin.map_err(|it| anyhow::anyhow!("{it}"))?;
            all.push((builtin.version.clone(), builtin.clone()));
        }
        let reader = Reader::new(&reader::Config {
            answers: self.answers.unwrap_or_default(),
            refusal: self.refusal.unwrap_or_default(),
            ..reader::Config::default()
        })?;
        for dir in &self.data {
            let (data, mut worlds) = load_data(dir)?;
            if let Some(encoder) = &encoder {
                encoder.read(&mut worlds)?;
            }
            for (name, weights) in &all {
                let rows = measure_questions(&data, &worlds, weights, &reader)?;
                let table = mean_metrics(&rows).table;
                let figures = |of: &Metrics, intervals: bool| {
                    let one = |it: &&str| {
                        let mean = 100.0 * of.get(*it)?;
                        let range = bootstrap_interval(&rows, it).filter(|_| intervals);
                        let range = range.map(|(from, to)| format!(" ({:.1}-{:.1})", 100.0 * from, 100.0 * to));
                        Some(format!("{it} {mean:.1}{}", range.unwrap_or_default()))
                    };
                    FIGURES.iter().filter_map(one).collect::<Vec<String>>().join("  ")
                };
                let set = dir.file_name().unwrap_or_default().to_string_lossy();
                println!("{set:20} {name:20} {}", figures(&table[ALL], self.intervals));
                for (kind, metrics) in table.iter().filter(|it| self.kinds && *it.0 != ALL) {
                    let questions = metrics.get("n").copied().unwrap_or_default();
                    println!("  {kind:26} {questions:4}  {}", figures(metrics, false));
                }
            }
        }
        Ok(())
    }
}
