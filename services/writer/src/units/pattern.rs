//! Compiles the regular expressions in the source code.

use regex::Regex;

/// Returns a compiled pattern of the source code. Panics if it is invalid: a rule that silently never matches would
/// lose memories without any error.
pub(crate) fn compile_pattern(source: &'static str) -> Regex {
    Regex::new(source).unwrap_or_else(|error| panic!("a pattern of the source code is wrong: {error}"))
}

#[cfg(test)]
mod tests {
    use super::compile_pattern;

    #[test]
    fn valid_patterns_compile() {
        assert!(compile_pattern(r"^\p{Lu}").is_match("Ada"));
    }

    #[test]
    #[should_panic(expected = "a pattern of the source code is wrong")]
    fn an_invalid_pattern_stops_the_program() {
        compile_pattern("(unclosed");
    }
}
