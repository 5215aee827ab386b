//! Counts the mentions of each name by form, and indexes names that are similar to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::entities::fold::{fold_name, normalise_form, short_name, to_singular};
use crate::space::small_map::SmallMap;
use crate::space::spill_file::SpillFile;

/// Minimum length, in letters, of a name for which typos are looked for: too many short names differ by one letter.
pub(crate) const LONG: usize = 7;
/// Maximum length, in letters, of a name for which typos are looked for.
const LONGEST: usize = 40;

/// A set of classes or other keys; most have one.
pub(crate) type Classes = SmallMap<String, ()>;

/// The names of a space by class; see [`crate::entities::fold`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forms {
    classes: BTreeMap<String, SmallMap<String, Form>>,
    /// Classes by their singular.
    singular: BTreeMap<String, Classes>,
    /// Full names by their short form.
    shorts: BTreeMap<String, Classes>,
    /// Classes by the hashes of their spellings with one letter left out.
    near: BTreeMap<u64, Classes>,
}

/// The counts of one form of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// Number of units that mention the form, and number of units whose actor it is.
    pub(crate) mention_count: u64,
    pub(crate) actor_count: u64,
    pub(crate) person: u64,
    pub(crate) place: u64,
    /// Number of units in which the form is surely a name.
    pub(crate) sure: u64,
    times: SmallMap<DateTime<Utc>, u32>,
}

/// One mention of a name.
pub(crate) struct Mention<'a> {
    pub(crate) form: &'a str,
    pub(crate) at: DateTime<Utc>,
    /// True if the text mentions the name; false if the name is the actor.
    pub(crate) is_mentioned: bool,
    pub(crate) person: bool,
    pub(crate) place: bool,
    pub(crate) sure: bool,
}

/// The sum of several forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) mention_count: u64,
    pub(crate) actor_count: u64,
    pub(crate) person: u64,
    pub(crate) place: u64,
    pub(crate) sure: u64,
    pub(crate) first: Option<DateTime<Utc>>,
}

impl Form {
    /// Returns the time of the first mention.
    pub(crate) fn first_mention(&self) -> Option<DateTime<Utc>> {
        self.times.keys().next().copied()
    }
}

impl Sum {
    pub(crate) fn add_form(&mut self, form: &Form) {
        self.mention_count += form.mention_count;
        self.actor_count += form.actor_count;
        self.person += form.person;
        self.place += form.place;
        self.sure += form.sure;
        self.first = [self.first, form.first_mention()].into_iter().flatten().min();
    }

    /// Returns true if it speaks or is surely a name in some unit.
    pub(crate) fn is_named(&self) -> bool {
        self.actor_count > 0 || self.sure > 0
    }

    /// Returns true if it speaks, or if at least as much evidence says person as place.
    pub(crate) fn is_person(&self) -> bool {
        self.actor_count > 0 || self.person > 0 && self.person >= self.place
    }
}

impl Forms {
    /// Counts a mention, or removes it if `more` is false. Returns the class of the name (empty if it is not a name),
    /// and whether the class gained or lost a form.
    pub(crate) fn count_mention(&mut self, mention: &Mention<'_>, more: bool) -> (String, bool) {
        let (class, form) = (fold_name(mention.form), normalise_form(mention.form));
        if class.is_empty() || !more && !self.classes.contains_key(&class) {
            return (class, false);
        }
        if !self.classes.contains_key(&class) {
            self.index_class(&class, true);
        }
        let forms = self.classes.entry(class.clone()).or_default();
        let known = forms.len();
        let count = forms.get_or_default(form.clone());
        let step = |it: &mut u64, counts: bool| {
            if counts {
                *it = if more { *it + 1 } else { it.saturating_sub(1) };
            }
        };
        step(&mut count.mention_count, mention.is_mentioned);
        step(&mut count.actor_count, !mention.is_mentioned);
        step(&mut count.person, mention.person);
        step(&mut count.place, mention.place);
        step(&mut count.sure, mention.sure);
        let times = count.times.get_or_default(mention.at);
        *times = if more { *times + 1 } else { times.saturating_sub(1) };
        if *times == 0 {
            count.times.remove(&mention.at);
        }
        if count.mention_count + count.actor_count == 0 {
            forms.remove(&form);
        }
        let turned = forms.len() != known;
        if forms.is_empty() {
            self.classes.remove(&class);
            self.index_class(&class, false);
        }
        (class, turned)
    }

