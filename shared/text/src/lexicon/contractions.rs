//! Contractions and chat spellings in full, read from `data/en/contractions.tsv`: "i'm" is "i am", "u" is "you".

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::lexicon::data_files::{self, File, Row, data_file};

static CONTRACTIONS: LazyLock<Contractions> =
    LazyLock::new(|| data_files::expect_valid_table(read_contractions(data_file!("en/contractions.tsv"))));

/// The contents of the file. Its kinds of rows:
///
/// - `spelling`: a word, and its spellings in chats
/// - `ending`: a word, and the ending that stands for it
/// - `whole`: two words, and their contractions that do not split into a word and an ending
///
/// Each word of a text is compared with all of them. For so few, this is faster than a lookup in a map.
#[derive(Debug, Default)]
struct Contractions {
    spellings: Vec<Form>,
    endings: Vec<Form>,
    whole: Vec<Contraction>,
}

/// A spelling or an ending, and the word that it stands for.
#[derive(Debug)]
struct Form {
    written: &'static str,
    word: &'static str,
}

/// A contraction and its two words.
#[derive(Debug)]
struct Contraction {
    written: &'static str,
    first: &'static str,
    second: &'static str,
}

fn read_contractions(file: File) -> Result<Contractions, String> {
    let mut table = Contractions::default();
    let mut met = HashMap::new();
    for row in data_files::read_rows(file, 3)? {
        for written in row.split_alternatives(2) {
            data_files::insert_unique(&mut met, written, (), &row)?;
            table.add_form(&row, written)?;
        }
    }
    Ok(table)
}

impl Contractions {
    fn add_form(&mut self, row: &Row, written: &'static str) -> Result<(), String> {
        let word = row.cells[1];
        match row.cells[0] {
            "spelling" => self.spellings.push(Form { written, word }),
            "ending" => self.endings.push(Form { written, word }),
            "whole" => {
                let words = word.split_once(' ');
                let (first, second) = words.ok_or_else(|| row.locate_error("a contraction has two words"))?;
                self.whole.push(Contraction { written, first, second });
            }
            kind => return Err(row.locate_error(&format!("\"{kind}\" is not a kind of row"))),
        }
        Ok(())
    }
}

/// Returns the full form of chat spellings.
pub(crate) fn expand_chat_spelling(word: String) -> String {
    let full = CONTRACTIONS.spellings.iter().find(|it| it.written == word);
    full.map_or(word, |it| it.word.to_owned())
}

/// Returns the two words of a contraction that is written without its apostrophe: "dont" is "do" and "not", "ive" is "i"
/// and "have". Returns `None` for all other words, also for those that may be another word, such as "well" and "ill".
pub fn split_bare_contraction(lower: &str) -> Option<(&'static str, &'static str)> {
    let is_bare = |it: &&Contraction| it.written == lower && !lower.contains('\'') && it.second != "to";
    let found = CONTRACTIONS.whole.iter().find(is_bare)?;
    Some((found.first, found.second))
}

/// Returns true for a contraction with "not" that is written without its apostrophe: "dont".
pub fn is_bare_negation(lower: &str) -> bool {
    split_bare_contraction(lower).is_some_and(|it| it.1 == "not")
}

/// Splits a contraction: "i'm" becomes "i" and "am". Returns `None` for other words, also for those in "'s", which may be
/// possessive.
pub(crate) fn split_contraction(word: &str) -> Option<(&str, &'static str)> {
    if let Some(whole) = CONTRACTIONS.whole.iter().find(|it| it.written == word) {
        return Some((whole.first, whole.second));
    }
    CONTRACTIONS.endings.iter().find_map(|ending| {
        let first = word.strip_suffix(ending.written).filter(|it| !it.is_empty())?;
        Some((first, ending.word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contractions_without_an_apostrophe_are_split_unless_they_may_be_another_word() {
        for (word, parts) in [
            ("dont", Some(("do", "not"))),
            ("cant", Some(("can", "not"))),
            ("hadnt", Some(("had", "not"))),
            ("im", Some(("i", "am"))),
            ("ive", Some(("i", "have"))),
            ("don't", None),
            ("gonna", None),
            ("well", None),
            ("ill", None),
            ("its", None),
        ] {
            assert_eq!(split_bare_contraction(word), parts, "{word}");
            assert_eq!(is_bare_negation(word), parts.is_some_and(|it| it.1 == "not"), "{word}");
        }
    }

    #[test]
    fn chat_spellings_are_expanded_and_other_words_are_kept() {
        assert_eq!(
            ["ya", "ur", "at"].map(|it| expand_chat_spelling(it.to_owned())),
            ["you", "your", "at"]
        );
    }

    #[test]
    fn rows_with_errors_are_refused() {
        for (text, fault) in [
            ("begin\twill\twl\n", "x.tsv:1: \"begin\" is not a kind of row"),
            ("whole\tcannot\tcan't\n", "x.tsv:1: a contraction has two words"),
            (
                "whole\tcan not\tcant\nwhole\tcould not\tcant\n",
                "x.tsv:2: \"cant\" is there already",
            ),
        ] {
            let read = read_contractions(File { path: "x.tsv", text });
            assert_eq!(read.err().as_deref(), Some(fault));
        }
    }
}
