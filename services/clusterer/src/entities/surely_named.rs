//! Whether a capitalised word is surely a name: people shout, begin sentences with capitals, and paste code.

/// Letters beside which a name has marks of code.
const INSIDE: [char; 9] = ['.', '-', '\'', '\u{2019}', '&', ' ', '_', '\u{b7}', '/'];

/// Returns true if something written so may be a name: no code, no date, and not shouted. A word in capitals alone ("SACKED",
/// "NULL", "NATO") is none until it is written otherwise somewhere, or has a figure in it ("ESP32").
pub(crate) fn is_name(form: &str) -> bool {
    let plain = form.chars().all(|it| it.is_alphanumeric() || INSIDE.contains(&it));
    let letters = || form.chars().filter(|it| it.is_alphabetic());
    let shouted = letters().count() > 1 && letters().all(char::is_uppercase) && !form.contains(char::is_numeric);
    let lower = form.to_lowercase();
    let day = text::time::words::is_date(lower.strip_suffix('s').unwrap_or(&lower));
    plain && !day && !shouted && !form.split(' ').any(is_shouted)
}

/// Returns true if a name stands inside a sentence somewhere in `prose`, the text without its code, or has more than one word;
/// also if it does not stand in the text at all, so that others told it.
pub(super) fn stands_as_name(text: &str, prose: &str, name: &str) -> bool {
    let whole = |(at, _): &(usize, &str)| {
        let (before, after) = (&prose[..*at], &prose[*at + name.len()..]);
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    };
    let mut found = prose.match_indices(name).filter(whole);
    !text.contains(name) || found.any(|(at, _)| name.contains(' ') || !opens(&prose[..at]))
}

/// Returns true if a sentence, a quotation or a line begins after this text.
fn opens(before: &str) -> bool {
    let head = before.trim_end_matches([' ', '\t']);
    head.chars()
        .next_back()
        .is_none_or(|it| !it.is_alphanumeric() && !matches!(it, ',' | ';' | ')' | '&' | '%'))
}

/// Returns true for a word of at least three letters, all of them capitals.
fn is_shouted(word: &str) -> bool {
    word.chars().count() > 2 && word.chars().all(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shouts_code_and_days_are_no_names() {
        for name in [
            "Ana",
            "Dr. Sarah Lee",
            "ESP32",
            "O'Neill",
            "Copper Pot",
            "AT&T Park",
            "Özge",
            "FK-30",
            "de la Cruz",
        ] {
            assert!(is_name(name), "{name}");
        }
        for other in [
            "SACKED",
            "TWO EARS",
            "Store UTC",
            "ALTER TABLE",
            "TZ = ZoneInfo(\"Europe/Copenhagen",
            "Depends(oauth2",
            "Tuesdays",
            "Friday",
            "N+1",
        ] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn a_word_that_only_opens_a_sentence_is_no_name_yet() {
        for (text, name, expected) in [
            ("I met Ana.", "Ana", true),
            ("Dentist says no. Leek and barley", "Dentist", false),
            ("Dentist says no. Leek and barley", "Leek", false),
            ("it says \"Rey de la horchata\"", "Rey", false),
            ("Mr Tsang painted it", "Mr Tsang", true),
            ("Thanks, Ana, bye", "Ana", true),
            ("Ananas are ripe", "Ana", false),
            ("They left", "Ana", true),
        ] {
            assert_eq!(stands_as_name(text, text, name), expected, "{name} in {text}");
        }
    }
}
