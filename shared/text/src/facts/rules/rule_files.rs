//! Reads the rule files.

use std::collections::HashSet;

use domain::fact::Aspect;

use super::super::lexicon::read_word_list;
use super::pattern::{Phrases, parse_pattern};
use super::{FILES, Family, Negated, PHRASES, RequiredSubject, Rule, Times};
use crate::facts::clauses::clause::TimeReading;

/// Smallest number of example sentences with a fact, and without one, for each rule.
const SAYS_MIN: usize = 3;
const SILENT_MIN: usize = 2;
/// Verb forms that rules may name.
const FORMS: &str = "present past perfect lasted progressive lasting future going be was been can";

/// Returns the rules of all files; an error names the rule and says what is wrong with it.
pub(super) fn read_rule_files() -> Result<Vec<Rule>, String> {
    let phrases = parse_phrases(PHRASES)?;
    let mut out: Vec<Rule> = Vec::new();
    for (family, text) in FILES {
        out.extend(parse_rules(*family, text, &phrases)?);
    }
    number_rules(out)
}

/// Returns the rules with their numbers; an error names a rule that occurs twice.
pub(super) fn number_rules(mut rules: Vec<Rule>) -> Result<Vec<Rule>, String> {
    let mut names = HashSet::new();
    for (number, rule) in rules.iter_mut().enumerate() {
        rule.number = number;
        if !names.insert(rule.name) {
            return Err(format!("{}: occurs twice", rule.name));
        }
    }
    Ok(rules)
}

/// Returns the patterns that `let NAME = PATTERN` defines; each may use the ones before it.
pub(super) fn parse_phrases(text: &'static str) -> Result<Phrases, String> {
    let mut out = Phrases::new();
    for line in content_lines(text) {
        let (name, pattern) = line
            .strip_prefix("let ")
            .and_then(|it| it.split_once(" = "))
            .ok_or_else(|| format!("no phrase: {line}"))?;
        let choice = parse_pattern(pattern, &out).map_err(|wrong| format!("{name}: {wrong}"))?;
        if out.insert(name, choice).is_some() {
            return Err(format!("`{name}` occurs twice"));
        }
    }
    Ok(out)
}

/// Returns the rules of one file.
pub(super) fn parse_rules(family: Family, text: &'static str, phrases: &Phrases) -> Result<Vec<Rule>, String> {
    let mut blocks: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for line in content_lines(text) {
        match (line.strip_prefix("rule "), line.split_once(": "), blocks.last_mut()) {
            (Some(name), ..) => blocks.push((name, Vec::new())),
            (None, Some(line), Some(block)) => block.1.push(line),
            (None, ..) => return Err(format!("this line belongs to no rule: {line}")),
        }
    }
    let rules = blocks
        .into_iter()
        .map(|(name, lines)| parse_rule(family, name, &lines, phrases).map_err(|wrong| format!("{name}: {wrong}")));
    rules.collect()
}

fn content_lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|it| !it.is_empty() && !it.starts_with('#'))
}

