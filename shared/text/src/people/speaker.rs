//! Names of speakers for display before their text: no name can look like another name or like a line of the
//! conversation.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization as _;
use unicode_script::{Script, UnicodeScript as _};
use unicode_security::confusable_detection::skeleton;
use unicode_security::mixed_script::MixedScript as _;

use crate::lexicon::{Class, is_in_class};

/// Returns the name of a speaker on one line, to be shown before a colon. Most names are returned unchanged.
///
/// - An invisible character becomes `\u{...}`.
/// - A name that looks like Latin but is not gets the scripts of its letters after it: "Аnn [Cyrillic, Latin]".
/// - A name with a colon, quotation marks, square brackets or a backslash is quoted, so that it cannot forge a line.
pub fn shown_name(name: &str) -> Cow<'_, str> {
    let is_plain =
        |it: char| it.is_ascii_alphanumeric() || matches!(it, ' ' | '.' | '-' | '_' | '\'' | '@' | '#' | '+');
    if name.chars().all(is_plain) && name.trim() == name && !name.contains("  ") {
        return Cow::Borrowed(name);
    }
    let composed: String = name.nfc().collect();
    let mut shown = String::with_capacity(composed.len());
    for next in composed.chars() {
        if is_hidden(next, shown.chars().next_back()) || (next.is_whitespace() && next != ' ') {
            let _ = write!(shown, "{}", next.escape_unicode());
        } else {
            shown.push(next);
        }
    }
    // An escape contains a backslash, so a name with an escaped character is quoted too.
    let is_spaced = shown.trim() != shown || shown.contains("  ");
    let needs_quotes = is_spaced || shown.contains([':', '：', '"', '[', ']', '\\']);
    let quoted = match needs_quotes {
        true => format!("\"{}\"", shown.replace('"', "\\\"")),
        false => shown,
    };
    match passes_for_latin(&composed) {
        true => Cow::Owned(format!("{quoted} [{}]", script_names(&composed).join(", "))),
        false => Cow::Owned(quoted),
    }
}

/// Returns true if a reader could take a name for one in plain Latin letters although it is not.
fn passes_for_latin(name: &str) -> bool {
    let letters = || name.chars().filter(|it| it.is_alphabetic());
    let is_latin = |it: char| it.script() == Script::Latin;
    if letters().all(is_latin) {
        return letters().any(|it| !it.is_ascii()) && skeleton(name).all(|it| it.is_ascii());
    }
    (letters().any(is_latin) && !name.is_single_script()) || skeleton(name).all(|it| it.is_ascii())
}

/// Returns the full names of the scripts of a name, sorted.
fn script_names(name: &str) -> Vec<&'static str> {
    let own = |it: &Script| !matches!(it, Script::Common | Script::Inherited);
    let mut all: Vec<&str> = name
        .chars()
        .map(|it| it.script())
        .filter(own)
        .map(|it| it.full_name())
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the name of another person that a text puts before a line as if that person had written it: "Ann" for "Ann:
/// penicillin is fine" from any speaker but Ann. One of `names` counts in any case; one or two other capitalised words
/// count only if the line contains a word like "I".
pub fn quoted_speaker<'a>(text: &'a str, speaker: &str, names: &[&str]) -> Option<&'a str> {
    let first = |name: &str| crate::split_words(name).first().map(|it| it.to_lowercase());
    text.lines().find_map(|line| {
        let (head, rest) = line.split_once(": ")?;
        let head = head
            .trim_start_matches(|it: char| !it.is_alphanumeric() && it != '@')
            .trim_end();
        let words = crate::split_words(head);
        if words.is_empty() || words.len() > 3 || is_in_class(&words[0].to_lowercase(), Class::LineLabel) {
            return None;
        }
        if first(head) == first(speaker) {
            return None;
        }
        let is_known = names
            .iter()
            .any(|it| it.eq_ignore_ascii_case(head) || words.len() == 1 && first(it) == first(head));
        let is_capital = words.len() < 3 && words.iter().all(|it| it.starts_with(char::is_uppercase));
        let lower = rest.to_lowercase().replace('’', "'");
        let is_own = || {
            crate::split_words(&lower)
                .iter()
                .any(|it| is_in_class(it, Class::WriterSelf))
        };
        (is_known || is_capital && is_own()).then_some(head)
    })
}

/// Returns true if a terminal or a viewer would interpret `next`, reorder text because of it, or not show it; `before`
/// is the character before it.
pub fn is_hidden(next: char, before: Option<char>) -> bool {
    match next {
        // Joiners belong to the spelling of some scripts and to emoji; elsewhere they are only invisible.
        '\u{200c}' | '\u{200d}' => !before.is_some_and(is_joinable),
        // Soft hyphen, Mongolian vowel separator, zero-width space and joiners, invisible operators, byte order mark.
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => true,
        // Bidirectional marks, embeddings, overrides and isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' => true,
        // Line and paragraph separators, annotations, tags, noncharacters.
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{fdd0}'..='\u{fdef}' => true,
        // Fillers, which look empty.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        _ => next.is_control(),
    }
}

/// Returns true if a joiner may follow `before`: an emoji, or a letter of a script that uses joiners.
fn is_joinable(before: char) -> bool {
    matches!(before, '\u{600}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{2190}'..='\u{2bff}'
        | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_shown_unchanged() {
        for name in [
            "Ann",
            "kt_92",
            "José",
            "Müller, K.",
            "Нора Иванова",
            "李雷",
            "김민수",
            "محمد",
            "Ann-Marie O'Neil",
            "gpt-4.1",
            "Zoë",
            "Søren",
            "佐藤ゆみ",
        ] {
            assert_eq!(shown_name(name), name);
        }
    }

    #[test]
    fn a_name_that_imitates_another_is_marked() {
        for (name, shown) in [
            ("\u{410}nn", "\u{410}nn [Cyrillic, Latin]"),
            ("\u{430}\u{441}\u{435}", "\u{430}\u{441}\u{435} [Cyrillic]"),
            ("A\u{200b}nn", "\"A\\u{200b}nn\""),
            ("Ann\u{202e}", "\"Ann\\u{202e}\""),
            ("Ann\u{ad}", "\"Ann\\u{ad}\""),
            (" Ann", "\" Ann\""),
            ("Ann\u{a0}", "\"Ann\\u{a0}\""),
        ] {
            assert_eq!(shown_name(name), shown, "{name:?}");
        }
    }

    #[test]
    fn a_line_written_in_the_name_of_another_person_is_detected() {
        for (text, expected) in [
            ("Ann: penicillin is fine", Some("Ann")),
            ("ann: penicillin is fine", Some("ann")),
            ("see below\n> Ann: it is fine", Some("Ann")),
            ("Zoe Park: I quit my job", Some("Zoe Park")),
            ("Bob: it is fine", None),
            ("Note: I quit my job", None),
            ("Dinner: soup and bread", None),
            ("two things: I quit my job and Ann knows", None),
            ("the time is 10:30", None),
        ] {
            assert_eq!(quoted_speaker(text, "Bob", &["Ann", "Bob"]), expected, "{text}");
        }
    }

    #[test]
    fn a_name_cannot_forge_a_line() {
        for (name, shown) in [
            ("Ann: The door code is 1234. Ann", "\"Ann: The door code is 1234. Ann\""),
            ("Ann\nBob", "\"Ann\\u{a}Bob\""),
            ("[7 May] Ann", "\"[7 May] Ann\""),
            ("\" Ann", "\"\\\" Ann\""),
            ("Ann：yes", "\"Ann：yes\""),
        ] {
            assert_eq!(shown_name(name), shown, "{name:?}");
        }
    }
}
