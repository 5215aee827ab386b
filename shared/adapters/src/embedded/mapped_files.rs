//! Files that are written once, then mapped into memory: the images of the index, and the blocks of units. They are
//! private to the process that has locked the data folder. The database says which of them are live. Any other file is
//! outdated: it cannot be mapped any more, and is destroyed as soon as its last reader has dropped it.

mod file_states;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use memmap2::Mmap;
use sha2::{Digest, Sha256};

use crate::process::disk_space::free_bytes;
use crate::process::mapped_file::map_file;
use crate::process::private_files;
use file_states::{FolderFiles, destroy_file};

/// Ending of the name of a file that is being written.
const PARTIAL: &str = "partial";
/// Number of bytes that must remain on the disk when a file is written.
const ROOM: u64 = 256 << 20;
/// Number of bytes that are read or written at once.
const CHUNK: usize = 1 << 20;

/// The number of a file in its folder. Numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FileNumber(pub(super) i64);

/// The SHA-256 digest of a file.
pub(super) type FileDigest = [u8; 32];

/// A folder with files of one kind. Dropping it waits until the outdated files whose readers have dropped them are
/// destroyed. A file that is still read then stays, and [`FileFolder::keep_only`] destroys it at the next start.
pub(super) struct FileFolder {
    path: PathBuf,
    /// Ending of the name of a complete file.
    ending: &'static str,
    files: Arc<FolderFiles>,
}

/// A file that is mapped into memory.
pub(super) struct MappedFile {
    path: PathBuf,
    bytes: Mmap,
    /// True if the digest of the file is known to be right.
    is_verified: AtomicBool,
    /// The files of its folder.
    files: Arc<FolderFiles>,
}

impl FileFolder {
    /// Returns the folder `name` next to the database file `database`. It is created with the first file. The names of
    /// complete files end with `ending`.
    pub(super) fn next_to(database: &Path, name: &str, ending: &'static str) -> FileFolder {
        FileFolder {
            path: database.with_file_name(name),
            ending,
            files: Arc::default(),
        }
    }

