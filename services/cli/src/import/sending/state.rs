//! Resumable imports: the progress of an import, stored in the user's state folder and not next to the imported file.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use domain::id::SpaceId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::import::formats::format::Kind;
use crate::import::input::pieces::{NextPiece, Pieces};
use crate::output;
use crate::remote_commands::keys::to_hex;

/// The content of the state file: the destination of the pieces (lines, conversations, parts of documents), the number
/// of pieces that the server has, and a digest that shows whether the pieces changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    url: String,
    created_at: DateTime<Utc>,
    lines: u64,
    sha256: String,
    /// Number of those pieces that were left out as invalid.
    #[serde(default)]
    left_out: u64,
    /// Watermark of the last batch.
    #[serde(default)]
    watermark: Option<String>,
}

impl Saved {
    fn new(url: &str, created_at: DateTime<Utc>) -> Saved {
        Saved {
            url: url.to_owned(),
            created_at,
            lines: 0,
            sha256: String::new(),
            left_out: 0,
            watermark: None,
        }
    }
}

/// The input and the destination of an import.
pub(crate) struct ImportRoute<'a> {
    /// `None` if the input cannot be read again.
    pub(crate) file: Option<&'a Path>,
    pub(crate) space: &'a SpaceId,
    pub(crate) url: &'a str,
    pub(crate) kind: Kind,
    /// Tags that are added to every record.
    pub(crate) tags: &'a [String],
}

/// The progress of the import of one file.
pub(crate) struct State {
    kind: Kind,
    /// The state file, if the state is stored.
    path: Option<PathBuf>,
    /// The state file of releases before 0.2: next to the input. It is removed after the state is stored at `path`.
    former: Option<PathBuf>,
    saved: Saved,
    taken: PiecesRead,
}

/// Pieces read since the start of the input.
#[derive(Default)]
struct PiecesRead {
    pieces: u64,
    digest: Sha256,
}

impl PiecesRead {
    fn add_piece(&mut self, piece: &[u8]) {
        self.pieces += 1;
        self.digest.update(piece);
    }
}

impl State {
    /// Returns a state that is never stored.
    pub(crate) fn new_unstored() -> State {
        State {
            kind: Kind::Records,
            path: None,
            former: None,
            saved: Saved::new("", DateTime::UNIX_EPOCH),
            taken: PiecesRead::default(),
        }
    }

    /// Loads the state for a file and a space. A state of another server, or of an earlier space with the same name, is
    /// ignored. Without a file, no state is stored.
    pub(crate) fn load_progress(place: &ImportRoute<'_>, created_at: DateTime<Utc>) -> State {
        let (url, kind) = (place.url, place.kind);
        let path = place.file.and_then(|it| state_path(it, place));
        let of_records = place.file.filter(|_| kind == Kind::Records && place.tags.is_empty());
        let former = of_records.map(|it| it.with_added_extension(format!("{}.imported", place.space)));
        let read = |it: &Option<PathBuf>| {
            let bytes = std::fs::read(it.as_deref()?).ok()?;
            serde_json::from_slice::<Saved>(&bytes).ok().filter(|it| it.url == url)
        };
        let new = read(&path);
        let old = if new.is_none() { read(&former) } else { None };
        let former = former.filter(|_| old.is_some());
        let progress = new.or(old);
        if progress.as_ref().is_some_and(|it| it.created_at != created_at) {
            output::print_error_line(&format!(
                "the space was created again since the last import; starting with the first {}",
                kind.piece_name()
            ));
        }
        let saved = progress
            .filter(|it| it.created_at == created_at)
            .unwrap_or_else(|| Saved::new(url, created_at));
        State {
            kind,
            path,
            former,
            saved,
            taken: PiecesRead::default(),
        }
    }

    /// Moves `source` past the imported pieces; returns false if those pieces have changed.
    pub(crate) fn skip_imported_pieces(&mut self, source: &mut dyn Pieces) -> anyhow::Result<bool> {
        let mut piece = Vec::new();
        while self.taken.pieces < self.saved.lines {
            if source.read_next(&mut piece)? == NextPiece::End {
                break;
            }
            self.taken.add_piece(&piece);
        }
        let same = self.saved.lines == 0 || self.pieces_digest() == self.saved.sha256;
        if !same {
            output::print_error_line(&format!(
                "the {} read earlier have changed; starting with the first {}",
                self.kind.plural_piece_name(),
                self.kind.piece_name()
            ));
        }
        Ok(same)
    }

