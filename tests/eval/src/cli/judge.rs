//! `mnemic-eval judge`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use adapters::Secret;
use adapters::models::endpoint::chat::{ChatEndpoint, Options};
use adapters::models::recording::{Recorded, Recording};
use anyhow::Context;
use clap::Args;
use domain::port::LanguageModel;
use serde_json::Value;

use super::{SHORT, print_text};
use crate::judge::{self, Judge, report};

#[derive(Debug, Args)]
pub(super) struct JudgeArgs {
    /// File of the answers, with one JSON object a line: id, question, gold, given, category.
    answers: PathBuf,
    /// Endpoint of the judge including its version, for example `http://127.0.0.1:11434/v1`.
    #[arg(
        long,
        value_name = "URL",
        env = "MNEMIC_JUDGE_URL",
        required_unless_present = "replay"
    )]
    judge: Option<String>,
    /// Model of the judge, by its name at the endpoint.
    #[arg(long, value_name = "NAME", env = "MNEMIC_JUDGE_MODEL")]
    model: String,
    /// Key for the endpoint.
    #[arg(long, env = "MNEMIC_JUDGE_KEY", hide_env_values = true, default_value = "")]
    key: String,
    /// File to which verdicts are added; a verdict that it already contains is not asked for again [default: the name
    /// of the answers with `.verdicts.jsonl`].
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
    /// Number of parallel calls.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    jobs: u8,
    /// Seconds that one call may take.
    #[arg(long, default_value_t = 120)]
    timeout: u64,
    /// Parameters of the calls, as a JSON object [default: temperature 0, max_tokens 1024].
    #[arg(long, value_name = "JSON", value_parser = parse_parameters)]
    parameters: Option<Parameters>,
    /// Do not send the JSON schema of a reply, for endpoints that do not accept one.
    #[arg(long)]
    no_schema: bool,
    /// Record the calls in this file; a call that it already contains is answered from it.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Replay the calls from this file; no endpoint is called.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Also write the numbers to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Parameters of a call to the judge.
#[derive(Clone, Debug)]
struct Parameters(BTreeMap<String, Value>);

fn parse_parameters(text: &str) -> Result<Parameters, serde_json::Error> {
    serde_json::from_str(text).map(Parameters)
}

pub(super) fn run_judge(args: JudgeArgs) -> anyhow::Result<ExitCode> {
    let answers = judge::read_answers(&args.answers)?;
    let verdicts = args
        .verdicts
        .clone()
        .unwrap_or_else(|| args.answers.with_extension("verdicts.jsonl"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let judged = runtime.block_on(async {
        let model = Judge {
            model: judge_model(&args)?,
            name: args.model.clone(),
            jobs: usize::from(args.jobs),
        };
        judge::judge_answers(&model, &answers, &verdicts).await
    })?;
    let tallies = report::count_verdicts(&answers, &judged.verdicts);
    print_text(&report::verdict_table(&tallies));
    print_text(&format!(
        "this run: {} calls, {} tokens read, {} written; verdicts in {}",
        judged.spent.calls,
        judged.spent.usage.prompt_tokens,
        judged.spent.usage.completion_tokens,
        verdicts.display()
    ));
    if let Some(path) = &args.json {
        let text = serde_json::to_vec_pretty(&tallies)?;
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    for failure in &judged.failures {
        eprintln!("no verdict: {failure:#}");
    }
    Ok(if judged.failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(SHORT)
    })
}

/// Returns the model of the judge: an endpoint, whose calls are recorded if requested, or a recording.
fn judge_model(args: &JudgeArgs) -> anyhow::Result<Arc<dyn LanguageModel>> {
    let mut options = Options {
        url: args.judge.clone().unwrap_or_default(),
        model: args.model.clone(),
        key: Secret::from(args.key.as_str()),
        timeout_secs: args.timeout,
        schema: !args.no_schema,
        ..Options::default()
    };
    if let Some(parameters) = &args.parameters {
        options.parameters.clone_from(&parameters.0);
    }
    let recorded = |recording, inner| Recorded::new(Arc::new(recording), &options.model, &options.parameters, inner);
    if let Some(path) = &args.replay {
        return Ok(Arc::new(recorded(Recording::open_for_replay(path)?, None)));
    }
    #[cfg(feature = "https")]
    adapters::provide_tls();
    let endpoint: Arc<dyn LanguageModel> = Arc::new(ChatEndpoint::new(&options)?);
    Ok(match &args.record {
        Some(path) => Arc::new(recorded(Recording::open_for_recording(path)?, Some(endpoint))),
        None => endpoint,
    })
}
