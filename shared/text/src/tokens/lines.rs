/// Returns a text on one line, with a space for each line break. In a list of texts with one text per line, a line
/// break inside a text would look like the end of that text.
pub fn one_line(text: &str) -> String {
    let lines = text.split(is_line_break).map(str::trim).filter(|it| !it.is_empty());
    lines.collect::<Vec<&str>>().join(" ")
}

/// Returns true if a reader may take a character for the end of a line.
pub fn is_line_break(it: char) -> bool {
    matches!(it, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
