//! Files in memory.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps a whole file for reading. The system reads a page when it is first used, and may drop it at any time.
///
/// The file must not be changed or shortened while the mapping is read. If it is shortened, the process ends with
/// `SIGBUS`.
///
/// # Errors
///
/// The error of the system.
pub(crate) fn map_file(file: &File) -> io::Result<Mmap> {
    #[expect(unsafe_code, reason = "a mapped file is memory that others could change")]
    // SAFETY: callers map only complete files of a locked data folder. Such a file is overwritten only when it is
    // outdated and its last reader has dropped it; an outdated file cannot be mapped again.
    unsafe {
        Mmap::map(file)
    }
}
