//! The files of the images. They are private to the process that has locked the data folder.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use memmap2::Mmap;
use sha2::{Digest, Sha256};

use crate::embedded::store::{INDEX_FOLDER, free_bytes};
use crate::process::mapped_file::map_file;
use crate::process::private_files;

/// Ending of the name of a complete file.
const COMPLETE: &str = "points";
/// Ending of the name of a file that is being written.
const PARTIAL: &str = "partial";
/// Number of bytes that must remain on the disk when an image is written.
const ROOM: u64 = 256 << 20;
/// Number of bytes that are read or written at once.
const CHUNK: usize = 1 << 20;

/// The number of an image. Numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ImageId(pub(super) i64);

/// The SHA-256 digest of a file.
pub(super) type ImageDigest = [u8; 32];

/// The folder with the files of all images.
pub(super) struct ImageFolder {
    path: PathBuf,
    /// The files that are mapped at the moment. A file is mapped, and put out of reach of a mapping, under this lock.
    mapped: Mutex<HashMap<ImageId, Weak<ImageFile>>>,
    /// Outdated files that could not be destroyed yet.
    leftovers: Arc<Mutex<HashSet<PathBuf>>>,
}

/// A file that is mapped into memory.
pub(super) struct ImageFile {
    path: PathBuf,
    bytes: Mmap,
    /// True if the digest of the file is known to be right.
    is_verified: AtomicBool,
    /// True if the file is to be destroyed after its last reader.
    is_outdated: AtomicBool,
    leftovers: Arc<Mutex<HashSet<PathBuf>>>,
}

