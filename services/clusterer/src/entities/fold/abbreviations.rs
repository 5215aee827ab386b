//! Abbreviated words of names, read from `data/abbreviations.tsv`.

use std::collections::HashMap;
use std::sync::LazyLock;

static ROWS: &str = include_str!("../../../data/abbreviations.tsv");
static ABBREVIATIONS: LazyLock<Abbreviations> = LazyLock::new(|| Abbreviations::parse_table(ROWS));

/// Long forms of abbreviations.
#[derive(Default)]
struct Abbreviations {
    /// Long forms by the abbreviations that may be the first word of a name.
    first: HashMap<&'static str, &'static str>,
    /// Long forms by the abbreviations that may be the last word of a name.
    last: HashMap<&'static str, &'static str>,
}

impl Abbreviations {
    /// Returns the abbreviations of a table. Panics if a row is invalid: without it, two spellings of one name would stay
    /// two names without any error.
    fn parse_table(rows: &'static str) -> Abbreviations {
        let mut abbreviations = Abbreviations::default();
        for row in rows.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
            let cells: Vec<&'static str> = row.split('\t').collect();
            let known = match *cells.as_slice() {
                ["first", short, long] => abbreviations.first.insert(short, long),
                ["last", short, long] => abbreviations.last.insert(short, long),
                _ => panic!("the abbreviation \"{row}\" is not a place, a short form and a long form"),
            };
            assert!(known.is_none(), "the abbreviation \"{row}\" is there twice");
        }
        abbreviations
    }
}

/// Returns the long form of the first word of a name, or the word itself if it is not an abbreviation.
pub(crate) fn write_out_first_word(word: &str) -> &str {
    ABBREVIATIONS.first.get(word).copied().unwrap_or(word)
}

/// Returns the long form of the last word of a name, or the word itself if it is not an abbreviation.
pub(crate) fn write_out_last_word(word: &str) -> &str {
    ABBREVIATIONS.last.get(word).copied().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_parsed() {
        assert_eq!((ABBREVIATIONS.first.len(), ABBREVIATIONS.last.len()), (4, 9));
    }

    #[test]
    fn the_long_form_depends_on_the_place_of_the_word() {
        assert_eq!(write_out_first_word("st"), "saint");
        assert_eq!(write_out_last_word("st"), "street");
        assert_eq!(write_out_first_word("rd"), "rd");
        assert_eq!(write_out_last_word("mt"), "mt");
    }

    #[test]
    #[should_panic(expected = "is not a place, a short form and a long form")]
    fn an_invalid_row_stops_the_program() {
        Abbreviations::parse_table("middle\tst\tsaint\n");
    }
}
