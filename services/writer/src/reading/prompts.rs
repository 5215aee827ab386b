//! The texts that a language model is shown.

pub(crate) mod prompt;
pub(crate) mod second_prompt;
