//! Labels and keywords: terms that are more frequent in a topic than in the space (class-based TF-IDF).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use text::dot_product;

use super::kmeans::normalise_vector;
use super::terms::{Term, is_vague_alone};
use crate::space::symbols::{Symbol, Symbols};

/// Maximum number of keywords of a topic.
const KEYWORDS_MAX: usize = 8;
/// Maximum number of words of a label.
const WORDS_MAX: usize = 4;
/// Minimum strength of the second term of a label, relative to the first.
const SECOND: f32 = 0.45;
/// Number of terms whose meaning is compared.
const CANDIDATES: usize = 24;
/// Minimum number of units of a topic that must share a term for it to become a keyword.
const SHARED: u32 = 2;
/// A term can become the label if at least one in this many units of the topic has it.
const COMMON: u32 = 3;
/// A second term joins a label only if both terms occur together in at least one in this many of the units that have the
/// rarer one.
const TOGETHER: usize = 3;
/// Factor for a repeated pair of words, which says more than single words.
const PAIR: f32 = 1.35;

/// Number of units of the space in which each term occurs, as of the last clustering.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spread {
    units: u32,
    terms: HashMap<Symbol, u32>,
}

impl Spread {
    /// Counts the terms of units.
    pub(super) fn from_units<'a>(units: impl Iterator<Item = &'a [Term]>) -> Spread {
        let mut out = Spread::default();
        for terms in units {
            out.units += 1;
            for term in terms {
                *out.terms.entry(term.key).or_default() += 1;
            }
        }
        out
    }
}

/// The label and keywords of a topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Name {
    pub(super) label: String,
    pub(super) keywords: Vec<String>,
}

struct Sum<'a> {
    key: Symbol,
    weight: f32,
    /// Places of the units that have the term.
    units: Vec<u32>,
    forms: BTreeMap<&'a str, u32>,
}

impl Sum<'_> {
    fn new(key: Symbol) -> Self {
        Sum {
            key,
            weight: 0.0,
            units: Vec::new(),
            forms: BTreeMap::new(),
        }
    }

    /// Returns the number of units that have the term.
    fn unit_count(&self) -> u32 {
        u32::try_from(self.units.len()).unwrap_or(u32::MAX)
    }
}

