//! Regular expressions that are part of the program.

use regex::Regex;

/// Compiles a pattern of the source code. Panics on a bad one: rules that silently never match would write less memory and say nothing.
pub(crate) fn pattern(source: &'static str) -> Regex {
    Regex::new(source).unwrap_or_else(|error| panic!("a pattern of the source code is wrong: {error}"))
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn good_patterns_compile() {
        assert!(pattern(r"^\p{Lu}").is_match("Ada"));
    }

    #[test]
    #[should_panic(expected = "a pattern of the source code is wrong")]
    fn a_bad_pattern_stops_the_program() {
        pattern("(unclosed");
    }
}
