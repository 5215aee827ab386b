//! Frames in streams: names, form, storage and dead letters.

pub(super) mod dead_letters;
pub(super) mod stream_operations;
