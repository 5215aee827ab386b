//! `mnemic-eval ablate`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use super::{print_text, recording_settings};
use crate::ablate::part::Part;
use crate::ablate::{Ablating, ablate_parts as ablate_all, compare};
use crate::data::{DataSet, question_times};
use crate::drive::Asking;
use crate::drive::server::Server;
use crate::score::Labels;

#[derive(Debug, Args)]
pub(super) struct AblateArgs {
    /// Folder of the data set.
    #[arg(long)]
    data: PathBuf,
    /// Split of the data set; `all` takes everything.
    #[arg(long, default_value = "all")]
    split: String,
    /// Parts to remove, each alone: topics, events, relations, gists, facts, synonymy, links.
    #[arg(long, required = true, value_delimiter = ',', value_name = "PART,PART")]
    without: Vec<Part>,
    /// Folder for the runs.
    #[arg(long, default_value = "ablation")]
    out: PathBuf,
    /// Program to start [default: `mnemic` next to this program].
    #[arg(long)]
    mnemic: Option<PathBuf>,
    /// Ask only this many questions, starting with the first.
    #[arg(long)]
    limit: Option<usize>,
    /// Number of parallel requests.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    jobs: u8,
    /// Share of the evidence at which packing stops, above 0; 1 spends every budget.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    enough: f32,
    /// Strategy for finding evidence, by its name at the server.
    #[arg(long, value_name = "NAME", default_value = "route")]
    strategy: String,
    /// Seconds to wait after everything was derived, so that a language model can read the conversations.
    #[arg(long, default_value_t = 0)]
    settle: u64,
    /// Maximum number of calls of the server's language model for one answer.
    #[arg(long, value_name = "N", default_value_t = 0)]
    model_calls: u32,
    /// Let gists, lines that a language model wrote when it read the turns, replace their text in the evidence. Without
    /// calls for answers, no question is answered.
    #[arg(long)]
    gists: bool,
    /// Record the calls of the language model in this file; a call that it already contains is answered from it.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Replay the calls of the language model from this file; no endpoint is called.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Gold labels to use.
    #[arg(long, value_enum, default_value_t)]
    gold: Labels,
    /// Seed of the intervals.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Also write the numbers to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

pub(super) fn run_ablate(args: AblateArgs) -> anyhow::Result<ExitCode> {
    let data = DataSet::read(&args.data)?.only(&args.split);
    let ablating = Ablating {
        program: args.mnemic.map_or_else(Server::beside, Ok)?,
        settings: recording_settings(args.record.as_deref(), args.replay.as_deref())?,
        asking: Asking {
            limit: args.limit.unwrap_or(usize::MAX),
            jobs: usize::from(args.jobs),
            enough: args.enough,
            strategy: args.strategy,
            settle: Duration::from_secs(args.settle),
            model_calls: args.model_calls,
            with_gists: args.gists,
            asked_at: question_times(&args.data)?,
        },
        labels: args.gold,
        parts: args.without,
        seed: args.seed,
        out: args.out,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ablations = runtime.block_on(ablate_all(&data, &ablating))?;
    print_text(&compare::render_table(&ablations));
    if let Some(path) = &args.json {
        fs::write(path, serde_json::to_vec_pretty(&ablations)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
