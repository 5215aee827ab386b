use crate::lexicon::{Class, words_of_class};

/// Returns a caption without "there is", the article and the medium: "a photo of a dog" becomes "dog".
pub fn shorten_caption(text: &str) -> String {
    let mut rest = text.trim().trim_end_matches('.');
    loop {
        let before = rest.len();
        rest = strip_any_opening(rest, words_of_class(Class::CaptionOpening));
        for medium in words_of_class(Class::Medium) {
            if let Some(tail) = strip_word(rest, medium).and_then(|it| strip_word(it, "of")) {
                rest = tail;
            }
        }
        if rest.len() == before {
            return rest.to_owned();
        }
    }
}

fn strip_any_opening<'a>(text: &'a str, starts: &[&str]) -> &'a str {
    starts.iter().find_map(|it| strip_word(text, it)).unwrap_or(text)
}

/// Returns the text after a leading `word` and the space that follows it, in any case; `None` if the text begins
/// otherwise.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let tail = text.get(word.len()..)?;
    (head.eq_ignore_ascii_case(word) && tail.starts_with(' ')).then(|| tail.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medium_and_article_are_removed_from_a_caption() {
        for (text, expected) in [
            ("a photo of a dog", "dog"),
            ("There is a picture of the old harbour.", "old harbour"),
            ("a close up of a photograph of two cats", "two cats"),
            ("a painting of a sunset", "painting of a sunset"),
            ("photo", "photo"),
            ("", ""),
            ("à la carte", "à la carte"),
        ] {
            assert_eq!(shorten_caption(text), expected);
        }
    }
}