    /// Spills what was not used since the last call to a file.
    pub(crate) fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        let forms = self.classes.values_mut().flat_map(SmallMap::few_values_mut);
        forms.for_each(|it| it.times.spill_unused(file));
    }

    /// Returns the forms of a class.
    pub(crate) fn forms_of_class(&self, class: &str) -> impl Iterator<Item = (&String, &Form)> {
        self.classes.get(class).into_iter().flatten()
    }

    /// Returns the stored class, or none if no name has it.
    pub(crate) fn find_class(&self, class: &str) -> Option<&String> {
        self.classes.get_key_value(class).map(|it| it.0)
    }

    /// Returns the classes that begin with these letters, in alphabetical order.
    pub(crate) fn classes_with_prefix<'a>(&'a self, letters: &'a str) -> impl Iterator<Item = &'a String> {
        let from = self
            .classes
            .range::<str, _>((Bound::Included(letters), Bound::Unbounded));
        from.map(|it| it.0).take_while(move |it| it.starts_with(letters))
    }

    pub(crate) fn contains(&self, class: &str) -> bool {
        self.classes.contains_key(class)
    }

    pub(crate) fn sum_forms(&self, class: &str) -> Sum {
        let mut sum = Sum::default();
        self.forms_of_class(class).for_each(|(_, it)| sum.add_form(it));
        sum
    }

    /// Returns the classes that differ from this one only in number.
    pub(crate) fn classes_differing_in_number<'a>(&'a self, class: &'a str) -> impl Iterator<Item = &'a String> {
        let mates = self
            .singular
            .get(&to_singular(class))
            .into_iter()
            .flat_map(SmallMap::keys);
        mates.filter(move |it| *it != class)
    }

    /// Returns the full names whose short form is this class.
    pub(crate) fn full_names(&self, class: &str) -> impl Iterator<Item = &String> {
        self.shorts.get(class).into_iter().flat_map(SmallMap::keys)
    }

    /// Returns the classes of suitable length that differ from this one by about one letter.
    pub(crate) fn classes_one_letter_apart<'a>(&'a self, class: &'a str) -> BTreeSet<&'a String> {
        let keys = deletion_hashes(class).into_iter();
        let found = keys.filter_map(|it| self.near.get(&it)).flat_map(SmallMap::keys);
        found.filter(|it| *it != class).collect()
    }

    fn index_class(&mut self, class: &str, add: bool) {
        update_index(&mut self.singular, to_singular(class), class, add);
        if let Some(short) = short_name(class) {
            update_index(&mut self.shorts, short.to_owned(), class, add);
        }
        for key in deletion_hashes(class) {
            update_index(&mut self.near, key, class, add);
        }
    }
}

/// Adds a value to a set in an index, or removes it.
pub(crate) fn update_index<K: Ord>(index: &mut BTreeMap<K, Classes>, key: K, value: &str, add: bool) {
    if add {
        index.entry(key).or_default().insert(value.to_owned(), ());
    } else if let Some(values) = index.get_mut(&key) {
        values.remove(value);
        if values.is_empty() {
            index.remove(&key);
        }
    }
}

/// Returns hashes of the class and of the class without each of its letters. Returns none for short or very long
/// classes and for those with digits: "Room 1204" and "Room 1205" are not typos of each other, and a space may
/// contain thousands of such names.
fn deletion_hashes(class: &str) -> BTreeSet<u64> {
    let letters: Vec<char> = class.chars().collect();
    if !(LONG..=LONGEST).contains(&letters.len()) || letters.iter().any(|it| it.is_numeric()) {
        return BTreeSet::new();
    }
    let without = |at: usize| {
        fnv_hash(
            letters
                .iter()
                .enumerate()
                .filter(|(it, _)| *it != at)
                .map(|(_, it)| *it),
        )
    };
    (0..=letters.len()).map(without).collect()
}

/// Returns the 64-bit FNV-1a hash, which is the same in every run.
fn fnv_hash(letters: impl Iterator<Item = char>) -> u64 {
    letters.fold(0xcbf2_9ce4_8422_2325, |hash, it| {
        (hash ^ u64::from(u32::from(it))).wrapping_mul(0x0100_0000_01b3)
    })
}
