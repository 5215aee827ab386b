//! `find_entity_contexts` (REMem, section 3.2): facts by subject, predicate and object, counted or summed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::fact::Fact;
use domain::message::{ToolErrorV1, ToolSpecV1};
use serde::Deserialize;
use serde_json::{Value, json};
use text::meaning::sparse_vectors;

use super::arguments::{
    LIMIT_MAX, bad_arguments_error, default_limit, limit_schema, offset_schema, parse_arguments, require_page_in_range,
    require_text, text_schema,
};
use super::time_filter::{Operator, TimeArguments, TimeFilter, add_time_arguments};
use super::{Look, Outcome};
use crate::space::memory::{normalise_name, verb_terms};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntityContexts {
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    predicate: Option<String>,
    #[serde(default)]
    object: Option<String>,
    #[serde(default)]
    start_time: Option<String>,
    #[serde(default)]
    end_time: Option<String>,
    #[serde(default)]
    start_operator: Option<Operator>,
    #[serde(default)]
    end_operator: Option<Operator>,
    #[serde(default = "default_limit")]
    limit: u32,
    #[serde(default)]
    offset: u32,
    #[serde(default)]
    ordering: Ordering,
    #[serde(default)]
    aggregation: Aggregation,
}

/// The order of the facts.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ordering {
    #[default]
    Oldest,
    Newest,
    Confidence,
}

/// The value that is computed from all matches.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Aggregation {
    #[default]
    None,
    Count,
    First,
    Last,
    List,
    Sum,
}

pub(super) fn tool_spec() -> ToolSpecV1 {
    let properties = json!({
        "subject": text_schema("Who or what the facts are about, by any name"),
        "predicate": text_schema("What is said of it: words of it (\"live\"), or an aspect (preference, place, work ...)"),
        "object": text_schema("The value, or words of it"),
        "limit": limit_schema(),
        "offset": offset_schema(),
        "ordering": {"type": "string", "enum": ["oldest", "newest", "confidence"], "default": "oldest",
            "description": "By when it began to hold, or the surest first"},
        "aggregation": {"type": "string", "enum": ["none", "count", "first", "last", "list", "sum"], "default": "none",
            "description": "Over all matches, not only the page: their number, the first, the last, the different values, or the sum of the numbers"},
    });
    super::arguments::tool_spec(
        "find_entity_contexts",
        "Finds facts by subject, predicate, object and time, with the gists that state them; can count, list and sum. Use it for what holds of somebody, how often, since when, and what changed.",
        add_time_arguments(properties),
        &[],
    )
}

/// Runs `find_entity_contexts`.
pub(super) fn find_entity_contexts(look: &Look, arguments: Value) -> Outcome {
    let arguments_read: EntityContexts = parse_arguments(arguments)?;
    require_page_in_range(arguments_read.limit, arguments_read.offset)?;
    for (name, value) in [
        ("subject", &arguments_read.subject),
        ("predicate", &arguments_read.predicate),
        ("object", &arguments_read.object),
    ] {
        value
            .as_deref()
            .map_or(Ok(()), |it| require_text(name, it, "what is sought, or leave it out"))?;
    }
    let times = arguments_read.parse_times(look)?;
    if arguments_read.subject.is_none()
        && arguments_read.predicate.is_none()
        && arguments_read.object.is_none()
        && times.is_open()
    {
        return Err(bad_arguments_error(
            "give at least one of subject, predicate, object, start_time and end_time",
        ));
    }
    let mut facts = arguments_read.candidate_facts(look);
    facts.retain(|it| arguments_read.matches_fact(look, it) && times.fit_fact(it));
    match arguments_read.ordering {
        Ordering::Oldest => facts.sort_by_key(|it| (it.valid_from.start, it.id)),
        Ordering::Newest => facts.sort_by_key(|it| (Reverse(it.valid_from.start), it.id)),
        Ordering::Confidence => facts.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then(a.id.cmp(&b.id))),
    }
    let total = facts.len();
    let (limit, offset) = (arguments_read.limit as usize, arguments_read.offset as usize);
    let shown: Vec<&Arc<Fact>> = facts.iter().skip(offset).take(limit).collect();
    let next = offset + shown.len();
    Ok(json!({
        "facts": shown.iter().map(|it| look.fact_to_json(it)).collect::<Vec<Value>>(),
        "gists": look.units_to_json(shown.iter().map(|it| it.source), limit),
        "total": total,
        "next_offset": (next < total && !shown.is_empty()).then_some(next),
        "aggregate": arguments_read.aggregate_facts(look, &facts)
    }))
}

