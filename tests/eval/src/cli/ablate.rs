//! `mnemic-eval ablate`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use super::asking_args::AskingArgs;
use super::{print_text, recording_settings};
use crate::ablate::part::Part;
use crate::ablate::{Ablating, ablate_parts as ablate_all, compare};
use crate::data::DataSet;
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
    #[command(flatten)]
    asking: AskingArgs,
    /// Seconds to wait after everything was derived, so that a language model can read the conversations.
    #[arg(long, default_value_t = 0)]
    settle: u64,
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
        asking: args.asking.into_asking(&args.data, Duration::from_secs(args.settle))?,
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
