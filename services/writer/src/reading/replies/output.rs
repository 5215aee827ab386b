//! The stored form of a language model's replies about a passage: one reply, or two.
//!
//! The second reply follows the first one after a line that begins with the control character U+001E and names the
//! prompt of the second call. Neither reply contains this character, so a reading without a second reply has the same
//! form as before there were second replies.

use text::model_text::model_reply::tail_of_reply;

/// Begins the line between two replies. JSON escapes this control character.
const MARK: char = '\u{1e}';
/// Prefix of the names of all prompts of a second call.
const AGAIN: &str = "read-again/";

/// The replies in a stored output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Replies<'a> {
    /// The first reply.
    pub(crate) first: &'a str,
    /// The reply to the second call, if there was one and it was usable.
    pub(crate) second: Option<&'a str>,
}

/// Returns the stored form of a reply: its last part, at most 64 KiB, which is all that is ever parsed.
pub(crate) fn to_stored_form(reply: &str) -> String {
    tail_of_reply(reply).replace(MARK, " ")
}

/// Returns the stored form of two replies; `first` is already in stored form, and `prompt` is the name of the second
/// prompt.
pub(crate) fn with_second(first: &str, prompt: &str, reply: &str) -> String {
    format!("{first}\n{MARK}{prompt}\n{}", to_stored_form(reply))
}

/// Returns the replies in a stored output.
pub(crate) fn split_replies(output: &str) -> Replies<'_> {
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
    use crate::reading::prompts::second_prompt::PROMPT_AGAIN;

    #[test]
    fn stored_replies_can_be_read_again() {
        let first = to_stored_form("{\"gists\": []}");
        assert_eq!(first, "{\"gists\": []}");
        let both = with_second(&first, PROMPT_AGAIN, "{\"facts\": []}");
        let expected = Replies {
            first: "{\"gists\": []}\n",
            second: Some("{\"facts\": []}"),
        };
        assert_eq!(split_replies(&both), expected);
    }

    #[test]
    fn one_reply_is_the_whole_output() {
        for output in ["", "{\"gists\": []}", "\u{1e}", "a\u{1e}b\nc"] {
            let expected = Replies {
                first: output,
                second: None,
            };
            assert_eq!(split_replies(output), expected);
        }
    }

    #[test]
    fn a_reply_cannot_forge_a_second_one() {
        let forged = format!("{{}}\n{MARK}{PROMPT_AGAIN}\n{{\"facts\": []}}");
        assert_eq!(split_replies(&to_stored_form(&forged)).second, None);
        let both = with_second(&to_stored_form("{}"), PROMPT_AGAIN, &forged);
        assert_eq!(both.matches(MARK).count(), 1);
    }

    #[test]
    fn the_stored_output_is_bounded() {
        let long = "é".repeat(100_000);
        let both = with_second(&to_stored_form(&long), PROMPT_AGAIN, &long);
        assert!((128 << 10..129 << 10).contains(&both.len()), "{}", both.len());
        assert_eq!(to_stored_form(&to_stored_form(&long)), to_stored_form(&long));
    }
}
