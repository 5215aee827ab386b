//! The file of verdicts: one a line, added as they come, found again by a digest of all that decides them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::Context;
use domain::port::Usage;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Answer;
use super::prompt::{INSTRUCTIONS, Order, Verdict};
use crate::drive::digest;

/// A verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictLine {
    /// Digest of instructions, model, name, question, answers and order.
    pub key: String,
    /// The answer.
    pub id: String,
    /// Which answer the judge read first.
    pub order: Order,
    /// What it says.
    pub verdict: Verdict,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// Calls that it took.
    pub calls: u32,
    /// Tokens that it took.
    #[serde(default)]
    pub usage: Usage,
}

/// Returns the digest by which a verdict is found again.
pub fn key(model: &str, answer: &Answer, order: Order) -> String {
    let decides = json!([
        INSTRUCTIONS,
        model,
        answer.id,
        answer.question,
        answer.gold,
        answer.accept,
        answer.given,
        order
    ]);
    digest(&decides.to_string())
}

/// A file of verdicts that is added to.
pub struct VerdictFile {
    file: File,
    lines: HashMap<String, VerdictLine>,
}

impl VerdictFile {
    /// Opens the file, made if missing. A last line that was not written to its end is removed.
    ///
    /// # Errors
    /// If it cannot be opened, read or written, or a line is no verdict, with its number.
    pub fn open(path: &Path) -> anyhow::Result<VerdictFile> {
        let opened = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        let mut file = opened.with_context(|| format!("cannot open {}", path.display()))?;
        let mut lines = HashMap::new();
        let mut end = 0;
        let mut reader = BufReader::new(&file);
        let mut text = Vec::new();
        for number in 1.. {
            text.clear();
            let length = reader.read_until(b'\n', &mut text)?;
            if !text.ends_with(b"\n") {
                break;
            }
            end += length as u64;
            let line: VerdictLine = serde_json::from_slice(&text)
                .with_context(|| format!("{}, line {number} is no verdict: remove it", path.display()))?;
            lines.insert(line.key.clone(), line);
        }
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        Ok(VerdictFile { file, lines })
    }

    /// Returns true if the verdict is there.
    pub fn holds(&self, key: &str) -> bool {
        self.lines.contains_key(key)
    }

    /// Returns a verdict.
    pub fn get(&self, key: &str) -> Option<VerdictLine> {
        self.lines.get(key).cloned()
    }

    /// Adds a verdict.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, line: &VerdictLine) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text).context("cannot write the verdicts")
    }
}
