//! The words of a clause before its verb: whether they deny the verb or make it an intention, and who acts.

use text::is_auxiliary;
use text::lexicon::contractions::split_bare_contraction;
use text::lexicon::{Class as WordClass, is_in_class};

use crate::evidence::word_classes::{Class, classify_word, is_person_word};
use crate::word_lists::UNREALISED;

/// Marks that separate clauses.
const MARKS: [char; 13] = ['.', ',', ';', ':', '!', '?', '(', ')', '"', '…', '—', '–', '\n'];

/// A word before a verb, or one part of a contraction.
#[derive(Clone, Debug)]
struct Word {
    lower: String,
    /// Whether it begins with a capital letter.
    capital: bool,
    /// Whether a mark that separates clauses precedes it.
    parted: bool,
}

/// A verb and the words before it in its clause.
#[derive(Clone, Debug)]
pub(crate) struct VerbContext {
    /// The verb in lower case.
    verb: String,
    /// The auxiliary verbs, negations and adverbs directly before the verb, last first.
    chain: Vec<String>,
    /// The words of the clause before them, in order.
    head: Vec<Word>,
    /// Whether "until" follows the verb.
    until: bool,
}

impl VerbContext {
    /// Reads the clause around the verb at byte `at` of an English sentence.
    pub(crate) fn read(sentence: &str, at: usize) -> VerbContext {
        let mut before = Vec::new();
        let mut verb = String::new();
        let (mut until, mut is_parted) = (false, true);
        let mut end = 0;
        for written in text::split_words(sentence) {
            let start = written.as_ptr() as usize - sentence.as_ptr() as usize;
            let lower = written.to_lowercase().replace('\u{2019}', "'");
            let parted = end == 0 || sentence.get(end..start).is_some_and(|it| it.contains(MARKS));
            end = start + written.len();
            if start > at {
                until |= matches!(lower.as_str(), "until" | "till");
            } else if start == at {
                (verb, is_parted) = (lower, parted);
            } else {
                let capital = written.starts_with(char::is_uppercase);
                let parts = split_contraction(&lower);
                before.extend(parts.into_iter().enumerate().map(|(nth, lower)| Word {
                    lower,
                    capital,
                    parted: parted && nth == 0,
                }));
            }
        }
        let (chain, head) = split_chain(before, is_parted);
        VerbContext {
            verb,
            chain,
            head,
            until,
        }
    }

    /// Returns true if the verb is denied. "I did not sell it until Friday" and "I not only sold it" report the sale.
    pub(crate) fn is_denied(&self) -> bool {
        let denies = |it: &String| matches!(it.as_str(), "not" | "never" | "cannot");
        self.chain.iter().any(denies) && !self.until && !self.chain.iter().any(|it| it == "only")
    }

    /// Returns true if the clause only intends or supposes the act of the verb: "will run", "should have run", "wanted
    /// to run", "considered running". Words that the question contains too do not count.
    pub(crate) fn is_intended(&self, question: &str) -> bool {
        let asked = |it: &str| text::split_words(question).contains(&it);
        let modal = self.chain.iter().any(|it| is_modal(it) && !asked(it));
        let perfect = self.chain.iter().any(|it| it == "have");
        if modal && (perfect || !has_past_form(&self.verb)) {
            return true;
        }
        let unrealised = |it: &Word| UNREALISED.contains(it.lower.as_str()) && !asked(&it.lower);
        match self.head.as_slice() {
            [.., last] if self.verb.ends_with("ing") => unrealised(last),
            [rest @ .., to] if to.lower == "to" => {
                let must = |it: &&Word| matches!(it.lower.as_str(), "have" | "has") && !asked(&it.lower);
                rest.last().is_some_and(|it| must(&it)) || rest.iter().rev().take(2).any(unrealised)
            }
            _ => false,
        }
    }

