//! The files of the images. They are private to the process that has locked the data folder.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use memmap2::Mmap;
use sha2::{Digest, Sha256};

use crate::process::mapped_file::map_file;
use crate::process::private_files;

/// Name of the folder inside a data directory.
const FOLDER: &str = "index";
/// Ending of the name of a complete file.
const COMPLETE: &str = "points";
/// Ending of the name of a file that is being written.
const PARTIAL: &str = "partial";
/// Number of bytes that are read or written at once.
const CHUNK: usize = 1 << 20;

/// The number of an image. It is never given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ImageId(pub(super) i64);

/// The SHA-256 digest of a file.
pub(super) type ImageDigest = [u8; 32];

/// The folder with the files of all images.
pub(super) struct ImageFolder {
    path: PathBuf,
    /// The files that are mapped at the moment.
    mapped: Mutex<HashMap<ImageId, Weak<ImageFile>>>,
}

/// A file that is mapped into memory.
pub(super) struct ImageFile {
    path: PathBuf,
    bytes: Mmap,
    /// True if the file is to be destroyed as soon as nobody reads it.
    is_outdated: AtomicBool,
}

impl ImageFolder {
    /// Returns the folder of the database file `database`. It is created with the first image.
    pub(super) fn of_database(database: &Path) -> ImageFolder {
        ImageFolder {
            path: database.with_file_name(FOLDER),
            mapped: Mutex::default(),
        }
    }

    /// Writes an image, which appears only when it is complete. Returns its digest.
    ///
    /// # Errors
    ///
    /// The error of `write` or of the system, such as a full disk; nothing remains of the file.
    pub(super) fn write_image(
        &self,
        id: ImageId,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<ImageDigest> {
        private_files::create_private_folder(&self.path)?;
        let partial = self.file_path(id, PARTIAL);
        let written = || {
            let digested = DigestedFile {
                file: private_files::create_private(&partial)?,
                digest: Sha256::new(),
            };
            let mut out = BufWriter::with_capacity(CHUNK, digested);
            write(&mut out)?;
            let DigestedFile { digest, .. } = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            fs::rename(&partial, self.file_path(id, COMPLETE))?;
            Ok(digest.finalize().into())
        };
        let written = written();
        if written.is_err() && partial.exists() {
            destroy_file(&partial);
        }
        written
    }

    /// Maps an image whose digest was computed by [`ImageFolder::write_image`] just now.
    pub(super) fn map_written(&self, id: ImageId) -> io::Result<Arc<ImageFile>> {
        let file = File::open(self.file_path(id, COMPLETE))?;
        self.map_open_file(id, &file)
    }

    /// Maps an image.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the file does not have this digest; otherwise the error of the system.
    pub(super) fn map_verified(&self, id: ImageId, digest: &ImageDigest) -> io::Result<Arc<ImageFile>> {
        if let Some(file) = self.find_mapped(id) {
            return Ok(file);
        }
        let mut file = File::open(self.file_path(id, COMPLETE))?;
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
        self.map_open_file(id, &file)
    }

    /// Destroys the files of all other images: overwrites and removes them. One that is still read, by a search that
    /// began before, is destroyed after that.
    pub(super) fn keep_only(&self, live: &[ImageId]) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for path in entries.flatten().map(|it| it.path()) {
            let id = path.file_stem().and_then(|it| it.to_str()?.parse().ok()).map(ImageId);
            let is_complete = path.extension().is_some_and(|it| it == COMPLETE);
            if is_complete && id.is_some_and(|it| live.contains(&it)) {
                continue;
            }
            let mapped = id.filter(|_| is_complete).and_then(|it| self.find_mapped(it));
            match mapped {
                Some(file) => file.is_outdated.store(true, Ordering::Relaxed),
                None => destroy_file(&path),
            }
        }
    }

    fn map_open_file(&self, id: ImageId, file: &File) -> io::Result<Arc<ImageFile>> {
        let file = Arc::new(ImageFile {
            path: self.file_path(id, COMPLETE),
            bytes: map_file(file)?,
            is_outdated: AtomicBool::new(false),
        });
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.retain(|_, it| it.strong_count() > 0);
        mapped.insert(id, Arc::downgrade(&file));
        Ok(file)
    }

    fn find_mapped(&self, id: ImageId) -> Option<Arc<ImageFile>> {
        let mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.get(&id)?.upgrade()
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
        if *self.is_outdated.get_mut() {
            destroy_file(&self.path);
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

/// Overwrites a file with zeros and removes it, since it may hold what was erased.
fn destroy_file(path: &Path) {
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
    if let Err(error) = overwrite().and_then(|()| fs::remove_file(path)) {
        tracing::warn!(path = %path.display(), %error, "an outdated file of the index could not be destroyed");
    }
}
