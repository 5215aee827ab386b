//! A temporary file for parts of a space's state that are not in use.
//!
//! Everything in it is encrypted with a key that is only in the memory of this process, and the file has no name. So
//! nothing in it can be read once the process has ended.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::warn;

/// Minimum size of a slot, in bytes.
const SLOT_MIN: u64 = 64;
/// Maximum size of a value, in bytes. Reading a larger one back for a single entry would take too long.
const VALUE_MAX: usize = 4 << 20;

/// The temporary file of one space.
pub struct SpillFile {
    slots: Mutex<Slots>,
    key: [u8; 32],
    is_writable: AtomicBool,
    is_damaged: AtomicBool,
    /// Number of bytes of the values that are in memory too.
    read_back: AtomicU64,
}

/// The file, and which parts of it are free.
#[derive(Debug)]
struct Slots {
    file: File,
    end: u64,
    /// Offsets of free slots, by size.
    free: BTreeMap<u64, Vec<u64>>,
    /// Number of writes so far. Each write has a nonce of its own.
    writes: u64,
    /// Number of bytes in use.
    used: u64,
}

/// A value in a [`SpillFile`]. Its place is free once the value is dropped.
#[derive(Debug)]
pub(crate) struct SpilledValue {
    file: Arc<SpillFile>,
    offset: u64,
    bytes: u32,
    nonce: u64,
    /// Digest of the bytes as written, before encryption.
    digest: u64,
}

/// Reasons why a value was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotWritten {
    /// The value is larger than [`VALUE_MAX`].
    TooLarge,
    /// The file could not be written.
    Failed,
}

impl SpillFile {
    /// Creates an empty file without a name in a folder. `key` must be random.
    ///
    /// # Errors
    ///
    /// The folder does not exist, or the file cannot be created.
    pub fn create_in(folder: &Path, key: [u8; 32]) -> io::Result<SpillFile> {
        let slots = Slots {
            file: tempfile::tempfile_in(folder)?,
            end: 0,
            free: BTreeMap::new(),
            writes: 0,
            used: 0,
        };
        Ok(SpillFile {
            slots: Mutex::new(slots),
            key,
            is_writable: AtomicBool::new(true),
            is_damaged: AtomicBool::new(false),
            read_back: AtomicU64::new(0),
        })
    }

    /// Returns true if a value could not be read back. The state of the space is then incomplete.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes of all values.
    pub fn used_bytes(&self) -> u64 {
        self.lock().used
    }

    /// Returns the number of bytes of the values that were read back and are in memory too.
    pub(crate) fn read_back_bytes(&self) -> u64 {
        self.read_back.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes of the values that are only in the file.
    pub(crate) fn moved_bytes(&self) -> u64 {
        self.used_bytes().saturating_sub(self.read_back_bytes())
    }

    /// Allows writing again after a failure, such as a full disk.
    pub(crate) fn retry_writing(&self) {
        self.is_writable.store(true, Ordering::Relaxed);
    }

    /// Writes a value. After a failure, nothing is written until [`SpillFile::retry_writing`] is called.
    pub(crate) fn write_value<T: Serialize>(self: &Arc<SpillFile>, value: &T) -> Result<SpilledValue, NotWritten> {
        if !self.is_writable.load(Ordering::Relaxed) {
            return Err(NotWritten::Failed);
        }
        let mut encoded = BoundedBytes::default();
        let written = encoded.write_value(value);
        if encoded.is_full {
            return Err(NotWritten::TooLarge);
        }
        written.and_then(|()| self.write_bytes(encoded.bytes)).map_err(|error| {
            self.is_writable.store(false, Ordering::Relaxed);
            warn!(%error, "parts of a large space stay in memory, because they cannot be written to a temporary file");
            NotWritten::Failed
        })
    }

    fn write_bytes(self: &Arc<SpillFile>, mut bytes: Vec<u8>) -> io::Result<SpilledValue> {
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        let mut slots = self.lock();
        let (offset, nonce) = (slots.reserve(length), slots.writes);
        let digest = digest_bytes(&bytes);
        self.apply_cipher(nonce, &mut bytes);
        let value = SpilledValue {
            file: Arc::clone(self),
            offset,
            bytes: length,
            nonce,
            digest,
        };
        let written = slots.file.seek(SeekFrom::Start(offset));
        let written = written.and_then(|_| slots.file.write_all(&bytes));
        // The value frees its slot when it is dropped.
        drop(slots);
        written.map(|()| value)
    }

    fn read_bytes(&self, value: &SpilledValue) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; value.bytes as usize];
        let mut slots = self.lock();
        slots.file.seek(SeekFrom::Start(value.offset))?;
        slots.file.read_exact(&mut bytes)?;
        drop(slots);
        self.apply_cipher(value.nonce, &mut bytes);
        if digest_bytes(&bytes) != value.digest {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        Ok(bytes)
    }

