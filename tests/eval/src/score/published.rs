//! Scores of short answers as papers about long-term memory report them: token F1, BLEU-1 and exact match.
//!
//! Sources: F1 and exact match follow LoCoMo's evaluation (Maharana et al. 2024). BLEU-1 follows later evaluations
//! (A-Mem, Mem0, REMem): `sentence_bleu` of NLTK with the weights 1, 0, 0, 0, `SmoothingFunction().method1`, and the
//! tokens of `word_tokenize` of the answers in lower case. Unlike those evaluations, only answerable questions count.

use std::collections::HashMap;

use super::answer::{self, plain_words};
use super::retrieval::Metrics;
use crate::data::Question;
use crate::run_file::Line;

/// Token F1, over answerable questions.
pub const F1: &str = "F1";
/// BLEU-1, over answerable questions.
pub const BLEU_1: &str = "BLEU-1";
/// Exact match, over answerable questions.
pub const EXACT_MATCH: &str = "EM";

/// Tokens that keep their full stop.
const ABBREVIATIONS: [&str; 14] = [
    "mr.", "mrs.", "ms.", "dr.", "prof.", "st.", "vs.", "etc.", "inc.", "no.", "jr.", "sr.", "co.", "dept.",
];

/// Contractions that are separate tokens.
const CONTRACTIONS: [&str; 7] = ["n't", "'ll", "'re", "'ve", "'s", "'m", "'d"];

/// Adds the scores of an answerable question that asks for a short answer. If several answers are right, the best
/// score counts. A missing answer scores 0.
pub(super) fn add_published_metrics(question: &Question, gold: &str, line: &Line, metrics: &mut Metrics) {
    if !question.answerable || !question.options.is_empty() {
        return;
    }
    let given = line.answer.as_deref().filter(|_| !line.refused()).unwrap_or_default();
    let best = |score: &dyn Fn(&str) -> f64| {
        let accepted = question.accept.iter().map(String::as_str);
        std::iter::once(gold).chain(accepted).map(score).fold(0.0, f64::max)
    };
    metrics.insert(
        F1.into(),
        best(&|gold| answer::token_f1(question.category_id, given, gold)),
    );
    metrics.insert(BLEU_1.into(), best(&|gold| bleu_1(given, gold)));
    metrics.insert(EXACT_MATCH.into(), best(&|gold| f64::from(is_exact_match(given, gold))));
}

/// Returns BLEU-1: the share of the answer's tokens that the gold answer has, times the penalty for an answer that is
/// shorter. Each token counts at most as often as in the gold answer. Without a common token the result is 0, because
/// method 1 smooths only longer n-grams, which have no weight.
pub fn bleu_1(answer: &str, gold: &str) -> f64 {
    let (answer, gold) = (word_tokens(answer), word_tokens(gold));
    let mut left: HashMap<&str, usize> = HashMap::new();
    for token in &gold {
        *left.entry(token).or_default() += 1;
    }
    let mut shared = 0_usize;
    for token in &answer {
        if let Some(count) = left.get_mut(token.as_str()).filter(|it| **it > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    if shared == 0 {
        return 0.0;
    }
    let precision = shared as f64 / answer.len() as f64;
    let penalty = if answer.len() > gold.len() {
        1.0
    } else {
        (1.0 - gold.len() as f64 / answer.len() as f64).exp()
    };
    precision * penalty
}

/// Returns true if both texts have the same words in any order, in lower case and without ASCII punctuation, articles
/// and "and".
pub fn is_exact_match(answer: &str, gold: &str) -> bool {
    let words = |text: &str| -> std::collections::BTreeSet<String> { plain_words(text).into_iter().collect() };
    words(answer) == words(gold)
}

/// Returns the tokens of a text in lower case, as NLTK's `word_tokenize` splits them, without its rare cases ("gonna",
/// abbreviations that are not in [`ABBREVIATIONS`]).
fn word_tokens(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace(['\u{2019}', '\u{2018}'], "'");
    let chunks: Vec<&str> = lower.split_whitespace().collect();
    let mut tokens = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        let is_last = at + 1 == chunks.len();
        push_chunk(chunk, is_last, &mut tokens);
    }
    tokens
}

/// Splits a run of characters without white space at its punctuation, and adds the tokens.
fn push_chunk(chunk: &str, is_last: bool, tokens: &mut Vec<String>) {
    let mut word = String::new();
    let mut rest = chunk;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let mark = mark_length(rest, word.is_empty());
        if mark > 0 {
            push_word(std::mem::take(&mut word), tokens);
            tokens.push(rest[..mark].to_owned());
            rest = &rest[mark..];
        } else if c == '.' && ends_sentence(&word, after, is_last) {
            push_word(std::mem::take(&mut word), tokens);
            tokens.push(".".to_owned());
            rest = after;
        } else {
            word.push(c);
            rest = after;
        }
    }
    push_word(word, tokens);
}

