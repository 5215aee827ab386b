//! Functions of the process itself: clock, disk space, heap, mapped files, thread priority, private files, secrets.

pub(crate) mod clock;
pub(crate) mod disk_space;
pub(crate) mod heap;
pub(crate) mod mapped_file;
pub(crate) mod priority;
pub(crate) mod private_files;
pub(crate) mod secret;