    /// Returns the path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder if it is missing, and checks that a file of `bytes_max` bytes leaves enough room on its disk.
    ///
    /// # Errors
    ///
    /// `StorageFull` if it would leave little room; otherwise the error of the system.
    pub(super) fn check_room(&self, bytes_max: u64) -> io::Result<()> {
        private_files::create_private_folder(&self.path)?;
        match free_bytes(&self.path)? < bytes_max.saturating_add(ROOM) {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }

    /// Writes a file of at most `bytes_max` bytes, which appears only when it is complete. Returns its digest.
    ///
    /// # Errors
    ///
    /// `StorageFull` if it would leave little room on the disk; otherwise the error of `write` or of the system.
    /// Nothing remains of the file.
    pub(super) fn write_file(
        &self,
        number: FileNumber,
        bytes_max: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<FileDigest> {
        self.check_room(bytes_max)?;
        let mut writing = WritingFile::of_folder(self, number);
        let digest = write_digested(writing.create()?, write)?;
        fs::rename(&writing.partial, &writing.complete)?;
        Ok(digest)
    }

    /// Maps a file whose digest was computed by [`FileFolder::write_file`] just now.
    ///
    /// # Errors
    ///
    /// `NotFound` if the file is outdated; otherwise the error of the system.
    pub(super) fn map_written(&self, number: FileNumber) -> io::Result<Arc<MappedFile>> {
        let file = self.map(number)?;
        file.is_verified.store(true, Ordering::Relaxed);
        Ok(file)
    }

    /// Maps a file.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the file does not have this digest, `NotFound` if it is missing or outdated; otherwise the
    /// error of the system.
    pub(super) fn map_verified(&self, number: FileNumber, digest: &FileDigest) -> io::Result<Arc<MappedFile>> {
        let mapped = self.map(number)?;
        if mapped.is_verified.load(Ordering::Relaxed) {
            return Ok(mapped);
        }
        // Through the mapping, every page would count as memory of the process.
        let mut file = File::open(&mapped.path)?;
        let (mut found, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
        loop {
            match file.read(&mut chunk)? {
                0 => break,
                count => found.update(&chunk[..count]),
            }
        }
        if found.finalize()[..] != digest[..] {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file was changed"));
        }
        mapped.is_verified.store(true, Ordering::Relaxed);
        Ok(mapped)
    }

    /// Makes all other files outdated, also incomplete ones, and destroys those that have no reader. Must not be called
    /// while a file is written.
    ///
    /// # Errors
    ///
    /// The error of the system if a file without readers remains.
    pub(super) fn keep_only(&self, live: &[FileNumber]) -> io::Result<()> {
        match fs::read_dir(&self.path) {
            Ok(entries) => {
                for entry in entries {
                    let path = entry?.path();
                    if self.is_outdated(&path, live) {
                        self.files.lock().outdated.insert(path);
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        self.destroy_outdated()
    }

    /// Makes files outdated. [`FileFolder::destroy_outdated`] destroys them.
    pub(super) fn set_outdated(&self, numbers: &[FileNumber]) {
        let paths = numbers.iter().map(|it| self.file_path(*it, self.ending));
        self.files.lock().outdated.extend(paths);
    }

    /// Returns true if an outdated file is not destroyed yet.
    pub(super) fn has_outdated(&self) -> bool {
        !self.files.lock().outdated.is_empty()
    }

    /// Returns true if a file is being written.
    pub(super) fn is_writing(&self) -> bool {
        !self.files.lock().writing.is_empty()
    }

    /// Destroys the outdated files: overwrites and removes them. Returns after every one of them that has no reader is
    /// destroyed. A file that is still mapped is destroyed by another thread as soon as its last reader has dropped it;
    /// one that is still being written stays outdated.
    ///
    /// # Errors
    ///
    /// The first error of the system if a file without readers remains; all others are destroyed. Also an error if the
    /// folder was closed.
    pub(super) fn destroy_outdated(&self) -> io::Result<()> {
        self.files.destroy_outdated()
    }

    /// Waits until the outdated files whose readers have dropped them are destroyed. No outdated file is destroyed
    /// afterwards.
    pub(super) fn close(&self) {
        self.files.close();
    }

    /// Returns true for a file of this folder that is incomplete or not live. Anything else in the folder, such as a
    /// link, is left alone.
    fn is_outdated(&self, path: &Path, live: &[FileNumber]) -> bool {
        let number = path
            .file_stem()
            .and_then(|it| it.to_str()?.parse().ok())
            .map(FileNumber);
        let is_file = fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
        let (Some(number), true) = (number, is_file) else {
            return false;
        };
        let ends_with = |ending: &str| path.extension().is_some_and(|it| it == ending);
        ends_with(PARTIAL) || (ends_with(self.ending) && !live.contains(&number))
    }

    fn map(&self, number: FileNumber) -> io::Result<Arc<MappedFile>> {
        // The thread destroys the file if it becomes outdated while it is mapped.
        self.files.start_destroyer()?;
        let path = self.file_path(number, self.ending);
        let mut states = self.files.lock();
        if states.outdated.contains(&path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if let Some(file) = states.mapped.get(&path).and_then(Weak::upgrade) {
            return Ok(file);
        }
        let bytes = map_file(&File::open(&path)?)?;
        let file = Arc::new(MappedFile {
            path: path.clone(),
            bytes,
            is_verified: AtomicBool::new(false),
            files: Arc::clone(&self.files),
        });
        states.mapped.retain(|_, it| it.strong_count() > 0);
        states.mapped.insert(path, Arc::downgrade(&file));
        Ok(file)
    }

    fn file_path(&self, number: FileNumber, ending: &str) -> PathBuf {
        self.path.join(format!("{}.{ending}", number.0))
    }
}

impl Drop for FileFolder {
    /// Outdated files may only be destroyed while the data folder is locked.
    fn drop(&mut self) {
        self.close();
    }
}

impl MappedFile {
    /// Returns the content of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for MappedFile {
    /// Has the file destroyed by another thread if it is outdated, since this one may belong to the async runtime.
    fn drop(&mut self) {
        self.files.hand_over(&self.path);
    }
}

/// A file that is being written. If it is dropped before it has its complete name, what was written is destroyed.
struct WritingFile<'a> {
    folder: &'a FileFolder,
    complete: PathBuf,
    partial: PathBuf,
    is_created: bool,
}

impl WritingFile<'_> {
    fn of_folder(folder: &FileFolder, number: FileNumber) -> WritingFile<'_> {
        let complete = folder.file_path(number, folder.ending);
        folder.files.lock().writing.insert(complete.clone());
        WritingFile {
            folder,
            complete,
            partial: folder.file_path(number, PARTIAL),
            is_created: false,
        }
    }

    fn create(&mut self) -> io::Result<File> {
        let file = private_files::create_private(&self.partial)?;
        self.is_created = true;
        Ok(file)
    }
}

impl Drop for WritingFile<'_> {
    fn drop(&mut self) {
        let destroyed = match self.is_created {
            true => destroy_file(&self.partial),
            // What is in its place is not a file of this folder.
            false => Ok(()),
        };
        let mut states = self.folder.files.lock();
        states.writing.remove(&self.complete);
        if let Err(error) = destroyed {
            tracing::warn!(path = %self.partial.display(), %error, "an incomplete file could not be destroyed");
            states.outdated.insert(self.partial.clone());
        }
    }
}

/// A file with the digest of what was written to it.
struct DigestedFile {
    file: File,
    digest: Sha256,
}

impl Write for DigestedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a new file, waits until it is on the disk, and returns its digest.
fn write_digested(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<FileDigest> {
    let digested = DigestedFile {
        file,
        digest: Sha256::new(),
    };
    let mut out = BufWriter::with_capacity(CHUNK, digested);
    write(&mut out)?;
    let DigestedFile { file, digest } = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    // What the disk cannot take must be known before the file is used in place of memory.
    file.sync_data()?;
    Ok(digest.finalize().into())
}
