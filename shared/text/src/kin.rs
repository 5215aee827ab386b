//! What people are to each other, and the animals and things that they name. English.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::data::{self, File, data_file};

/// What somebody is to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kin {
    /// The word for it, the same for "mum" and "mother".
    pub word: &'static str,
    /// A person rather than an animal or a thing.
    pub person: bool,
    /// People mostly have one of it, or say which one they mean.
    pub single: bool,
}

/// What the rows of `data/en/kin.tsv` say.
#[derive(Debug, Default)]
struct Table {
    kin: HashMap<&'static str, Kin>,
    /// What a word before a word for kin adds.
    modifiers: HashMap<&'static str, &'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| data::sound(read(data_file!("en/kin.tsv"))));

fn read(file: File) -> Result<Table, String> {
    let mut table = Table::default();
    for row in data::rows(file, 3)? {
        let word = row.cells[1];
        let kin = |person, single| Kin { word, person, single };
        let kin = match row.cells[0] {
            "one" => kin(true, true),
            "many" => kin(true, false),
            "thing" => kin(false, true),
            "modifier" => {
                let adds = if word == "-" { "" } else { word };
                for form in row.alternatives(2) {
                    data::insert(&mut table.modifiers, form, adds, &row)?;
                }
                continue;
            }
            kind => return Err(row.fault(&format!("\"{kind}\" is no kind of row"))),
        };
        for form in row.alternatives(2) {
            data::insert(&mut table.kin, form, kin, &row)?;
        }
    }
    Ok(table)
}

/// Returns what a word in lower case says of somebody; none if it is no word for that.
pub fn of(word: &str) -> Option<Kin> {
    TABLE.kin.get(word).copied()
}

/// Returns what a word before a word for kin adds; none if it does not belong there.
pub fn modifier(word: &str) -> Option<&'static str> {
    TABLE.modifiers.get(word).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_kin_say_what_somebody_is() {
        let kin = |word| of(word).map(|it| (it.word, it.person, it.single));
        assert_eq!(kin("mum"), Some(("mother", true, true)));
        assert_eq!(kin("pal"), Some(("friend", true, false)));
        assert_eq!(kin("kitten"), Some(("cat", false, true)));
        assert_eq!(kin("table"), None);
        assert_eq!(["eldest", "dear", "red"].map(modifier), [Some("older"), Some(""), None]);
    }

    #[test]
    fn rows_with_faults_are_refused() {
        for (text, fault) in [
            ("two\ttwin\ttwin\n", "x.tsv:1: \"two\" is no kind of row"),
            (
                "one\tmother\tmum,mam\none\tfather\tmam\n",
                "x.tsv:2: \"mam\" is there already",
            ),
        ] {
            let read = read(File { path: "x.tsv", text });
            assert_eq!(read.err().as_deref(), Some(fault));
        }
    }
}
