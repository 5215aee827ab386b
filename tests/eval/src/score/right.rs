//! Judges whether a short answer is right, as a reader who has the gold answer would: the result is yes or no, not a
//! share of words.

use super::answer::stem_tokens;
use crate::data::Question;

/// Maximum number of words that an answer may have in addition to those of the right answer.
const MORE: usize = 4;
/// Minimum share of the right answer's words in an answer that has fewer words.
const LEAST: f64 = 0.6;

/// Words that an answer may have or lack, as stems. "May" is not among them, because here it is a month.
const FUNCTION_WORDS: [&str; 36] = [
    "in", "on", "at", "of", "to", "for", "with", "by", "from", "is", "wa", "ar", "were", "be", "been", "it", "hi",
    "her", "their", "my", "your", "our", "she", "he", "thei", "i", "you", "we", "ha", "have", "had", "that", "thi",
    "will", "s", "about",
];

/// Returns true if an answer states the same as the gold answer or another accepted wording. No answer to an
/// unanswerable question is right.
pub fn is_right(question: &Question, answer: &str) -> bool {
    question.answerable
        && std::iter::once(&question.answer)
            .chain(&question.accept)
            .any(|gold| says_gold(answer, gold))
}

fn says_gold(answer: &str, gold: &str) -> bool {
    let (answer, gold) = (split_tokens(answer), split_tokens(gold));
    // The stem of "yes" is "ye".
    if let Some(polarity @ ("ye" | "yes" | "no")) = gold.first().map(String::as_str) {
        return answer.first().is_some_and(|it| it == polarity);
    }
    let (answer, gold) = (content_words(answer), content_words(gold));
    if answer.is_empty() || gold.is_empty() {
        return answer == gold;
    }
    let within = |of: &[String], all: &[String]| of.iter().filter(|it| all.contains(it)).count();
    let figures_agree = {
        let figures = |all: &[String]| -> Vec<String> { all.iter().filter(|it| is_figure(it)).cloned().collect() };
        let (answer_figures, gold_figures) = (figures(&answer), figures(&gold));
        within(&gold_figures, &answer_figures) == gold_figures.len()
            && (gold_figures.is_empty() || within(&answer_figures, &gold_figures) == answer_figures.len())
    };
    let is_whole = within(&gold, &answer) == gold.len() && answer.len() <= gold.len() + MORE;
    let is_part = within(&answer, &gold) == answer.len() && answer.len() as f64 >= LEAST * gold.len() as f64;
    // "Three" is right for "three cats".
    let is_number = answer.len() == 1 && gold.len() == 2 && gold.first() == answer.first() && is_figure(&answer[0]);
    figures_agree && (is_whole || is_part || is_number)
}

/// Returns true for a number that is not a year. A year may be missing in a date.
fn is_figure(token: &str) -> bool {
    token.starts_with(|it: char| it.is_ascii_digit())
        && !(token.len() == 4 && token.bytes().all(|it| it.is_ascii_digit()))
}

fn content_words(tokens: Vec<String>) -> Vec<String> {
    let content: Vec<String> = tokens
        .iter()
        .filter(|it| !FUNCTION_WORDS.contains(&it.as_str()))
        .cloned()
        .collect();
    if content.is_empty() { tokens } else { content }
}

/// Returns the stems of a text, with number words as digits.
fn split_tokens(text: &str) -> Vec<String> {
    let apart = text
        .replace(['-', '/', '\u{2013}', '\u{2014}'], " ")
        .replace(['\u{2019}', '\u{2018}'], "'");
    let ordinal = |stem: String| {
        let digits = stem.trim_end_matches(|it: char| it.is_ascii_alphabetic());
        let ends = ["st", "nd", "rd", "th"];
        match !digits.is_empty() && ends.contains(&&stem[digits.len()..]) {
            true => digits.to_owned(),
            false => stem,
        }
    };
    let words: Vec<String> = apart
        .split_whitespace()
        .map(|it| whole_word(&it.trim_matches(['.', ',']).to_lowercase()))
        .collect();
    stem_tokens(&words.join(" ")).into_iter().map(ordinal).collect()
}

/// Returns a word in lower case, with a number word as digits and a month name in full.
fn whole_word(lower: &str) -> String {
    if let Some(number) = text::number_word(lower) {
        return number.to_string();
    }
    let month = match lower {
        "jan" => "january",
        "feb" => "february",
        "mar" => "march",
        "apr" => "april",
        "jun" => "june",
        "jul" => "july",
        "aug" => "august",
        "sep" | "sept" => "september",
        "oct" => "october",
        "nov" => "november",
        "dec" => "december",
        other => other,
    };
    month.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_right_if_it_states_the_same_as_the_gold_answer() {
        for (answer, gold) in [
            ("8 May 2026", "May 8th, 2026"),
            ("16 May", "16 May 2026"),
            ("three", "3 cats"),
            ("the blue bike", "blue bike"),
            ("Ana Lopez", "Dr. Ana Lopez"),
            ("Yes", "Yes, in March"),
            ("in Ghent", "Ghent"),
        ] {
            assert!(says_gold(answer, gold), "{answer} for {gold}");
        }
    }

    #[test]
    fn an_answer_is_wrong_if_it_states_less_or_something_else() {
        for (answer, gold) in [
            ("9 May 2026", "8 May 2026"),
            ("May 2026", "8 May 2026"),
            ("8 June 2026", "8 May 2026"),
            ("No", "Yes"),
            ("4", "three"),
            ("Lopez", "Maria Vidal"),
            ("bread", "bread, butter and eggs"),
            (
                "the bakery where we met Ana on the way to the old harbour last June",
                "the bakery",
            ),
        ] {
            assert!(!says_gold(answer, gold), "{answer} for {gold}");
        }
    }
}
