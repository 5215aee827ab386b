//! Abbreviated words of names, read from `data/abbreviations.tsv`.

use std::collections::HashMap;
use std::sync::LazyLock;

use text::lexicon::data_files::{File, data_file, expect_valid_table, insert_unique, read_rows};

static ABBREVIATIONS: LazyLock<Abbreviations> =
    LazyLock::new(|| expect_valid_table(Abbreviations::parse_table(data_file!("abbreviations.tsv"))));

/// Long forms of abbreviations.
#[derive(Default)]
struct Abbreviations {
    /// Long forms by the abbreviations that may be the first word of a name.
    first: HashMap<&'static str, &'static str>,
    /// Long forms by the abbreviations that may be the last word of a name.
    last: HashMap<&'static str, &'static str>,
}

impl Abbreviations {
    /// Returns the abbreviations of a table. An invalid row is an error: without it, two spellings of one name would stay
    /// two names.
    fn parse_table(file: File) -> Result<Abbreviations, String> {
        let mut abbreviations = Abbreviations::default();
        for row in read_rows(file, 3)? {
            let table = match row.cells[0] {
                "first" => &mut abbreviations.first,
                "last" => &mut abbreviations.last,
                other => return Err(row.locate_error(&format!("\"{other}\" is not a place"))),
            };
            insert_unique(table, row.cells[1], row.cells[2], &row)?;
        }
        Ok(abbreviations)
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
    fn invalid_rows_are_rejected() {
        let parse = |text| Abbreviations::parse_table(File { path: "x.tsv", text });
        assert!(parse("first\tst\tsaint\n").is_ok());
        let error = parse("middle\tst\tsaint\n").err();
        assert_eq!(error.as_deref(), Some("x.tsv:1: \"middle\" is not a place"));
        assert!(parse("first\tst\tsaint\nfirst\tst\tstreet\n").is_err());
    }
}
