//! Text that is not meant literally: jokes, conditions, tales, quotations.

use super::lexicon::{
    AFTER_REMARK, BEFORE_TALE, BEFORE_TEXT_ORDER, DOUBTS, IRONIC_OPENINGS, IRONIC_PHRASES, IRONIC_SENTENCES, JOKES,
    RETRACTIONS, TALE_PHRASES, TALES, TEXT_CHECKS, TEXT_ORDERS, TEXT_PARTS, UNREAL,
};
use super::sentence::lower_words;
use crate::facts::clauses::token::Word;
use crate::lexicon::{Class, words_of_class};

/// Returns true if a whole turn is not meant seriously: its speaker says so or rolls their eyes.
pub(super) fn is_joke(text: &str) -> bool {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    JOKES.iter().any(|it| lower.contains(it))
        || lower.trim_end().ends_with("/s")
        || lower.split_whitespace().any(|it| it == "jk")
}

/// Returns the byte index at which a text ends that its speaker means: the colon after an order to translate or correct
/// the rest ("Translate to German: I am ..."), otherwise the end of the text.
pub(super) fn end_of_meant_text(text: &str) -> usize {
    let sentences = crate::split_sentences(text).into_iter();
    let order = sentences.filter_map(words_before_colon).find(|it| orders_text_work(it));
    order.map_or(text.len(), |it| {
        it.as_ptr() as usize - text.as_ptr() as usize + it.len()
    })
}

/// Returns the part of a sentence before its first colon; a colon inside "10:30" does not count.
fn words_before_colon(sentence: &str) -> Option<&str> {
    let before = |at: usize| sentence.get(..at).zip(sentence.get(at + 1..));
    let parts = sentence.match_indices(':').filter_map(|it| before(it.0));
    let mut ended = parts.filter(|it| it.1.is_empty() || it.1.starts_with(char::is_whitespace));
    ended.next().map(|it| it.0)
}

/// Returns true if words begin with an order to translate or rewrite a text, or to check its grammar and the like.
fn orders_text_work(words: &str) -> bool {
    let words = lower_words(words);
    let mut order = words
        .iter()
        .map(String::as_str)
        .skip_while(|it| BEFORE_TEXT_ORDER.contains(*it));
    order.next().is_some_and(|verb| {
        TEXT_ORDERS.contains(verb) || TEXT_CHECKS.contains(verb) && order.any(|it| TEXT_PARTS.contains(it))
    })
}

/// Returns true if a sentence states no fact. `before` and `next` are the sentences before and after it.
pub(super) fn states_no_fact(sentence: &str, words: &[Word], before: &str, next: &str) -> bool {
    let trimmed = sentence.trim_start();
    if trimmed.starts_with(['>', '|', '#', '~', '`']) || trimmed.contains(['♪', '♫', '🎶', '🎵', '{', '}']) {
        return true;
    }
    (0..words.len()).any(|it| is_unreal_word(words, it)) || is_ironic(words, before, next) || told_as_tale(words)
}

/// Returns true if the word at an index makes its clause uncertain. The "if" of a remark such as "if you ask me" does
/// not.
pub(super) fn is_unreal_word(words: &[Word], at: usize) -> bool {
    let is_unreal = words.get(at).is_some_and(|it| !it.quoted && it.is_in_list(&UNREAL));
    is_unreal && !opens_remark(&words[at..])
}

fn opens_remark(words: &[Word]) -> bool {
    words_of_class(Class::Remark).iter().any(|remark| {
        let mut written = words.iter().map(|it| it.lower.as_str());
        let is_written = remark.split(' ').all(|it| written.next() == Some(it));
        // "If you ask me to, I'll sell it" is a condition.
        is_written && !written.next().is_some_and(|it| AFTER_REMARK.contains(it))
    })
}

/// Returns the words before a "maybe" that follows a break: "I'm thinking of going back to university, maybe law".
pub(super) fn drop_words_after_doubt(mut words: Vec<Word>) -> Vec<Word> {
    let doubts =
        |at: &usize| words[*at - 1].gap != crate::facts::clauses::token::Gap::None && words[*at].is_in_list(&DOUBTS);
    if let Some(at) = (SURE_MIN..words.len()).find(doubts) {
        words.truncate(at);
    }
    words
}

/// Smallest number of words before a doubt; fewer words state nothing for sure.
const SURE_MIN: usize = 4;

/// Detects irony: "Yeah right, I love queues." "I love queues. Not."
pub(super) fn is_ironic(words: &[Word], before: &str, next: &str) -> bool {
    let bare = |it: &str| {
        let letters_and_spaces: String = it.chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect();
        letters_and_spaces.trim().to_lowercase()
    };
    if RETRACTIONS.contains(bare(next).as_str()) || IRONIC_SENTENCES.contains(bare(before).as_str()) {
        return true;
    }
    let lower: Vec<&str> = words.iter().map(|it| it.lower.as_str()).collect();
    let ends = words.last().is_some_and(|it| it.lower == "not")
        && words.len() > 2
        && words[words.len() - 2].gap != crate::facts::clauses::token::Gap::None;
    IRONIC_OPENINGS.iter().any(|it| lower.starts_with(it))
        || ends
        || IRONIC_PHRASES.iter().any(|it| contains_sequence(&lower, it))
}

/// Detects roles and tales: "In the play I am a nurse", "my character lives in Rome".
pub(super) fn told_as_tale(words: &[Word]) -> bool {
    let lower: Vec<&str> = words.iter().map(|it| it.lower.as_str()).collect();
    let tale = |at: usize| {
        matches!(lower[at], "in" | "for")
            && lower.get(at + 1).is_some_and(|it| BEFORE_TALE.contains(it))
            && lower.get(at + 2).is_some_and(|it| TALES.contains(it))
    };
    (0..lower.len()).any(tale) || TALE_PHRASES.iter().any(|it| contains_sequence(&lower, it))
}

fn contains_sequence(words: &[&str], part: &[&str]) -> bool {
    words.windows(part.len()).any(|it| it == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_order_before_a_colon_ends_what_a_speaker_means() {
        let meant = |text: &'static str| &text[..end_of_meant_text(text)];
        for order in [
            "Translate to German",
            "Could you translate this",
            "Hi, please fix my grammar",
            "Thanks! Check the spelling of this text",
        ] {
            let text: &'static str = format!("{order}: I have two cats.").leak();
            assert_eq!(meant(text), order);
            let text: &'static str = format!("{order}:\nI have two cats.").leak();
            assert_eq!(meant(text), order);
        }
        for text in [
            "The spelling bee is at 10:30. I live in Oslo and I have two cats.",
            "Translate this at 10:30. I live in Oslo.",
            "My sister hates typos: she works at a publisher.",
            "I translate: I work at a publisher.",
            "Fix my bike: I need it.",
            "",
        ] {
            assert_eq!(meant(text), text);
        }
    }
}
