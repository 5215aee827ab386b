//! Text that is not meant literally: jokes, conditions, tales, quotations.

use super::lexicon::{
    BEFORE_TALE, DOUBTS, IRONIC_OPENINGS, IRONIC_PHRASES, IRONIC_SENTENCES, JOKES, RETRACTIONS, TALE_PHRASES, TALES,
    UNREAL,
};
use crate::facts::clauses::token::Word;

/// Returns true if a whole turn is not meant seriously: its speaker says so or rolls their eyes.
pub(super) fn is_joke(text: &str) -> bool {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    JOKES.iter().any(|it| lower.contains(it))
        || lower.trim_end().ends_with("/s")
        || lower.split_whitespace().any(|it| it == "jk")
}

/// Returns true if a sentence states no fact. `before` and `next` are the sentences before and after it.
pub(super) fn states_no_fact(sentence: &str, words: &[Word], before: &str, next: &str) -> bool {
    let trimmed = sentence.trim_start();
    if trimmed.starts_with(['>', '|', '#', '~', '`']) || trimmed.contains(['♪', '♫', '🎶', '🎵', '{', '}']) {
        return true;
    }
    words.iter().any(|it| !it.quoted && it.is_in_list(&UNREAL)) || is_ironic(words, before, next) || told_as_tale(words)
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
fn is_ironic(words: &[Word], before: &str, next: &str) -> bool {
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
fn told_as_tale(words: &[Word]) -> bool {
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
