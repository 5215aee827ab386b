//! Makes stored text safe to print: every character that could control a terminal or hide text is shown as an escape.

use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use text::is_hidden;

/// Starts a colour code. It differs from process to process, so that stored text cannot contain it.
static MARK: LazyLock<String> = LazyLock::new(|| format!("\u{fdd0}{:016x}", RandomState::new().hash_one(0)));
/// Ends a colour code.
const MARK_END: char = '\u{fdd1}';

/// Returns `text` between a colour code and the code that ends it, both in the form that only [`for_terminal`] turns
/// into terminal sequences.
pub(super) fn wrap_in_colour(code: &str, text: &str) -> String {
    let mark = MARK.as_str();
    format!("{mark}{code}{MARK_END}{text}{mark}0{MARK_END}")
}

/// Returns `text` in a printable form: colour codes of [`wrap_in_colour`] become terminal sequences, and every character that
/// a terminal would interpret or not show becomes `\u{...}`. Line feeds and tabs stay; a carriage return before a line
/// feed is dropped.
pub(super) fn for_terminal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some((code, after)) = colour_code(rest) {
            let _ = write!(shown, "\x1b[{code}m");
            rest = after;
            continue;
        }
        let after = &rest[next.len_utf8()..];
        match next {
            '\n' | '\t' => shown.push(next),
            '\r' if after.starts_with('\n') => {}
            _ if is_hidden(next, shown.chars().next_back()) => {
                let _ = write!(shown, "{}", next.escape_unicode());
            }
            _ => shown.push(next),
        }
        rest = after;
    }
    shown
}

/// Returns JSON in a printable form: the same characters as in [`for_terminal`] become `\uXXXX`, which any JSON parser
/// decodes. These characters occur only in strings, because serialised JSON has no others outside of them.
pub(super) fn json_for_terminal(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut units = [0; 2];
    for next in json.chars() {
        if matches!(next, '\n' | '\t') || !is_hidden(next, shown.chars().next_back()) {
            shown.push(next);
            continue;
        }
        for unit in next.encode_utf16(&mut units) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

fn colour_code(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix(MARK.as_str())?.split_once(MARK_END)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that control a terminal or hide text, and their escaped forms.
    const HOSTILE: [(&str, &str); 34] = [
        ("\x1b[2J", r"\u{1b}[2J"),
        ("\x1b[31mred", r"\u{1b}[31mred"),
        ("\x1b]0;title\x07", r"\u{1b}]0;title\u{7}"),
        ("\x1b]52;c;cm0gLXJm\x07", r"\u{1b}]52;c;cm0gLXJm\u{7}"),
        ("\x1b]8;;http://evil\x1b\\link", r"\u{1b}]8;;http://evil\u{1b}\link"),
        ("\x1bP+q\x1b\\", r"\u{1b}P+q\u{1b}\"),
        ("\x1bc", r"\u{1b}c"),
        ("\u{9b}2J", r"\u{9b}2J"),
        ("\u{9d}52;c;x\u{9c}", r"\u{9d}52;c;x\u{9c}"),
        ("\u{90}q\u{9c}", r"\u{90}q\u{9c}"),
        ("\u{85}next", r"\u{85}next"),
        ("a\rb", r"a\u{d}b"),
        ("a\r", r"a\u{d}"),
        ("a\x08b", r"a\u{8}b"),
        ("bell\x07", r"bell\u{7}"),
        ("\0", r"\u{0}"),
        ("\x7f", r"\u{7f}"),
        ("\x0b\x0c", r"\u{b}\u{c}"),
        ("\x0e\x0f", r"\u{e}\u{f}"),
        ("\u{202e}gpj.exe", r"\u{202e}gpj.exe"),
        ("\u{202d}x\u{202c}", r"\u{202d}x\u{202c}"),
        ("\u{2066}x\u{2069}", r"\u{2066}x\u{2069}"),
        ("\u{200f}x\u{200e}", r"\u{200f}x\u{200e}"),
        ("\u{61c}x", r"\u{61c}x"),
        ("An\u{200b}n", r"An\u{200b}n"),
        ("An\u{200d}n", r"An\u{200d}n"),
        ("An\u{2060}n", r"An\u{2060}n"),
        ("\u{feff}Ann", r"\u{feff}Ann"),
        ("A\u{ad}nn", r"A\u{ad}nn"),
        ("a\u{2028}b\u{2029}", r"a\u{2028}b\u{2029}"),
        ("\u{e0041}\u{e007f}", r"\u{e0041}\u{e007f}"),
        ("\u{fff9}x\u{fffb}", r"\u{fff9}x\u{fffb}"),
        ("\u{3164}", r"\u{3164}"),
        ("\u{fdd0}0000000000000000", r"\u{fdd0}0000000000000000"),
    ];

    #[test]
    fn hostile_text_is_shown_as_escapes() {
        for (text, shown) in HOSTILE {
            assert_eq!(for_terminal(text), shown, "{text:?}");
        }
    }

    #[test]
    fn hostile_text_in_json_stays_the_same_data() {
        for (text, _) in HOSTILE {
            let json = serde_json::to_string(text).unwrap();
            let shown = json_for_terminal(&json);
            assert!(shown.chars().all(|it| !is_hidden(it, None)), "{shown:?}");
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }
    }

    #[test]
    fn ordinary_text_of_any_language_is_shown_as_it_is() {
        for text in [
            "Ann:\tyes\nno",
            "naïve – “quoted”",
            "안녕 你好 שלום مرحبا",
            "می‌خواهم",
            "👩‍👩‍👧 ❤️",
            "e\u{301}",
        ] {
            assert_eq!(for_terminal(text), text);
            assert_eq!(json_for_terminal(text), text);
        }
        assert_eq!(for_terminal("a\r\nb"), "a\nb");
    }

    #[test]
    fn only_colours_of_this_process_become_terminal_sequences() {
        assert_eq!(
            for_terminal(&wrap_in_colour("31", "red\x1b[0m")),
            "\x1b[31mred\\u{1b}[0m\x1b[0m"
        );
    }
}
