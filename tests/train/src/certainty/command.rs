//! `mnemic-train certainty`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use reader::Reader;
use router::route::scoring::heads::Weights;

use super::Answers;
use crate::data_digest::digest_of_folder;

/// Options of `mnemic-train certainty`.
#[derive(Args)]
pub(crate) struct Certainty {
    /// Folders with conversations.jsonl and questions.jsonl.
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
    /// File for the weights; without it, the built-in weights are measured on the data and nothing is fitted.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Name of the weights.
    #[arg(long, default_value = "certainty-1")]
    name: String,
    /// Weight decay.
    #[arg(long, default_value_t = 0.003)]
    l2: f64,
    /// Minimum probability of an answer that counts as given.
    #[arg(long, default_value_t = 0.85)]
    precision: f64,
    /// File for the answers with their features, as JSON lines.
    #[arg(long)]
    dump: Option<PathBuf>,
}

impl Certainty {
    #[expect(clippy::print_stdout, reason = "the tables are what the command is for")]
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let weights = Weights::builtin().map_err(|it| anyhow::anyhow!("{it}"))?;
        let reader = Reader::new(&reader::Config::default())?;
        let mut answers = Answers::default();
        for dir in &self.data {
            answers.add(dir, weights, &reader)?;
        }
        let logits = match self.out {
            Some(_) => answers.left_out(self.l2),
            None => answers.logits(),
        };
        for line in answers.report(&logits, self.precision) {
            println!("{line}");
        }
        if let Some(dump) = &self.dump {
            answers.dump(dump, &logits)?;
        }
        let Some(out) = &self.out else {
            return Ok(());
        };
        let data = self
            .data
            .iter()
            .map(|it| digest_of_folder(it))
            .collect::<anyhow::Result<Vec<String>>>()?;
        let file = serde_json::to_string_pretty(&answers.file(&self.name, self.l2, &data)?)?;
        std::fs::write(out, file + "\n").with_context(|| format!("cannot write {}", out.display()))
    }
}