    /// Encrypts bytes, or decrypts them.
    fn apply_cipher(&self, nonce: u64, bytes: &mut [u8]) {
        let mut iv = [0; 12];
        iv[..8].copy_from_slice(&nonce.to_le_bytes());
        ChaCha20::new(&self.key.into(), &iv.into()).apply_keystream(bytes);
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    /// Returns the offset of a slot for this number of bytes.
    fn reserve(&mut self, bytes: u32) -> u64 {
        self.writes += 1;
        self.used += u64::from(bytes);
        let size = slot_size(bytes);
        if let Some(offset) = self.free.get_mut(&size).and_then(Vec::pop) {
            return offset;
        }
        let offset = self.end;
        self.end += size;
        offset
    }

    fn release(&mut self, offset: u64, bytes: u32) {
        self.used -= u64::from(bytes);
        self.free.entry(slot_size(bytes)).or_default().push(offset);
    }
}

impl SpilledValue {
    /// Reads the value back. Returns none if that fails, and marks the file as damaged.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        let bytes = self.file.read_bytes(self);
        let value = bytes.and_then(|it| rmp_serde::from_slice(&it).map_err(io::Error::other));
        value
            .inspect_err(|error| {
                self.file.is_damaged.store(true, Ordering::Relaxed);
                warn!(%error, "a part of a large space cannot be read back from a temporary file");
            })
            .ok()
    }
}

/// Counts a value as read back, as long as its content is in memory.
#[derive(Debug)]
pub(crate) struct ReadBack(Arc<SpilledValue>);

impl ReadBack {
    pub(crate) fn new(value: &Arc<SpilledValue>) -> ReadBack {
        value
            .file
            .read_back
            .fetch_add(u64::from(value.bytes), Ordering::Relaxed);
        ReadBack(Arc::clone(value))
    }
}

impl Clone for ReadBack {
    fn clone(&self) -> ReadBack {
        ReadBack::new(&self.0)
    }
}

impl Drop for ReadBack {
    fn drop(&mut self) {
        let ReadBack(value) = self;
        value
            .file
            .read_back
            .fetch_sub(u64::from(value.bytes), Ordering::Relaxed);
    }
}

impl fmt::Debug for SpillFile {
    /// Leaves out the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpillFile").finish_non_exhaustive()
    }
}

impl Drop for SpilledValue {
    fn drop(&mut self) {
        self.file.lock().release(self.offset, self.bytes);
    }
}

/// Returns the size of a slot for this number of bytes: at most an eighth more than needed, so that there are few sizes.
fn slot_size(bytes: u32) -> u64 {
    let bytes = u64::from(bytes);
    let step = (bytes.next_power_of_two() / 16).max(SLOT_MIN);
    bytes.div_ceil(step).max(1) * step
}

fn digest_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// The bytes of a value, at most [`VALUE_MAX`].
#[derive(Default)]
struct BoundedBytes {
    bytes: Vec<u8>,
    /// True if there were more bytes.
    is_full: bool,
}

