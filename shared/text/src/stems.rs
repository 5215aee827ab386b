use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use crate::data::{self, File, data_file};
use crate::lexicon::{Class, is};
use crate::verbs::{self, Verb};
use crate::words;

static BASES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| data::sound(bases(data_file!("en/bases.tsv"))));
static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
static RUSSIAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Russian));
static GREEK: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Greek));
static ARABIC: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Arabic));

/// Returns the stem of a word, in lower case and composed form, without "'s". Irregular forms come from a table. For
/// other words, the Snowball stemmer of the script is used: English for ASCII, Russian for Cyrillic, Greek and Arabic.
/// A word of another script is its own stem.
pub fn stem(word: &str) -> String {
    let lower = normalised(word);
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
pub fn stems(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|it| !is_stop(it)).map(stem).collect()
}

/// Returns true if a word is a function word or a greeting, in any case; contractions count too.
pub fn is_stop(word: &str) -> bool {
    let lower = normalised(word);
    if is(&lower, Class::Stop) {
        return true;
    }
    let mut ends = lower.split('\'');
    let (Some(head), Some(tail)) = (ends.next(), ends.next()) else {
        return false;
    };
    match tail {
        "t" => head
            .strip_suffix('n')
            .is_some_and(|it| is(it, Class::Stop) || matches!(it, "ca" | "wo")),
        _ if is(tail, Class::ShortForm) => is(head, Class::Stop),
        _ => false,
    }
}

/// Returns the irregular forms with their bases, from the verbs and from a file. The rules of English spelling cover
/// regular forms.
fn bases(file: File) -> Result<HashMap<&'static str, &'static str>, String> {
    let forms = |it: &'static Verb| it.irregular_forms().map(|form| (form, it.base));
    let mut bases: HashMap<&str, &str> = verbs::all().iter().flat_map(forms).collect();
    for row in data::rows(file, 2)? {
        data::insert(&mut bases, row.cells[0], row.cells[1], &row)?;
    }
    Ok(bases)
}

fn normalised(word: &str) -> String {
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
        assert_eq!(stems("She was adopting; I'd adopt. Don\u{2019}t!"), ["adopt", "adopt"]);
        assert_eq!(stem("went"), stem("Going"));
        assert_eq!(stem("children"), stem("Child's"));
        assert_eq!(stem("Straße"), "straße");
        assert_eq!(stem("работает"), stem("работаю"));
        assert_eq!(stems("猫が好き"), ["猫", "が", "好", "き"]);
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
        assert_eq!(bases(file("geese\tgoose\n")).unwrap().get("geese"), Some(&"goose"));
        let fault = bases(file("went\twend\n")).err();
        assert_eq!(fault.as_deref(), Some("x.tsv:1: \"went\" is there already"));
    }

    #[test]
    fn past_forms_have_the_stem_of_their_base_and_bit_is_not_bite() {
        assert_eq!(
            stems("The bell rang, she swore and withdrew"),
            stems("The bell rings, she swears and withdraws")
        );
        assert_eq!(
            stems("They laid it and forgave him"),
            stems("They lay it and forgive him")
        );
        assert_ne!(stem("bit"), stem("bite"));
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
