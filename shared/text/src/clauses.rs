/// Says whether the marks between two words of a sentence end a clause, given the sentence `before` them.
///
/// A lone full stop does not: inside a sentence it belongs to an abbreviation, an initial or an address, unless it counts the
/// item of a list, "1. I live in Porto". Neither does a colon without space around it, "https://". Brackets, quotation marks and
/// dashes are for the caller to judge.
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
    fn a_stop_inside_a_sentence_ends_no_clause() {
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
