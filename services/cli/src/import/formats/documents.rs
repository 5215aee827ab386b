//! Reads documents line by line: one file, or all files below a folder.

pub(crate) mod blocks;
pub(crate) mod front_matter;
pub(crate) mod parts;

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::json;

use crate::import::formats::documents::parts::{Part, Parts};
use crate::import::formats::format::{Kind, document_by_name};
use crate::import::formats::times::EntryTime;
use crate::import::input::byte_order::{is_utf16, strip_byte_order_mark};
use crate::import::input::pieces::{NextPiece, Pieces};
use crate::import::record_draft::{Draft, LeftOut, Metadata, digest_texts, one_line, shorten_text};

/// Longest line that is read in one piece; a longer line is read in several pieces.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Maximum number of files below a folder.
const FILES_MAX: usize = 100_000;
/// Greatest nesting depth of folders.
const DEPTH_MAX: usize = 64;
const SESSION_BYTES_MAX: usize = 256;

/// A document that is not open yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    /// Path relative to the imported folder.
    name: String,
    pub(crate) kind: Kind,
}

/// Returns the documents below a folder, sorted by name; hidden files and links are left out.
///
/// # Errors
/// If a folder cannot be read, or if there are more than 100,000 documents or 64 levels of folders.
pub(crate) fn find_documents(folder: &Path, left_out: &mut LeftOut) -> anyhow::Result<Vec<Document>> {
    let mut found = Vec::new();
    find_in(folder, "", 0, &mut found, left_out)?;
    Ok(found)
}

fn find_in(
    folder: &Path,
    prefix: &str,
    depth: usize,
    found: &mut Vec<Document>,
    left_out: &mut LeftOut,
) -> anyhow::Result<()> {
    let shown = folder.display();
    ensure!(depth <= DEPTH_MAX, "{shown} is more than {DEPTH_MAX} folders deep");
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {shown}"))?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let (about, path) = (entry.file_type()?, entry.path());
        if file_name.starts_with('.') {
            left_out.count_one("hidden files and folders");
        } else if about.is_symlink() {
            left_out.count_one("links");
        } else if about.is_dir() {
            find_in(&path, &format!("{prefix}{file_name}/"), depth + 1, found, left_out)?;
        } else if let Some(kind) = document_by_name(&path) {
            ensure!(found.len() < FILES_MAX, "{shown} has more than {FILES_MAX} documents");
            found.push(Document {
                name: format!("{prefix}{file_name}"),
                path,
                kind,
            });
        } else {
            left_out.count_one("files that are neither .md nor .txt");
        }
    }
    Ok(())
}

/// The parts of documents, each as a record in JSON.
pub(crate) struct Documents {
    waiting: VecDeque<Document>,
    current: Option<Reader>,
    position: u64,
    left_out: LeftOut,
}

/// The document that is being read.
struct Reader {
    source: Box<dyn BufRead>,
    name: String,
    parts: Parts,
    /// Complete parts, as records.
    ready: VecDeque<Vec<u8>>,
    /// Number of earlier records by the digest of their content, so that equal parts get different ids.
    count_by_text: HashMap<String, u32>,
    /// Beginning of a word or a character that was cut.
    cut: Vec<u8>,
    lines: u64,
    is_over: bool,
    /// Reason why the rest of the document is skipped.
    failed: Option<String>,
}

impl Documents {
    /// Returns a reader of the documents in a folder.
    pub(crate) fn of_folder(found: Vec<Document>, left_out: LeftOut) -> Documents {
        Documents {
            waiting: found.into(),
            current: None,
            position: 0,
            left_out,
        }
    }

    /// Returns a reader of one document.
    pub(crate) fn of_source(source: Box<dyn BufRead>, path: &Path, kind: Kind) -> Documents {
        let name = path.file_name().filter(|_| path != Path::new("-"));
        let name = name.map_or_else(|| "standard input".to_owned(), |it| it.to_string_lossy().into_owned());
        Documents {
            waiting: VecDeque::new(),
            current: Some(Reader::new(source, name, kind)),
            position: 0,
            left_out: LeftOut::default(),
        }
    }
}

