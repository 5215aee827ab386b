//! Files with lists of words or of phrases. A list is its name, a colon, its entries and an empty line; lines that begin
//! with `#` are comments. Words are separated by white space; each phrase has a line of its own.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The words of a list, for lookups.
pub type WordList = LazyLock<HashSet<&'static str>>;
/// The phrases of a list, in the order of the file.
pub type PhraseList = LazyLock<Vec<&'static str>>;

/// Declares the lists of a file, each with its name there, and the names of all of them for the tests of the crate.
#[macro_export]
macro_rules! declare_lists {
    ($names:ident: $type:ty = $read:ident($file:ident); $($list:ident = $name:literal,)*) => {
        $(pub(crate) static $list: $type = std::sync::LazyLock::new(|| $read($file, $name));)*
        #[cfg(test)]
        const $names: &[&str] = &[$($name,)*];
    };
}

/// Returns the words of the list `name` of a file; empty if there is no such list.
pub fn read_word_set(file: &'static str, name: &str) -> HashSet<&'static str> {
    words_of_list(file, name).collect()
}

/// Returns the phrases of the list `name` of a file, in the order of the file; empty if there is no such list.
pub fn read_phrases(file: &'static str, name: &str) -> Vec<&'static str> {
    let lines = lines_of_list(file, name).map(str::trim);
    lines.filter(|it| !it.is_empty()).collect()
}

/// Returns the names of the lists of a file, in the order of the file.
pub(crate) fn list_names(file: &'static str) -> Vec<&'static str> {
    let headings = file.lines().filter(|it| !it.starts_with(['#', ' ']));
    headings.filter_map(|it| it.split_once(':')).map(|it| it.0).collect()
}

/// Returns the errors in a file with lists of words: `names` are not the names of its lists in their order, a list is
/// empty, or a word occurs twice in it.
pub fn find_word_list_errors(file: &'static str, names: &[&str]) -> Vec<String> {
    find_list_errors(file, names, |name| words_of_list(file, name).collect())
}

/// Returns the errors in a file with lists of phrases, like [`find_word_list_errors`].
pub fn find_phrase_list_errors(file: &'static str, names: &[&str]) -> Vec<String> {
    find_list_errors(file, names, |name| read_phrases(file, name))
}

fn find_list_errors(
    file: &'static str,
    names: &[&str],
    read_entries: impl Fn(&str) -> Vec<&'static str>,
) -> Vec<String> {
    let names_in_file = list_names(file);
    let mut out = Vec::new();
    if names_in_file != names {
        out.push(format!("the file has {names_in_file:?}, not {names:?}"));
    }
    for name in names {
        let entries = read_entries(name);
        if entries.is_empty() {
            out.push(format!("{name} is empty"));
        }
        let mut met = HashSet::new();
        let repeated = entries.into_iter().filter(|it| !met.insert(*it));
        out.extend(repeated.map(|it| format!("{name} has \"{it}\" twice")));
    }
    out
}

fn words_of_list(file: &'static str, name: &str) -> impl Iterator<Item = &'static str> {
    lines_of_list(file, name).flat_map(str::split_whitespace)
}

/// Returns what follows the colon, and the lines up to the next empty line.
fn lines_of_list(file: &'static str, name: &str) -> impl Iterator<Item = &'static str> {
    let mut lines = file
        .lines()
        .skip_while(move |it| it.split_once(':').is_none_or(|(list, _)| list != name));
    let first = lines.next().and_then(|it| it.split_once(':')).map_or("", |it| it.1);
    let rest = lines.take_while(|it| !it.is_empty());
    std::iter::once(first).chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Comment: no list.\nfirst: a b\n    c b\n\nsecond: d\n";

    #[test]
    fn a_list_ends_with_an_empty_line() {
        assert_eq!(read_word_set(FILE, "first"), HashSet::from(["a", "b", "c"]));
        assert_eq!(read_word_set(FILE, "second"), HashSet::from(["d"]));
        assert_eq!(read_word_set(FILE, "third"), HashSet::new());
        assert_eq!(list_names(FILE), ["first", "second"]);
    }

    #[test]
    fn errors_in_lists_are_found() {
        assert_eq!(find_word_list_errors("one: a b\n\ntwo: a\n", &["one", "two"]), [""; 0]);
        assert_eq!(
            find_word_list_errors(FILE, &["first", "second"]),
            ["first has \"b\" twice"]
        );
        let errors = ["the file has [\"one\"], not [\"two\"]", "two is empty"];
        assert_eq!(find_word_list_errors("one: a\n", &["two"]), errors);
        let phrases = "calls:\n    oh and\n    and oh\n";
        assert_eq!(find_phrase_list_errors(phrases, &["calls"]), [""; 0]);
        assert_eq!(
            find_phrase_list_errors("calls:\n    oh\n    oh\n", &["calls"]),
            ["calls has \"oh\" twice"]
        );
    }

    #[test]
    fn each_line_of_a_list_of_phrases_is_one_phrase() {
        let file = "calls:\n    by the way\n    oh, and\n\nother:\n    look\n";
        assert_eq!(read_phrases(file, "calls"), ["by the way", "oh, and"]);
        assert_eq!(read_phrases(file, "third"), Vec::<&str>::new());
    }
}
