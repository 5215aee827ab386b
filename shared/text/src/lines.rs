/// Returns a text on one line, with a space where lines ended: where texts stand a line each, a line break in one would pass for
/// the end of its line.
pub fn one_line(text: &str) -> String {
    let lines = text.split(is_line_break).map(str::trim).filter(|it| !it.is_empty());
    lines.collect::<Vec<&str>>().join(" ")
}

/// Says whether a reader may take a character for the end of a line.
pub fn is_line_break(it: char) -> bool {
    matches!(it, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
