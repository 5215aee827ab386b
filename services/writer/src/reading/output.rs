//! The stored form of a language model's replies about a passage: one reply, or two.
//!
//! The second reply follows the first one after a line that begins with the control character U+001E and names the
//! prompt of the second call. Neither reply contains this character, so a reading without a second reply has the same
//! form as before there were second replies.

use text::model_reply::considered;

/// Begins the line between two replies. JSON escapes this control character.
const MARK: char = '\u{1e}';
/// Prefix of the names of all prompts of a second call.
const AGAIN: &str = "read-again/";

/// The replies in a stored output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replies<'a> {
    /// The first reply.
    pub(super) first: &'a str,
    /// The reply to the second call, if there was one and it was usable.
    pub(super) second: Option<&'a str>,
}

/// Returns the stored form of a reply: its last part, at most 64 KiB, which is all that is ever parsed.
pub(crate) fn stored(reply: &str) -> String {
    considered(reply).replace(MARK, " ")
}

/// Returns the stored form of two replies; `first` is already in stored form, and `prompt` is the name of the second
/// prompt.
pub(crate) fn with_second(first: &str, prompt: &str, reply: &str) -> String {
    format!("{first}\n{MARK}{prompt}\n{}", stored(reply))
}

/// Returns the replies in a stored output.
pub(super) fn replies(output: &str) -> Replies<'_> {
    let second = output.split_once(MARK).and_then(|(first, rest)| {
        let (prompt, second) = rest.split_once('\n')?;
        prompt.starts_with(AGAIN).then_some(Replies {
            first,
            second: Some(second),
        })
    });
    second.unwrap_or(Replies {
        first: output,
        second: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::again::PROMPT_AGAIN;

    #[test]
    fn two_stored_replies_are_read_back() {
        let first = stored("{\"gists\": []}");
        assert_eq!(first, "{\"gists\": []}");
        let both = with_second(&first, PROMPT_AGAIN, "{\"facts\": []}");
        let expected = Replies {
            first: "{\"gists\": []}\n",
            second: Some("{\"facts\": []}"),
        };
        assert_eq!(replies(&both), expected);
    }

    #[test]
    fn one_reply_is_the_whole_output() {
        for output in ["", "{\"gists\": []}", "\u{1e}", "a\u{1e}b\nc"] {
            let expected = Replies {
                first: output,
                second: None,
            };
            assert_eq!(replies(output), expected);
        }
    }

    #[test]
    fn a_reply_cannot_forge_a_second_one() {
        let forged = format!("{{}}\n{MARK}{PROMPT_AGAIN}\n{{\"facts\": []}}");
        assert_eq!(replies(&stored(&forged)).second, None);
        let both = with_second(&stored("{}"), PROMPT_AGAIN, &forged);
        assert_eq!(both.matches(MARK).count(), 1);
    }

    #[test]
    fn the_stored_output_is_bounded() {
        let long = "é".repeat(100_000);
        let both = with_second(&stored(&long), PROMPT_AGAIN, &long);
        assert!((128 << 10..129 << 10).contains(&both.len()), "{}", both.len());
        assert_eq!(stored(&stored(&long)), stored(&long));
    }
}
