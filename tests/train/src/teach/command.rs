//! `mnemic-train teach`.

use std::path::PathBuf;
use std::sync::Arc;

use adapters::Secret;
use adapters::models::endpoint::chat::{ChatEndpoint, Options};
use adapters::models::recording::{Recorded, Recording};
use anyhow::{Context, ensure};
use clap::Args;
use domain::port::LanguageModel;

use super::{Estimate, TeachOutcome, Teacher, estimate_cost, generate_lessons, source};

/// Options of `mnemic-train teach`.
#[derive(Args)]
pub struct Teach {
    /// Files and folders to ask about: exports from `mnemic export`, files of conversations, or folders with
    /// conversations.jsonl.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Folder for conversations.jsonl and questions.jsonl, in the form that `fit --data` reads. A stretch whose lesson
    /// is already in this folder is not asked about again.
    #[arg(long)]
    out: PathBuf,
    /// Endpoint of the teacher including its version, for example `http://127.0.0.1:11434/v1`.
    #[arg(long, value_name = "URL", required_unless_present_any = ["dry_run", "replay"])]
    url: Option<String>,
    /// Model of the teacher, by its name at the endpoint.
    #[arg(long, value_name = "NAME")]
    model: String,
    /// File that contains the key for the endpoint, and nothing else.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Maximum number of calls of this run.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    calls: u32,
    /// Seed of the order of the stretches, which matters if the calls are not enough for all of them.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds that one call may take.
    #[arg(long, default_value_t = 120)]
    timeout: u64,
    /// Do not send the JSON schema of a reply, for endpoints that do not accept one.
    #[arg(long)]
    no_schema: bool,
    /// Print the estimated effort of a run, and make no call.
    #[arg(long)]
    dry_run: bool,
    /// Record the calls in this file; a call that it already contains is answered from it.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Replay the calls from this file; no endpoint is called.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
}

impl Teach {
    /// Runs the command.
    ///
    /// # Errors
    /// Those of [`generate_lessons`], and an error if the data or the key cannot be read.
    #[expect(clippy::print_stdout, reason = "the numbers are what the command is for")]
    pub fn run(self) -> anyhow::Result<()> {
        let conversations = source::read_exports(&self.data)?;
        if self.dry_run {
            let estimate = estimate_cost(&self.model, self.calls, &conversations, &self.out)?;
            println!("{}", estimate_text(&estimate));
            return Ok(());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let taught = runtime.block_on(async {
            let teacher = Teacher {
                model: self.model()?,
                name: self.model.clone(),
                calls_max: self.calls,
                seed: self.seed,
            };
            generate_lessons(&teacher, &conversations, &self.out).await
        })?;
        println!("{}", summed_up(&taught));
        Ok(())
    }

    /// Returns the model of the teacher: an endpoint, whose calls are recorded if requested, or a recording.
    fn model(&self) -> anyhow::Result<Arc<dyn LanguageModel>> {
        let key = match &self.key_file {
            Some(path) => {
                let text = std::fs::read_to_string(path);
                let text = text.with_context(|| format!("cannot read the key in {}", path.display()))?;
                ensure!(!text.trim().is_empty(), "{} holds no key", path.display());
                text.trim().to_owned()
            }
            None => String::new(),
        };
        let options = Options {
            url: self.url.clone().unwrap_or_default(),
            model: self.model.clone(),
            key: Secret::from(key.as_str()),
            timeout_secs: self.timeout,
            schema: !self.no_schema,
            ..Options::default()
        };
        let recorded =
            |recording, inner| Recorded::new(Arc::new(recording), &options.model, &options.parameters, inner);
        if let Some(path) = &self.replay {
            return Ok(Arc::new(recorded(Recording::open_for_replay(path)?, None)));
        }
        #[cfg(feature = "https")]
        adapters::provide_tls();
        let endpoint: Arc<dyn LanguageModel> = Arc::new(ChatEndpoint::new(&options)?);
        Ok(match &self.record {
            Some(path) => Arc::new(recorded(Recording::open_for_recording(path)?, Some(endpoint))),
            None => endpoint,
        })
    }
}

fn estimate_text(it: &Estimate) -> String {
    format!(
        "{} stretches, {} taught before; {} calls would read {} tokens and write about {}",
        it.stretches, it.done, it.calls, it.prompt_tokens, it.completion_tokens
    )
}

fn summed_up(it: &TeachOutcome) -> String {
    format!(
        "{} questions in the data set; this run: {} calls, {} tokens read, {} written, {} questions left out; {} stretches are left",
        it.questions,
        it.spent.calls,
        it.spent.usage.prompt_tokens,
        it.spent.usage.completion_tokens,
        it.left_out,
        it.open
    )
}
