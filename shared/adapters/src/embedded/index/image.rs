//! The image of a block: its live points, in the order of their slots, as one file that is mapped and used in place. All
//! numbers are little-endian. The file is private to this program: it is used only with the digest that it was written
//! with, and its format is part of its first bytes.
//!
//! ```text
//! head     [`Head`], 64 bytes
//! keys     unit (16 bytes), part (2), time of observation (8), for each point
//! exact    the vectors as f32
//! codes    the vectors as bytes
//! steps    the factor of each vector between bytes and numbers
//! words    terms (4 bytes each), end of the postings of each (4), postings: slot (4) and weight (4)
//! pieces   the same
//! ```

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use domain::id::UnitId;
use uuid::Uuid;

use crate::embedded::mapped_files::{FileFolder, MappedFile};
use crate::embedded::store::INDEX_FOLDER;

/// The first bytes of an image: its format.
const FORMAT: [u8; 8] = *b"MNEMPTS1";
const KEY_BYTES: usize = 26;
/// Ending of the name of an image.
const ENDING: &str = "points";

/// Returns the folder with the images of the database file `database`.
pub(super) fn image_folder(database: &Path) -> FileFolder {
    FileFolder::next_to(database, INDEX_FOLDER, ENDING)
}

/// The numbers that the sizes of all sections follow from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Head {
    pub(super) dimension: usize,
    pub(super) points: usize,
    /// Bounds of the vectors, see [`super::dense_vectors::Dense`].
    pub(super) blur: f32,
    pub(super) length: f32,
    pub(super) words: ListCounts,
    pub(super) pieces: ListCounts,
}

/// Sizes of posting lists.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ListCounts {
    pub(super) terms: usize,
    pub(super) postings: usize,
}

/// The key of a point, and the time of its observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PointKey {
    pub(super) unit: UnitId,
    pub(super) part: u16,
    pub(super) observed_at: i64,
}

/// The sections of a mapped image.
pub(super) struct Image {
    pub(super) head: Head,
    pub(super) keys: Section,
    pub(super) exact: Section,
    pub(super) codes: Section,
    pub(super) steps: Section,
    pub(super) words: ListSections,
    pub(super) pieces: ListSections,
}

/// The sections of posting lists.
pub(super) struct ListSections {
    pub(super) terms: Section,
    pub(super) ends: Section,
    pub(super) postings: Section,
}

/// A part of a mapped image.
#[derive(Clone)]
pub(super) struct Section {
    file: Arc<MappedFile>,
    range: Range<usize>,
}

impl Section {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.file.bytes()[self.range.clone()]
    }

    /// Returns the section as items of `N` bytes.
    pub(super) fn items<const N: usize>(&self) -> &[[u8; N]] {
        self.bytes().as_chunks().0
    }
}

impl Head {
    const BYTES: usize = 64;

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&FORMAT)?;
        for count in [
            self.dimension,
            self.points,
            self.words.terms,
            self.words.postings,
            self.pieces.terms,
            self.pieces.postings,
        ] {
            out.write_all(&(count as u64).to_le_bytes())?;
        }
        out.write_all(&self.blur.to_le_bytes())?;
        out.write_all(&self.length.to_le_bytes())
    }

    fn read(bytes: &[u8]) -> Option<Head> {
        let numbers = bytes.strip_prefix(&FORMAT)?.get(..Head::BYTES - FORMAT.len())?;
        let (counts, bounds) = numbers.split_at(48);
        let count = |at: usize| usize::try_from(u64::from_le_bytes(counts.as_chunks().0[at])).ok();
        let bound = |at: usize| f32::from_le_bytes(bounds.as_chunks().0[at]);
        Some(Head {
            dimension: count(0)?,
            points: count(1)?,
            words: ListCounts {
                terms: count(2)?,
                postings: count(3)?,
            },
            pieces: ListCounts {
                terms: count(4)?,
                postings: count(5)?,
            },
            blur: bound(0),
            length: bound(1),
        })
    }
}

impl PointKey {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.unit.uuid().as_bytes())?;
        out.write_all(&self.part.to_le_bytes())?;
        out.write_all(&self.observed_at.to_le_bytes())
    }

    fn read(bytes: &[u8; KEY_BYTES]) -> PointKey {
        let (mut unit, mut part, mut observed_at) = ([0; 16], [0; 2], [0; 8]);
        unit.copy_from_slice(&bytes[..16]);
        part.copy_from_slice(&bytes[16..18]);
        observed_at.copy_from_slice(&bytes[18..]);
        PointKey {
            unit: UnitId::from_uuid(Uuid::from_bytes(unit)),
            part: u16::from_le_bytes(part),
            observed_at: i64::from_le_bytes(observed_at),
        }
    }
}

impl Image {
    /// Finds the sections of an image; `None` if the file is of another format or has another size.
    pub(super) fn from_file(file: &Arc<MappedFile>) -> Option<Image> {
        let head = Head::read(file.bytes())?;
        let mut end = Head::BYTES;
        let mut next = |count: usize, bytes: usize| {
            let start = end;
            end = end.checked_add(count.checked_mul(bytes)?)?;
            Some(Section {
                file: Arc::clone(file),
                range: start..end,
            })
        };
        let (points, numbers) = (head.points, head.points.checked_mul(head.dimension)?);
        let lists = |counts: ListCounts, next: &mut dyn FnMut(usize, usize) -> Option<Section>| {
            Some(ListSections {
                terms: next(counts.terms, 4)?,
                ends: next(counts.terms, 4)?,
                postings: next(counts.postings, 8)?,
            })
        };
        let image = Image {
            head,
            keys: next(points, KEY_BYTES)?,
            exact: next(numbers, 4)?,
            codes: next(numbers, 1)?,
            steps: next(points, 4)?,
            words: lists(head.words, &mut next)?,
            pieces: lists(head.pieces, &mut next)?,
        };
        (end == file.bytes().len()).then_some(image)
    }

    /// Returns the keys of the points, by slot.
    pub(super) fn point_keys(&self) -> impl Iterator<Item = PointKey> {
        self.keys.items().iter().map(PointKey::read)
    }
}
