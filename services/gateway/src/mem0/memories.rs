//! Memories: written, changed, listed, searched and exported.

pub(super) mod add;
pub(super) mod change;
pub(super) mod export;
pub(super) mod gather;
pub(super) mod history;
pub(super) mod list;
pub(super) mod locate;
pub(super) mod search;
