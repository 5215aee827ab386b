//! Consecutive turns of a conversation.

use eval::data::{Conversation, Turn};

/// Consecutive turns of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    /// The conversation.
    pub conversation: &'a Conversation,
    /// The turns; never empty.
    pub turns: &'a [Turn],
}
