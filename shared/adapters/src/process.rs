//! Functions of the process itself: clock, heap, thread priority, private files, secrets.

pub(crate) mod clock;
pub(crate) mod heap;
pub(crate) mod priority;
pub(crate) mod private_files;
pub(crate) mod secret;
