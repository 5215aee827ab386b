//! A page of a list while it is filled. It ends at the requested number of items, or at a size limit in bytes.

use domain::port::Room;
use serde::Serialize;

/// Size limit of a page in bytes of JSON; the item that exceeds it is the last one.
pub(crate) const PAGE_BYTES_MAX: usize = 4 << 20;
/// Maximum number of reads from the store for one page.
const LOOKS_MAX: usize = 20;

/// The items of a page so far.
pub(crate) struct Filling<T> {
    pub(crate) items: Vec<T>,
    limit: usize,
    bytes: usize,
}

impl<T: Serialize> Filling<T> {
    pub(crate) fn new(limit: usize) -> Filling<T> {
        Filling {
            items: Vec::new(),
            limit,
            bytes: 0,
        }
    }

    pub(crate) fn add_item(&mut self, item: T) {
        // A value that cannot be serialized is refused when the page is written.
        self.bytes += serde_json::to_vec(&item).map_or(0, |it| it.len());
        self.items.push(item);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= self.limit || self.bytes >= PAGE_BYTES_MAX
    }

    fn remaining_room(&self) -> Room {
        Room {
            items: self.limit.saturating_sub(self.items.len()),
            bytes: PAGE_BYTES_MAX.saturating_sub(self.bytes),
        }
    }
}

/// A page that is filled by several reads; each read may return fewer items than requested.
pub(crate) struct Looks<T> {
    page: Filling<T>,
    /// Start of the next read; `None` at the end.
    after: Option<u64>,
    reads_left: usize,
}

impl<T: Serialize> Looks<T> {
    pub(crate) fn new(after: u64, limit: usize) -> Looks<T> {
        Looks {
            page: Filling::new(limit),
            after: Some(after),
            reads_left: LOOKS_MAX,
        }
    }

    /// Returns the cursor and the room of the next read; `None` if the page is full, the list has ended, or the limit
    /// of reads is reached.
    pub(crate) fn next_read(&mut self) -> Option<(u64, Room)> {
        let after = self.after.filter(|_| !self.page.is_full())?;
        self.reads_left = self.reads_left.checked_sub(1)?;
        Some((after, self.page.remaining_room()))
    }

    /// Adds the result of a read, and the cursor after it.
    pub(crate) fn add_result(&mut self, found: Vec<T>, after: Option<u64>) {
        found.into_iter().for_each(|it| self.page.add_item(it));
        self.after = after;
    }

    /// Returns the items, and the cursor of the next page.
    pub(crate) fn into_page(self) -> (Vec<T>, Option<u64>) {
        (self.page.items, self.after)
    }
}