impl EntityContexts {
    fn parse_times(&self, look: &Look) -> Result<TimeFilter, ToolErrorV1> {
        let time_arguments = TimeArguments {
            start: self.start_time.as_deref(),
            end: self.end_time.as_deref(),
            start_operator: self.start_operator,
            end_operator: self.end_operator,
        };
        TimeFilter::from_arguments(&time_arguments, look.now)
    }

    /// Returns a list of facts that contains all matches: the shortest one that an index gives.
    fn candidate_facts(&self, look: &Look) -> Vec<Arc<Fact>> {
        let known = look.known_memory();
        if let Some(subject) = &self.subject {
            return known.facts_about(subject);
        }
        let object = self.object.as_deref().filter(|it| !stem_terms(it).is_empty());
        let Some(object) = object else {
            return known.all_facts().collect();
        };
        let rarest = stem_terms(object)
            .into_iter()
            .min_by_key(|it| (known.facts_holding(*it), *it));
        let saying = rarest.into_iter().flat_map(|it| known.facts_saying(it));
        let mut met = BTreeSet::new();
        let all = saying.chain(known.facts_naming(object));
        all.filter(|it| met.insert(it.id)).collect()
    }

    fn matches_fact(&self, look: &Look, fact: &Fact) -> bool {
        let known = look.known_memory();
        let predicate = self.predicate.as_deref().is_none_or(|it| {
            it.trim().eq_ignore_ascii_case(fact.aspect.name()) || predicate_contains_words(&fact.predicate, it)
        });
        let object = self.object.as_deref().is_none_or(|it| {
            let other = || {
                let same = |name: &String| normalise_name(name) == normalise_name(&fact.object);
                known
                    .entities_called(it)
                    .iter()
                    .any(|it| same(&it.name) || it.aliases.iter().any(same))
            };
            contains_content_words(&fact.object, it) || other()
        });
        predicate && object
    }

    fn aggregate_facts(&self, look: &Look, facts: &[Arc<Fact>]) -> Value {
        let value = match self.aggregation {
            Aggregation::None => return Value::Null,
            Aggregation::Count => json!(facts.len()),
            Aggregation::First => json!(
                facts
                    .iter()
                    .min_by_key(|it| (it.valid_from.start, it.id))
                    .map(|it| look.fact_to_json(it))
            ),
            Aggregation::Last => json!(
                facts
                    .iter()
                    .max_by_key(|it| (it.valid_from.start, it.id))
                    .map(|it| look.fact_to_json(it))
            ),
            Aggregation::List => {
                let mut values: BTreeMap<String, (&str, u32)> = BTreeMap::new();
                for fact in facts {
                    values
                        .entry(normalise_name(&fact.object))
                        .or_insert((&fact.object, 0))
                        .1 += 1;
                }
                let listed = values.values().take(LIMIT_MAX as usize);
                let listed = listed.map(|(object, facts)| json!({"object": object, "facts": facts}));
                json!({"different": values.len(), "values": listed.collect::<Vec<Value>>()})
            }
            Aggregation::Sum => {
                let numbers: Vec<f64> = facts.iter().filter_map(|it| parse_number(&it.object)).collect();
                json!({"sum": numbers.iter().sum::<f64>(), "numbers": numbers.len(), "without_number": facts.len() - numbers.len()})
            }
        };
        let name = match self.aggregation {
            Aggregation::None => "none",
            Aggregation::Count => "count",
            Aggregation::First => "first",
            Aggregation::Last => "last",
            Aggregation::List => "list",
            Aggregation::Sum => "sum",
        };
        json!({"aggregation": name, "value": value})
    }
}

