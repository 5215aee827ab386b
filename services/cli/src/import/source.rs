//! The source of records.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, stdin};
use std::path::Path;

use anyhow::{Context, bail, ensure};

use crate::args::Import;
use crate::import::formats::documents::{self, Documents};
use crate::import::formats::format::{HEAD_BYTES, Kind, by_content, detect_format};
use crate::import::input::byte_order::{is_utf16, strip_byte_order_mark};
use crate::import::input::json_scan::read_outline;
use crate::import::input::pieces::{Elements, Lines, Pieces};
use crate::import::record_draft::LeftOut;

const BUFFER_BYTES: usize = 64 << 10;

/// An input to import.
pub(crate) struct Source {
    pub(crate) kind: Kind,
    pub(crate) pieces: Box<dyn Pieces>,
    /// Length in bytes; 0 if unknown.
    pub(crate) bytes: u64,
    /// True if the source can be read again, so that it is useful to store the progress of its import.
    pub(crate) again: bool,
}

/// Opens the file, the folder, or standard input for `-`.
///
/// # Errors
/// If the source cannot be read or imported; the error says what to do.
pub(crate) fn open_source(args: &Import) -> anyhow::Result<Source> {
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
    let requested_kind = Kind::from_format(args.format);
    ensure!(
        requested_kind.is_none_or(Kind::is_document),
        "{folder} is a folder, and only .md and .txt files are imported from folders; give the path of the file"
    );
    let mut left_out = LeftOut::default();
    let mut found = documents::find_documents(&args.file, &mut left_out)?;
    if let Some(kind) = requested_kind {
        found.retain(|it| it.kind == kind);
    }
    let hint = match args.file.join("conversations.json").exists() {
        true => "; did you mean its conversations.json?",
        false => "",
    };
    ensure!(!found.is_empty(), "{folder} contains no .md or .txt files{hint}");
    let bytes = found.iter().filter_map(|it| Some(it.path.metadata().ok()?.len())).sum();
    Ok(Source {
        kind: Kind::Markdown,
        pieces: Box::new(Documents::of_folder(found, left_out)),
        bytes,
        again: true,
    })
}

fn of_reader(mut reader: Box<dyn Read>, args: &Import, bytes: u64, again: bool) -> anyhow::Result<Source> {
    let head = read_head(&mut *reader).context("cannot read")?;
    refuse_utf16(&head, args)?;
    let kind = match Kind::from_format(args.format) {
        Some(kind) => kind,
        None => detect_format(&head, &args.file)?,
    };
    let is_wrapped = read_outline(strip_byte_order_mark(&head)).wrapper.is_some();
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
fn read_head(reader: &mut dyn Read) -> std::io::Result<Vec<u8>> {
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
    let Some(inside) = strip_byte_order_mark(head).trim_ascii_start().strip_prefix(b"[") else {
        return Ok(());
    };
    let inside = inside.trim_ascii_start();
    if !inside.is_empty() && !inside.starts_with(b"{") {
        return Ok(());
    }
    let file = args.file.display();
    bail!(
        "{file} is one JSON list, but records are read one per line. Convert it: `jq -c '.[]' {file} | mnemic import - --space {}`. If it is \
         an export of another program, name it with --format",
        args.space
    )
}

/// Refuses a text in UTF-16, the encoding of redirected output in Windows PowerShell, and says what to do.
fn refuse_utf16(head: &[u8], args: &Import) -> anyhow::Result<()> {
    if !is_utf16(head) {
        return Ok(());
    }
    let file = args.file.display();
    bail!(
        "{file} is in UTF-16, but imports are read as UTF-8: iconv -f UTF-16 -t UTF-8 {file} | mnemic import - --space {}",
        args.space
    )
}
