//! A page of a list, while it is being filled: it ends with the number of items wanted, or with so many bytes.

use domain::port::Room;
use serde::Serialize;

/// Bytes of JSON with which a page ends; the item that passes them is the last one.
pub(crate) const PAGE_BYTES_MAX: usize = 4 << 20;
/// Looks into the store for one page.
const LOOKS_MAX: usize = 20;

/// Items of a page so far.
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

    pub(crate) fn take(&mut self, item: T) {
        // What is no JSON is refused when the page is written.
        self.bytes += serde_json::to_vec(&item).map_or(0, |it| it.len());
        self.items.push(item);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= self.limit || self.bytes >= PAGE_BYTES_MAX
    }

    fn room(&self) -> Room {
        Room {
            items: self.limit.saturating_sub(self.items.len()),
            bytes: PAGE_BYTES_MAX.saturating_sub(self.bytes),
        }
    }
}

/// A page that is filled by looks which may each find less than there is room for.
pub(crate) struct Looks<T> {
    page: Filling<T>,
    /// Where the next look starts; none at the end.
    after: Option<u64>,
    left: usize,
}

impl<T: Serialize> Looks<T> {
    pub(crate) fn new((after, limit): (u64, usize)) -> Looks<T> {
        Looks {
            page: Filling::new(limit),
            after: Some(after),
            left: LOOKS_MAX,
        }
    }

    /// Returns behind what the next look starts, and what it may find; none if there is enough, or no more, or it looked often.
    pub(crate) fn next(&mut self) -> Option<(u64, Room)> {
        let after = self.after.filter(|_| !self.page.is_full())?;
        self.left = self.left.checked_sub(1)?;
        Some((after, self.page.room()))
    }

    /// Takes what a look found, and the cursor behind it.
    pub(crate) fn take(&mut self, (found, after): (Vec<T>, Option<u64>)) {
        found.into_iter().for_each(|it| self.page.take(it));
        self.after = after;
    }

    /// Returns the items and the cursor to go on with.
    pub(crate) fn done(self) -> (Vec<T>, Option<u64>) {
        (self.page.items, self.after)
    }
}
