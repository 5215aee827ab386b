//! Tags and metadata of the units of a view. Each is stored once and has a number.

use std::collections::{BTreeMap, HashMap};

use domain::filter::{Comparison, Filter};

use crate::space::numbered_values::NumberedValues;

/// A tag, or a key of metadata with its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Label {
    Tag(String),
    Pair { key: String, value: String },
}

/// The labels of all units of a view.
#[derive(Clone, Default)]
pub(super) struct Labels {
    labels: NumberedValues<Label>,
    bytes: usize,
}

/// The effect of a label on a filter. Each bit stands for a comparison of the filter, or for a tag in its list `all`.
#[derive(Clone, Copy, Default)]
struct FilterEffect {
    is_any: bool,
    is_none: bool,
    all: u128,
    has_key: u64,
    holds: u64,
}

/// A filter, prepared for the labels of a view.
pub(super) struct LabelFilter<'a> {
    filter: &'a Filter,
    verdicts: HashMap<u32, FilterEffect>,
    /// The comparisons that are true for a unit without the key.
    hold_without_key: u64,
    /// One bit for each tag of the list `all`.
    all: u128,
}

impl Labels {
    /// Returns the numbers of the labels of a unit, and counts the unit for each of them.
    pub(super) fn add_unit(&mut self, tags: Vec<String>, metadata: BTreeMap<String, String>) -> Box<[u32]> {
        let tags = tags.into_iter().map(Label::Tag);
        let pairs = metadata.into_iter().map(|(key, value)| Label::Pair { key, value });
        tags.chain(pairs).map(|it| self.assign_number(it)).collect()
    }

    /// Removes a unit with these labels from the counts.
    pub(super) fn remove_unit(&mut self, numbers: &[u32]) {
        for number in numbers {
            if let Some(unused) = self.labels.remove_use(*number) {
                self.bytes -= size_of_label(&unused);
            }
        }
    }

    /// Returns roughly how many bytes it takes.
    pub(super) fn size_in_bytes(&self) -> usize {
        self.bytes
    }

    fn assign_number(&mut self, label: Label) -> u32 {
        let (number, added) = self.labels.add_use(label);
        self.bytes += added.map_or(0, size_of_label);
        number
    }

    /// Prepares a filter for the labels. The bits suffice for every filter that was validated.
    pub(super) fn prepare_sieve<'a>(&self, filter: &'a Filter) -> LabelFilter<'a> {
        let comparisons = filter
            .metadata
            .as_ref()
            .map_or_else(Vec::new, |it| it.list_comparisons());
        let labels = self.labels.iter();
        let verdicts =
            labels.filter_map(|(number, label)| Some((number, verdict_on_label(filter, &comparisons, label)?)));
        let numbered = (0..u64::BITS).zip(&comparisons);
        LabelFilter {
            filter,
            verdicts: verdicts.collect(),
            hold_without_key: numbered.fold(0, |bits, (bit, it)| bits | u64::from(it.accepts_value(None)) << bit),
            all: (0..filter.tags.all.len().min(128)).fold(0, |bits, it| bits | 1 << it),
        }
    }
}

impl LabelFilter<'_> {
    /// Returns true if the filter selects a unit with these labels.
    pub(super) fn selects_unit(&self, numbers: &[u32]) -> bool {
        let verdicts = numbers.iter().filter_map(|it| self.verdicts.get(it));
        let of_unit = verdicts.fold(FilterEffect::default(), |all, it| FilterEffect {
            is_any: all.is_any || it.is_any,
            is_none: all.is_none || it.is_none,
            all: all.all | it.all,
            has_key: all.has_key | it.has_key,
            holds: all.holds | it.holds,
        });
        let tagged = (self.filter.tags.any.is_empty() || of_unit.is_any) && of_unit.all == self.all && !of_unit.is_none;
        let holds = of_unit.holds | self.hold_without_key & !of_unit.has_key;
        tagged && self.filter.metadata.as_ref().is_none_or(|it| it.evaluate_bits(holds))
    }
}

