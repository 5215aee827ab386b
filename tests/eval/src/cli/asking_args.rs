//! Options of the commands that ask the questions of a data set.

use std::path::Path;
use std::time::Duration;

use clap::Args;

use crate::data::question_times;
use crate::drive::Asking;

#[derive(Debug, Args)]
pub(super) struct AskingArgs {
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
    /// Maximum number of calls of the server's language model for one answer; an answer that was made without the model
    /// gets no line.
    #[arg(long, value_name = "N", default_value_t = 0)]
    model_calls: u32,
    /// Let gists, lines that a language model wrote when it read the turns, replace their text in the evidence. Without
    /// calls for answers, no question is answered.
    #[arg(long)]
    gists: bool,
}

impl AskingArgs {
    /// Returns how to ask the questions of the data set in the folder `data`, `settle` after the conversations were sent.
    pub(super) fn into_asking(self, data: &Path, settle: Duration) -> anyhow::Result<Asking> {
        Ok(Asking {
            limit: self.limit.unwrap_or(usize::MAX),
            jobs: usize::from(self.jobs),
            enough: self.enough,
            strategy: self.strategy,
            settle,
            model_calls: self.model_calls,
            with_gists: self.gists,
            asked_at: question_times(data)?,
        })
    }
}
