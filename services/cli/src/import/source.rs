//! Where lines come from.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;

use anyhow::{Context, bail};

use crate::args::Import;

/// What some programs put before a text in UTF-8; where such texts were joined, it stands before later lines too.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// What texts in UTF-16 begin with.
const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Lines to import.
pub(super) struct Source {
    pub(super) lines: Box<dyn BufRead>,
    /// Length; 0 if it is not known.
    pub(super) bytes: u64,
    /// Whether the lines can be read again, so that it makes sense to keep how far they were imported.
    pub(super) again: bool,
}

/// Opens the file, or standard input for `-`.
pub(super) fn open(path: &Path) -> anyhow::Result<Source> {
    if path == Path::new("-") {
        return Ok(Source {
            lines: Box::new(BufReader::new(stdin())),
            bytes: 0,
            again: false,
        });
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let about = file.metadata()?;
    Ok(Source {
        lines: Box::new(BufReader::new(file)),
        bytes: about.len(),
        again: about.is_file(),
    })
}

/// Refuses a list of records in the place of lines, and says what to do.
pub(super) fn refuse_list(lines: &mut dyn BufRead, args: &Import) -> anyhow::Result<()> {
    let head = unmarked(lines.fill_buf().context("cannot read")?).trim_ascii_start();
    let Some(inside) = head.strip_prefix(b"[").map(<[u8]>::trim_ascii_start) else {
        return Ok(());
    };
    if !inside.is_empty() && !inside.starts_with(b"{") {
        return Ok(());
    }
    let file = args.file.display();
    bail!(
        "{file} is one JSON list, and records stand on a line each here: jq -c '.[]' {file} | mnemic import - --space {}",
        args.space
    )
}

/// Refuses a text in UTF-16, in which Windows PowerShell writes what is redirected to a file, and says what to do.
pub(super) fn refuse_utf16(lines: &mut dyn BufRead, args: &Import) -> anyhow::Result<()> {
    let head = lines.fill_buf().context("cannot read")?;
    if !UTF16_MARKS.iter().any(|it| head.starts_with(it)) {
        return Ok(());
    }
    let file = args.file.display();
    bail!(
        "{file} is in UTF-16, and records are read in UTF-8: iconv -f UTF-16 -t UTF-8 {file} | mnemic import - --space {}",
        args.space
    )
}

/// Returns a line without a byte order mark before it.
pub(super) fn unmarked(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}
