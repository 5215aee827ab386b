//! Aspects of an answer that an instruction can ask for, read from `data/answer_aspects.tsv`.

use std::sync::LazyLock;

use text::lexicon::data_files::{File, data_file, expect_valid_table, read_rows};

static ANSWER_ASPECTS: LazyLock<Vec<AnswerAspect>> =
    LazyLock::new(|| expect_valid_table(parse_table(data_file!("answer_aspects.tsv"))));

/// An aspect of an answer, such as its language.
#[derive(Debug, PartialEq, Eq)]
struct AnswerAspect {
    name: &'static str,
    /// Words of an instruction that indicate the aspect.
    words: Vec<&'static str>,
    /// Phrases of several words that indicate the aspect.
    phrases: Vec<&'static str>,
}

/// Returns the first aspect that an instruction in lower case asks for, by its words or phrases.
pub(super) fn find_answer_aspect(instruction: &str) -> Option<&'static str> {
    let words = text::split_words(instruction);
    let is_indicated = |it: &&AnswerAspect| {
        words.iter().any(|word| it.words.contains(word)) || it.phrases.iter().any(|it| instruction.contains(it))
    };
    ANSWER_ASPECTS.iter().find(is_indicated).map(|it| it.name)
}

/// Returns the aspects in the order of the file. An invalid row is an error: without it, instructions that contradict
/// each other would all stay in force.
fn parse_table(file: File) -> Result<Vec<AnswerAspect>, String> {
    let rows = read_rows(file, 2)?.into_iter();
    let aspects = rows.map(|row| {
        let (phrases, words) = row.split_alternatives(1).partition(|it| it.contains(' '));
        AnswerAspect {
            name: row.cells[0],
            words,
            phrases,
        }
    });
    Ok(aspects.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_parsed_in_the_order_of_the_file() {
        let names: Vec<&str> = ANSWER_ASPECTS.iter().map(|it| it.name).collect();
        assert_eq!(names, ["name", "units", "emojis", "language", "length", "shape"]);
        assert_eq!(ANSWER_ASPECTS[0].phrases, ["call me", "address me"]);
        assert_eq!(ANSWER_ASPECTS[2].words, ["emoji", "emojis"]);
        assert!(ANSWER_ASPECTS.iter().all(|it| it.words.len() + it.phrases.len() >= 2));
    }

    #[test]
    fn the_first_aspect_that_is_indicated_counts() {
        assert_eq!(find_answer_aspect("call me ana in short answers"), Some("name"));
        assert_eq!(find_answer_aspect("use short answers"), Some("length"));
        assert_eq!(find_answer_aspect("use shortbread"), None);
        assert_eq!(find_answer_aspect(""), None);
    }

    #[test]
    fn invalid_rows_are_rejected() {
        let parse = |text| parse_table(File { path: "x.tsv", text });
        assert!(parse("length\tshort\n").is_ok());
        assert_eq!(parse("length short\n").unwrap_err(), "x.tsv:1: 1 cells, not 2");
    }
}
