/// Returns true if the marks between two words of a sentence end a clause; `before` is the part of the sentence before
/// the marks.
///
/// A lone full stop inside a sentence does not: it belongs to an abbreviation, an initial or an address. The exception
/// is the number of a list item, as in "1. I live in Porto". A colon without space around it, as in "https://", ends no
/// clause either. The caller decides about brackets, quotation marks and dashes.
pub fn ends_clause(before: &str, marks: &str) -> bool {
    let inside = !marks.contains(char::is_whitespace);
    let counts = || {
        let item = before.trim();
        !item.is_empty() && item.chars().all(|it| it.is_ascii_digit())
    };
    let stops = marks.matches('.').count();
    marks.contains([';', '!', '?', '\u{2026}', '；', '：', '。', '！', '？'])
        || (marks.contains(':') && !inside)
        || stops > 1
        || (stops == 1 && !inside && counts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stop_inside_a_sentence_does_not_end_a_clause() {
        for (before, marks, ends) in [
            ("I live in St", ". ", false),
            ("I met J", ". ", false),
            ("www", ".", false),
            ("1", ". ", true),
            ("I asked her", "... ", true),
            ("at 5 p", ".", false),
            ("two things", ": ", true),
            ("https", "://", false),
            ("she left", "; ", true),
            ("她走了", "；", true),
            ("Ann", ", ", false),
            ("Ann", " ", false),
        ] {
            assert_eq!(ends_clause(before, marks), ends, "{before}{marks}");
        }
    }
}
