//! Decides whether a capitalised word is surely a name. Users also shout, begin sentences with capitals, and paste
//! code.

/// Characters other than letters and digits that a name may contain; any other one indicates code.
const INSIDE: [char; 9] = ['.', '-', '\'', '\u{2019}', '&', ' ', '_', '\u{b7}', '/'];

/// Returns true if a word in this spelling may be a name: it is not code, not a date, and not all capitals. An
/// all-capitals word ("SACKED", "NULL", "NATO") is not a name unless it contains a digit ("ESP32"); it becomes one
/// when some unit spells it otherwise.
pub(crate) fn is_name(form: &str) -> bool {
    let plain = form.chars().all(|it| it.is_alphanumeric() || INSIDE.contains(&it));
    let letters = || form.chars().filter(|it| it.is_alphabetic());
    let shouted = letters().count() > 1 && letters().all(char::is_uppercase) && !form.contains(char::is_numeric);
    let lower = form.to_lowercase();
    let day = text::time::words::is_date(lower.strip_suffix('s').unwrap_or(&lower));
    plain && !day && !shouted && !form.split(' ').any(is_shouted)
}

/// Returns true if `prose` (the text without its code) contains a name of more than one word, or contains it inside a
/// sentence. Also returns true if the text does not contain the name at all, because it then comes from elsewhere.
pub(crate) fn stands_as_name(text: &str, prose: &str, name: &str) -> bool {
    let is_whole_word = |(at, _): &(usize, &str)| {
        let (before, after) = (&prose[..*at], &prose[*at + name.len()..]);
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    };
    let mut found = prose.match_indices(name).filter(is_whole_word);
    !text.contains(name) || found.any(|(at, _)| name.contains(' ') || !is_sentence_start(&prose[..at]))
}

/// Returns true if a sentence, a quotation or a line begins after this text.
fn is_sentence_start(before: &str) -> bool {
    let head = before.trim_end_matches([' ', '\t']);
    head.chars()
        .next_back()
        .is_none_or(|it| !it.is_alphanumeric() && !matches!(it, ',' | ';' | ')' | '&' | '%'))
}

/// Returns true for an all-capitals word of at least three letters.
fn is_shouted(word: &str) -> bool {
    word.chars().count() > 2 && word.chars().all(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shouted_words_code_and_days_are_not_names() {
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
    fn a_word_that_only_opens_a_sentence_is_not_a_name_yet() {
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