impl Pieces for Documents {
    fn read_next(&mut self, piece: &mut Vec<u8>) -> anyhow::Result<NextPiece> {
        piece.clear();
        loop {
            if let Some(reader) = &mut self.current {
                if let Some(record) = reader.ready.pop_front() {
                    *piece = record;
                    return Ok(NextPiece::Piece);
                }
                if !reader.is_over {
                    reader.read_line(&mut self.position, &mut self.left_out);
                    continue;
                }
                if let Some(why) = reader.failed.take() {
                    piece.extend_from_slice(reader.name.as_bytes());
                    return Ok(NextPiece::Broken(format!("{}: {why}", reader.name)));
                }
            }
            let Some(document) = self.waiting.pop_front() else {
                return Ok(NextPiece::End);
            };
            match File::open(&document.path) {
                Ok(file) => {
                    let source = Box::new(BufReader::with_capacity(64 << 10, file));
                    self.current = Some(Reader::new(source, document.name, document.kind));
                }
                Err(error) => {
                    piece.extend_from_slice(document.name.as_bytes());
                    return Ok(NextPiece::Broken(format!(
                        "{}: cannot be opened: {error}",
                        document.name
                    )));
                }
            }
        }
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn passed_over(&self) -> Vec<String> {
        self.left_out.in_words()
    }
}

impl Reader {
    fn new(source: Box<dyn BufRead>, name: String, kind: Kind) -> Reader {
        Reader {
            source,
            name,
            parts: Parts::new(kind == Kind::Markdown),
            ready: VecDeque::new(),
            count_by_text: HashMap::new(),
            cut: Vec::new(),
            lines: 0,
            is_over: false,
            failed: None,
        }
    }

    /// Reads a line and adds the records of the parts that it completes; counts the content that is left out.
    fn read_line(&mut self, position: &mut u64, left_out: &mut LeftOut) {
        let line = self.next_line(position);
        let parts = match &line {
            Ok(Some(line)) => self.parts.add_line(line.trim_end_matches(['\n', '\r'])),
            Ok(None) | Err(_) => {
                self.is_over = true;
                self.parts.finish_text()
            }
        };
        self.failed = line.err();
        for part in parts {
            let time = EntryTime::of_document(self.parts.front_matter().dates(), &self.name);
            let record = self.record_from_part(&part, time, left_out);
            self.ready.push_back(record.to_string().into_bytes());
        }
        let matter = self.parts.front_matter();
        if self.is_over && self.failed.is_none() && self.count_by_text.is_empty() && !matter.entries.is_empty() {
            left_out.count_one("documents with nothing but front matter");
        }
    }

    /// Returns the next line, or the complete words at the beginning of a line that is longer than [`LINE_BYTES_MAX`];
    /// `None` at the end.
    fn next_line(&mut self, position: &mut u64) -> Result<Option<String>, String> {
        let mut line = std::mem::take(&mut self.cut);
        let before = line.len();
        let read = (&mut self.source).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let bytes = read.map_err(|error| format!("cannot be read to the end: {error}"))?;
        *position += bytes as u64;
        if bytes == 0 && before == 0 {
            return Ok(None);
        }
        if self.lines == 0 && is_utf16(&line) {
            return Err("is in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8".to_owned());
        }
        if bytes as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") {
            let word = line.iter().rposition(u8::is_ascii_whitespace).map(|it| it + 1);
            let is_cut = |error: std::str::Utf8Error| error.error_len().is_none().then(|| error.valid_up_to());
            let character = || std::str::from_utf8(&line).err().and_then(is_cut);
            self.cut = line.split_off(word.or_else(character).unwrap_or(line.len()));
        } else {
            self.lines += 1;
        }
        let text = std::str::from_utf8(strip_byte_order_mark(&line));
        let text = text.map_err(|_| format!("line {}: not in UTF-8; the rest of it is left out", self.lines))?;
        Ok(Some(text.to_owned()))
    }

    /// Returns the record of a part. Its id is derived from its content and its place, so a new import of a changed
    /// document adds only the new parts. A time in the future is in the metadata; when it has come, the content differs,
    /// and so does the id: a server refuses a record with a known id and other content.
    fn record_from_part(&mut self, part: &Part, time: EntryTime, left_out: &mut LeftOut) -> serde_json::Value {
        let mut metadata = Metadata::from_source("document");
        metadata.put_entry("file", &self.name);
        metadata.put_entry("title", self.parts.title().unwrap_or_default());
        metadata.put_entry("heading", &part.heading);
        let matter = self.parts.front_matter();
        if self.count_by_text.is_empty() {
            time.count_unused(left_out);
            left_out.add_counts(&matter.left_out);
            for entry in &matter.entries {
                metadata.put_entry(&entry.name, &entry.value);
            }
        }
        metadata.put_entry("date", &time.future.unwrap_or_default());
        let session = one_line(&self.name);
        let draft = Draft {
            session: match session.len() <= SESSION_BYTES_MAX {
                true => session,
                false => format!(
                    "{}-{}",
                    shorten_text(&session, SESSION_BYTES_MAX - 33),
                    digest_texts(&[&self.name])
                ),
            },
            text: part.text.clone(),
            observed_at: time.usable,
            metadata,
            ..Draft::default()
        };
        let mut record = draft.into_record();
        let says = digest_texts(&[&record.to_string()]);
        let count = self.count_by_text.entry(says.clone()).or_default();
        *count += 1;
        record["id"] = match count {
            1 => json!(format!("document:{says}")),
            _ => json!(format!("document:{says}-{count}")),
        };
        record
    }
}

#[cfg(test)]
mod tests;
