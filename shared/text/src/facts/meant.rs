//! Whether a speaker means the words at a place of a text, and whether they are the speaker's own.

use std::ops::Range;

use super::lexicon::{CLAUSE_JOINERS, JOKES, REPORTS, TELLING_VERBS, is_number};
use super::non_literal::{end_of_meant_text, is_ironic, is_unreal_word, told_as_tale};
use super::sentence::lower_words;
use crate::facts::clauses::token::{Gap, Word, quote_ranges, read_words};

/// Returns true if the speaker of a text means the verb at byte `at` literally. It is not meant in a joke, in irony, in
/// a tale, in a text that is to be translated, or after a word such as "if" or "almost" in its clause.
pub fn is_meant(text: &str, at: usize) -> bool {
    if is_called_joke(text) || at >= end_of_meant_text(text) {
        return false;
    }
    let sentences = sentence_ranges(text);
    let Some(place) = sentences.iter().position(|it| it.contains(&at)) else {
        return true;
    };
    let shown = |it: Option<&Range<usize>>| it.and_then(|it| text.get(it.clone())).unwrap_or_default();
    let before = shown(place.checked_sub(1).and_then(|it| sentences.get(it)));
    let next = shown(sentences.get(place + 1));
    let words = read_words(text, sentences[place].clone(), &quote_ranges(text));
    !is_ironic(&words, before, next) && !told_as_tale(&words) && !is_supposed(&words, at)
}

/// Returns true if the words at byte `at` of a text are those of its speaker: they stand neither in quotation marks nor
/// after words such as "Zoe wrote:".
pub fn is_in_own_words(text: &str, at: usize) -> bool {
    let quoted = quote_ranges(text).iter().any(|it| it.contains(&at));
    !quoted && !is_after_report(text, at)
}

/// Returns true if a speaker says that the text is a joke. A symbol such as rolling eyes may mean annoyance.
fn is_called_joke(text: &str) -> bool {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    JOKES
        .iter()
        .filter(|it| it.starts_with(char::is_alphabetic))
        .any(|it| lower.contains(it))
}

fn sentence_ranges(text: &str) -> Vec<Range<usize>> {
    let range = |it: &str| {
        let start = it.as_ptr() as usize - text.as_ptr() as usize;
        start..start + it.len()
    };
    crate::split_sentences(text).into_iter().map(range).collect()
}

/// Returns true if a word before the verb at byte `at`, in the same clause, makes the clause a supposition. In "almost
/// ten years ago I moved", the word belongs to the amount.
fn is_supposed(words: &[Word], at: usize) -> bool {
    let Some(verb) = words.iter().rposition(|it| it.range.start <= at) else {
        return false;
    };
    let parts = |it: &Word| it.gap != Gap::None || it.is_in_list(&CLAUSE_JOINERS);
    let start = words[..verb].iter().rposition(parts).map_or(0, |it| it + 1);
    let of_amount = |it: &Word| is_number(&it.lower) || it.is_any_of(&["a", "an", "all", "every", "half"]);
    (start..verb).any(|it| is_unreal_word(words, it) && !of_amount(&words[it + 1]))
}

/// Returns true if a colon and, before it, a verb of saying with another subject than "I" precede byte `at` in its
/// sentence.
fn is_after_report(text: &str, at: usize) -> bool {
    let sentence = sentence_ranges(text).into_iter().find(|it| it.contains(&at));
    let before = sentence.and_then(|it| text.get(it.start..at)).unwrap_or_default();
    let Some((lead, _)) = before.rsplit_once(": ") else {
        return false;
    };
    let words = lower_words(lead);
    let says = |it: &String| REPORTS.contains(it.as_str()) || TELLING_VERBS.contains(it.as_str());
    words.first().is_some_and(|it| it != "i") && words.iter().rev().take(2).any(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, word: &str) -> usize {
        text.find(word).unwrap_or_default()
    }

    #[test]
    fn suppositions_jokes_and_texts_of_orders_are_not_meant() {
        for (text, verb, meant) in [
            ("I almost adopted a dog on Sunday.", "adopted", false),
            ("I nearly bought a piano on Thursday.", "bought", false),
            ("I dreamt that I sold the car on Friday.", "sold", false),
            ("If I had started saving in 2015 I'd be rich now.", "started", false),
            ("I sold the shop on Friday. Just kidding!", "sold", false),
            ("Translate to German: I sold the shop on Friday.", "sold", false),
            ("Almost ten years ago I moved to Oslo.", "moved", true),
            ("I moved to Oslo almost ten years ago.", "moved", true),
            ("If you ask me, I sold the shop on Friday.", "sold", true),
            ("I sold the shop on Friday, if you must know.", "sold", true),
            ("If I remember right I sold the shop on Friday.", "sold", true),
            ("If you ask Ben I sold the shop on Friday.", "sold", false),
            ("If you ask me to I sold the shop on Friday.", "sold", false),
            ("I paid 40 euros for that 🙄", "paid", true),
        ] {
            assert_eq!(is_meant(text, place(text, verb)), meant, "{text}");
        }
    }

    #[test]
    fn quoted_and_reported_words_are_not_those_of_the_speaker() {
        for (text, verb, own) in [
            ("Bert said: \"I moved to Oslo in May.\"", "moved", false),
            ("\"I stopped drinking in 2020\" was all she said.", "stopped", false),
            ("Zoe wrote: I got engaged on Sunday!", "engaged", false),
            ("He told me: I sold the shop on Friday.", "sold", false),
            ("I read \"Dune\" and moved in May.", "moved", true),
            ("Good news: I sold the shop on Friday.", "sold", true),
        ] {
            assert_eq!(is_in_own_words(text, place(text, verb)), own, "{text}");
        }
    }
}
