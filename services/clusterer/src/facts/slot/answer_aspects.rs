//! Aspects of an answer that an instruction can ask for, read from `data/answer_aspects.tsv`.

use std::sync::LazyLock;

static ROWS: &str = include_str!("../../../data/answer_aspects.tsv");
static ANSWER_ASPECTS: LazyLock<Vec<AnswerAspect>> = LazyLock::new(|| parse_table(ROWS));

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

/// Returns the aspects in the order of the file. Panics if a row is invalid: without it, instructions that contradict
/// each other would all stay in force without any error.
fn parse_table(rows: &'static str) -> Vec<AnswerAspect> {
    let lines = rows.lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
    lines.map(parse_row).collect()
}

fn parse_row(row: &'static str) -> AnswerAspect {
    let Some((name, indicators)) = row.split_once('\t') else {
        panic!("the row \"{row}\" has no words for its aspect");
    };
    let (phrases, words) = indicators.split(',').partition(|it| it.contains(' '));
    AnswerAspect { name, words, phrases }
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
    #[should_panic(expected = "has no words for its aspect")]
    fn an_invalid_row_stops_the_program() {
        parse_table("length short\n");
    }
}
