//! Extracts the terms of an event unit that can become labels: nouns, pairs of nouns, and names.

use std::collections::{BTreeMap, BTreeSet};

use domain::unit::Unit;
use serde::{Deserialize, Serialize};

use crate::space::symbols::{Symbol, Symbols};

mod word_lists;

pub(super) use word_lists::is_vague_alone;
use word_lists::{is_function, is_general, is_verb, opens_noun, opens_verb};

/// Maximum number of terms kept of one unit.
const TERMS_MAX: usize = 16;
/// Maximum length of the text that is read, in bytes.
const BYTES_MAX: usize = 4_000;
/// Maximum length of a term, in bytes.
const TERM_BYTES: usize = 40;
/// Maximum weight of a term in one unit.
const WEIGHT_MAX: f32 = 1.4;
/// A term of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Term {
    /// Stems, so that the forms of a word are one term.
    pub(super) key: Symbol,
    /// The displayed form: in lower case, except for names.
    pub(super) form: Symbol,
    /// Weight of the term, higher if it is more characteristic of the unit; greater than 0.
    pub(super) weight: f32,
}

/// Returns the terms of an event unit, strongest first, ties by position in the text.
pub(super) fn extract_terms(unit: &Unit, symbols: &mut Symbols) -> Box<[Term]> {
    let source = if unit.summary.is_empty() {
        &unit.text
    } else {
        &unit.summary
    };
    let source = text::mask_non_prose(&source[..source.floor_char_boundary(BYTES_MAX)]);
    let speakers = speaker_names(unit, &source);
    let mut found = TermsOfText {
        names: names_by_first_word(unit, &speakers),
        own: speakers.iter().flat_map(|it| words_of(it)).collect(),
        terms: BTreeMap::new(),
    };
    for line in source.lines() {
        let text_of_speaker = without_speaker(line, &speakers);
        for clause in
            text_of_speaker.split(|it: char| !(it.is_alphanumeric() || matches!(it, ' ' | '\'' | '\u{2019}' | '-')))
        {
            found.add_clause(clause);
        }
    }
    found.into_strongest_terms(symbols)
}

/// Returns true if a word can be part of a term.
fn is_content(word: &str) -> bool {
    let long = word.chars().count() > 2 || !word.is_ascii();
    long && word.chars().all(char::is_alphabetic) && !is_function(word) && !is_general(word)
}

/// Returns the specificity of a word, from 0 to 1, by the built-in table.
fn word_specificity(word: &str) -> f32 {
    let table = text::EmbeddingTable::builtin();
    let pieces = table.piece_rows(word);
    let rarity = pieces.iter().map(|&it| table.rarity_of_row(it)).fold(0.0, f32::max);
    if pieces.is_empty() {
        return 0.7;
    }
    ((rarity - 4.0) / 5.0).clamp(0.2, 1.0)
}

struct TermsOfText {
    /// Names by their first word in lower case.
    names: BTreeMap<String, Vec<String>>,
    /// Words of the speakers' names, lower case.
    own: BTreeSet<String>,
    /// Form, weight and position, by key.
    terms: BTreeMap<String, (String, f32, usize)>,
}

impl TermsOfText {
    fn add_clause(&mut self, clause: &str) {
        let words: Vec<&str> = clause.split([' ', '-']).filter(|it| !it.is_empty()).collect();
        let lower: Vec<String> = words.iter().map(|it| to_bare_word(it)).collect();
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
            let is_capitalised = words[at].chars().next().is_some_and(char::is_uppercase) && at > 0;
            let weight = match (noun, verb) {
                (_, true) => 0.0,
                (true, _) => 1.0,
                _ if is_capitalised => 0.7,
                _ => 0.3,
            };
            self.add_word(words[at], &lower[at], weight);
            let last = lower.get(at + 1).is_none_or(|it| !is_content(it) || is_verb(it));
            if noun && last && at > 0 && self.is_part(&lower[at - 1]) {
                self.add_pair(&lower[at - 1], &lower[at]);
            }
            // Only the word directly after "to" or a pronoun is a verb.
            noun |= is_capitalised;
            verb = false;
        }
    }

    /// Returns true if a word may open a pair.
    fn is_part(&self, word: &str) -> bool {
        is_content(word) && !is_verb(word) && !self.own.contains(word)
    }

    fn add_word(&mut self, written: &str, lower: &str, weight: f32) {
        if weight <= 0.0 {
            return;
        }
        let name = self.names.get(lower).and_then(|it| it.first());
        let form = if name.is_some() {
            strip_possessive(written)
        } else {
            lower
        };
        self.add_term(
            text::stem_word(lower),
            form.to_owned(),
            weight * word_specificity(lower),
        );
    }

    fn add_pair(&mut self, left: &str, right: &str) {
        let weight = 0.5 * (word_specificity(left) + word_specificity(right));
        self.add_term(
            format!("{} {}", text::stem_word(left), text::stem_word(right)),
            format!("{left} {right}"),
            weight,
        );
    }

    fn add_term(&mut self, key: String, form: String, weight: f32) {
        if key.len() > TERM_BYTES || form.len() > TERM_BYTES {
            return;
        }
        let place = self.terms.len();
        let term = self.terms.entry(key).or_insert((form, 0.0, place));
        // Repetition makes a term more characteristic, up to a limit.
        term.1 = (term.1 + weight).min(WEIGHT_MAX);
    }

    fn into_strongest_terms(mut self, symbols: &mut Symbols) -> Box<[Term]> {
        for name in self.names.values().flatten().cloned().collect::<Vec<_>>() {
            if name.contains(' ') {
                let key: Vec<String> = words_of(&name).iter().map(|it| text::stem_word(it)).collect();
                self.add_term(key.join(" "), name, 1.2);
            }
        }
        let mut all: Vec<(String, (String, f32, usize))> = self.terms.into_iter().collect();
        all.sort_by(|a, b| b.1.1.total_cmp(&a.1.1).then(a.1.2.cmp(&b.1.2)));
        all.truncate(TERMS_MAX);
        let term = |(key, (form, weight, _)): (String, (String, f32, usize))| Term {
            key: symbols.intern(&key),
            form: symbols.intern(&form),
            weight,
        };
        all.into_iter().map(term).collect()
    }
}

/// Returns the speakers of an event: its actor, its addressee and the names in the head of its summary
/// (`[8 May 2023] Ana, Tom`).
fn speaker_names(unit: &Unit, source: &str) -> Vec<String> {
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
fn names_by_first_word(unit: &Unit, speakers: &[String]) -> BTreeMap<String, Vec<String>> {
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
    let Some((head, spoken_text)) = line.split_once(": ") else {
        return line;
    };
    let known = speakers.iter().any(|it| {
        head.strip_prefix(it.as_str())
            .is_some_and(|it| it.is_empty() || it.starts_with(' '))
    });
    if known && head.len() < 80 { spoken_text } else { line }
}

fn words_of(name: &str) -> Vec<String> {
    text::split_words(name).into_iter().map(to_bare_word).collect()
}

/// Returns a word in lower case, without "'s" and surrounding punctuation.
fn to_bare_word(word: &str) -> String {
    strip_possessive(word)
        .trim_matches(|it: char| !it.is_alphanumeric())
        .to_lowercase()
}

fn strip_possessive(word: &str) -> &str {
    word.strip_suffix("'s")
        .or_else(|| word.strip_suffix("\u{2019}s"))
        .unwrap_or(word)
}
