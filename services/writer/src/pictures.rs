//! Vision: pictures are described by a language model. Here are prompt, call, caption, and the records that show it.

pub(crate) mod picture_caption;
pub(crate) mod picture_prompt;
pub(crate) mod picture_store;
