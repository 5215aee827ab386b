//! Digests of data sets.

use std::path::Path;

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 over both files of a data set, in hexadecimal digits. Training on data with the same digest
/// gives the same weights.
///
/// # Errors
/// If a file cannot be read.
pub fn digest_of_folder(dir: &Path) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    for name in ["conversations.jsonl", "questions.jsonl"] {
        let path = dir.join(name);
        hash.update(std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
    }
    Ok(hash.finalize().iter().map(|it| format!("{it:02x}")).collect())
}