    /// Returns true if a form of "be" precedes the verb.
    pub(crate) fn is_passive(&self) -> bool {
        let is_be =
            |it: &String| matches!(it.as_str(), "am" | "be" | "been" | "being") || is_in_class(it, WordClass::FormOfBe);
        self.chain.iter().any(is_be)
    }

    /// Returns true if the subject of the verb is "I".
    pub(crate) fn is_about_speaker(&self) -> bool {
        self.head.last().is_some_and(|it| it.lower == "i")
    }
}

/// Returns true if the subject of a clause by the person in question is certainly another person: "My mother ran", "he
/// sold it", "Clara moved". Persons that the question names do not count.
pub(crate) fn clause_names_another(context: &VerbContext, question: &str) -> bool {
    let head = context.head.as_slice();
    let (Some(first), Some(last)) = (head.first(), head.last()) else {
        return false;
    };
    let asked: Vec<&str> = text::split_words(question);
    let is_own =
        |it: &Word| matches!(it.lower.as_str(), "i" | "we" | "me" | "us" | "you") || asked.contains(&it.lower.as_str());
    if matches!(last.lower.as_str(), "he" | "she" | "they") {
        return !asked.contains(&last.lower.as_str());
    }
    if head.iter().any(is_own) {
        return false;
    }
    let opens = is_person_word(&first.lower) || classify_word(&first.lower) == Class::Determiner;
    let phrase = head.iter().take_while(|it| classify_word(&it.lower) != Class::Linking);
    let is_person = opens && phrase.take(PHRASE_MAX).any(|it| is_person_word(&it.lower));
    is_person || is_only_name(context)
}

/// Largest number of words of "my older brother" and similar phrases.
const PHRASE_MAX: usize = 4;

/// Returns true if the subject is one capitalised word that is no verb, adverb or time: "Clara ran".
fn is_only_name(context: &VerbContext) -> bool {
    let [name] = context.head.as_slice() else {
        return false;
    };
    let lower = name.lower.as_str();
    let is_other = has_past_form(lower)
        || lower.ends_with("ing")
        || lower.ends_with("ly")
        || lower.contains('\'')
        || text::is_stop(lower)
        || is_in_class(lower, WordClass::DroppedI)
        || classify_word(lower) != Class::Content
        || text::time::words::is_named(lower);
    let acts = has_past_form(&context.verb) && !context.verb.ends_with("ing");
    name.capital && acts && !is_other
}

/// Separates the words directly before a verb that may stand between its subject and it, last first, from the words of
/// its clause before them. `parted` says whether a mark precedes the verb.
fn split_chain(mut before: Vec<Word>, parted: bool) -> (Vec<String>, Vec<Word>) {
    let mut chain = Vec::new();
    if parted {
        return (chain, Vec::new());
    }
    while let Some(word) = before.pop_if(|it| may_precede_verb(&it.lower)) {
        chain.push(word.lower);
        if word.parted {
            return (chain, Vec::new());
        }
    }
    let begins = |it: &Word| is_in_class(&it.lower, WordClass::PartsClauses) || joins_clauses(&it.lower);
    let joined = before.iter().rposition(begins).map(|it| it + 1);
    let marked = before.iter().rposition(|it| it.parted);
    let head = before.split_off(joined.max(marked).unwrap_or(0));
    (chain, head)
}

fn may_precede_verb(lower: &str) -> bool {
    matches!(lower, "not" | "never") || matches!(classify_word(lower), Class::Auxiliary | Class::Filler)
}

/// Returns true if a word joins two clauses, or opens a clause whose subject follows.
fn joins_clauses(lower: &str) -> bool {
    matches!(
        lower,
        "and" | "or" | "because" | "when" | "while" | "if" | "that" | "which" | "who" | "where" | "although" | "though"
    )
}

fn is_modal(lower: &str) -> bool {
    let other = matches!(
        lower,
        "am" | "are" | "did" | "do" | "does" | "had" | "has" | "have" | "is" | "was" | "were"
    );
    is_auxiliary(lower) && !other || matches!(lower, "gonna" | "wanna" | "gotta" | "cannot")
}

