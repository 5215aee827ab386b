//! Chunking of units: splits a text into parts that are compared as one piece each, and counts tokens.

use std::sync::LazyLock;

use tiktoken::CoreBpe;

use crate::split_sentences;

/// The vocabulary is part of the library, so it is always available.
static O200K: LazyLock<&'static CoreBpe> = LazyLock::new(|| {
    tiktoken::get_encoding("o200k_base").unwrap_or_else(|| panic!("the token counter comes without o200k_base"))
});

/// Number of tokens up to which a text stays one part.
const WHOLE: usize = 120;
/// Largest number of tokens of a part of a longer text.
const PART: usize = 90;

/// Returns the number of o200k tokens of a text.
pub fn count_tokens(text: &str) -> usize {
    O200K.count(text)
}

/// Returns the parts of a text. A text of at most 120 tokens is one part; a longer one is cut into parts of at most 90
/// tokens, at ends of sentences where possible. The parts are in order and leave out only white space; a blank text
/// gives one empty part.
pub fn split_into_parts(text: &str) -> Vec<&str> {
    let text = text.trim();
    // Each token has at least one byte.
    if text.len() <= WHOLE || count_tokens(text) <= WHOLE {
        return vec![text];
    }
    let mut out = Vec::new();
    let mut current: Option<(usize, usize)> = None;
    let mut size = 0;
    for piece in split_sentences(text).into_iter().flat_map(split_long_sentence) {
        let start = piece.as_ptr() as usize - text.as_ptr() as usize;
        let (end, cost) = (start + piece.len(), count_tokens(piece) + 1);
        match current {
            Some((from, _)) if size + cost <= PART => current = Some((from, end)),
            Some((from, to)) => {
                out.push(&text[from..to]);
                (current, size) = (Some((start, end)), 0);
            }
            None => current = Some((start, end)),
        }
        size += cost;
    }
    out.extend(current.map(|(from, to)| &text[from..to]));
    out
}

/// Cuts a sentence of more than 90 tokens at white space, or anywhere between characters if there is none.
fn split_long_sentence(sentence: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = sentence;
    while rest.len() >= PART && count_tokens(rest) >= PART {
        let end = find_fitting_end(rest);
        out.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() {
        out.push(rest);
    }
    out
}

/// Returns a character boundary in `text`, after at least one character, before which there are fewer than 90 tokens.
fn find_fitting_end(text: &str) -> usize {
    let mut end = floor_to_char_boundary(text, PART * 4);
    while count_tokens(&text[..end]) >= PART {
        end = floor_to_char_boundary(text, end * 3 / 4);
    }
    text[..end]
        .rfind(char::is_whitespace)
        .filter(|&it| it > end / 2)
        .unwrap_or(end)
}

fn floor_to_char_boundary(text: &str, at: usize) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.floor_char_boundary(at).max(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_are_short_and_lose_nothing(text in "(\\PC{0,40}|[a-z]{1,12}[ .!?]{1,2}){0,120}") {
            let parts = split_into_parts(&text);
            for part in &parts {
                prop_assert!(parts.len() == 1 || count_tokens(part) <= PART, "{} tokens", count_tokens(part));
            }
            let dense = |it: &str| it.chars().filter(|it| !it.is_whitespace()).collect::<String>();
            prop_assert_eq!(dense(&parts.concat()), dense(&text));
        }
    }
}
