//! Finds pairs of names that may belong to one person but that the rules cannot decide: a short name and a longer one
//! ("Tom" and "Thomas Reed"), and a first name that several people have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::entities::fold::fold_name;
use crate::entities::merging::merge_rules;
use crate::entities::names::forms::Forms;
use crate::entities::names::nickname_counts::NicknameCounts;

/// Maximum number of longer names considered for a short one; the most frequent ones are kept.
const LONGER_MAX: usize = 3;
/// Minimum length, in letters, of a short name that is the beginning of a longer one.
const BEGINNING_MIN: usize = 3;
/// Maximum number of names beginning with a short one that are considered.
const BEGUN_MAX: usize = 64;
/// Minimum number of units that mention each of two names, or whose actor it is, before the pair is considered.
const MENTIONS_MIN: u64 = 2;
/// The table of first names and their nicknames.
static NICKNAMES: LazyLock<Nicknames> =
    LazyLock::new(|| Nicknames::parse_table(include_str!("../../../data/nicknames.txt")));

/// First names and nicknames, indexed both ways.
#[derive(Default)]
struct Nicknames {
    longer: BTreeMap<&'static str, BTreeSet<&'static str>>,
    shorter: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

impl Nicknames {
    fn parse_table(table: &'static str) -> Nicknames {
        let mut all = Nicknames::default();
        for line in table.lines().filter(|it| !it.starts_with('#')) {
            let mut names = line.split(' ');
            let Some(longer) = names.next() else { continue };
            for shorter in names {
                all.longer.entry(shorter).or_default().insert(longer);
                all.shorter.entry(longer).or_default().insert(shorter);
            }
        }
        all
    }
}

/// Returns the longer names that a name may be short for or whose first name it may be. Returns none if the rules
/// decide the name or if it speaks. All names are classes, most frequent first, ties in alphabetical order.
pub(crate) fn find_longer_names(forms: &Forms, calls: &NicknameCounts, class: &str) -> Vec<String> {
    let own = forms.sum_forms(class);
    let is_asked = own.actor_count == 0 && own.mention_count >= MENTIONS_MIN && own.is_person() && own.is_named();
    if !is_asked || merge_rules::find_parent(forms, calls, class).is_some() {
        return Vec::new();
    }
    let (first, rest) = split_first_word(class);
    let mut found: BTreeSet<&String> = calls.speakers_with_nickname(class);
    found.extend(forms.full_names(class).take(BEGUN_MAX));
    for longer in longer_first_names(forms, first) {
        let full_name = match rest {
            "" => longer.clone(),
            rest => format!("{longer} {rest}"),
        };
        found.extend(forms.find_class(&full_name));
        if rest.is_empty() {
            found.extend(forms.full_names(&longer).take(BEGUN_MAX));
        }
    }
    let mention_count = |it: &&String| {
        let sum = forms.sum_forms(it);
        (sum.is_person() && sum.mention_count + sum.actor_count >= MENTIONS_MIN)
            .then_some(sum.mention_count + sum.actor_count)
    };
    let mut found: Vec<(u64, &String)> = found
        .into_iter()
        .filter(|it| it.as_str() != class)
        .filter_map(|it| Some((mention_count(&it)?, it)))
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    found.truncate(LONGER_MAX);
    found.into_iter().map(|it| it.1.clone()).collect()
}

/// Returns the names that may be short for this one; see [`find_longer_names`].
pub(crate) fn find_shorter_names(forms: &Forms, class: &str) -> Vec<String> {
    let (first, rest) = split_first_word(class);
    let letters = first.char_indices().skip(BEGINNING_MIN).map(|it| &first[..it.0]);
    let known = NICKNAMES.shorter.get(first).into_iter().flatten().copied();
    let mut found = Vec::new();
    for shorter in letters.chain(known).chain([first]) {
        let full_name = format!("{shorter} {rest}");
        let names = [shorter, full_name.trim_end()].map(|it| forms.find_class(it).cloned());
        found.extend(names.into_iter().flatten().filter(|it| it != class));
    }
    found
}

/// Returns the first names, from the table and from the space, that this one may be short for.
fn longer_first_names(forms: &Forms, first: &str) -> BTreeSet<String> {
    let known = NICKNAMES.longer.get(first).into_iter().flatten();
    let mut found: BTreeSet<String> = known.map(|it| fold_name(it)).collect();
    if first.chars().count() >= BEGINNING_MIN {
        let begun = forms.classes_with_prefix(first).take(BEGUN_MAX);
        // Nicknames are excluded: otherwise "John" might be merged into "Johnny" and vice versa.
        let is_longer = |it: &String| it != first && !NICKNAMES.longer.contains_key(it.as_str());
        found.extend(begun.map(|it| split_first_word(it).0.to_owned()).filter(is_longer));
    }
    found
}

/// Returns the first word of a name, and the rest.
fn split_first_word(class: &str) -> (&str, &str) {
    class.split_once(' ').unwrap_or((class, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_first_name_of_the_table_is_a_nickname_of_another() {
        let both = |it: &&&str| NICKNAMES.longer.contains_key(**it);
        let found: Vec<&&str> = NICKNAMES.shorter.keys().filter(both).collect();
        // Otherwise two names could be merged into each other.
        assert_eq!(found, Vec::<&&str>::new());
        assert!(NICKNAMES.longer["tom"].contains("thomas") && NICKNAMES.longer["kate"].len() == 2);
        let all = NICKNAMES.longer.keys().chain(NICKNAMES.shorter.keys());
        all.for_each(|it| assert_eq!(fold_name(it), **it));
    }
}
