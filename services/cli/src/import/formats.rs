//! The formats of other programs, and documents.

pub(super) mod chatgpt;
pub(super) mod claude;
pub(super) mod documents;
pub(super) mod format;
pub(super) mod memories;
pub(super) mod times;
