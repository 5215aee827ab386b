//! Extracts place, action, tag and cues of a text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::units::pattern::compile_pattern;
use crate::word_lists::{NOT_PLACES, TITLES, WORDS_AFTER_ACTION, WORDS_BEFORE_ACTION};

/// Maximum number of cues of a unit.
const CUES_MAX: usize = 24;

static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"\b(?:in|at|near|visit|visited|visiting|around|(?:go|going|went|gone|moved?|moving|trip|travel|travell?ed|flew|fly|drive|drove|back|came|come|are|am|is|I'm) (?:to|from))\s+(?:the\s+)?(\p{Lu}[\p{L}\p{M}'’-]*(?:\s+(?:of\s+|de\s+|the\s+)?\p{Lu}[\p{L}\p{M}'’-]*){0,3})",
    )
});
static CLAUSE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r"(?:^|[\s,;.!?])(?:I|We|we|[Hh]e|[Ss]he|[Tt]hey)(?:['’]\p{L}+)?\s+([^,;.!?\n]{3,80})")
});

/// Returns the first place named in the text, or an empty text. `people` are names that do not denote places.
pub(crate) fn find_location(text: &str, people: &[&str]) -> String {
    let found = PLACE
        .captures_iter(text)
        .filter_map(|it| it.get(1))
        .map(|it| it.as_str());
    let mut places = found.filter(|it| {
        let first = it.split_whitespace().next().unwrap_or_default().to_lowercase();
        let title = TITLES.contains(first.as_str());
        let name = first.chars().count() > 1 && it.chars().any(char::is_lowercase);
        name && !title
            && !NOT_PLACES.contains(first.as_str())
            && !text::time::words::is_date(&first)
            && !people.iter().any(|name| name.to_lowercase().starts_with(&first))
    });
    places.next().unwrap_or_default().trim_end_matches("'s").to_owned()
}

/// Returns the action in the text: the first verb after a subject and the words after it, at most four words.
pub(crate) fn find_action(text: &str) -> String {
    for clause in CLAUSE.captures_iter(text) {
        let words = clause[1]
            .split_whitespace()
            .skip_while(|it| WORDS_BEFORE_ACTION.contains(it.to_lowercase().as_str()));
        let words: Vec<&str> = words
            .take(4)
            .take_while(|it| !WORDS_AFTER_ACTION.contains(*it))
            .collect();
        if words.first().is_some_and(|it| !text::is_stop(it)) {
            return words.join(" ").to_lowercase();
        }
    }
    String::new()
}

/// Returns the cues of a unit: its distinct content words in lower case, in order of appearance.
pub(crate) fn find_cues(texts: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in texts.iter().flat_map(|it| text::split_words(it)) {
        let word = word.to_lowercase();
        let word = word.trim_end_matches("'s").trim_end_matches("\u{2019}s");
        let content =
            word.chars().any(char::is_alphabetic) && !text::is_stop(word) && !word.contains(['\'', '\u{2019}']);
        let is_cue = word.len() > 2 && content && word.len() <= 40;
        if is_cue && !out.iter().any(|it| it == word) {
            out.push(word.to_owned());
            if out.len() == CUES_MAX {
                break;
            }
        }
    }
    out
}

/// Returns at most two words for the subject of the text: the rarest pair of neighbouring content words in a
/// sentence, or the rarest word. Rarity is that of the built-in table; ties by order of appearance.
pub(crate) fn find_tag(text: &str) -> String {
    let mut best: (f32, String) = (0.0, String::new());
    for sentence in text::split_sentences(text).into_iter().take(12) {
        let words = text::split_words(sentence);
        let weights: Vec<f32> = words.iter().map(|it| word_rarity(it)).collect();
        for i in 0..words.len() {
            let alone = weights[i];
            let pair = match weights.get(i + 1) {
                Some(&next) if next > 0.0 && alone > 0.0 && are_adjacent(sentence, words[i], words[i + 1]) => {
                    alone + 0.5 * next
                }
                Some(_) | None => 0.0,
            };
            if pair.max(alone) > best.0 {
                let name = if pair > alone {
                    format!("{} {}", words[i], words[i + 1])
                } else {
                    words[i].to_owned()
                };
                best = (pair.max(alone), name.to_lowercase());
            }
        }
    }
    best.1
}

/// Returns the most frequent entry, the first one on ties; empty if there is none.
pub(crate) fn most_frequent<'a>(entries: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (place, entry) in entries.filter(|it| !it.is_empty()).enumerate() {
        counts.entry(entry).or_insert((0, place)).0 += 1;
    }
    let best = counts
        .into_iter()
        .max_by_key(|(_, (count, place))| (*count, std::cmp::Reverse(*place)));
    best.map(|(entry, _)| entry.to_owned()).unwrap_or_default()
}

/// Returns the rarity of a content word that can name a topic, and 0 for other words. Words with endings of verbs and
/// adverbs count half.
fn word_rarity(word: &str) -> f32 {
    let lower = word.to_lowercase();
    if lower.chars().count() < 3 || text::is_stop(&lower) || !lower.chars().all(char::is_alphabetic) {
        return 0.0;
    }
    let table = text::EmbeddingTable::builtin();
    let pieces = table.piece_rows(&lower);
    let rarity = pieces.iter().map(|&it| table.rarity_of_row(it)).fold(1.0, f32::max);
    let verb = ["ed", "ly", "ing"].iter().any(|it| lower.ends_with(it));
    if verb { rarity * 0.5 } else { rarity }
}

fn are_adjacent(sentence: &str, left: &str, right: &str) -> bool {
    let end = left.as_ptr() as usize + left.len();
    let start = right.as_ptr() as usize;
    let base = sentence.as_ptr() as usize;
    start >= end && sentence[end - base..start - base].trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_matches_the_phrases_it_is_meant_for() {
        for (pattern, text) in [(&PLACE, "we went to Lima"), (&CLAUSE, "I baked bread")] {
            assert!(pattern.is_match(text), "{text}");
            assert!(!pattern.is_match(""), "{text}");
        }
    }
}
