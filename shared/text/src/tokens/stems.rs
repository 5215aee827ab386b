//! Stemming, and the stop words that are left out of comparisons.

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use crate::lexicon::data_files::{self, File, data_file};
use crate::lexicon::verbs::{self, Verb};
use crate::lexicon::{Class, is_in_class};
use crate::split_words;

static BASES: LazyLock<HashMap<&str, &str>> =
    LazyLock::new(|| data_files::expect_valid_table(read_bases(data_file!("en/bases.tsv"))));
static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
static RUSSIAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Russian));
static GREEK: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Greek));
static ARABIC: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Arabic));

/// Returns the stem of a word, in lower case and composed form, without "'s". Irregular forms come from a table. For
/// other words, the Snowball stemmer of the script is used: English for ASCII, Russian for Cyrillic, Greek and Arabic.
/// A word of another script is its own stem.
pub fn stem_word(word: &str) -> String {
    let lower = normalise_word(word);
    let base = lower.strip_suffix("'s").unwrap_or(&lower);
    let base = BASES.get(base).copied().unwrap_or(base);
    let stemmer = match base.chars().next() {
        _ if base.is_ascii() => &ENGLISH,
        Some('\u{400}'..='\u{4ff}') => &RUSSIAN,
        Some('\u{370}'..='\u{3ff}') => &GREEK,
        Some('\u{600}'..='\u{6ff}') => &ARABIC,
        Some(_) | None => return base.to_owned(),
    };
    stemmer.stem(base).into_owned()
}

/// Returns the stems of the words of a text in order, without function words.
pub fn stem_words(text: &str) -> Vec<String> {
    split_words(text)
        .into_iter()
        .filter(|it| !is_stop(it))
        .map(stem_word)
        .collect()
}

/// Returns true if a word is a function word or a greeting, in any case; contractions count too.
pub fn is_stop(word: &str) -> bool {
    let lower = normalise_word(word);
    if is_in_class(&lower, Class::Stop) {
        return true;
    }
    let mut ends = lower.split('\'');
    let (Some(head), Some(tail)) = (ends.next(), ends.next()) else {
        return false;
    };
    match tail {
        "t" => head
            .strip_suffix('n')
            .is_some_and(|it| is_in_class(it, Class::Stop) || matches!(it, "ca" | "wo")),
        _ if is_in_class(tail, Class::ShortForm) => is_in_class(head, Class::Stop),
        _ => false,
    }
}

/// Returns the irregular forms with their bases, from the verbs and from a file. The rules of English spelling cover
/// regular forms.
fn read_bases(file: File) -> Result<HashMap<&'static str, &'static str>, String> {
    let forms = |it: &'static Verb| it.irregular_forms().map(|form| (form, it.base));
    let mut bases: HashMap<&str, &str> = verbs::all_verbs().iter().flat_map(forms).collect();
    for row in data_files::read_rows(file, 2)? {
        data_files::insert_unique(&mut bases, row.cells[0], row.cells[1], &row)?;
    }
    Ok(bases)
}

fn normalise_word(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    word.nfc()
        .flat_map(char::to_lowercase)
        .map(|it| if it == '\u{2019}' { '\'' } else { it })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_have_one_stem() {
        assert_eq!(
            stem_words("She was adopting; I'd adopt. Don\u{2019}t!"),
            ["adopt", "adopt"]
        );
        assert_eq!(stem_word("went"), stem_word("Going"));
        assert_eq!(stem_word("children"), stem_word("Child's"));
        assert_eq!(stem_word("Straße"), "straße");
        assert_eq!(stem_word("работает"), stem_word("работаю"));
        assert_eq!(stem_words("猫が好き"), ["猫", "が", "好", "き"]);
    }

    #[test]
    fn irregular_forms_have_the_stems_of_their_bases() {
        for (form, base) in [
            ("went", "go"),
            ("eaten", "eat"),
            ("rose", "rise"),
            ("mice", "mouse"),
            ("rang", "ring"),
            ("forgiven", "forgive"),
            ("mum", "mother"),
        ] {
            assert_eq!(BASES.get(form), Some(&base));
        }
        let file = |text| File { path: "x.tsv", text };
        assert_eq!(read_bases(file("geese\tgoose\n")).unwrap().get("geese"), Some(&"goose"));
        let fault = read_bases(file("went\twend\n")).err();
        assert_eq!(fault.as_deref(), Some("x.tsv:1: \"went\" is there already"));
    }

    #[test]
    fn past_forms_have_the_stem_of_their_base_and_bit_is_not_bite() {
        assert_eq!(
            stem_words("The bell rang, she swore and withdrew"),
            stem_words("The bell rings, she swears and withdraws")
        );
        assert_eq!(
            stem_words("They laid it and forgave him"),
            stem_words("They lay it and forgive him")
        );
        assert_ne!(stem_word("bit"), stem_word("bite"));
    }

    #[test]
    fn function_words_are_recognised() {
        for word in ["The", "don't", "can\u{2019}t", "I'm", "they've", "Hey", "won't"] {
            assert!(is_stop(word), "{word}");
        }
        for word in ["cat", "o'clock", "Friday", "t", "2023"] {
            assert!(!is_stop(word), "{word}");
        }
    }
}
