//! Checks every example sentence of every rule, and the errors of invalid rule files.

use std::time::Duration;

use chrono::{DateTime, FixedOffset};

use super::super::{Statement, Subject, Telling, stated_by_rules};
use super::pattern::Phrases;
use super::{Family, rule_files};

/// 12 June 2024, 10:00 UTC.
const SAID_AT: u64 = 1_718_186_400;

fn telling_of_sentence(sentence: &str) -> Telling<'_> {
    let to_assistant = sentence.strip_prefix("@ ");
    let (speaker, addressee) = if to_assistant.is_some() {
        ("user", "assistant")
    } else {
        ("Nora", "Sam")
    };
    Telling {
        text: to_assistant.unwrap_or(sentence),
        speaker,
        addressee,
        observed_at: DateTime::<FixedOffset>::default() + Duration::from_secs(SAID_AT),
    }
}

fn shown(it: &Statement) -> String {
    let subject = match &it.subject {
        Subject::Speaker => "I",
        Subject::Phrase(name) | Subject::Name(name) => name,
    };
    let since = it.since.as_ref().map(|it| format!(" since {}", it.start.date_naive()));
    let until = it.until.map(|it| format!(" until {}", it.date_naive()));
    let marks = [("ended", it.ended), ("not", !it.positive)];
    let marks = marks.iter().filter(|it| it.1).map(|it| format!(" {}", it.0));
    let line = format!(
        "[{subject}] {} | {}{}",
        it.predicate,
        it.object,
        since.unwrap_or_default()
    );
    format!("{line}{}{}", until.unwrap_or_default(), marks.collect::<String>())
}

/// Returns the facts that a rule makes of a sentence, separated by semicolons.
fn made(rule: &str, sentence: &str) -> String {
    let by = stated_by_rules(&telling_of_sentence(sentence), "").into_iter();
    let facts: Vec<String> = by.filter(|it| it.1 == rule).map(|it| shown(&it.0)).collect();
    facts.join("; ")
}

#[test]
fn every_rule_makes_the_facts_of_its_example_sentences() {
    let rules = rule_files::read_rule_files().unwrap();
    assert!(rules.len() > 60, "{} rules", rules.len());
    let mut wrong = Vec::new();
    for rule in &rules {
        for (sentence, fact) in &rule.says {
            let made = made(rule.name, sentence);
            if made != *fact {
                wrong.push(format!("{}\tsays: {sentence} = {made}", rule.name));
            }
        }
        for sentence in &rule.silent {
            let made = made(rule.name, sentence);
            if !made.is_empty() {
                wrong.push(format!("{}\tsilent: {sentence} = {made}", rule.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

const WHOLE: &str = "rule one\n verb: live\n form: present\n pattern: in {<name>}\n fact: place | lives in\n sure: 0.9\n \
    says: a = b\n says: c = d\n says: e = f\n silent: g\n silent: h\n";

/// The part of the rule that is replaced, its replacement, and the error message.
const BROKEN: &[(&str, &str, &str)] = &[
    ("{<name>}", "{<nobody>}", "no class `nobody`"),
    ("{<name>}", "{<name>", "`}` is missing"),
    ("{<name>}", "{Porto}", "not in lower case"),
    ("lives in", "dwells in", "no predicate `dwells in`"),
    ("place |", "spot |", "no aspect `spot`"),
    ("form: present", "form: presently", "no form `presently`"),
    ("sure: 0.9", "surely: 0.9", "has no meaning in a rule"),
    ("sure: 0.9", "sure: 1.5", "is missing"),
    ("sure: 0.9", "unless-turn: <nobodies>", "no list `<nobodies>`"),
    (" says: a = b\n", "", "sentences"),
    (" silent: g\n", "", "sentences"),
];

#[test]
fn an_invalid_rule_is_reported_with_its_error() {
    let rules = rule_files::parse_rules(Family::Place, WHOLE, &Phrases::new()).unwrap();
    assert_eq!(rule_files::number_rules(rules.clone()).unwrap().len(), 1);
    let twice = rule_files::number_rules([rules.clone(), rules].concat()).unwrap_err();
    assert_eq!(twice, "one: occurs twice");
    for (from, to, error) in BROKEN {
        let broken: &'static str = WHOLE.replacen(from, to, 1).leak();
        let wrong = rule_files::parse_rules(Family::Place, broken, &Phrases::new()).unwrap_err();
        assert!(
            wrong.starts_with("one: ") && wrong.contains(error),
            "{from} -> {to}: {wrong}"
        );
    }
    assert!(
        rule_files::parse_phrases("let a = b\nlet a = c")
            .unwrap_err()
            .contains("twice")
    );
}

#[test]
fn predicates_of_rules_have_the_cardinality_of_the_domain() {
    let single = super::super::lexicon::read_word_list("single_predicates");
    let all = super::super::lexicon::read_word_list("predicates");
    assert!(single.is_subset(&all) && !single.is_empty());
    for name in all.iter().filter(|it| !it.contains('$')) {
        let written = name.replace('_', " ");
        let predicate = domain::predicate::Predicate::from_verb_phrase(&written);
        assert_eq!(predicate.is_single(), single.contains(name), "{written}");
    }
}
