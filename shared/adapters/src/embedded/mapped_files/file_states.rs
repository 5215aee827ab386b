//! Which files of a folder are in use, and how the outdated ones are destroyed: by a call, or by a thread after their
//! last reader. The thread spares readers, which may be on a thread of the async runtime, the wait for the disk.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

use super::{CHUNK, MappedFile};

/// What a folder shares with the readers and writers of its files.
#[derive(Default)]
pub(super) struct FolderFiles {
    states: Mutex<FileStates>,
    /// Held while outdated files are destroyed, so that a call also waits for the file that the thread destroys.
    turn: Mutex<()>,
}

/// What is known of the files of a folder, by the path of the complete file. No mapped file is dropped while this is
/// locked.
#[derive(Default)]
pub(super) struct FileStates {
    pub(super) mapped: HashMap<PathBuf, Weak<MappedFile>>,
    pub(super) writing: HashSet<PathBuf>,
    /// Files that are still to be destroyed. Some of them may be incomplete files.
    pub(super) outdated: HashSet<PathBuf>,
    destroyer: Destroyer,
}

/// The thread that destroys outdated files after their last reader.
#[derive(Default)]
enum Destroyer {
    #[default]
    NotStarted,
    Running {
        paths: Sender<PathBuf>,
        thread: JoinHandle<()>,
    },
    Closed,
}

impl FileStates {
    /// Returns true if a file is mapped or being written.
    fn is_in_use(&self, path: &Path) -> bool {
        let is_mapped = self.mapped.get(path).is_some_and(|it| it.strong_count() > 0);
        is_mapped || self.writing.contains(path)
    }

    /// Returns true if a file is outdated and not in use. It stays so, because an outdated file cannot be mapped.
    fn is_to_destroy(&self, path: &Path) -> bool {
        self.outdated.contains(path) && !self.is_in_use(path)
    }
}

impl FolderFiles {
    pub(super) fn lock(&self) -> MutexGuard<'_, FileStates> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no outdated file is being destroyed, and prevents that another one is.
    pub(super) fn lock_turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread that destroys files after their last reader, unless it runs or the folder is closed.
    ///
    /// # Errors
    ///
    /// The error of the system if it allows no further thread.
    pub(super) fn start_destroyer(self: &Arc<Self>) -> io::Result<()> {
        let mut states = self.lock();
        if !matches!(states.destroyer, Destroyer::NotStarted) {
            return Ok(());
        }
        let (paths, waiting) = channel::<PathBuf>();
        let files = Arc::clone(self);
        let destroy = move || waiting.into_iter().for_each(|it| files.destroy_handed_over(&it));
        let thread = std::thread::Builder::new()
            .name("mnemic-files".to_owned())
            .spawn(destroy)?;
        states.destroyer = Destroyer::Running { paths, thread };
        Ok(())
    }

    /// Hands a file over to the thread if it is outdated and not in use. Does not wait for the disk. After the folder
    /// was closed, the file stays.
    pub(super) fn hand_over(&self, path: &Path) {
        let states = self.lock();
        if let Destroyer::Running { paths, .. } = &states.destroyer
            && states.is_to_destroy(path)
        {
            // If the thread has panicked, the file stays outdated, and the next call destroys it.
            let _ = paths.send(path.to_owned());
        }
    }

    /// Destroys the outdated files that are not in use, also those that were handed over.
    ///
    /// # Errors
    ///
    /// The first error of the system, after all other files were tried; or an error if the folder was closed.
    pub(super) fn destroy_outdated(&self) -> io::Result<()> {
        let _turn = self.lock_turn();
        let states = self.lock();
        if matches!(states.destroyer, Destroyer::Closed) {
            return Err(io::Error::other("the folder was closed"));
        }
        let paths: Vec<PathBuf> = states.outdated.iter().cloned().collect();
        drop(states);
        let mut result = Ok(());
        for path in paths {
            let destroyed = self.destroy_if_unused(&path);
            result = result.and(destroyed);
        }
        result
    }

    /// Waits until the files that were handed over, and those of a call that is running, are destroyed. No outdated
    /// file is destroyed afterwards.
    pub(super) fn close(&self) {
        let destroyer = std::mem::replace(&mut self.lock().destroyer, Destroyer::Closed);
        if let Destroyer::Running { paths, thread } = destroyer {
            drop(paths);
            if thread.join().is_err() {
                tracing::error!("the thread that destroys outdated files has panicked");
            }
        }
        drop(self.lock_turn());
    }

    fn destroy_handed_over(&self, path: &Path) {
        let _turn = self.lock_turn();
        if let Err(error) = self.destroy_if_unused(path) {
            tracing::warn!(path = %path.display(), %error, "an outdated file could not be destroyed");
        }
    }

    /// Destroys a file if it is outdated and not in use. The caller holds the turn.
    fn destroy_if_unused(&self, path: &Path) -> io::Result<()> {
        let is_to_destroy = self.lock().is_to_destroy(path);
        if is_to_destroy {
            destroy_file(path)?;
            self.lock().outdated.remove(path);
        }
        Ok(())
    }
}

/// Overwrites a file with zeros and removes it, since it may hold what was erased. A file that does not exist is
/// destroyed already.
pub(super) fn destroy_file(path: &Path) -> io::Result<()> {
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
