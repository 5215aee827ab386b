use crate::lexicon::{Class, is_in_class};
use crate::{is_stop, split_sentences};

/// Returns the names by which a text addresses persons, in order, as written: "hey Ana", "thanks, Ana!", "Ana, look". A
/// name is one capitalised word; the first word of a sentence counts only if a comma and more words follow it.
pub fn find_vocatives(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for sentence in split_sentences(text) {
        let words: Vec<&str> = sentence.split_whitespace().collect();
        for i in 0..words.len() {
            let bare = words[i].trim_matches(|it: char| !it.is_alphanumeric());
            if is_name(bare) && is_addressed(&words, i, bare) {
                out.push(bare);
            }
        }
    }
    out
}

fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    let capital = chars.next().is_some_and(char::is_uppercase);
    let rest = chars.as_str();
    capital && !rest.is_empty() && rest.chars().all(|it| it.is_lowercase() || it == '-') && !is_stop(word)
}

fn is_addressed(words: &[&str], i: usize, bare: &str) -> bool {
    let tail = words[i].rsplit(bare).next().unwrap_or_default();
    let closed = tail.starts_with([',', '.', '!', '?', '\u{2026}']) || i + 1 == words.len();
    if i == 0 {
        return tail.starts_with(',') && words.len() > 2;
    }
    // A call has at most two words.
    if i <= 2 {
        let before: Vec<String> = words[..i].iter().map(|it| trim_and_lowercase(it)).collect();
        if is_in_class(&before.join(" "), Class::Call) {
            return closed || i == 1;
        }
    }
    // ", Ana!" addresses her; ", Ana, Tom and I" and ", Spain." in a list do not. So the sentence must have exactly one
    // comma, and the name must be its last word.
    let ends = i + 1 == words.len() && words[i - 1].ends_with(',') && tail.starts_with(['!', '?', '.']);
    ends && words.iter().filter(|it| it.ends_with(',')).count() == 1
}

fn trim_and_lowercase(word: &str) -> String {
    word.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addressed_persons_are_found() {
        for (text, expected) in [
            ("Hey Mel! How are you, Mel?", vec!["Mel", "Mel"]),
            ("Thanks, Ana! Tom, look at this.", vec!["Ana", "Tom"]),
            ("I saw Tom. We met Ana, Tom, and Bo.", vec![]),
            ("Wow, that is great. Thank you Ana.", vec!["Ana"]),
            ("Привет, Анна!", vec!["Анна"]),
        ] {
            assert_eq!(find_vocatives(text), expected, "{text}");
        }
    }

    /// Scanning all words before each name would take hours.
    #[test]
    fn a_sentence_of_names_only_is_scanned_once() {
        assert_eq!(find_vocatives(&"Ab ".repeat(500_000)), Vec::<&str>::new());
    }
}
