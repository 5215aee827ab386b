//! Prints the relations that the rules find in data sets, with their texts, for judging by reading:
//! `cargo run -p writer --example relations -- [--sample 40] FILE...`. The option `--sample` limits the number of each
//! kind and always selects the same ones.

#![expect(clippy::print_stdout, reason = "a tool for reading")]

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

#[path = "../tests/it/corpus.rs"]
mod corpus;

/// Seed of the sample.
const SEED: u64 = 2024;

fn main() -> Result<()> {
    let mut paths = Vec::new();
    let mut sample = usize::MAX;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--sample" {
            sample = args.next().context("how many?")?.parse()?;
        } else {
            paths.push(arg);
        }
    }
    let mut kinds: BTreeMap<String, Vec<corpus::Found>> = BTreeMap::new();
    for path in &paths {
        for found in corpus::found(Path::new(path))? {
            kinds.entry(found.kind.clone()).or_default().push(found);
        }
    }
    for (kind, mut found) in kinds {
        println!("# {kind}: {}", found.len());
        found.sort_by_cached_key(|it| (mixed(&it.key), it.key.clone()));
        for it in found.into_iter().take(sample) {
            println!("{kind}\t{}\n{}", it.key, it.texts);
        }
    }
    Ok(())
}

/// Returns the FNV-1a hash of a key, which spreads the keys evenly.
fn mixed(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325 ^ SEED, |sum, it| {
        (sum ^ u64::from(it)).wrapping_mul(0x0100_0000_01b3)
    })
}
