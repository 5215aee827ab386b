//! Files with lists of words or of phrases. A list is its name, a colon, its entries and an empty line; lines that begin
//! with `#` are comments. Words are separated by white space; each phrase has a line of its own.

use std::collections::HashSet;

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
pub fn list_names(file: &'static str) -> Vec<&'static str> {
    let headings = file.lines().filter(|it| !it.starts_with(['#', ' ']));
    headings.filter_map(|it| it.split_once(':')).map(|it| it.0).collect()
}

/// Returns the words that occur twice in one list of a file, each as `list: word`.
pub fn find_repeated_words(file: &'static str) -> Vec<String> {
    let mut out = Vec::new();
    for name in list_names(file) {
        let mut met = HashSet::new();
        out.extend(
            words_of_list(file, name)
                .filter(|it| !met.insert(*it))
                .map(|it| format!("{name}: {it}")),
        );
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
        assert_eq!(find_repeated_words(FILE), ["first: b"]);
    }

    #[test]
    fn each_line_of_a_list_of_phrases_is_one_phrase() {
        let file = "calls:\n    by the way\n    oh, and\n\nother:\n    look\n";
        assert_eq!(read_phrases(file, "calls"), ["by the way", "oh, and"]);
        assert_eq!(read_phrases(file, "third"), Vec::<&str>::new());
    }
}
