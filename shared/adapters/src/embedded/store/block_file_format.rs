//! The format of a file with blocks of units. All numbers are little-endian and take eight bytes. The file is private to
//! this program: it is used only with the digest that it was written with.
//!
//! ```text
//! format     the first bytes
//! count      number of blocks
//! directory  for each block: the sequence number before it, its last sequence number, the place of its body in the file, and
//!            the length of its body
//! bodies     each at a multiple of eight bytes, after zeros
//! ```

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use domain::port::{BlockFileId, UnitBlock};

use super::block_file_rows::PlacedBlock;
use crate::embedded::mapped_files::MappedFile;

/// The first bytes of a file: its format.
const FORMAT: [u8; 8] = *b"MNEMUNT1";
/// Length of a number, in bytes. Bodies begin at a multiple of it.
const NUMBER_BYTES: usize = 8;
/// Length of the format and the number of blocks, in bytes.
const HEAD_BYTES: usize = FORMAT.len() + NUMBER_BYTES;
/// Length of an entry of the directory, in bytes.
const ENTRY_BYTES: usize = 4 * NUMBER_BYTES;

/// The entry of a block in the directory of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// The sequence number before the interval of the block.
    after: u64,
    /// The last sequence number of its interval.
    last: u64,
    /// The place of its body in the file, in bytes.
    offset: u64,
    /// The length of its body, in bytes.
    length: u64,
}

/// The directory of a file that is to be written.
pub(super) struct FileLayout {
    entries: Vec<Entry>,
}

/// A mapped file with its directory.
pub(super) struct MappedBlocks {
    id: BlockFileId,
    bytes: Bytes,
    entries: Vec<Entry>,
}

/// The content of a mapped file, which stays mapped until the last part of it is dropped.
struct FileContent(Arc<MappedFile>);

impl FileLayout {
    /// Returns the layout of a file with these blocks, in this order.
    pub(super) fn of_blocks(blocks: &[PlacedBlock]) -> FileLayout {
        let mut end = directory_end(blocks.len());
        let place = |it: &PlacedBlock| {
            let offset = end.next_multiple_of(NUMBER_BYTES as u64);
            end = offset + it.bytes;
            Entry {
                after: it.after,
                last: it.last,
                offset,
                length: it.bytes,
            }
        };
        FileLayout {
            entries: blocks.iter().map(place).collect(),
        }
    }

    /// Returns the size of the file in bytes.
    pub(super) fn file_bytes(&self) -> u64 {
        self.entries.last().map_or(directory_end(0), |it| it.offset + it.length)
    }

    /// Writes the file. `read_body` returns the body of a block by its position; it is called once for each block, in
    /// order, so that only one body is in memory.
    ///
    /// # Errors
    ///
    /// `InvalidData` if a body has another length than its block; otherwise the error of `read_body` or `out`.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        mut read_body: impl FnMut(usize) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        out.write_all(&FORMAT)?;
        out.write_all(&(self.entries.len() as u64).to_le_bytes())?;
        for entry in &self.entries {
            for number in [entry.after, entry.last, entry.offset, entry.length] {
                out.write_all(&number.to_le_bytes())?;
            }
        }
        let mut end = directory_end(self.entries.len());
        for (position, entry) in self.entries.iter().enumerate() {
            let body = read_body(position)?;
            if body.len() as u64 != entry.length {
                return Err(io::ErrorKind::InvalidData.into());
            }
            // Fewer than eight zeros.
            out.write_all(&[0; NUMBER_BYTES][..(entry.offset - end) as usize])?;
            out.write_all(&body)?;
            end = entry.offset + entry.length;
        }
        Ok(())
    }
}

impl Entry {
    fn read(bytes: &[u8; ENTRY_BYTES]) -> Entry {
        let number = |at: usize| u64::from_le_bytes(bytes.as_chunks().0[at]);
        Entry {
            after: number(0),
            last: number(1),
            offset: number(2),
            length: number(3),
        }
    }
}

impl AsRef<[u8]> for FileContent {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl MappedBlocks {
    /// Reads the directory of a file; `None` if the file is of another format or has another size.
    pub(super) fn of_file(id: BlockFileId, file: Arc<MappedFile>) -> Option<MappedBlocks> {
        let entries = read_directory(file.bytes())?;
        Some(MappedBlocks {
            id,
            bytes: Bytes::from_owner(FileContent(file)),
            entries,
        })
    }

    /// Returns the number of the file.
    pub(super) fn id(&self) -> BlockFileId {
        self.id
    }

    /// Returns true if the blocks of the file hold exactly this interval of the feed.
    pub(super) fn holds_interval(&self, after: u64, last: u64) -> bool {
        let (first, end) = (self.entries.first(), self.entries.last());
        first.is_some_and(|it| it.after == after) && end.is_some_and(|it| it.last == last)
    }

