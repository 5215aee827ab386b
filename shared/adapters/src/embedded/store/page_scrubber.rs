//! Zeroes the unallocated space in SQLite's b-tree pages: the gap between the list of cells and their content.
//!
//! `secure_delete` overwrites a row in its current place when it is deleted. But when SQLite moves rows to a
//! neighbouring page, their bytes stay in the gap of the old page until new rows need the space. No later deletion
//! overwrites this copy and no SQL statement removes it, so the gaps are overwritten in the file itself.
//!
//! This is safe while the write-ahead log is empty and no other thread can write pages; both are guaranteed on the
//! writer's thread, which alone writes and checkpoints. Readers do not read gaps. Pages in the cache of the connection
//! would bring the old bytes back, so the cache is dropped after each step.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rusqlite::Connection;

/// Number of pages in one step: 16 MiB, some 10 ms. Writes wait in the meantime.
const STEP: u64 = 4_096;
/// From this page number on, an overflow page may begin with the same bytes as a b-tree page (64 GiB of pages of 4
/// KiB).
const PAGES_MAX: u64 = 1 << 24;
/// Offset of the header in the first page: after the header of the file.
const FILE_HEADER: usize = 100;

/// Scrubs the pages of the file, one after the other.
pub(super) struct Scrubber {
    /// Kept open until the connection is closed: a process that closes any handle of the file drops SQLite's locks on
    /// it.
    file: File,
    next: u64,
    /// Number of pages still to scrub.
    left: u64,
}

impl Scrubber {
    /// Opens the file of a database.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened for writing.
    pub(super) fn open(path: &Path) -> io::Result<Scrubber> {
        Ok(Scrubber {
            file: File::options().read(true).write(true).open(path)?,
            next: 0,
            left: 0,
        })
    }

    /// Requests that every page is scrubbed once from now on, even if it was just scrubbed.
    pub(super) fn request_pass(&mut self) {
        self.left = u64::MAX;
    }

    /// Returns true if there are pages to scrub.
    pub(super) fn is_pending(&self) -> bool {
        self.left > 0
    }

    /// Scrubs some pages. The log must be empty, and no other thread may write.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or written; scrubbing then stops until the next request.
    pub(super) fn run_step(&mut self, connection: &Connection) -> io::Result<()> {
        let outcome = self.scrub_pages(connection);
        if outcome.is_err() {
            self.left = 0;
        }
        outcome
    }

    fn scrub_pages(&mut self, connection: &Connection) -> io::Result<()> {
        let mut header = [0; FILE_HEADER];
        self.read_at(0, &mut header)?;
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
        self.read_at(start, &mut bytes)?;
        let mut changed = false;
        for (number, page) in (self.next..).zip(bytes.chunks_exact(page_bytes)) {
            let Some((from, until)) = gap_of_page(page, number == 0) else {
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
    fn read_at(&mut self, place: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(place))?;
        self.file.read_exact(bytes)
    }
}

/// Returns the start and the end of the gap in a b-tree page, or `None` for any other page or an invalid one.
fn gap_of_page(page: &[u8], is_first: bool) -> Option<(usize, usize)> {
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

    /// Returns a b-tree page with `cells` cells whose content begins at `until`; all other bytes are `x`.
    fn page_of_rows(kind: u8, cells: u16, until: u16) -> Vec<u8> {
        let mut page = vec![b'x'; 4_096];
        page[0] = kind;
        page[3..5].copy_from_slice(&cells.to_be_bytes());
        page[5..7].copy_from_slice(&until.to_be_bytes());
        page
    }

    #[test]
    fn gaps_are_found_in_pages_of_rows_only() {
        assert_eq!(gap_of_page(&page_of_rows(13, 10, 4_000), false), Some((28, 4_000)));
        assert_eq!(gap_of_page(&page_of_rows(5, 10, 4_000), false), Some((32, 4_000)));
        assert_eq!(gap_of_page(&page_of_rows(10, 0, 4_096), false), Some((8, 4_096)));
        for (kind, cells, until) in [(0, 10, 4_000), (13, 3_000, 4_000), (13, 1, 4_097), (1, 1, 4_000)] {
            assert_eq!(
                gap_of_page(&page_of_rows(kind, cells, until), false),
                None,
                "{kind} {cells} {until}"
            );
        }
        let first = [vec![0; 100], page_of_rows(13, 1, 4_000)].concat();
        assert_eq!(gap_of_page(&first[..4_096], true), Some((110, 4_000)));
    }
}
