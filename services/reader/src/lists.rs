//! The lists of words of `data/words.txt`.

use std::collections::HashSet;
use std::sync::LazyLock;

static FILE: &str = include_str!("../data/words.txt");

/// Words of a list.
pub(crate) type List = LazyLock<HashSet<&'static str>>;

macro_rules! lists {
    ($($list:ident = $name:literal,)*) => {
        $(pub(crate) static $list: List = LazyLock::new(|| read($name));)*
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
    PRONOUNS = "pronouns",
    AUXILIARIES = "auxiliaries",
    PREPOSITIONS = "prepositions",
    CONJUNCTIONS = "conjunctions",
    FILLERS = "fillers",
    VERBS = "verbs",
    NOT_VERBS = "not_verbs",
    PERSONS = "persons",
    RATES = "rates",
    TIMES = "times",
    CHANGED = "changed",
    CONTROLS = "controls",
    CHANGES = "changes",
    PAYING = "paying",
    SUMS = "sums",
    UNITS_OF_TIME = "units_of_time",
    SEVERAL = "several",
    SUPPOSING = "supposing",
    JOINING = "joining",
    UNCHANGED_PASTS = "unchanged_pasts",
}

/// Returns the words of a list; they stand behind its name, up to an empty line.
fn read(name: &str) -> HashSet<&'static str> {
    let mut lines = FILE
        .lines()
        .skip_while(|it| it.split_once(':').is_none_or(|(list, _)| list != name));
    let first = lines.next().and_then(|it| it.split_once(':')).map_or("", |it| it.1);
    let rest = lines.take_while(|it| !it.is_empty());
    std::iter::once(first)
        .chain(rest)
        .flat_map(str::split_whitespace)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_used_and_holds_a_word_once() {
        let named = FILE
            .lines()
            .filter(|it| !it.starts_with(['#', ' ']))
            .filter_map(|it| it.split_once(':'));
        let named: Vec<&str> = named.map(|it| it.0).collect();
        assert_eq!(named, NAMES);
        let words = FILE
            .lines()
            .filter(|it| !it.starts_with('#'))
            .flat_map(str::split_whitespace)
            .count();
        let held: usize = NAMES.iter().map(|it| read(it).len()).sum();
        assert_eq!(words - NAMES.len(), held, "a list holds a word twice");
        assert!(NAMES.iter().all(|it| read(it).len() > 10 || *it == "auxiliaries"));
    }
}
