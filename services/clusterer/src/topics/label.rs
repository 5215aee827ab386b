//! Labels and keywords: terms that are more frequent in a topic than in the space (class-based TF-IDF).

use std::collections::BTreeMap;
use std::sync::Arc;

use text::dot;

use super::kmeans::normalise;
use super::terms::Term;

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
/// Factor for a repeated pair of words, which says more than single words.
const PAIR: f32 = 1.35;

/// Number of units of the space in which each term occurs, as of the last clustering.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spread {
    units: u32,
    terms: BTreeMap<Arc<str>, u32>,
}

impl Spread {
    /// Counts the terms of units.
    pub(super) fn of<'a>(units: impl Iterator<Item = &'a [Term]>) -> Spread {
        let mut out = Spread::default();
        for terms in units {
            out.units += 1;
            for term in terms {
                *out.terms.entry(Arc::clone(&term.key)).or_default() += 1;
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

#[derive(Default)]
struct Sum<'a> {
    weight: f32,
    units: u32,
    forms: BTreeMap<&'a str, u32>,
}

/// Names a topic by the terms that at least two of its units share; ties go to the first in alphabetical order. A
/// word of a single unit is not used, so a topic may have no name.
pub(super) fn name<'a>(units: impl Iterator<Item = &'a [Term]>, spread: &Spread) -> Name {
    let mut sums: BTreeMap<&str, Sum<'_>> = BTreeMap::new();
    let mut count = 0;
    for term in units.inspect(|_| count += 1).flatten() {
        let sum = sums.entry(&term.key).or_default();
        sum.weight += term.weight;
        sum.units += 1;
        *sum.forms.entry(&term.form).or_default() += 1;
    }
    let shared = sums.iter().filter(|(_, it)| it.units >= SHARED && tells(&shown(it)));
    let mut ranked: Vec<(f32, &str, &Sum<'_>)> = shared
        .map(|(key, sum)| (strength(key, sum, count, spread), *key, sum))
        .collect();
    sort(&mut ranked);
    ranked.truncate(CANDIDATES);
    prefer_central(&mut ranked);
    sort(&mut ranked);
    let mut chosen: Vec<Chosen> = Vec::new();
    for (strength, key, sum) in ranked {
        let known = chosen
            .iter()
            .any(|it| key.split(' ').any(|word| it.key.split(' ').any(|own| own == word)));
        if !known {
            chosen.push(Chosen {
                strength,
                key: key.to_owned(),
                shown: shown(sum),
                common: sum.units * COMMON >= count,
            });
        }
        if chosen.len() == KEYWORDS_MAX {
            break;
        }
    }
    Name {
        label: label(&chosen),
        keywords: chosen.into_iter().map(|it| it.shown).collect(),
    }
}

fn sort(ranked: &mut [(f32, &str, &Sum<'_>)]) {
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
}

/// Strengthens the terms whose meaning is close to that of the others.
fn prefer_central(ranked: &mut [(f32, &str, &Sum<'_>)]) {
    let table = text::Table::builtin();
    let vectors: Vec<Vec<f32>> = ranked.iter().map(|it| table.embed(&shown(it.2))).collect();
    let mut middle = vec![0.0; table.dimension()];
    for (vector, (strength, ..)) in vectors.iter().zip(ranked.iter()) {
        middle
            .iter_mut()
            .zip(vector)
            .for_each(|(sum, it)| *sum += it * strength);
    }
    normalise(&mut middle);
    for ((strength, ..), vector) in ranked.iter_mut().zip(&vectors) {
        *strength *= 0.3 + dot(vector, &middle).max(0.0);
    }
}

/// A term that may name its topic.
struct Chosen {
    strength: f32,
    key: String,
    shown: String,
    /// True if enough units of the topic have it that it stands for the topic.
    common: bool,
}

/// Returns the strongest term that is common in the topic, together with the next one if that is also strong and both
/// are short. Returns an empty label if there is no such term.
fn label(chosen: &[Chosen]) -> String {
    let words = |it: &str| it.split(' ').count();
    let mut common = chosen.iter().filter(|it| it.common);
    let Some(first) = common.next() else {
        return String::new();
    };
    let second = common
        .take(2)
        .find(|it| it.strength >= SECOND * first.strength && words(&first.shown) + words(&it.shown) <= WORDS_MAX);
    match second {
        Some(second) => format!("{}, {}", first.shown, second.shown),
        None => first.shown.clone(),
    }
}

/// Returns true if a term is meaningful without knowing the conversation: English nouns, and names of several words.
/// A name of one word could be anyone's.
fn tells(term: &str) -> bool {
    let nouns = text::Nouns::builtin();
    let known = |word: &str| nouns.kind(word).is_some();
    let name = term.contains(' ') && term.split(' ').all(|it| it.starts_with(char::is_uppercase));
    if name {
        return crate::entities::is_name(term);
    }
    nouns.kind(term).is_some() || term.split(' ').all(known)
}

fn strength(key: &str, sum: &Sum<'_>, count: u32, spread: &Spread) -> f32 {
    let all = spread.units.max(count) as f32;
    let everywhere = spread.terms.get(key).copied().unwrap_or_default().max(sum.units) as f32;
    let idf = (1.0 + all / everywhere).ln();
    // A term in one of many units may be chance.
    let share = (sum.weight / count as f32) * if sum.units < 2 && count > 2 { 0.5 } else { 1.0 };
    let pair = if key.contains(' ') && sum.units > 1 { PAIR } else { 1.0 };
    share * idf * pair
}

/// Returns the most frequent form, on ties the first in alphabetical order.
fn shown(sum: &Sum<'_>) -> String {
    let best = sum
        .forms
        .iter()
        .max_by_key(|(form, times)| (**times, std::cmp::Reverse(**form)));
    best.map(|(form, _)| (*form).to_owned()).unwrap_or_default()
}