impl BoundedBytes {
    fn write_value<T: Serialize>(&mut self, value: &T) -> io::Result<()> {
        // By name, because some types leave out fields with default values.
        let mut serializer = rmp_serde::Serializer::new(self).with_struct_map();
        value.serialize(&mut serializer).map_err(io::Error::other)
    }
}

impl Write for BoundedBytes {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + part.len() > VALUE_MAX {
            self.is_full = true;
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
impl SpillFile {
    /// Creates an empty file in a temporary folder, which is removed when it is dropped.
    pub(crate) fn create_for_test() -> (tempfile::TempDir, Arc<SpillFile>) {
        let folder = tempfile::tempdir().unwrap();
        let file = SpillFile::create_in(folder.path(), [7; 32]).unwrap();
        (folder, Arc::new(file))
    }

    /// Removes all bytes of the file.
    pub(crate) fn damage(&self) {
        self.lock().file.set_len(0).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of_file(file: &SpillFile) -> Vec<u8> {
        let mut slots = file.lock();
        let mut bytes = Vec::new();
        slots.file.seek(SeekFrom::Start(0)).unwrap();
        slots.file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn values_are_read_back_and_places_are_used_again() {
        let (_folder, file) = SpillFile::create_for_test();
        let texts: Vec<String> = (0..300).map(|it| "x".repeat(it * 7)).collect();
        let written: Vec<SpilledValue> = texts.iter().map(|it| file.write_value(it).unwrap()).collect();
        let end = file.lock().end;
        assert!(
            written
                .iter()
                .zip(&texts)
                .all(|(value, text)| value.read::<String>().as_ref() == Some(text))
        );
        drop(written);
        assert_eq!(file.used_bytes(), 0);
        let again: Vec<SpilledValue> = texts.iter().rev().map(|it| file.write_value(it).unwrap()).collect();
        assert_eq!(file.lock().end, end);
        assert_eq!(again[299].read::<String>().as_deref(), Some(""));
        assert!(!file.is_damaged());
    }

    #[test]
    fn a_slot_is_at_most_an_eighth_larger_than_its_value() {
        for bytes in (0..5_000).chain([1 << 20, (1 << 20) + 1, u32::MAX]) {
            let (size, bytes) = (slot_size(bytes), u64::from(bytes));
            assert!(
                size >= bytes.max(1) && size <= bytes + bytes / 8 + SLOT_MIN,
                "{size} for {bytes}"
            );
        }
    }

    #[test]
    fn the_file_has_no_name_and_no_readable_text() {
        let (folder, file) = SpillFile::create_for_test();
        let text = "Ann moved to Graz".repeat(20);
        let [one, two] = [(); 2].map(|()| file.write_value(&text).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let bytes = bytes_of_file(&file);
        assert!(bytes.len() >= text.len() && !bytes.windows(4).any(|it| it == b"Graz"));
        let at = |it: &SpilledValue| it.offset as usize..it.offset as usize + it.bytes as usize;
        assert_ne!(bytes[at(&one)], bytes[at(&two)], "each write has a nonce of its own");
    }

    #[test]
    fn a_value_that_is_too_large_stays_in_memory() {
        let (_folder, file) = SpillFile::create_for_test();
        let large = "x".repeat(VALUE_MAX + 1);
        assert_eq!(file.write_value(&large).unwrap_err(), NotWritten::TooLarge);
        assert!(file.write_value(&&large[..VALUE_MAX - 9]).is_ok());
    }

    #[test]
    fn a_value_that_cannot_be_read_marks_the_file() {
        let (_folder, file) = SpillFile::create_for_test();
        let value = file.write_value(&"some text").unwrap();
        assert_eq!(value.read::<String>().as_deref(), Some("some text"));
        let mut slots = file.lock();
        slots.file.seek(SeekFrom::Start(value.offset + 2)).unwrap();
        slots.file.write_all(b"?").unwrap();
        drop(slots);
        assert_eq!(value.read::<String>(), None);
        assert!(file.is_damaged());
        assert!(!format!("{file:?}").contains('7'), "the key is not shown");
    }
}
