//! Words of sensitive subjects in German, Spanish, French, Italian, Portuguese, Dutch and Chinese. They are looked for
//! in every text, whatever its language.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use text::lexicon::word_lists::read_word_set;

use super::{Domains, SUBJECTS};

/// Words in lower case. An entry that ends with `*` is the beginning of words.
pub(super) static WORDS: &str = include_str!("../../../data/sensitive_native_words.txt");
/// Entries for scripts without spaces. They match anywhere in a text.
pub(super) static SIGNS: &str = include_str!("../../../data/sensitive_signs.txt");

/// Whole words, then beginnings of words.
static LEXICON: LazyLock<[HashMap<&str, Domains>; 2]> = LazyLock::new(|| {
    let mut lexicon = [HashMap::new(), HashMap::new()];
    for (domain, name) in SUBJECTS {
        for word in read_word_set(WORDS, name) {
            let start = word.strip_suffix('*');
            let entry: &mut Domains = lexicon[usize::from(start.is_some())]
                .entry(start.unwrap_or(word))
                .or_default();
            *entry = entry.union_with(domain);
        }
    }
    lexicon
});

static SIGNS_OF_SUBJECTS: LazyLock<[(Domains, HashSet<&str>); 6]> =
    LazyLock::new(|| SUBJECTS.map(|(domain, name)| (domain, read_word_set(SIGNS, name))));

/// Returns the sensitive subjects of a text; `lower` are its words in lower case.
pub(super) fn find_native_domains(text: &str, lower: &[String]) -> Domains {
    let [whole_words, starts] = &*LEXICON;
    let mut found = Domains::default();
    // "l'hôpital" contains the word for hospital.
    for word in lower.iter().flat_map(|it| it.split('\'')) {
        let ends = word.char_indices().map(|(at, it)| at + it.len_utf8());
        let begun = ends.filter_map(|end| starts.get(&word[..end]));
        found = whole_words
            .get(word)
            .into_iter()
            .chain(begun)
            .fold(found, |sum, it| sum.union_with(*it));
    }
    for (domain, signs) in &*SIGNS_OF_SUBJECTS {
        if signs.iter().any(|it| text.contains(it)) {
            found = found.union_with(*domain);
        }
    }
    found
}
