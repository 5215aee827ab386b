//! The source of records.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, stdin};
use std::path::Path;

use anyhow::{Context, bail, ensure};

use super::documents::{self, Documents};
use super::draft::LeftOut;
use super::format::{HEAD_BYTES, Kind, by_content, recognise};
use super::json_scan::outline;
use super::pieces::{Elements, Lines, Pieces};
use crate::args::Import;

/// Mark that some programs write before a UTF-8 text. In concatenated texts, it also occurs before later lines.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Marks at the beginning of UTF-16 texts.
const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
const BUFFER_BYTES: usize = 64 << 10;

/// An input to import.
pub(super) struct Source {
    pub(super) kind: Kind,
    pub(super) pieces: Box<dyn Pieces>,
    /// Length in bytes; 0 if unknown.
    pub(super) bytes: u64,
    /// True if the source can be read again, so that it is useful to store the progress of its import.
    pub(super) again: bool,
}

/// Opens the file, the folder, or standard input for `-`.
///
/// # Errors
/// If the source cannot be read or imported; the error says what to do.
pub(super) fn open(args: &Import) -> anyhow::Result<Source> {
    let path = args.file.as_path();
    if path == Path::new("-") {
        return of_reader(Box::new(stdin()), args, 0, false);
    }
    if path.is_dir() {
        return of_folder(args);
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let about = file.metadata()?;
    of_reader(Box::new(file), args, about.len(), about.is_file())
}

fn of_folder(args: &Import) -> anyhow::Result<Source> {
    let folder = args.file.display();
    let named = Kind::named(args.format);
    ensure!(
        named.is_none_or(Kind::is_document),
        "{folder} is a folder, and only .md and .txt files are read from one; name the file in it"
    );
    let mut left_out = LeftOut::default();
    let mut found = documents::find(&args.file, &mut left_out)?;
    if let Some(kind) = named {
        found.retain(|it| it.kind == kind);
    }
    let hint = match args.file.join("conversations.json").exists() {
        true => "; did you mean its conversations.json?",
        false => "",
    };
    ensure!(!found.is_empty(), "{folder} holds no .md or .txt files{hint}");
    let bytes = found.iter().filter_map(|it| Some(it.path.metadata().ok()?.len())).sum();
    Ok(Source {
        kind: Kind::Markdown,
        pieces: Box::new(Documents::of_folder(found, left_out)),
        bytes,
        again: true,
    })
}

fn of_reader(mut reader: Box<dyn Read>, args: &Import, bytes: u64, again: bool) -> anyhow::Result<Source> {
    let head = head(&mut *reader).context("cannot read")?;
    refuse_utf16(&head, args)?;
    let kind = match Kind::named(args.format) {
        Some(kind) => kind,
        None => recognise(&head, &args.file)?,
    };
    let is_wrapped = outline(unmarked(&head)).wrapper.is_some();
    if kind == Kind::Records {
        refuse_list(&head, args)?;
    }
    let all = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(reader));
    let pieces: Box<dyn Pieces> = match kind {
        Kind::Records => Box::new(Lines::new(Box::new(all))),
        Kind::ChatGpt | Kind::Claude | Kind::Mem0 | Kind::Hindsight => {
            Box::new(Elements::new(Box::new(all), is_wrapped))
        }
        Kind::Text | Kind::Markdown => Box::new(Documents::of_source(Box::new(all), &args.file, kind)),
    };
    Ok(Source {
        kind,
        pieces,
        bytes,
        again,
    })
}

/// Reads until the first bytes determine the format, at most [`HEAD_BYTES`]. Does not wait for slow input after that.
fn head(reader: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while head.len() < HEAD_BYTES {
        let room = (HEAD_BYTES - head.len()).min(HEAD_BYTES / 8) as u64;
        let before = head.len();
        let mut some = vec![0; room as usize];
        let read = match reader.read(&mut some) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        head.extend(some.into_iter().take(read));
        if head.len() == before || by_content(&head).is_some() {
            break;
        }
    }
    Ok(head)
}

/// Refuses a list of records in place of lines, and says what to do.
fn refuse_list(head: &[u8], args: &Import) -> anyhow::Result<()> {
    let Some(inside) = unmarked(head).trim_ascii_start().strip_prefix(b"[") else {
        return Ok(());
    };
    let inside = inside.trim_ascii_start();
    if !inside.is_empty() && !inside.starts_with(b"{") {
        return Ok(());
    }
    let file = args.file.display();
    bail!(
        "{file} is one JSON list, and records are read a line each: jq -c '.[]' {file} | mnemic import - --space {}. If it is an \
         export of another program, name it with --format",
        args.space
    )
}

/// Returns true if a text begins like UTF-16.
pub(super) fn is_utf16(head: &[u8]) -> bool {
    UTF16_MARKS.iter().any(|it| head.starts_with(it))
}

/// Refuses a text in UTF-16, the encoding of redirected output in Windows PowerShell, and says what to do.
fn refuse_utf16(head: &[u8], args: &Import) -> anyhow::Result<()> {
    if !is_utf16(head) {
        return Ok(());
    }
    let file = args.file.display();
    bail!(
        "{file} is in UTF-16, and what is imported is read in UTF-8: iconv -f UTF-16 -t UTF-8 {file} | mnemic import - --space {}",
        args.space
    )
}

/// Returns a line without a leading byte order mark.
pub(super) fn unmarked(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}