fn parse_rule(
    family: Family,
    name: &'static str,
    lines: &[(&'static str, &'static str)],
    phrases: &Phrases,
) -> Result<Rule, String> {
    let mut rule = Rule {
        name,
        family,
        number: 0,
        verbs: Vec::new(),
        from_verb: false,
        patterns: Vec::new(),
        without: Vec::new(),
        unless_turn: HashSet::new(),
        adverb: "",
        negated: Negated::No,
        times: Times::Any,
        whose: RequiredSubject::Anybody,
        says_not: false,
        over: false,
        when: TimeReading::State,
        aspect: Aspect::Attribute,
        predicate: "",
        object: "$object",
        sure: 0.0,
        says: Vec::new(),
        silent: Vec::new(),
    };
    let (mut verbs, mut forms) = ("", "");
    for &(key, value) in lines {
        match key {
            "verb" => verbs = value,
            "form" => forms = value,
            "pattern" => rule.patterns.extend(parse_pattern(value, phrases)?),
            "without" => rule.without.extend(parse_pattern(value, phrases)?),
            "fact" => parse_fact(&mut rule, value)?,
            "says" => rule.says.push(
                value
                    .split_once(" = ")
                    .ok_or_else(|| format!("what does `{value}` say?"))?,
            ),
            "silent" => rule.silent.push(value),
            _ => parse_condition(&mut rule, key, value)?,
        }
    }
    for verb in verbs.split_whitespace() {
        let (base, own) = verb.split_once(':').unwrap_or((verb, ""));
        let forms: Vec<&str> = if own.is_empty() {
            forms.split(' ').collect()
        } else {
            own.split(',').collect()
        };
        if let Some(unknown) = forms.iter().find(|it| !FORMS.split(' ').any(|form| form == **it)) {
            return Err(format!("there is no form `{unknown}`"));
        }
        rule.verbs.push((base, forms));
    }
    if rule.predicate.is_empty() || rule.patterns.is_empty() || rule.sure <= 0.0 || rule.sure > 1.0 {
        return Err("`fact`, `pattern` or `sure` is missing".to_owned());
    }
    if rule.says.len() < SAYS_MIN || rule.silent.len() < SILENT_MIN {
        return Err(format!(
            "it needs {SAYS_MIN} sentences that say a fact and {SILENT_MIN} that are silent"
        ));
    }
    Ok(rule)
}

fn parse_fact(rule: &mut Rule, value: &'static str) -> Result<(), String> {
    let mut parts = value.split(" | ");
    let aspect = parts.next().unwrap_or_default();
    let known = Aspect::ALL.into_iter().find(|it| it.name() == aspect);
    rule.aspect = known.ok_or_else(|| format!("there is no aspect `{aspect}`"))?;
    rule.predicate = parts.next().unwrap_or_default();
    rule.object = parts.next().unwrap_or("$object");
    if !read_word_list("predicates").contains(rule.predicate.replace(' ', "_").as_str()) {
        return Err(format!("there is no predicate `{}`", rule.predicate));
    }
    Ok(())
}

fn parse_condition(rule: &mut Rule, key: &str, value: &'static str) -> Result<(), String> {
    match (key, value) {
        ("adverb", word) => rule.adverb = word,
        ("unless-turn", list) => {
            rule.unless_turn = read_word_list(list.trim_matches(['<', '>']));
            if rule.unless_turn.is_empty() {
                return Err(format!("there is no list `{list}`"));
            }
        }
        ("sure", number) => rule.sure = number.parse().map_err(|_| format!("`{number}` is not a number"))?,
        ("from", "verb") => rule.from_verb = true,
        ("over", "yes") => rule.over = true,
        ("says-not", "yes") => rule.says_not = true,
        ("negated", "must") => rule.negated = Negated::Must,
        ("negated", "ends") => rule.negated = Negated::Ends,
        ("who", "others") => rule.whose = RequiredSubject::Others,
        ("who", "role") => rule.whose = RequiredSubject::Role,
        ("who", "assistant") => rule.whose = RequiredSubject::Assistant,
        ("times", "none") => rule.times = Times::None,
        ("times", "since") => rule.times = Times::Since,
        ("times", "lasting") => rule.times = Times::Lasting,
        ("times", "ahead") => rule.times = Times::Ahead,
        ("times", "day") => rule.times = Times::Day,
        ("times", "month") => rule.times = Times::Month,
        ("times", "long") => rule.times = Times::Long,
        ("when", "event") => rule.when = TimeReading::Event,
        ("when", "visit") => rule.when = TimeReading::Visit,
        ("when", "plan") => rule.when = TimeReading::Plan,
        _ => return Err(format!("`{key}: {value}` has no meaning in a rule")),
    }
    Ok(())
}
