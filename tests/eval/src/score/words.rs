//! Content words: the words of a text without function words and endings.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

/// A set of content words.
pub type Content = BTreeSet<String>;

/// Function words, and words that rubrics use in their wording.
static FUNCTION_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "a about again am an and any are as at be been being but by can contain could did do does \
    don each for from had has have having he her here him his how i if in include into is it its just llm may me mention \
    might more most must my no not now of off on only or other our out over own response s same shall she should so some \
    state such t than that the their them then there these they this those to too under up us very was we were what when \
    where which who whom why will with would you your"
        .split_whitespace()
        .collect()
});

/// Endings with their replacements. The first ending that leaves at least three letters is removed.
const ENDINGS: [(&str, &str); 10] = [
    ("'s", ""),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ied", "y"),
    ("ies", "y"),
    ("ed", ""),
    ("es", ""),
    ("s", ""),
    ("ly", ""),
];

/// Returns the content words of a text, without endings.
pub fn content_of_text(text: &str) -> Content {
    split_tokens(text)
        .into_iter()
        .map(str::to_lowercase)
        .filter(|word| is_content_word(word))
        .map(|word| strip_punctuation(&word))
        .collect()
}

/// Returns the runs of letters, digits and `_`. An apostrophe followed by `a-z` belongs to the run before it.
fn split_tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        rest = &rest[start..];
        let mut end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if let Some(tail) = rest[end..].strip_prefix('\'') {
            let letters = tail.bytes().take_while(u8::is_ascii_lowercase).count();
            end += if letters > 0 { 1 + letters } else { 0 };
        }
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}

/// Returns true if a character belongs to a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_content_word(word: &str) -> bool {
    let single = word.chars().nth(1).is_none();
    let digit = word.chars().all(char::is_numeric);
    (!single || digit) && !FUNCTION_WORDS.contains(word)
}

fn strip_punctuation(word: &str) -> String {
    let length = word.chars().count();
    let fits = |ending: &str| word.ends_with(ending) && length >= ending.len() + 3;
    match ENDINGS.iter().find(|(ending, _)| fits(ending)) {
        Some((ending, instead)) => word[..word.len() - ending.len()].to_owned() + instead,
        None => word.to_owned(),
    }
}
