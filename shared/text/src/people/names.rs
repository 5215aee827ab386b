//! Named entity recognition by rule, without a model: the names in a text.

use crate::lexicon::{Class, is_in_class};
use crate::{is_stop, split_sentences};

/// Returns the names in a text, in order, as written: runs of capitalised words inside sentences. The first word of a
/// sentence counts only if a capitalised word, a punctuation mark or a verb that usually has a person as its subject
/// follows.
pub fn find_names(text: &str) -> Vec<&str> {
    split_sentences(text).into_iter().flat_map(in_sentence).collect()
}

fn in_sentence(sentence: &str) -> Vec<&str> {
    let tokens = split_tokens(sentence);
    let mut out = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if !starts_name(&tokens, i) {
            i += 1;
            continue;
        }
        let mut last = i;
        while let Some(next) = find_name_continuation(&tokens, last) {
            last = next;
        }
        let (from, to) = (tokens[i].start, tokens[last].start + tokens[last].bare.len());
        out.push(sentence[from..to].trim_end_matches("'s").trim_end_matches("\u{2019}s"));
        i = last + 1;
    }
    out
}

struct Token<'a> {
    start: usize,
    bare: &'a str,
    /// True if punctuation follows that separates names.
    stop: bool,
    /// True if a bracket comes before the word.
    bracketed: bool,
}

fn split_tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    for word in sentence.split_whitespace() {
        let at = word.as_ptr() as usize - sentence.as_ptr() as usize;
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        if bare.is_empty() {
            continue;
        }
        let inner = word.find(bare).unwrap_or_default();
        let title = || is_capitalised(bare) && is_in_class(&bare.to_lowercase(), Class::Title);
        let stop = inner + bare.len() < word.len() && !title();
        out.push(Token {
            start: at + inner,
            bare,
            stop,
            bracketed: word[..inner].contains(['(', '[']),
        });
    }
    out
}

fn is_capitalised(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase) && !is_stop(word)
}

fn starts_name(tokens: &[Token<'_>], i: usize) -> bool {
    let word = tokens[i].bare;
    if !is_capitalised(word) || word.chars().count() < 2 {
        return false;
    }
    if i > 0 {
        return true;
    }
    let lower = word.to_lowercase();
    if ["ing", "ly", "ed"].iter().any(|it| lower.ends_with(it)) {
        return false;
    }
    match tokens.get(1) {
        None => false,
        Some(next) => tokens[0].stop || is_capitalised(next.bare) || is_in_class(next.bare, Class::AfterName),
    }
}

/// Returns the index of the token that continues the name whose last token so far is `last`.
fn find_name_continuation(tokens: &[Token<'_>], last: usize) -> Option<usize> {
    if tokens[last].stop {
        return None;
    }
    let mut next = last + 1;
    while next < last + 3
        && tokens
            .get(next)
            .is_some_and(|it| is_in_class(it.bare, Class::InsideName) && !it.stop)
    {
        next += 1;
    }
    tokens
        .get(next)
        .filter(|it| is_capitalised(it.bare) && !it.bracketed)
        .map(|_| next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_inside_sentences() {
        for (text, expected) in [
            (
                "We saw The Lord of the Rings in New York, with Ana's dog.",
                vec!["Lord of the Rings", "New York", "Ana"],
            ),
            ("Painting helps. Maria, look! Tom is here.", vec!["Maria", "Tom"]),
            ("My friend Dr. Sarah Lee left. And I?", vec!["Dr. Sarah Lee"]),
            ("We live in the UK (London) now.", vec!["UK", "London"]),
            ("Я видел Ивана", vec!["Ивана"]),
            ("Really? Wow!", vec![]),
        ] {
            assert_eq!(find_names(text), expected);
        }
    }
}
