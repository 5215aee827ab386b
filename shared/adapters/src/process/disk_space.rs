use std::io;
use std::path::Path;

/// Returns the disk space that is left for this process in the file system of a folder, in bytes.
///
/// # Errors
///
/// A folder that does not exist.
pub fn free_bytes(dir: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(dir)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}
