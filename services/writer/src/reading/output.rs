//! What is stored of what a language model said about a passage: one reply, or two.
//!
//! A second reply follows the first one behind a line that begins with the control character U+001E and names the prompt of
//! the second call. Neither reply has that character, so a reading without a second reply reads as it always did.

use text::model_reply::considered;

/// Begins the line between two replies: a control character that JSON writes as an escape.
const MARK: char = '\u{1e}';
/// What the names of all prompts of a second call begin with.
const AGAIN: &str = "read-again/";

/// The replies of a stored output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replies<'a> {
    /// The first one.
    pub(super) first: &'a str,
    /// The one to the second call, if it was made and of use.
    pub(super) second: Option<&'a str>,
}

/// Returns what is stored of a reply: the end that is ever looked at, at most 64 KiB.
pub(crate) fn stored(reply: &str) -> String {
    considered(reply).replace(MARK, " ")
}

/// Returns what is stored of a first reply, as it is stored, and the reply to a second call with a prompt of this name.
pub(crate) fn with_second(first: &str, prompt: &str, reply: &str) -> String {
    format!("{first}\n{MARK}{prompt}\n{}", stored(reply))
}

/// Returns the replies of what is stored.
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
    fn two_replies_come_back_as_they_were_stored() {
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
    fn what_is_stored_is_bounded() {
        let long = "é".repeat(100_000);
        let both = with_second(&stored(&long), PROMPT_AGAIN, &long);
        assert!((128 << 10..129 << 10).contains(&both.len()), "{}", both.len());
        assert_eq!(stored(&stored(&long)), stored(&long));
    }
}