    /// Forgets the pieces that were read, before a source is read again from its beginning.
    pub(crate) fn reset_pieces_read(&mut self) {
        self.taken = PiecesRead::default();
    }

    /// Records that a piece was read; returns its number, from 1.
    pub(crate) fn count_piece(&mut self, piece: &[u8]) -> u64 {
        self.taken.add_piece(piece);
        self.taken.pieces
    }

    /// Returns the number of pieces read.
    pub(crate) fn pieces_read(&self) -> u64 {
        self.taken.pieces
    }

    /// Returns the number of earlier pieces that were left out, and the watermark of the last earlier batch.
    pub(crate) fn earlier_outcome(&self) -> (u64, Option<String>) {
        match self.taken.pieces {
            0 => (0, None),
            _ => (self.saved.left_out, self.saved.watermark.clone()),
        }
    }

    /// Drops the watermark of the earlier import, which the server refuses.
    pub(crate) fn drop_watermark(&mut self) {
        self.saved.watermark = None;
    }

    /// Stores that the server has every piece read so far, except the pieces that were left out. A failure is reported
    /// once and does not stop the import, since sending records again is harmless.
    pub(crate) fn save_progress(&mut self, left_out: u64, watermark: Option<&String>) {
        self.saved.lines = self.taken.pieces;
        self.saved.sha256 = self.pieces_digest();
        self.saved.left_out = left_out;
        self.saved.watermark = watermark.cloned();
        let Some(path) = &self.path else { return };
        if let Err(error) = write_state_file(path, &self.saved) {
            output::print_error_line(&format!(
                "cannot save the progress in {}: {error}; continuing without it, so the next import sends these {} again",
                path.display(),
                self.kind.plural_piece_name()
            ));
            self.path = None;
        } else if let Some(former) = self.former.take() {
            // If it remains there, it is only ignored.
            let _ = std::fs::remove_file(former);
        }
    }

    /// Removes the stored progress, so that the next import starts with the first piece.
    pub(crate) fn forget_progress(&mut self) {
        for path in [self.path.take(), self.former.take()].into_iter().flatten() {
            if let Err(error) = std::fs::remove_file(&path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                output::print_error_line(&format!(
                    "cannot remove the progress in {}: {error}; use --restart for the next import",
                    path.display()
                ));
            }
        }
    }

    fn pieces_digest(&self) -> String {
        to_hex(&self.taken.digest.clone().finalize())
    }
}

/// Returns the path of the state file in `$XDG_STATE_HOME/mnemic/imports` for an input file, a space, a server, a format
/// and the added tags in any order; `None` if neither that variable nor `HOME` is set. The file name is a digest, so it
/// reveals no path.
fn state_path(file: &Path, place: &ImportRoute<'_>) -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let states = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    let file = file.canonicalize().ok()?;
    let mut digest = Sha256::new()
        .chain_update(file.as_os_str().as_encoded_bytes())
        .chain_update([0])
        .chain_update(place.space.as_str())
        .chain_update([0])
        .chain_update(place.url);
    if place.kind != Kind::Records {
        digest.update([0]);
        digest.update(place.kind.name());
    }
    // Other tags make other records, so the earlier import with other tags has sent none of them.
    for tag in place.tags.iter().collect::<BTreeSet<_>>() {
        digest.update([1]);
        digest.update(tag);
    }
    Some(
        states
            .join("mnemic")
            .join("imports")
            .join(&to_hex(&digest.finalize())[..32]),
    )
}

/// Writes the file atomically, readable only by its owner: writes a temporary file, which then replaces the old one.
fn write_state_file(path: &Path, saved: &Saved) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let partial = path.with_added_extension("partial");
    if partial.exists() {
        std::fs::remove_file(&partial)?;
    }
    host::upkeep::create_private(&partial)?.write_all(&serde_json::to_vec(saved)?)?;
    std::fs::rename(&partial, path)
}
