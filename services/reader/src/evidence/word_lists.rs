//! The word lists of `data/words.txt`.

use std::collections::HashSet;
use std::sync::LazyLock;

static FILE: &str = include_str!("../../data/words.txt");

/// The words of a list.
pub(crate) type List = LazyLock<HashSet<&'static str>>;

macro_rules! lists {
    ($($list:ident = $name:literal,)*) => {
        $(pub(crate) static $list: List = LazyLock::new(|| text::lexicon::word_lists::read_word_set(FILE, $name));)*
        #[cfg(test)]
        const NAMES: &[&str] = &[$($name,)*];
    };
}

lists! {
    CURRENCIES = "currencies",
    CURRENCY_CODES = "currency_codes",
    UNITS = "units",
    COLOURS = "colours",
    DENIALS = "denials",
    DETERMINERS = "determiners",
    AUXILIARIES = "auxiliaries",
    LINKING = "linking",
    FILLERS = "fillers",
    PERSONS = "persons",
    CHANGED = "changed",
    CHANGES = "changes",
    OPENINGS = "openings",
    UNREALISED = "unrealised",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_list_is_used_and_has_no_repeated_word() {
        assert_eq!(text::lexicon::word_lists::list_names(FILE), NAMES);
        assert_eq!(
            text::lexicon::word_lists::find_repeated_words(FILE),
            Vec::<String>::new()
        );
        let is_short = |it: &str| ["auxiliaries", "openings"].contains(&it);
        let long = |it: &&str| text::lexicon::word_lists::read_word_set(FILE, it).len() > 10 || is_short(it);
        assert!(NAMES.iter().all(long));
    }
}
