//! The file of verdicts. Each line is one verdict and is appended when it is complete. Its key is a digest of all
//! inputs of the verdict.

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
use crate::drive::digest_of_text;

/// A verdict as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictLine {
    /// Digest of instructions, model, id, question, answers and order.
    pub key: String,
    /// Id of the answer.
    pub id: String,
    /// Answer that the judge read first.
    pub order: Order,
    /// The verdict.
    pub verdict: Verdict,
    /// Reason of the verdict.
    #[serde(default)]
    pub reason: String,
    /// Number of calls for this verdict.
    pub calls: u32,
    /// Number of tokens for this verdict.
    #[serde(default)]
    pub usage: Usage,
}

/// Returns the key of a verdict: a digest of all its inputs.
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
    digest_of_text(&decides.to_string())
}

/// A file of verdicts that is open for appending.
pub struct VerdictFile {
    file: File,
    lines: HashMap<String, VerdictLine>,
}

impl VerdictFile {
    /// Opens the file, and creates it if it is missing. An incomplete last line is removed.
    ///
    /// # Errors
    /// If the file cannot be opened, read or written, or if a line is no verdict; the error gives the number of the
    /// line.
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

    /// Returns true if the file had a verdict with this key when it was opened.
    pub fn holds(&self, key: &str) -> bool {
        self.lines.contains_key(key)
    }

    /// Returns the verdict with this key, if the file had it when it was opened.
    pub fn get(&self, key: &str) -> Option<VerdictLine> {
        self.lines.get(key).cloned()
    }

    /// Appends a verdict.
    ///
    /// # Errors
    /// If the verdict cannot be written.
    pub fn append(&mut self, line: &VerdictLine) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text).context("cannot write the verdicts")
    }
}