impl ImageFolder {
    /// Returns the folder of the database file `database`. It is created with the first image.
    pub(super) fn of_database(database: &Path) -> ImageFolder {
        ImageFolder {
            path: database.with_file_name(INDEX_FOLDER),
            mapped: Mutex::default(),
            leftovers: Arc::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes an image of at most `bytes_max` bytes, which appears only when it is complete. Returns its digest.
    ///
    /// # Errors
    ///
    /// `StorageFull` if it would leave little room on the disk; otherwise the error of `write` or of the system.
    /// Nothing remains of the file.
    pub(super) fn write_image(
        &self,
        id: ImageId,
        bytes_max: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<ImageDigest> {
        private_files::create_private_folder(&self.path)?;
        if free_bytes(&self.path)? < bytes_max.saturating_add(ROOM) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let partial = self.file_path(id, PARTIAL);
        let written = || {
            let digested = DigestedFile {
                file: private_files::create_private(&partial)?,
                digest: Sha256::new(),
            };
            let mut out = BufWriter::with_capacity(CHUNK, digested);
            write(&mut out)?;
            let DigestedFile { file, digest } = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            // What the disk cannot take must be known before the file is used in place of memory.
            file.sync_data()?;
            fs::rename(&partial, self.file_path(id, COMPLETE))?;
            Ok(digest.finalize().into())
        };
        let written = written();
        if written.is_err() && partial.exists() {
            destroy_file(&partial)?;
        }
        written
    }

    /// Maps an image whose digest was computed by [`ImageFolder::write_image`] just now.
    pub(super) fn map_written(&self, id: ImageId) -> io::Result<Arc<ImageFile>> {
        let file = self.map(id)?;
        file.is_verified.store(true, Ordering::Relaxed);
        Ok(file)
    }

    /// Maps an image.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the file does not have this digest; otherwise the error of the system.
    pub(super) fn map_verified(&self, id: ImageId, digest: &ImageDigest) -> io::Result<Arc<ImageFile>> {
        let image = self.map(id)?;
        if image.is_verified.load(Ordering::Relaxed) {
            return Ok(image);
        }
        // Through the mapping, every page would count as memory of the process.
        let mut file = File::open(&image.path)?;
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
        image.is_verified.store(true, Ordering::Relaxed);
        Ok(image)
    }

    /// Destroys the files of all other images: overwrites and removes them. One that is still read, by a search that
    /// began before, is destroyed after that.
    ///
    /// # Errors
    ///
    /// The error of the system if a file without readers remains.
    pub(super) fn keep_only(&self, live: &[ImageId]) -> io::Result<()> {
        lock_paths(&self.leftovers).extend(self.take_outdated_files(live)?);
        self.destroy_leftovers()
    }

    /// Destroys the files that could not be destroyed when they became outdated.
    ///
    /// # Errors
    ///
    /// The error of the system if a file remains.
    pub(super) fn destroy_leftovers(&self) -> io::Result<()> {
        let paths: Vec<PathBuf> = lock_paths(&self.leftovers).iter().cloned().collect();
        for path in paths {
            destroy_file(&path)?;
            lock_paths(&self.leftovers).remove(&path);
        }
        Ok(())
    }

    /// Returns the files of all other images that have no reader, renamed so that they cannot be mapped.
    fn take_outdated_files(&self, live: &[ImageId]) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        // Handles of files that are still read. If one of them is the last, it is dropped after the lock.
        let mut still_read = Vec::new();
        let mapped = self.lock_mapped();
        let mut outdated = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let id = path.file_stem().and_then(|it| it.to_str()?.parse().ok()).map(ImageId);
            let is_file = fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
            let (Some(id), true) = (id, is_file) else { continue };
            if path.extension().is_some_and(|it| it == PARTIAL) {
                outdated.push(path);
            } else if path.extension().is_some_and(|it| it == COMPLETE) && !live.contains(&id) {
                match mapped.get(&id).and_then(Weak::upgrade) {
                    Some(file) => {
                        file.is_outdated.store(true, Ordering::Relaxed);
                        still_read.push(file);
                    }
                    None => {
                        let partial = self.file_path(id, PARTIAL);
                        match fs::rename(&path, &partial) {
                            Ok(()) => outdated.push(partial),
                            // Its last reader has destroyed it.
                            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                            Err(error) => return Err(error),
                        }
                    }
                }
            }
        }
        Ok(outdated)
    }

    fn map(&self, id: ImageId) -> io::Result<Arc<ImageFile>> {
        let mut mapped = self.lock_mapped();
        if let Some(file) = mapped.get(&id).and_then(Weak::upgrade) {
            return Ok(file);
        }
        let path = self.file_path(id, COMPLETE);
        let file = Arc::new(ImageFile {
            bytes: map_file(&File::open(&path)?)?,
            path,
            is_verified: AtomicBool::new(false),
            is_outdated: AtomicBool::new(false),
            leftovers: Arc::clone(&self.leftovers),
        });
        mapped.retain(|_, it| it.strong_count() > 0);
        mapped.insert(id, Arc::downgrade(&file));
        Ok(file)
    }

    fn lock_mapped(&self) -> MutexGuard<'_, HashMap<ImageId, Weak<ImageFile>>> {
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file_path(&self, id: ImageId, ending: &str) -> PathBuf {
        self.path.join(format!("{}.{ending}", id.0))
    }
}

impl ImageFile {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for ImageFile {
    fn drop(&mut self) {
        if *self.is_outdated.get_mut()
            && let Err(error) = destroy_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "an outdated file of the index could not be destroyed");
            lock_paths(&self.leftovers).insert(self.path.clone());
        }
    }
}

fn lock_paths(paths: &Mutex<HashSet<PathBuf>>) -> MutexGuard<'_, HashSet<PathBuf>> {
    paths.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Overwrites a file with zeros and removes it, since it may hold what was erased. A file that does not exist is
/// destroyed already.
fn destroy_file(path: &Path) -> io::Result<()> {
    let overwrite = || {
        let mut file = File::options().write(true).open(path)?;
        let (mut left, zeros) = (file.metadata()?.len(), vec![0; CHUNK]);
        while left > 0 {
            let count = left.min(CHUNK as u64);
            file.write_all(&zeros[..count as usize])?;
            left -= count;
        }
        file.sync_data()
    };
    let destroyed = overwrite().and_then(|()| fs::remove_file(path));
    match destroyed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
