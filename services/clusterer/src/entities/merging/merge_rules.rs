//! Rules for merging a name into another: nicknames, first names, titles, plurals, typos (an edit distance of one).

use crate::entities::fold::to_singular;
use crate::entities::names::forms::{Forms, LONG, Sum};
use crate::entities::names::nickname_counts::NicknameCounts;

/// Maximum number of full names considered for a first name; a name shared by more is not merged.
const FULLS_MAX: usize = 64;
/// Minimum number of mentions of a name before another name can be its typo.
const KNOWN: u64 = 3;

/// A name into which another one is merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The class that is kept.
    pub(crate) parent: String,
    /// The reason, in words.
    pub(crate) why: &'static str,
}

/// Returns the name that a class is merged into. A name that may belong to two people is merged into neither.
pub(crate) fn find_parent(forms: &Forms, calls: &NicknameCounts, class: &str) -> Option<Link> {
    let own = forms.sum_forms(class);
    if own.actor_count > 0 {
        return None;
    }
    let link = |parent: &String, why| Link {
        parent: parent.clone(),
        why,
    };
    let called = calls.speakers_with_nickname(class);
    let fulls = full_names_of_people(forms, class, &own);
    match (called.len(), fulls.len()) {
        (0, 0) => {}
        (1, _) => {
            let parent = called.into_iter().next()?;
            // A constant nickname stays clear even if someone else has that first name, unless both people speak.
            let other = fulls
                .iter()
                .any(|it| *it != parent && forms.sum_forms(it).actor_count > 0);
            return (!other).then(|| link(parent, "a nickname that the other speaker uses"));
        }
        (0, 1) => return Some(link(fulls[0], "the short form of only one known full name")),
        _ => return None,
    }
    if let Some(parent) = find_name_in_other_number(forms, class, &own) {
        return Some(link(parent, "the same in the plural"));
    }
    let parent = find_correct_spelling(forms, class, &own)?;
    Some(link(
        parent,
        "differs by one letter from a known name, and was mentioned only once",
    ))
}

/// Returns the people's full names whose short form is `class`; if there are too many to check, all candidates.
fn full_names_of_people<'a>(forms: &'a Forms, class: &str, own: &Sum) -> Vec<&'a String> {
    let all: Vec<&String> = forms.full_names(class).take(FULLS_MAX + 1).collect();
    let person = |full: &&String| {
        let sum = forms.sum_forms(full);
        let can_be_person = sum.person + own.person > 0 && sum.person >= sum.place && own.person >= own.place;
        sum.actor_count > 0 || can_be_person
    };
    if all.len() > FULLS_MAX {
        // The caller only needs to know that there is more than one.
        return all;
    }
    all.into_iter().filter(person).collect()
}

/// Returns the name of a thing that differs only in number: the one mentioned more often, on ties the singular.
fn find_name_in_other_number<'a>(forms: &'a Forms, class: &'a str, own: &Sum) -> Option<&'a String> {
    if own.is_person() {
        return None;
    }
    let mates = forms
        .classes_differing_in_number(class)
        .map(|it| (it, forms.sum_forms(it)));
    let things = mates.filter(|(_, sum)| !sum.is_person() && sum.mention_count > 0);
    let key = |class: &str, sum: &Sum| {
        (
            sum.mention_count,
            to_singular(class) == class,
            std::cmp::Reverse(class.to_owned()),
        )
    };
    let best = things.max_by_key(|(it, sum)| key(it, sum))?;
    (key(best.0, &best.1) > key(class, own)).then_some(best.0)
}

/// Returns the name of which `class`, mentioned once, is a typo.
fn find_correct_spelling<'a>(forms: &'a Forms, class: &'a str, own: &Sum) -> Option<&'a String> {
    if own.mention_count != 1 {
        return None;
    }
    let mut found = forms.classes_one_letter_apart(class).into_iter().filter(|it| {
        let sum = forms.sum_forms(it);
        sum.mention_count + sum.actor_count >= KNOWN && is_typo_of(class, it)
    });
    let only = found.next();
    only.filter(|_| found.next().is_none())
}

/// Returns true if exactly one word differs, by one letter that is wrong, missing, doubled or transposed, and the
/// word is not a word in the table. The first and the last two letters must be equal, because they distinguish
/// gender, number and whole names.
fn is_typo_of(rare: &str, known: &str) -> bool {
    let (rare, known): (Vec<&str>, Vec<&str>) = (rare.split(' ').collect(), known.split(' ').collect());
    if rare.len() != known.len() {
        return false;
    }
    let mut differing = rare.iter().zip(&known).filter(|(one, other)| one != other);
    let (Some((rare, known)), None) = (differing.next(), differing.next()) else {
        return false;
    };
    let (one, other): (Vec<char>, Vec<char>) = (rare.chars().collect(), known.chars().collect());
    let letters = one.iter().chain(&other).all(|it| it.is_alphabetic());
    let long = one.len().min(other.len()) >= LONG - 1;
    let head = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let tail = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    // The part between the common head and tail is at most one letter, or two that changed places.
    let (mid_one, mid_other) = (
        one.len().saturating_sub(head + tail),
        other.len().saturating_sub(head + tail),
    );
    let close = mid_one <= 1 && mid_other <= 1
        || mid_one == 2 && mid_other == 2 && one[head] == other[head + 1] && one[head + 1] == other[head];
    let unknown = text::EmbeddingTable::builtin().piece_rows(rare).len() != 1;
    letters && long && head >= 1 && tail >= 2 && close && unknown
}