/// Returns the effect of a label on a filter; `None` if the filter does not mention the label.
fn verdict_on_label(filter: &Filter, comparisons: &[&Comparison], label: &Label) -> Option<FilterEffect> {
    let tags = &filter.tags;
    match label {
        Label::Tag(tag) => {
            let numbered = (0..u128::BITS).zip(&tags.all).filter(|it| it.1 == tag);
            let verdict = FilterEffect {
                is_any: tags.any.contains(tag),
                is_none: tags.none.contains(tag),
                all: numbered.fold(0, |bits, (bit, _)| bits | 1 << bit),
                ..FilterEffect::default()
            };
            (verdict.is_any || verdict.is_none || verdict.all > 0).then_some(verdict)
        }
        Label::Pair { key, value } => {
            let mut verdict = FilterEffect::default();
            for (bit, comparison) in (0..u64::BITS).zip(comparisons).filter(|it| it.1.key == *key) {
                verdict.has_key |= 1 << bit;
                verdict.holds |= u64::from(comparison.accepts_value(Some(value))) << bit;
            }
            (verdict.has_key > 0).then_some(verdict)
        }
    }
}

fn size_of_label(label: &Label) -> usize {
    let text = match label {
        Label::Tag(tag) => tag.len(),
        Label::Pair { key, value } => key.len() + value.len(),
    };
    128 + text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owned_labels(tags: &[&str], metadata: &[(&str, &str)]) -> (Vec<String>, BTreeMap<String, String>) {
        let tags = tags.iter().map(|it| (*it).to_owned());
        let pairs = metadata
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        (tags.collect(), pairs.collect())
    }

    #[test]
    fn a_sieve_selects_the_units_that_its_filter_matches() {
        let units = [
            owned_labels(&[], &[]),
            owned_labels(&["work"], &[("lang", "de"), ("n", "3")]),
            owned_labels(&["home", "work"], &[("lang", "en")]),
            owned_labels(&["draft", "work"], &[("n", "12")]),
            owned_labels(&["lang"], &[("lang", "lang")]),
        ];
        let mut labels = Labels::default();
        let numbers: Vec<Box<[u32]>> = units.iter().cloned().map(|it| labels.add_unit(it.0, it.1)).collect();
        for filter in [
            json!({"tags": {"any": ["home", "draft"]}}),
            json!({"tags": {"all": ["work", "home", "work"]}}),
            json!({"tags": {"all": ["work", "unheard"]}}),
            json!({"tags": {"none": ["draft"]}}),
            json!({"tags": {"any": ["work"], "none": ["home"]}, "metadata": {"key": "n", "gt": 2}}),
            json!({"metadata": {"key": "lang", "ne": "de"}}),
            json!({"metadata": {"key": "lang", "exists": false}}),
            json!({"metadata": {"not": {"or": [{"key": "lang", "eq": "de"}, {"key": "n", "lt": 20, "gt": 4}]}}}),
            json!({"metadata": {"and": [{"key": "lang", "in": ["de", "en"]}, {"key": "n", "nin": ["3"]}]}}),
        ] {
            let filter: Filter = serde_json::from_value(filter).unwrap();
            let sieve = labels.prepare_sieve(&filter);
            for (unit, numbers) in units.iter().zip(&numbers) {
                let expected = filter.matches_labels(&unit.0, &unit.1);
                assert_eq!(sieve.selects_unit(numbers), expected, "{filter:?} of {unit:?}");
            }
        }
    }

    #[test]
    fn labels_without_units_are_dropped() {
        let mut labels = Labels::default();
        let (first, second) = (owned_labels(&["a"], &[("k", "v")]), owned_labels(&["a", "b"], &[]));
        let first = labels.add_unit(first.0, first.1);
        let second = labels.add_unit(second.0, second.1);
        assert_eq!((labels.labels.iter().count(), first[0] == second[0]), (3, true));
        labels.remove_unit(&first);
        assert_eq!(labels.labels.iter().count(), 2, "`a` is still in use");
        labels.remove_unit(&second);
        assert_eq!((labels.labels.iter().count(), labels.size_in_bytes()), (0, 0));
    }
}
