//! The prose of a text, without code, URLs and program output, which are not natural language.

use std::borrow::Cow;

/// Opens and closes a block of code.
const FENCE: &str = "```";
/// Beginnings of lines of a terminal, of a console or of a stack trace.
const TERMINAL: [&str; 5] = ["$ ", ">>> ", "Traceback (", "File \"", "\u{276f} "];
/// Returns the text with spaces in place of code blocks, terminal lines, JSON, URLs, paths and assignments. Byte
/// offsets do not change, and neither does a text that has none of these. Other words of code remain, because they are
/// part of their sentence ("never use unwrap()").
pub fn mask_non_prose(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let fence = bare.starts_with(FENCE);
        if fence || fenced || TERMINAL.iter().any(|it| bare.starts_with(it)) {
            append_blanks(line, &mut out);
        } else {
            append_masked_line(line, &mut out);
        }
        // A fence that closes on its own line opens no block.
        fenced ^= fence && !bare[FENCE.len()..].contains(FENCE);
    }
    if out == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(out)
    }
}

/// Appends a line with spaces in place of its JSON and its words of code.
fn append_masked_line(line: &str, out: &mut String) {
    let json = find_json(line);
    let mut at = 0;
    for word in line.split_inclusive(char::is_whitespace) {
        let inside = json
            .as_ref()
            .is_some_and(|it| at < it.end && it.start < at + word.len());
        if inside || is_code(word.trim()) {
            append_blanks(word, out);
        } else {
            out.push_str(word);
        }
        at += word.len();
    }
}

/// Returns the byte range of a line from the first bracket of JSON to the last one.
fn find_json(line: &str) -> Option<std::ops::Range<usize>> {
    let opens = ["{\"", "[{", "[\"", "{ \""]
        .iter()
        .filter_map(|it| line.find(it))
        .min()?;
    let closes = line.rfind(['}', ']']).filter(|it| *it > opens);
    Some(opens..closes.map_or(line.len(), |it| it + 1))
}

/// Returns true if a word is a URL, a path from the root or an assignment.
fn is_code(word: &str) -> bool {
    let path = word.starts_with('/') && word[1..].starts_with(|it: char| it.is_alphanumeric() || it == '.');
    let assigns = |it: &[u8]| it[0].is_ascii_alphanumeric() && it[1] == b'=' && it[2].is_ascii_graphic();
    word.starts_with("www.") || word.contains("://") || path || word.as_bytes().windows(3).any(assigns)
}

/// Appends one space for each byte of the text, and keeps its line breaks.
fn append_blanks(text: &str, out: &mut String) {
    for c in text.chars() {
        if matches!(c, '\n' | '\r') {
            out.push(c);
        } else {
            out.extend(std::iter::repeat_n(' ', c.len_utf8()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_urls_and_program_output_are_left_out() {
        for (text, expected) in [
            (
                "Try this:\n```sh\nls Downloads\n```\nDone, Ana.",
                "Try this: Done, Ana.",
            ),
            ("See https://a.example/Page and www.b.example, Ana", "See and Ana"),
            ("$ git push Origin\nmoved to Bergen", "moved to Bergen"),
            (
                "call pump.prime {\"Pump\": \"Acid\", \"n\": 3} for Ana",
                "call pump.prime for Ana",
            ),
            ("sched = Scheduler(clock=FakeClock(step=0.1)) it is", "sched = it is"),
            ("edit /etc/nginx/deny.conf now", "edit now"),
        ] {
            let found = mask_non_prose(text);
            assert_eq!(found.len(), text.len(), "{text}");
            let words: Vec<&str> = found.split_whitespace().collect();
            assert_eq!(words.join(" "), expected);
        }
    }

    #[test]
    fn prose_is_returned_unchanged() {
        for text in [
            "Ana moved to Bergen (Norway), and/or Oslo :) <3 = great!",
            "never use unwrap() or std::Vec",
            "bird(s) at 7/8, 5 > 3 & ok; e.g. a/b \u{2013} [see above]",
            "",
            "she said \"hi\": fine\r\nnext",
        ] {
            assert!(matches!(mask_non_prose(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn an_unclosed_code_block_hides_the_rest_of_the_text() {
        let found = mask_non_prose("a\n```\nMy name is Zoë\n\u{276f} x");
        assert_eq!(found.trim(), "a");
    }
}