/// Returns true if a lower-case word has the form of a past or of a regular participle.
fn has_past_form(lower: &str) -> bool {
    text::is_past(lower) || lower.len() > 3 && lower.ends_with("ed") && !lower.ends_with("eed")
}

/// Returns the words of a contraction, or the word itself: "i'll" is "i will", "didn't" and "didnt" are "did not".
fn split_contraction(lower: &str) -> Vec<String> {
    let pair = |first: &str, second: &str| vec![first.to_owned(), second.to_owned()];
    if let Some((first, second)) = split_bare_contraction(lower) {
        return pair(first, second);
    }
    if let Some(first) = lower.strip_suffix("n't") {
        return pair(first, "not");
    }
    match lower.split_once('\'') {
        Some((first, "ll")) => pair(first, "will"),
        Some((first, "d")) => pair(first, "would"),
        Some((first, "ve")) => pair(first, "have"),
        Some((first, "re")) => pair(first, "are"),
        Some((first, "m")) => pair(first, "am"),
        Some((first, "s")) if is_in_class(first, WordClass::ClauseSubject) => pair(first, "is"),
        _ => vec![lower.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(sentence: &str, verb: &str) -> VerbContext {
        let at = sentence.find(&format!(" {verb}")).map_or(0, |it| it + 1);
        VerbContext::read(sentence, at)
    }

    #[test]
    fn denied_and_intended_verbs_are_no_reports() {
        for (sentence, verb, reported) in [
            ("I did not run the marathon on May 3.", "run", false),
            ("I didn't go to the gym on Friday.", "go", false),
            ("I forgot to water the orchids on Sunday.", "water", false),
            ("I should have returned the books on April 30.", "returned", false),
            ("I considered buying a kayak.", "buying", false),
            ("I'll quit my job in May.", "quit", false),
            ("Remind me to renew my passport on March 1.", "renew", false),
            ("I have to hand in the return on Friday.", "hand", false),
            ("I can't find my passport.", "find", false),
            ("I cant find my passport.", "find", false),
            ("I wont sell the boat on Friday.", "sell", false),
            ("Ive moved to Oslo in May.", "moved", true),
            ("I ran the marathon on May 3.", "ran", true),
            ("I'd moved to Oslo in May.", "moved", true),
            ("I didn't sell the boat until Friday.", "sell", true),
            ("We finally got to see it on Friday.", "see", true),
            ("I had to wait for two hours.", "wait", true),
            ("It didn't rain, so I ran on Sunday.", "ran", true),
            ("Nope, sold it on Friday.", "sold", true),
        ] {
            let read = context(sentence, verb);
            assert_eq!(!read.is_denied() && !read.is_intended(""), reported, "{sentence}");
        }
    }

    #[test]
    fn the_subject_of_a_clause_may_be_another_person() {
        for (sentence, verb, another) in [
            ("My mother ran the marathon on May 3.", "ran", true),
            ("Grandpa ran the marathon on May 3.", "ran", true),
            ("Clara ran the marathon on May 3.", "ran", true),
            ("A friend of mine lost 20 kilos.", "lost", true),
            ("When my grandmother was young she worked in a mill.", "worked", true),
            ("They've been married for 15 years.", "married", true),
            ("My partner ran 12 km yesterday, I only 3.", "ran", true),
            ("My mother and I ran the marathon on May 3.", "ran", false),
            ("I ran the marathon with my mother.", "ran", false),
            ("My mother visited, and I ran the marathon.", "ran", false),
            ("Ran the marathon on May 3!", "Ran", false),
            ("Finally ran the marathon.", "ran", false),
            ("Sunday ran 10 km.", "ran", false),
            ("Started working at Bosch in June.", "working", false),
            ("My flight landed on Friday.", "landed", false),
        ] {
            assert_eq!(
                clause_names_another(&context(sentence, verb), ""),
                another,
                "{sentence}"
            );
        }
    }
}
