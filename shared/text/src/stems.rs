use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use crate::lexicon::{Class, is};
use crate::words;

/// Irregular forms with their base; English spelling rules cover the rest.
const IRREGULAR: &str = "went go gone go bought buy brought bring thought think taught teach caught catch sought seek \
    fought fight made make said say told tell sold sell found find felt feel left leave kept keep slept sleep met meet \
    paid pay sent send spent spend built build lost lose heard hear held hold stood stand understood understand ate eat \
    eaten eat gave give given give took take taken take saw see seen see knew know known know grew grow grown grow threw \
    throw thrown throw flew fly flown fly drew draw drawn draw began begin begun begin drank drink drunk drink sang sing \
    sung sing swam swim swum swim ran run rode ride ridden ride wrote write written write drove drive driven drive rose \
    rise risen rise chose choose chosen choose broke break broken break spoke speak spoken speak woke wake woken wake \
    stole steal stolen steal wore wear worn wear tore tear torn tear won win wound wind hung hang dug dig stuck stick \
    struck strike fell fall fallen fall forgot forget forgotten forget hid hide hidden hide became become came come led \
    lead fed feed bled bleed bred breed shot shoot sat sit lit light slid slide swept sweep wept weep dealt deal meant \
    mean dreamt dream learnt learn burnt burn bent bend lent lend froze freeze frozen freeze shook shake shaken shake \
    children child men man women woman feet foot teeth tooth mice mouse people person wives wife lives life knives knife \
    leaves leaf wolves wolf better good best good worse bad worst bad mom mother mum mother mommy mother dad father daddy \
    father bike bicycle kid child kids child photo picture photos picture pic picture pics picture";

static BASES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let mut forms = IRREGULAR.split_whitespace();
    let mut bases = HashMap::new();
    while let (Some(form), Some(base)) = (forms.next(), forms.next()) {
        bases.insert(form, base);
    }
    bases
});
static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
static RUSSIAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Russian));
static GREEK: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Greek));
static ARABIC: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Arabic));

/// Returns the stem of a word: lower case, composed, without "'s"; irregular forms by table; Snowball by script, English if the
/// word is ASCII, Russian for Cyrillic, Greek, Arabic; else the word itself.
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

/// Returns the stems of the words of a text in order, function words left out.
pub fn stems(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|it| !is_stop(it)).map(stem).collect()
}

/// Says whether a word is a function word or a greeting, contracted or not, in any case.
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
    fn stems_join_forms_of_one_word() {
        assert_eq!(stems("She was adopting; I'd adopt. Don\u{2019}t!"), ["adopt", "adopt"]);
        assert_eq!(stem("went"), stem("Going"));
        assert_eq!(stem("children"), stem("Child's"));
        assert_eq!(stem("Straße"), "straße");
        assert_eq!(stem("работает"), stem("работаю"));
        assert_eq!(stems("猫が好き"), ["猫", "が", "好", "き"]);
    }

    #[test]
    fn function_words_stop() {
        for word in ["The", "don't", "can\u{2019}t", "I'm", "they've", "Hey", "won't"] {
            assert!(is_stop(word), "{word}");
        }
        for word in ["cat", "o'clock", "Friday", "t", "2023"] {
            assert!(!is_stop(word), "{word}");
        }
    }
}