    /// Returns the block that begins right after `sequence`, if there is one. Its body is a part of the mapped file.
    pub(super) fn block_after(&self, sequence: u64) -> Option<UnitBlock> {
        let position = self.entries.binary_search_by_key(&sequence, |it| it.after).ok()?;
        let entry = self.entries.get(position)?;
        // The directory was compared with the size of the file, so that its numbers fit.
        let start = entry.offset as usize;
        Some(UnitBlock {
            after: entry.after,
            last: entry.last,
            body: self.bytes.slice(start..start + entry.length as usize),
            file: Some(self.id),
        })
    }
}

/// Returns the end of the directory of a file with `count` blocks, in bytes.
fn directory_end(count: usize) -> u64 {
    (HEAD_BYTES + ENTRY_BYTES * count) as u64
}

/// Reads and checks the directory of a file: its blocks must be in order and not overlap, and the bodies must fill the
/// file in the same order. Between two blocks there may be sequence numbers that no unit has. Returns `None` if it is
/// not so.
fn read_directory(bytes: &[u8]) -> Option<Vec<Entry>> {
    let (count, rest) = bytes.strip_prefix(&FORMAT)?.split_first_chunk::<NUMBER_BYTES>()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    let directory = rest.get(..count.checked_mul(ENTRY_BYTES)?)?;
    let entries: Vec<Entry> = directory.as_chunks().0.iter().map(Entry::read).collect();
    let (mut end, mut sequence) = (directory_end(count), entries.first()?.after);
    for entry in &entries {
        let is_next = entry.after >= sequence && entry.offset == end.next_multiple_of(NUMBER_BYTES as u64);
        end = entry.offset.checked_add(entry.length)?;
        if !is_next || entry.last <= entry.after || end > bytes.len() as u64 {
            return None;
        }
        sequence = entry.last;
    }
    (end == bytes.len() as u64).then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODIES: [&[u8]; 4] = [b"one", b"", b"three and more", b"12345678"];

    fn file_of_bodies() -> Vec<u8> {
        let place = |(position, body): (usize, &&[u8])| PlacedBlock {
            row: 0,
            after: position as u64 * 3,
            last: position as u64 * 3 + 3,
            bytes: body.len() as u64,
        };
        let blocks: Vec<PlacedBlock> = BODIES.iter().enumerate().map(place).collect();
        let (layout, mut out) = (FileLayout::of_blocks(&blocks), Vec::new());
        layout
            .write(&mut out, |position| Ok(BODIES[position].to_vec()))
            .unwrap();
        assert_eq!(layout.file_bytes(), out.len() as u64);
        out
    }

    #[test]
    fn bodies_are_found_at_multiples_of_eight_bytes() {
        let file = file_of_bodies();
        let entries = read_directory(&file).unwrap();
        assert_eq!(entries.len(), BODIES.len());
        for (entry, body) in entries.iter().zip(BODIES) {
            assert_eq!(entry.offset % 8, 0);
            assert_eq!(&file[entry.offset as usize..][..entry.length as usize], body);
        }
    }

    #[test]
    fn blocks_may_leave_out_numbers_but_not_overlap() {
        let block = |after: u64, last: u64| PlacedBlock {
            row: 0,
            after,
            last,
            bytes: 0,
        };
        let directory = |blocks: &[PlacedBlock]| {
            let mut out = Vec::new();
            FileLayout::of_blocks(blocks)
                .write(&mut out, |_| Ok(Vec::new()))
                .unwrap();
            read_directory(&out)
        };
        let found = directory(&[block(1, 3), block(5, 6), block(6, 9)]).unwrap();
        let found: Vec<(u64, u64)> = found.iter().map(|it| (it.after, it.last)).collect();
        assert_eq!(found, [(1, 3), (5, 6), (6, 9)]);
        assert_eq!(directory(&[block(1, 3), block(2, 6)]), None);
        assert_eq!(directory(&[block(5, 6), block(1, 3)]), None);
    }

    #[test]
    fn files_of_another_format_or_size_are_refused() {
        let file = file_of_bodies();
        let directory = HEAD_BYTES + ENTRY_BYTES * BODIES.len();
        // Only the row of the file says where the last block ends.
        let end_of_last = directory - 3 * NUMBER_BYTES..directory - 2 * NUMBER_BYTES;
        for at in 0..directory {
            let mut other = file.clone();
            other[at] ^= 0x80;
            assert_eq!(read_directory(&other).is_some(), end_of_last.contains(&at), "byte {at}");
        }
        for length in 0..file.len() {
            assert_eq!(read_directory(&file[..length]), None, "{length} bytes");
        }
        assert_eq!(read_directory(&[file, vec![0; 8]].concat()), None);
        let empty = [FORMAT, [0; 8]].concat();
        assert_eq!(read_directory(&empty), None, "no block");
    }

    #[test]
    fn a_body_of_another_length_is_not_written() {
        let block = PlacedBlock {
            row: 0,
            after: 0,
            last: 1,
            bytes: 3,
        };
        let written = FileLayout::of_blocks(&[block]).write(&mut io::sink(), |_| Ok(vec![0; 4]));
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