/// Names a topic by the terms that at least two of its units share; ties go to the first in alphabetical order. A
/// word of a single unit is not used, so a topic may have no name.
pub(super) fn name_topic<'a>(units: impl Iterator<Item = &'a [Term]>, spread: &Spread, symbols: &Symbols) -> Name {
    let mut sums: BTreeMap<&str, Sum<'_>> = BTreeMap::new();
    let mut count = 0;
    for terms in units {
        for term in terms {
            let sum = sums.entry(symbols.text(term.key)).or_insert_with(|| Sum::new(term.key));
            sum.weight += term.weight;
            sum.units.push(count);
            *sum.forms.entry(symbols.text(term.form)).or_default() += 1;
        }
        count += 1;
    }
    let shared = sums
        .iter()
        .filter(|(_, it)| it.unit_count() >= SHARED && is_meaningful_alone(&most_frequent_form(it)));
    let mut ranked: Vec<(f32, &str, &Sum<'_>)> = shared
        .map(|(key, sum)| (term_strength(key, sum, count, spread), *key, sum))
        .collect();
    sort_by_strength(&mut ranked);
    ranked.truncate(CANDIDATES);
    prefer_central(&mut ranked);
    sort_by_strength(&mut ranked);
    let mut chosen: Vec<Chosen> = Vec::new();
    for (strength, key, sum) in ranked {
        let known = chosen
            .iter()
            .any(|it| key.split(' ').any(|word| it.key.split(' ').any(|own| own == word)));
        if !known {
            chosen.push(Chosen {
                strength,
                key: key.to_owned(),
                shown: most_frequent_form(sum),
                common: sum.unit_count() * COMMON >= count,
                units: sum.units.iter().copied().collect(),
            });
        }
        if chosen.len() == KEYWORDS_MAX {
            break;
        }
    }
    Name {
        label: build_label(&chosen),
        keywords: chosen.into_iter().map(|it| it.shown).collect(),
    }
}

fn sort_by_strength(ranked: &mut [(f32, &str, &Sum<'_>)]) {
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
}

/// Strengthens the terms whose meaning is close to that of the others.
fn prefer_central(ranked: &mut [(f32, &str, &Sum<'_>)]) {
    let table = text::EmbeddingTable::builtin();
    let vectors: Vec<Vec<f32>> = ranked
        .iter()
        .map(|it| table.embed_text(&most_frequent_form(it.2)))
        .collect();
    let mut middle = vec![0.0; table.dimension()];
    for (vector, (strength, ..)) in vectors.iter().zip(ranked.iter()) {
        middle
            .iter_mut()
            .zip(vector)
            .for_each(|(sum, it)| *sum += it * strength);
    }
    normalise_vector(&mut middle);
    for ((strength, ..), vector) in ranked.iter_mut().zip(&vectors) {
        *strength *= 0.3 + dot_product(vector, &middle).max(0.0);
    }
}

/// A term that may name its topic.
struct Chosen {
    strength: f32,
    key: String,
    shown: String,
    /// True if enough units of the topic have the term for it to represent the topic.
    common: bool,
    /// Places of the units that have the term.
    units: BTreeSet<u32>,
}

impl Chosen {
    /// Returns true if both terms are in one unit often enough to name one topic. Otherwise, each of them may be about
    /// something else.
    fn is_met_with(&self, other: &Chosen) -> bool {
        let both = self.units.intersection(&other.units).count();
        TOGETHER * both >= self.units.len().min(other.units.len())
    }
}

/// Returns the strongest term that is common in the topic, together with the next one if that is also strong, both
/// are short, and they occur together. Returns an empty label if there is no such term.
fn build_label(chosen: &[Chosen]) -> String {
    let words = |it: &str| it.split(' ').count();
    let mut common = chosen.iter().filter(|it| it.common);
    let Some(first) = common.next() else {
        return String::new();
    };
    let second = common.take(2).find(|it| {
        let is_short = words(&first.shown) + words(&it.shown) <= WORDS_MAX;
        is_short && it.strength >= SECOND * first.strength && it.is_met_with(first)
    });
    match second {
        Some(second) => format!("{}, {}", first.shown, second.shown),
        None => first.shown.clone(),
    }
}

/// Returns true if a term is meaningful without knowing the conversation: English nouns, and names of several words.
/// A name of one word could be anyone's, and a noun such as "tool" could be about anything.
fn is_meaningful_alone(term: &str) -> bool {
    if is_vague_alone(term) {
        return false;
    }
    let nouns = text::Nouns::builtin();
    let known = |word: &str| nouns.find_kind(word).is_some();
    let name = term.contains(' ') && term.split(' ').all(|it| it.starts_with(char::is_uppercase));
    if name {
        return crate::entities::is_name(term);
    }
    nouns.find_kind(term).is_some() || term.split(' ').all(known)
}

fn term_strength(key: &str, sum: &Sum<'_>, count: u32, spread: &Spread) -> f32 {
    let all = spread.units.max(count) as f32;
    let everywhere = spread
        .terms
        .get(&sum.key)
        .copied()
        .unwrap_or_default()
        .max(sum.unit_count()) as f32;
    let idf = (1.0 + all / everywhere).ln();
    // A term in one of many units may be chance.
    let share = (sum.weight / count as f32) * if sum.unit_count() < 2 && count > 2 { 0.5 } else { 1.0 };
    let pair = if key.contains(' ') && sum.unit_count() > 1 {
        PAIR
    } else {
        1.0
    };
    share * idf * pair
}

/// Returns the most frequent form, on ties the first in alphabetical order.
fn most_frequent_form(sum: &Sum<'_>) -> String {
    let best = sum
        .forms
        .iter()
        .max_by_key(|(form, times)| (**times, std::cmp::Reverse(**form)));
    best.map(|(form, _)| (*form).to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the label of a topic whose units have these terms.
    fn label_of(units: &[&[&str]]) -> String {
        let key = |form: &str| form.split(' ').map(text::stem_word).collect::<Vec<String>>().join(" ");
        let mut symbols = Symbols::default();
        let mut term = |form: &&str| Term {
            key: symbols.intern(&key(form)),
            form: symbols.intern(form),
            weight: 1.0,
        };
        let units: Vec<Vec<Term>> = units.iter().map(|it| it.iter().map(&mut term).collect()).collect();
        let terms = || units.iter().map(Vec::as_slice);
        name_topic(terms(), &Spread::from_units(terms()), &symbols).label
    }

    #[test]
    fn a_word_that_could_be_about_anything_is_no_label_alone() {
        for vague in ["tool", "calls", "result", "task", "updates", "list", "message"] {
            assert_eq!(label_of(&[&[vague], &[vague], &[vague]]), "", "{vague}");
        }
        for telling in [
            "hose",
            "ferry",
            "cello",
            "kitchen",
            "tool shed",
            "shopping list",
            "harbour",
        ] {
            assert_eq!(label_of(&[&[telling], &[telling], &[telling]]), telling);
        }
    }

    #[test]
    fn two_terms_name_a_topic_only_if_they_occur_together() {
        let together: &[&[&str]] = &[&["ferry", "harbour"], &["ferry", "harbour"], &["ferry"]];
        assert_eq!(label_of(together), "ferry, harbour");
        let apart: &[&[&str]] = &[&["ferry"], &["cello"], &["ferry"], &["cello"]];
        assert!(!label_of(apart).contains(','), "{}", label_of(apart));
        // One of three events has both.
        let seldom: &[&[&str]] = &[
            &["ferry", "harbour"],
            &["ferry"],
            &["ferry"],
            &["harbour"],
            &["harbour"],
        ];
        assert!(label_of(seldom).contains(", "), "{}", label_of(seldom));
    }
}
