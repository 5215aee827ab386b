//! Folders and files that only the user of the process can read.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a file that only this user can read, and returns it open for writing.
///
/// # Errors
///
/// `AlreadyExists` if the file exists; otherwise the error of the system.
pub fn create_private(path: &Path) -> io::Result<File> {
    private_file_options().write(true).create_new(true).open(path)
}

/// Returns options that create files with mode 0600.
pub(crate) fn private_file_options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a folder and its parents for this user only. If the folder exists, removes the permissions of other users.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        restrict_permissions(path);
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes the permissions of group and others from a file or folder. A folder with the sticky bit, like /tmp, stays
/// unchanged. A failure is only logged: the volume of a container often belongs to another user, and still works.
#[cfg(unix)]
pub(crate) fn restrict_permissions(path: &Path) {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    const OTHERS: u32 = 0o077;
    const STICKY: u32 = 0o1000;
    let Ok(found) = std::fs::metadata(path) else { return };
    let mode = found.permissions().mode();
    if mode & OTHERS == 0 || mode & STICKY != 0 {
        return;
    }
    if let Err(error) = std::fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS)) {
        tracing::warn!(path = %path.display(), %error, "other users of this machine may read the memory");
    }
}

/// Does nothing: other systems have no modes.
#[cfg(not(unix))]
pub(crate) fn restrict_permissions(_: &Path) {}

/// Waits until the directory entries of a folder are on disk.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // `parent` returns an empty path for a bare name.
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    File::open(path)?.sync_all()
}