/// Returns true if a text contains every content word of another text. A text without content words must occur
/// literally.
fn contains_content_words(text: &str, words: &str) -> bool {
    let wanted = stem_terms(words);
    if wanted.is_empty() {
        return normalise_name(text).contains(&normalise_name(words));
    }
    wanted.is_subset(&stem_terms(text))
}

/// Like [`contains_content_words`], for predicates.
fn predicate_contains_words(predicate: &str, words: &str) -> bool {
    let wanted: BTreeSet<u32> = verb_terms(words).collect();
    if wanted.is_empty() {
        return contains_content_words(predicate, words);
    }
    wanted.is_subset(&verb_terms(predicate).collect())
}

fn stem_terms(text: &str) -> BTreeSet<u32> {
    text::stem_words(text)
        .iter()
        .map(|it| sparse_vectors::hash_stem(it))
        .collect()
}

/// Returns the first number in a text: in digits, with or without commas between thousands, or in words ("sixteen",
/// "sixty-four", "twice").
fn parse_number(text: &str) -> Option<f64> {
    let words: Vec<String> = text::split_words(text).into_iter().map(str::to_lowercase).collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let plain: String = word.chars().filter(|it| *it != ',').collect();
        let figure = plain.parse().ok().filter(|it: &f64| it.is_finite());
        figure
            .filter(|_| plain.starts_with(|it: char| it.is_ascii_digit()))
            .or_else(|| number_in_words(&words[at..]))
    })
}

/// Returns the number at the beginning of some words. A word after it may complete it, as in "sixty four".
fn number_in_words(words: &[String]) -> Option<f64> {
    let first = words.first()?;
    let value = |word: &String| text::number_word(word).map(f64::from);
    let counted = match first.as_str() {
        "once" => Some(1.0),
        "twice" => Some(2.0),
        "dozen" => Some(12.0),
        _ => first
            .split_once('-')
            .and_then(|(tens, ones)| join_numbers(text::number_word(tens)?.into(), text::number_word(ones)?.into())),
    };
    let start = counted.or_else(|| value(first))?;
    let next = words.get(1).and_then(value);
    Some(next.and_then(|next| join_numbers(start, next)).unwrap_or(start))
}

/// Joins two numbers: "sixty" and "four" are 64, "two" and "hundred" are 200. `None` for other pairs, which are two
/// separate numbers.
fn join_numbers(first: f64, next: f64) -> Option<f64> {
    let tens = (20.0..100.0).contains(&first) && first % 10.0 == 0.0 && (1.0..10.0).contains(&next);
    if tens {
        return Some(first + next);
    }
    ((1.0..100.0).contains(&first) && (next == 100.0 || next == 1000.0)).then_some(first * next)
}

#[cfg(test)]
mod tests {
    use super::parse_number;

    #[test]
    fn numbers_are_read_from_digits_and_words() {
        for (text, expected) in [
            ("sixteen bowls", Some(16.0)),
            ("nineteen bowls", Some(19.0)),
            ("sixty chairs", Some(60.0)),
            ("ninety-two chairs", Some(92.0)),
            ("ninety two chairs", Some(92.0)),
            ("two hundred bricks", Some(200.0)),
            ("a thousand cranes", Some(1000.0)),
            ("ran it twice", Some(2.0)),
            ("1,250 bricks", Some(1250.0)),
            ("no bowls", None),
        ] {
            assert_eq!(parse_number(text), expected, "{text}");
        }
    }
}
