//! Zeroes what SQLite leaves between the rows of its pages.
//!
//! `secure_delete` overwrites a row where it is when it is deleted. But when SQLite moves rows from a page to its neighbours, the
//! bytes that they had in the old page stay there, in the gap between the list of cells and their content, until new rows need the
//! place: a copy that no later deletion reaches. No statement of SQL does; so the gaps are overwritten in the file itself.
//!
//! That is sound while the write-ahead log is empty and nobody else can write pages, which is so on the thread that alone writes and
//! folds the log. Readers do not look into gaps. Pages that the connection holds in its cache would bring the old bytes back, so the
//! cache is dropped after each step.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rusqlite::Connection;

/// Pages of one step: 16 MiB, some 10 ms. Writes wait meanwhile.
const STEP: u64 = 4_096;
/// From this page number on, an overflow page may begin like a page of rows (64 GiB of pages of 4 KiB).
const PAGES_MAX: u64 = 1 << 24;
/// Where the header of the first page begins: behind that of the file.
const FILE_HEADER: usize = 100;

/// Goes round the pages of the file.
pub(super) struct Scrubber {
    /// Kept until the connection is closed: a process that closes any handle of the file drops the locks that SQLite has on it.
    file: File,
    next: u64,
    /// Pages that are still to be looked at.
    left: u64,
}

impl Scrubber {
    /// Opens the file of a database.
    ///
    /// # Errors
    /// A file that cannot be opened to be written.
    pub(super) fn open(path: &Path) -> io::Result<Scrubber> {
        Ok(Scrubber {
            file: File::options().read(true).write(true).open(path)?,
            next: 0,
            left: 0,
        })
    }

    /// Requests that every page is looked at once from now on, those too that were looked at a moment ago.
    pub(super) fn request(&mut self) {
        self.left = u64::MAX;
    }

    /// Returns true if there are pages to look at.
    pub(super) fn is_pending(&self) -> bool {
        self.left > 0
    }

    /// Looks at some pages. The log must be empty, and this thread the only one that writes.
    ///
    /// # Errors
    /// A file that cannot be read or written; nothing is looked at then until the next request.
    pub(super) fn step(&mut self, connection: &Connection) -> io::Result<()> {
        let outcome = self.some(connection);
        if outcome.is_err() {
            self.left = 0;
        }
        outcome
    }

    fn some(&mut self, connection: &Connection) -> io::Result<()> {
        let mut header = [0; FILE_HEADER];
        self.read(0, &mut header)?;
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            bytes => usize::from(bytes),
        };
        let pages = self.file.metadata()?.len() / (page_bytes as u64).max(1);
        if pages == 0 || pages >= PAGES_MAX {
            self.left = 0;
            return Ok(());
        }
        if self.next >= pages {
            self.next = 0;
        }
        self.left = self.left.min(pages);
        let some = STEP.min(self.left).min(pages - self.next);
        let start = self.next * page_bytes as u64;
        let mut bytes = vec![0; page_bytes * usize::try_from(some).unwrap_or(0)];
        self.read(start, &mut bytes)?;
        let mut changed = false;
        for (number, page) in (self.next..).zip(bytes.chunks_exact(page_bytes)) {
            let Some((from, until)) = gap(page, number == 0) else {
                continue;
            };
            if page[from..until].iter().any(|it| *it != 0) {
                let place = number * page_bytes as u64 + from as u64;
                self.file.seek(SeekFrom::Start(place))?;
                self.file.write_all(&vec![0; until - from])?;
                changed = true;
            }
        }
        if changed {
            self.file.sync_data()?;
        }
        connection
            .execute_batch("PRAGMA shrink_memory")
            .map_err(io::Error::other)?;
        self.next += some;
        self.left -= some;
        Ok(())
    }
}

impl Scrubber {
    fn read(&mut self, place: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(place))?;
        self.file.read_exact(bytes)
    }
}

/// Returns where the gap of a page of rows begins and ends; none if it is no such page, or is not as it should be.
fn gap(page: &[u8], is_first: bool) -> Option<(usize, usize)> {
    let at = if is_first { FILE_HEADER } else { 0 };
    let header = page.get(at..at + 8)?;
    let header_bytes = match header[0] {
        2 | 5 => 12,
        10 | 13 => 8,
        _ => return None,
    };
    let number = |at: usize| usize::from(u16::from_be_bytes([header[at], header[at + 1]]));
    let from = at + header_bytes + 2 * number(3);
    let until = match number(5) {
        0 => 65_536,
        until => until,
    };
    (from <= until && until <= page.len()).then_some((from, until))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of rows with so many cells, whose content begins at `until`; all other bytes are `x`.
    fn page(kind: u8, cells: u16, until: u16) -> Vec<u8> {
        let mut page = vec![b'x'; 4_096];
        page[0] = kind;
        page[3..5].copy_from_slice(&cells.to_be_bytes());
        page[5..7].copy_from_slice(&until.to_be_bytes());
        page
    }

    #[test]
    fn only_the_gap_of_pages_of_rows_is_found() {
        assert_eq!(gap(&page(13, 10, 4_000), false), Some((28, 4_000)));
        assert_eq!(gap(&page(5, 10, 4_000), false), Some((32, 4_000)));
        assert_eq!(gap(&page(10, 0, 4_096), false), Some((8, 4_096)));
        for (kind, cells, until) in [(0, 10, 4_000), (13, 3_000, 4_000), (13, 1, 4_097), (1, 1, 4_000)] {
            assert_eq!(gap(&page(kind, cells, until), false), None, "{kind} {cells} {until}");
        }
        let first = [vec![0; 100], page(13, 1, 4_000)].concat();
        assert_eq!(gap(&first[..4_096], true), Some((110, 4_000)));
    }
}
