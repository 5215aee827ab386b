//! Extracts the terms of an event unit that can become labels: nouns, pairs of nouns, and names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::unit::Unit;

mod lists;

use lists::{is_function, is_general, is_verb, opens_noun, opens_verb};

/// Maximum number of terms kept of one unit.
const TERMS_MAX: usize = 16;
/// Maximum length of the text that is read, in bytes.
const BYTES_MAX: usize = 4_000;
/// Maximum length of a term, in bytes.
const TERM_BYTES: usize = 40;
/// Maximum weight of a term in one unit.
const WEIGHT_MAX: f32 = 1.4;
/// A term of a unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    /// Stems, so that the forms of a word are one term.
    pub(super) key: Arc<str>,
    /// The displayed form: in lower case, except for names.
    pub(super) form: Arc<str>,
    /// How characteristic it is of the unit; greater than 0.
    pub(super) weight: f32,
}

/// Returns the terms of an event unit, strongest first, ties by position in the text.
pub(super) fn terms(unit: &Unit) -> Vec<Term> {
    let source = if unit.summary.is_empty() {
        &unit.text
    } else {
        &unit.summary
    };
    let source = text::prose(&source[..source.floor_char_boundary(BYTES_MAX)]);
    let speakers = speakers(unit, &source);
    let mut found = Found {
        names: names(unit, &speakers),
        own: speakers.iter().flat_map(|it| words_of(it)).collect(),
        terms: BTreeMap::new(),
    };
    for line in source.lines() {
        let said = without_speaker(line, &speakers);
        for clause in said.split(|it: char| !(it.is_alphanumeric() || matches!(it, ' ' | '\'' | '\u{2019}' | '-'))) {
            found.clause(clause);
        }
    }
    found.strongest()
}

/// Returns true if a word can be part of a term.
fn is_content(word: &str) -> bool {
    let long = word.chars().count() > 2 || !word.is_ascii();
    long && word.chars().all(char::is_alphabetic) && !is_function(word) && !is_general(word)
}

/// Returns how specific a word is, from 0 to 1, by the built-in table.
fn special(word: &str) -> f32 {
    let table = text::Table::builtin();
    let pieces = table.pieces(word);
    let rarity = pieces.iter().map(|&it| table.rarity(it)).fold(0.0, f32::max);
    if pieces.is_empty() {
        return 0.7;
    }
    ((rarity - 4.0) / 5.0).clamp(0.2, 1.0)
}

struct Found {
    /// Names by their first word in lower case.
    names: BTreeMap<String, Vec<String>>,
    /// Words of the speakers' names, lower case.
    own: BTreeSet<String>,
    /// Form, weight and position, by key.
    terms: BTreeMap<String, (String, f32, usize)>,
}

impl Found {
    fn clause(&mut self, clause: &str) {
        let words: Vec<&str> = clause.split([' ', '-']).filter(|it| !it.is_empty()).collect();
        let lower: Vec<String> = words.iter().map(|it| bare(it)).collect();
        let mut noun = false;
        let mut verb = false;
        for at in 0..words.len() {
            if !is_content(&lower[at]) || self.own.contains(&lower[at]) {
                let owner = words[at].ends_with("'s") || words[at].ends_with("\u{2019}s");
                noun = owner || opens_noun(&lower[at]) || (noun && lower[at].is_empty());
                verb = !noun && (self.own.contains(&lower[at]) || opens_verb(&words[at].to_lowercase()));
                // "the new boat", "two boats": an adjective or number continues the noun phrase.
                noun |= at > 0 && (is_general(&lower[at]) || lower[at].chars().all(char::is_numeric));
                continue;
            }
            if is_verb(&lower[at]) {
                // "the van came": a verb ends the noun phrase. "the painted door": a participle continues it.
                noun &= lower[at].ends_with("ed");
                verb = false;
                continue;
            }
            let named = words[at].chars().next().is_some_and(char::is_uppercase) && at > 0;
            let weight = match (noun, verb) {
                (_, true) => 0.0,
                (true, _) => 1.0,
                _ if named => 0.7,
                _ => 0.3,
            };
            self.word(words[at], &lower[at], weight);
            let last = lower.get(at + 1).is_none_or(|it| !is_content(it) || is_verb(it));
            if noun && last && at > 0 && self.is_part(&lower[at - 1]) {
                self.pair(&lower[at - 1], &lower[at]);
            }
            // Only the word directly after "to" or a pronoun is a verb.
            noun |= named;
            verb = false;
        }
    }

