//! Folders and files that only the user who runs Mnemic may read.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a file that only this user may read, and returns it open for writing.
///
/// # Errors
/// `AlreadyExists` if there is one; what the system says otherwise.
pub fn create_private(path: &Path) -> io::Result<File> {
    options().write(true).create_new(true).open(path)
}

/// Returns options under which a file is created with the mode 0600.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a folder with those above it, or takes from one that exists what others may do there.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        tighten(path);
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Takes from a file or folder what group and others may do with it. A folder that all may write to, as /tmp, stays as it is.
/// A failure is logged: the volume of a container often belongs to another user, and works all the same.
#[cfg(unix)]
pub(crate) fn tighten(path: &Path) {
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
        tracing::warn!(path = %path.display(), %error, "others may read what the memory holds");
    }
}

/// Does nothing: other systems have no modes.
#[cfg(not(unix))]
pub(crate) fn tighten(_: &Path) {}

/// Waits until the names in a folder are on disk.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // An empty path is what `parent` returns for a bare name.
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    File::open(path)?.sync_all()
}
