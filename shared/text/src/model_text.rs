//! Text from and for language models: fences around texts of users, and JSON in replies.

pub mod fence;
pub mod model_reply;
