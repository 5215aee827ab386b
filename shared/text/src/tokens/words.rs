//! The tokenizer: splits a text into words.

use unicode_segmentation::UnicodeSegmentation;

/// Returns the words of a text in order: Unicode words with their apostrophes. A full stop between letters separates
/// words ("job.I"); one between digits does not ("3.5"). In scripts without spaces, each character is a word.
pub fn split_words(text: &str) -> Vec<&str> {
    let mut out = Vec::with_capacity(text.len() / 5);
    for word in text.unicode_words() {
        if word.contains('.') && word.chars().any(char::is_alphabetic) {
            out.extend(word.split('.').filter(|it| !it.is_empty()));
        } else {
            out.push(word);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_script_are_split() {
        for (text, expected) in [
            (
                "I don't, e.g. at 3.5 km",
                vec!["I", "don't", "e", "g", "at", "3.5", "km"],
            ),
            ("got the job.I did", vec!["got", "the", "job", "I", "did"]),
            ("Привет, мир", vec!["Привет", "мир"]),
            ("我爱猫", vec!["我", "爱", "猫"]),
            ("🎉 !!", vec![]),
        ] {
            assert_eq!(split_words(text), expected);
        }
    }
}