    /// Returns true if a word may open a pair.
    fn is_part(&self, word: &str) -> bool {
        is_content(word) && !is_verb(word) && !self.own.contains(word)
    }

    fn word(&mut self, written: &str, lower: &str, weight: f32) {
        if weight <= 0.0 {
            return;
        }
        let name = self.names.get(lower).and_then(|it| it.first());
        let form = if name.is_some() { unowned(written) } else { lower };
        self.add(text::stem(lower), form.to_owned(), weight * special(lower));
    }

    fn pair(&mut self, left: &str, right: &str) {
        let weight = 0.5 * (special(left) + special(right));
        self.add(
            format!("{} {}", text::stem(left), text::stem(right)),
            format!("{left} {right}"),
            weight,
        );
    }

    fn add(&mut self, key: String, form: String, weight: f32) {
        if key.len() > TERM_BYTES || form.len() > TERM_BYTES {
            return;
        }
        let place = self.terms.len();
        let term = self.terms.entry(key).or_insert((form, 0.0, place));
        // Repetition makes a term more characteristic, up to a limit.
        term.1 = (term.1 + weight).min(WEIGHT_MAX);
    }

    fn strongest(mut self) -> Vec<Term> {
        for name in self.names.values().flatten().cloned().collect::<Vec<_>>() {
            if name.contains(' ') {
                let key: Vec<String> = words_of(&name).iter().map(|it| text::stem(it)).collect();
                self.add(key.join(" "), name, 1.2);
            }
        }
        let mut all: Vec<(String, (String, f32, usize))> = self.terms.into_iter().collect();
        all.sort_by(|a, b| b.1.1.total_cmp(&a.1.1).then(a.1.2.cmp(&b.1.2)));
        all.truncate(TERMS_MAX);
        let term = |(key, (form, weight, _)): (String, (String, f32, usize))| Term {
            key: key.into(),
            form: form.into(),
            weight,
        };
        all.into_iter().map(term).collect()
    }
}

/// Returns the speakers of an event: its actor, its addressee and the names in the head of its summary
/// (`[8 May 2023] Ana, Tom`).
fn speakers(unit: &Unit, source: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let head = source
        .lines()
        .next()
        .and_then(|it| it.strip_prefix('[')?.split_once("] "));
    let head = head.map(|it| it.1).filter(|it| !it.contains([':', '.', '?', '!']));
    for name in head
        .into_iter()
        .flat_map(|it| it.split(", "))
        .chain([unit.actor.as_str(), unit.addressee.as_str()])
    {
        if !name.is_empty() && !out.iter().any(|it| it == name) {
            out.push(name.to_owned());
        }
    }
    out
}

/// Returns the names in the unit that are not speakers, by their first word in lower case.
fn names(unit: &Unit, speakers: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let place = Some(&unit.location).filter(|it| it.chars().next().is_some_and(char::is_uppercase));
    for name in unit.participants.iter().chain(place) {
        if let Some(first) = words_of(name).first().filter(|_| !speakers.contains(name)) {
            out.entry(first.clone()).or_default().push(name.clone());
        }
    }
    out
}

/// Returns a line without `Ana: ` or `Ana to Tom: `.
fn without_speaker<'a>(line: &'a str, speakers: &[String]) -> &'a str {
    let Some((head, said)) = line.split_once(": ") else {
        return line;
    };
    let known = speakers.iter().any(|it| {
        head.strip_prefix(it.as_str())
            .is_some_and(|it| it.is_empty() || it.starts_with(' '))
    });
    if known && head.len() < 80 { said } else { line }
}

fn words_of(name: &str) -> Vec<String> {
    text::words(name).into_iter().map(bare).collect()
}

/// Returns a word in lower case, without "'s" and surrounding punctuation.
fn bare(word: &str) -> String {
    unowned(word)
        .trim_matches(|it: char| !it.is_alphanumeric())
        .to_lowercase()
}

fn unowned(word: &str) -> &str {
    word.strip_suffix("'s")
        .or_else(|| word.strip_suffix("\u{2019}s"))
        .unwrap_or(word)
}
