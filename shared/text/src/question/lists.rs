//! The lists of words of `data/question.txt`.

use std::collections::HashSet;
use std::sync::LazyLock;

static FILE: &str = include_str!("../../data/question.txt");

/// Words of a list.
pub type List = LazyLock<HashSet<&'static str>>;

/// Verbs of paying and earning, by stem.
pub static PAYING: List = LazyLock::new(|| crate::lists::read(FILE, "paying"));
/// Sums of money that are asked for by their own name.
pub static SUMS: List = LazyLock::new(|| crate::lists::read(FILE, "sums"));
/// Words for times and spans of time.
pub static UNITS_OF_TIME: List = LazyLock::new(|| crate::lists::read(FILE, "units_of_time"));
/// Verbs of what is done again and again, with many things.
pub static SEVERAL: List = LazyLock::new(|| crate::lists::read(FILE, "several"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_words_and_no_word_twice() {
        let names = crate::lists::names(FILE);
        assert_eq!(names, ["paying", "sums", "units_of_time", "several"]);
        for (name, list) in names.iter().zip([&PAYING, &SUMS, &UNITS_OF_TIME, &SEVERAL]) {
            assert!(list.len() > 10, "{name}");
        }
        assert_eq!(crate::lists::repeated(FILE), Vec::<String>::new());
    }
}
