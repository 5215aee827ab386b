//! English words for relatives and other persons in a relation, and for animals and things that people give names to.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::lexicon::data_files::{self, File, data_file};

/// A relation between a person and another person, an animal or a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kin {
    /// The usual word for it, the same for "mum" and "mother".
    pub word: &'static str,
    /// True for a person, false for an animal or a thing.
    pub person: bool,
    /// True if a person usually has only one, or says which one is meant.
    pub single: bool,
}

/// Contents of `data/en/kin.tsv`.
#[derive(Debug, Default)]
struct KinTable {
    kin: HashMap<&'static str, Kin>,
    /// Word that a modifier before a relation adds.
    modifiers: HashMap<&'static str, &'static str>,
}

static TABLE: LazyLock<KinTable> =
    LazyLock::new(|| data_files::expect_valid_table(read_table(data_file!("en/kin.tsv"))));

fn read_table(file: File) -> Result<KinTable, String> {
    let mut table = KinTable::default();
    for row in data_files::read_rows(file, 3)? {
        let word = row.cells[1];
        let kin = |person, single| Kin { word, person, single };
        let kin = match row.cells[0] {
            "one" => kin(true, true),
            "many" => kin(true, false),
            "thing" => kin(false, true),
            "modifier" => {
                let adds = if word == "-" { "" } else { word };
                for form in row.split_alternatives(2) {
                    data_files::insert_unique(&mut table.modifiers, form, adds, &row)?;
                }
                continue;
            }
            kind => return Err(row.locate_error(&format!("\"{kind}\" is not a kind of row"))),
        };
        for form in row.split_alternatives(2) {
            data_files::insert_unique(&mut table.kin, form, kin, &row)?;
        }
    }
    Ok(table)
}

/// Returns the relation that a word in lower case names; `None` for any other word.
pub fn find_relation(word: &str) -> Option<Kin> {
    TABLE.kin.get(word).copied()
}

/// Returns the word that a modifier adds to the relation after it: "older" for "eldest", empty for "dear". Returns
/// `None` if the word is no such modifier.
pub fn word_added_by_modifier(word: &str) -> Option<&'static str> {
    TABLE.modifiers.get(word).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_kin_name_a_relation() {
        let kin = |word| find_relation(word).map(|it| (it.word, it.person, it.single));
        assert_eq!(kin("mum"), Some(("mother", true, true)));
        assert_eq!(kin("pal"), Some(("friend", true, false)));
        assert_eq!(kin("kitten"), Some(("cat", false, true)));
        assert_eq!(kin("table"), None);
        assert_eq!(
            ["eldest", "dear", "red"].map(word_added_by_modifier),
            [Some("older"), Some(""), None]
        );
    }

    #[test]
    fn rows_with_errors_are_refused() {
        for (text, fault) in [
            ("two\ttwin\ttwin\n", "x.tsv:1: \"two\" is not a kind of row"),
            (
                "one\tmother\tmum,mam\none\tfather\tmam\n",
                "x.tsv:2: \"mam\" is there already",
            ),
        ] {
            let read = read_table(File { path: "x.tsv", text });
            assert_eq!(read.err().as_deref(), Some(fault));
        }
    }
}
