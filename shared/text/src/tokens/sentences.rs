//! Sentence segmentation: splits a text into sentences.

use crate::lexicon::{Class, is_in_class};
use crate::time_words::word_table::is_month;

/// Number of bytes after a number that are searched for the name of a month.
const MONTH: usize = 64;

/// Returns the sentences of a text in order, trimmed; none is empty. A sentence ends at a line break, or at a full
/// stop, question mark or exclamation mark of Latin, Arabic, Indic and East Asian scripts. Full stops inside
/// abbreviations, numbers, initials and addresses do not end it.
pub fn split_sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\n' {
            push_trimmed(&mut out, &text[start..at]);
            start = at + 1;
            continue;
        }
        if !is_end_mark(c) {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some(&(next, closer)) = chars.peek() {
            if !is_end_mark(closer) && !is_closing_mark(closer) {
                break;
            }
            end = next + closer.len_utf8();
            chars.next();
        }
        if ends_sentence(&text[start..at], c, end - at, &text[end..]) {
            push_trimmed(&mut out, &text[start..end]);
            start = end;
        }
    }
    push_trimmed(&mut out, &text[start..]);
    out
}

/// Returns true if a text ends with a question mark of any script.
pub fn ends_asking(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？', '؟', '\u{37e}'])
}

/// Returns true if a sentence ends like a question; emoji and other signs may follow its question mark.
pub fn is_question(sentence: &str) -> bool {
    let end =
        sentence.trim_end_matches(|it: char| it == '"' || it == ')' || it == '!' || it.is_whitespace() || is_sign(it));
    ends_asking(end)
}

/// Returns true for emoji and other signs that people put after a question mark.
fn is_sign(it: char) -> bool {
    !it.is_alphanumeric() && !it.is_ascii_punctuation() && !matches!(it, '？' | '؟' | '\u{37e}' | '。' | '」')
}

/// Returns the last question of a text; `None` if more than two sentences follow it, since its speaker then went on to
/// other things.
pub fn asked_last(text: &str) -> Option<&str> {
    let last = split_sentences(text).into_iter().rev().take(ASKED_LAST);
    last.into_iter().find(|it| is_question(it))
}

/// Number of sentences at the end of a text in which a question is still open.
const ASKED_LAST: usize = 3;

fn push_trimmed<'a>(out: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if !sentence.is_empty() {
        out.push(sentence);
    }
}

fn is_end_mark(c: char) -> bool {
    matches!(
        c,
        '.' | '!' | '?' | '\u{2026}' | '。' | '！' | '？' | '．' | '؟' | '۔' | '।' | '॥'
    )
}

fn is_closing_mark(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | ')' | ']' | '\u{201d}' | '\u{2019}' | '»' | '」' | '』' | '）' | '*'
    )
}

/// Returns true if the mark `c` ends the sentence `before`; `width` is the length of all marks in bytes, `after` the
/// text after them.
fn ends_sentence(before: &str, c: char, width: usize, after: &str) -> bool {
    if !matches!(c, '.' | '!' | '?' | '\u{2026}') {
        return true;
    }
    let Some(next) = after.chars().next() else { return true };
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    if !next.is_whitespace() {
        // "job.I" ends a sentence; "example.Com/x", "3.5" and "p.m" do not.
        let address = word.contains("//") || word.contains('@') || word.starts_with("www");
        let lower = word.chars().rev().take(2).filter(|it| it.is_lowercase()).count() == 2;
        return !address && next.is_uppercase() && lower;
    }
    if c != '.' || width > 1 {
        return true;
    }
    let bare = word.trim_start_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
    let numbered = !bare.is_empty() && bare.chars().all(|it| it.is_ascii_digit()) && before.trim() == word;
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
    // "Am 12. April", "el 3. mayo": the number is a day of a month.
    let dated = bare.len() <= 2
        && bare.chars().all(|it| it.is_ascii_digit())
        && crate::split_words(&after[..after.floor_char_boundary(MONTH)])
            .first()
            .is_some_and(|it| is_month(&it.to_lowercase()));
    if dated || is_in_class(&bare, Class::Abbreviation) || numbered || initial {
        return bare == "no" && before.trim() == word;
    }
    !is_in_class(&bare, Class::MaybeAbbreviation) || after.trim_start().chars().next().is_none_or(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_reader_expects_it() {
        for (text, expected) in [
            (
                "I saw Dr. Smith at 5 p.m. in town. then i left",
                vec!["I saw Dr. Smith at 5 p.m. in town.", "then i left"],
            ),
            (
                "We met at 5 p.m. She came late!",
                vec!["We met at 5 p.m.", "She came late!"],
            ),
            ("I got the job.I start Monday", vec!["I got the job.", "I start Monday"]),
            (
                "See https://a.b/c.D?x=1 now. OK?",
                vec!["See https://a.b/c.D?x=1 now.", "OK?"],
            ),
            (
                "Wow!! \"Really?\" Yes... no.",
                vec!["Wow!!", "\"Really?\"", "Yes...", "no."],
            ),
            ("猫が好き。犬も！", vec!["猫が好き。", "犬も！"]),
            ("1. Buy milk\n2. Call J. Doe", vec!["1. Buy milk", "2. Call J. Doe"]),
            ("It costs 3.5 euros", vec!["It costs 3.5 euros"]),
            ("Am 12. April reisen wir.", vec!["Am 12. April reisen wir."]),
            ("She is 12. May I come?", vec!["She is 12.", "May I come?"]),
            (" \n ", vec![]),
        ] {
            assert_eq!(split_sentences(text), expected);
        }
    }

    /// Scanning the rest of the text at each mark would take hours.
    #[test]
    fn a_text_of_marks_only_is_scanned_once() {
        let text = "12. ".repeat(500_000);
        assert_eq!(
            split_sentences(&text).len(),
            250_000,
            "a figure in front numbers what follows"
        );
    }
}
