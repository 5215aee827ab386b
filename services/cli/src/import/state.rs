//! How far a file was imported, kept in a file beside it.

use std::io::{BufRead, Seek};
use std::path::{Path, PathBuf};

use anyhow::Context;
use domain::id::SpaceId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::keys::hex;
use crate::out;

/// What stands in the file: lines of the input the server has, and a digest of them, to notice that they changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    url: String,
    lines: u64,
    sha256: String,
}

/// How far a file was imported.
pub(super) struct State {
    path: PathBuf,
    saved: Saved,
    taken: Taken,
}

/// Lines read since the start of the input.
#[derive(Default)]
struct Taken {
    lines: u64,
    bytes: u64,
    digest: Sha256,
}

impl Taken {
    fn take(&mut self, line: &[u8]) {
        self.lines += 1;
        self.bytes += line.len() as u64;
        self.digest.update(line);
    }
}

impl State {
    /// Reads what is kept about a file, a space and a server; nothing is kept about other servers.
    pub(super) fn load(file: &Path, space: &SpaceId, url: &str) -> State {
        let path = file.with_added_extension(format!("{space}.imported"));
        let kept = std::fs::read(&path)
            .ok()
            .and_then(|it| serde_json::from_slice::<Saved>(&it).ok());
        let saved = kept.filter(|it| it.url == url).unwrap_or_else(|| Saved {
            url: url.to_owned(),
            ..Saved::default()
        });
        State {
            path,
            saved,
            taken: Taken::default(),
        }
    }

    /// Moves `source` behind the lines that were imported; false if those lines are not what they were.
    pub(super) fn skip(&mut self, source: &mut impl BufRead) -> anyhow::Result<bool> {
        let mut line = Vec::new();
        while self.taken.lines < self.saved.lines {
            line.clear();
            if source.read_until(b'\n', &mut line).context("cannot read on")? == 0 {
                break;
            }
            self.taken.take(&line);
        }
        let same = self.saved.lines == 0 || self.sha256() == self.saved.sha256;
        if !same {
            out::complain("the lines imported earlier have changed; starting with the first line");
        }
        Ok(same)
    }

    /// Goes back to the first line.
    pub(super) fn rewound(self, source: &mut (impl BufRead + Seek)) -> anyhow::Result<State> {
        source.rewind().context("cannot go back to the first line")?;
        Ok(State {
            taken: Taken::default(),
            ..self
        })
    }

    /// Notes that a line was read; returns its number, from 1.
    pub(super) fn take(&mut self, line: &[u8]) -> u64 {
        self.taken.take(line);
        self.taken.lines
    }

    /// Returns the number of lines read.
    pub(super) fn lines(&self) -> u64 {
        self.taken.lines
    }

    /// Returns the number of bytes read.
    pub(super) fn bytes(&self) -> u64 {
        self.taken.bytes
    }

    /// Keeps that the server has every line read so far. Whole or not at all: it is written beside and moved.
    pub(super) fn save(&mut self) -> anyhow::Result<()> {
        self.saved.lines = self.taken.lines;
        self.saved.sha256 = self.sha256();
        let partial = self.path.with_added_extension("partial");
        std::fs::write(&partial, serde_json::to_vec(&self.saved)?)
            .and_then(|()| std::fs::rename(&partial, &self.path))
            .with_context(|| format!("cannot keep in {} how far this came", self.path.display()))
    }

    fn sha256(&self) -> String {
        hex(&self.taken.digest.clone().finalize())
    }
}
