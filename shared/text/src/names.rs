use crate::lexicon::{Class, is};
use crate::{is_stop, sentences};

/// Returns the names in a text, in order, as written: runs of capitalised words inside sentences. The first word of a
/// sentence counts only if a capitalised word, a punctuation mark or a verb that usually has a person as its subject
/// follows.
pub fn names(text: &str) -> Vec<&str> {
    sentences(text).into_iter().flat_map(in_sentence).collect()
}

fn in_sentence(sentence: &str) -> Vec<&str> {
    let tokens = tokens(sentence);
    let mut out = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if !starts(&tokens, i) {
            i += 1;
            continue;
        }
        let mut last = i;
        while let Some(next) = joined(&tokens, last) {
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

fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    for word in sentence.split_whitespace() {
        let at = word.as_ptr() as usize - sentence.as_ptr() as usize;
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        if bare.is_empty() {
            continue;
        }
        let inner = word.find(bare).unwrap_or_default();
        let title = || capital(bare) && is(&bare.to_lowercase(), Class::Title);
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

fn capital(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase) && !is_stop(word)
}

fn starts(tokens: &[Token<'_>], i: usize) -> bool {
    let word = tokens[i].bare;
    if !capital(word) || word.chars().count() < 2 {
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
        Some(next) => tokens[0].stop || capital(next.bare) || is(next.bare, Class::AfterName),
    }
}

/// Returns the index of the token that continues the name whose last token so far is `last`.
fn joined(tokens: &[Token<'_>], last: usize) -> Option<usize> {
    if tokens[last].stop {
        return None;
    }
    let mut next = last + 1;
    while next < last + 3
        && tokens
            .get(next)
            .is_some_and(|it| is(it.bare, Class::InsideName) && !it.stop)
    {
        next += 1;
    }
    tokens
        .get(next)
        .filter(|it| capital(it.bare) && !it.bracketed)
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
            assert_eq!(names(text), expected);
        }
    }
}