/// Returns the length in bytes of punctuation at the start of a text that is always a token, or 0. A comma or colon
/// before a digit belongs to a number.
fn mark_length(text: &str, begins_word: bool) -> usize {
    for run in ["...", "--"] {
        if text.starts_with(run) {
            return run.len();
        }
    }
    let mut chars = text.chars();
    let Some(c) = chars.next() else { return 0 };
    let is_mark = match c {
        ',' | ':' => !chars.next().is_some_and(char::is_numeric),
        '\'' => begins_word,
        _ => matches!(
            c,
            ';' | '@'
                | '#'
                | '$'
                | '%'
                | '&'
                | '?'
                | '!'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '<'
                | '>'
                | '"'
                | '\u{201c}'
                | '\u{201d}'
        ),
    };
    if is_mark { c.len_utf8() } else { 0 }
}

/// Returns true if a full stop after `word` is a token: at the end of the text, and after a word that is no
/// abbreviation.
fn ends_sentence(word: &str, after: &str, is_last: bool) -> bool {
    let closes = after
        .chars()
        .all(|it| matches!(it, ')' | ']' | '}' | '>' | '"' | '\'' | '\u{201d}'));
    let is_abbreviation =
        word.contains('.') || word.chars().count() == 1 || ABBREVIATIONS.contains(&format!("{word}.").as_str());
    closes && (is_last || !is_abbreviation)
}

fn push_word(mut word: String, tokens: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    let mut ending = None;
    for contraction in CONTRACTIONS {
        if word.len() > contraction.len() && word.ends_with(contraction) {
            ending = Some(contraction);
            word.truncate(word.len() - contraction.len());
            break;
        }
    }
    if ending.is_none() && word.len() > 1 && word.ends_with('\'') {
        ending = Some("'");
        word.pop();
    }
    tokens.push(word);
    tokens.extend(ending.map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_split_as_nltk_splits_them() {
        for (text, expected) in [
            ("A red kite, called Swallow.", "a red kite , called swallow ."),
            ("She didn't go; it's 10:30 p.m.", "she did n't go ; it 's 10:30 p.m ."),
            ("$1,000 (about 900)!", "$ 1,000 ( about 900 ) !"),
            ("Dr. Lopez left. He came back...", "dr. lopez left . he came back ..."),
            ("the boys' room", "the boys ' room"),
            ("Ana's well-known cat, 'Tom'", "ana 's well-known cat , ' tom '"),
        ] {
            assert_eq!(word_tokens(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn bleu_counts_shared_tokens_and_penalises_short_answers() {
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        close(bleu_1("a red kite", "a red kite"), 1.0);
        close(
            bleu_1("the red kite", "a red kite called Swallow"),
            (1.0_f64 - 5.0 / 3.0).exp() * 2.0 / 3.0,
        );
        close(bleu_1("kite kite kite", "a kite"), 1.0 / 3.0);
        close(bleu_1("lantern", "a kite"), 0.0);
        close(bleu_1("", "a kite"), 0.0);
    }

    #[test]
    fn an_exact_match_ignores_case_articles_punctuation_and_order() {
        assert!(is_exact_match("The Red Kite!", "kite, red"));
        assert!(!is_exact_match("red kites", "red kite"));
    }
}
