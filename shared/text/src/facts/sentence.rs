//! Writes a fact as a sentence.

use domain::fact::{Aspect, Fact, Stated};

use super::lexicon::{ASKING_DENIALS, BEFORE_ORDER, CONDITIONS, DUTIES, FORBIDDING_OPENINGS, ORDERS};
use crate::lexicon::verbs;

/// The parts of a fact that a sentence is made of.
#[derive(Clone, Copy, Debug)]
pub struct FactWords<'a> {
    /// The person or thing that the fact is about, by name.
    pub subject: &'a str,
    /// Verb phrase in the third person.
    pub predicate: &'a str,
    /// The value.
    pub object: &'a str,
    /// The group of the predicate.
    pub aspect: Aspect,
}

impl<'a> From<&'a Fact> for FactWords<'a> {
    fn from(fact: &'a Fact) -> FactWords<'a> {
        FactWords {
            subject: &fact.subject,
            predicate: &fact.predicate,
            object: &fact.object,
            aspect: fact.aspect,
        }
    }
}

impl<'a> From<&'a Stated> for FactWords<'a> {
    fn from(stated: &'a Stated) -> FactWords<'a> {
        FactWords {
            subject: &stated.subject,
            predicate: &stated.predicate,
            object: &stated.object,
            aspect: stated.aspect,
        }
    }
}

/// Returns a fact as a sentence without a full stop: "Ana lives in Oslo". An instruction that is not a verb phrase
/// follows a colon: "Ana asks: no garlic". One that forbids something is denied: "Ana asks not to change the names".
/// Empty parts are left out.
pub fn fact_sentence<'a>(words: impl Into<FactWords<'a>>) -> String {
    let words = words.into();
    join_present([words.subject, &fact_sentence_after_subject(words)])
}

/// Returns the sentence of [`fact_sentence`] without its subject: "lives in Oslo", "asks: no garlic".
pub fn fact_sentence_after_subject<'a>(words: impl Into<FactWords<'a>>) -> String {
    let FactWords {
        predicate,
        object,
        aspect,
        ..
    } = words.into();
    if aspect != Aspect::Instruction || object.is_empty() {
        return join_present([predicate, object]);
    }
    match (read_asking_predicate(predicate), forbidden_action(object)) {
        (Some(asking), Some(action)) => format!("{} not to {action}", asking.verb),
        (Some(asking), None) if asking.denies => format!("{} not to {object}", asking.verb),
        (Some(_), None) if !begins_with_order(object) => format!("asks: {object}"),
        (Some(_), None) | (None, _) => join_present([predicate, object]),
    }
}

fn join_present(parts: [&str; 2]) -> String {
    let [first, second] = parts;
    let space = if first.is_empty() || second.is_empty() { "" } else { " " };
    format!("{first}{space}{second}")
}

/// A predicate whose object should be a verb phrase.
struct AskingPredicate<'a> {
    /// The words before "to": "asks", "would like".
    verb: &'a str,
    /// True for "asks not to", "asks to not" and "asks to do not".
    denies: bool,
}

/// Reads predicates such as "asks to" and "asks not to". Returns none for others, and for those that deny the asking
/// itself ("does not ask to").
fn read_asking_predicate(predicate: &str) -> Option<AskingPredicate<'_>> {
    let whole = predicate.trim_end();
    let (asked, denied_after) = [" do not", " not"]
        .iter()
        .find_map(|it| strip_ending(whole, it))
        .map_or((whole, false), |it| (it, true));
    let before_to = strip_ending(asked, " to")?;
    let denied_before = strip_ending(before_to, " not");
    let verb = denied_before.unwrap_or(before_to);
    let denies = denied_after || denied_before.is_some();
    let denied = |it: &String| ASKING_DENIALS.contains(it.as_str()) || it.ends_with("n't");
    (!verb.is_empty() && !lower_words(verb).iter().any(denied)).then_some(AskingPredicate { verb, denies })
}

/// Returns the action that an order forbids: "change the names" of "please do not change the names". Returns none if
/// it forbids nothing, or forbids it without a verb.
fn forbidden_action(order: &str) -> Option<&str> {
    let mut rest = order.trim_start();
    rest = strip_opening(rest, "please").unwrap_or(rest);
    for opening in FORBIDDING_OPENINGS.iter() {
        if let Some(action) = strip_opening(rest, opening) {
            return Some(action);
        }
    }
    strip_opening(rest, "not").filter(|it| opens_with_base_verb(&lower_words(it)))
}

/// Returns a text without these words at its end, in any case.
fn strip_ending<'a>(text: &'a str, ending: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(ending.len())?;
    let end = text.get(at..)?;
    end.eq_ignore_ascii_case(ending).then(|| &text[..at])
}

/// Returns the rest of a text that begins with these words in any case; none if nothing follows them.
fn strip_opening<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let head = text.get(..words.len()).filter(|it| it.eq_ignore_ascii_case(words))?;
    let rest = &text[head.len()..];
    let action = rest.trim_start_matches([' ', ',']);
    (action.len() < rest.len() && !action.is_empty()).then_some(action)
}

/// Returns true if a text begins with a verb in base form, which small words may precede. An order with a condition
/// ("when I pay, round up") does not.
fn begins_with_order(text: &str) -> bool {
    let words = lower_words(text);
    let is_conditional = words.first().is_some_and(|it| CONDITIONS.contains(it.as_str()));
    !is_conditional && opens_with_base_verb(&words)
}

/// Returns true if a known verb in base form follows the small words at the start. The list of verbs is short, so an
/// unknown word counts as no verb: "asks: descale the kettle" reads well too. A verb that is often a noun counts only
/// if a function word or a number follows: "date the page", but not "date format ISO".
pub(super) fn opens_with_base_verb(words: &[String]) -> bool {
    let is_small = |it: &&String| BEFORE_ORDER.contains(it.as_str());
    let small = words.iter().take_while(is_small).count();
    let Some(verb) = words.get(small).map(String::as_str) else {
        return false;
    };
    let next = words.get(small + 1).map(String::as_str);
    // "Number of hits at most 3" and "limit is 160" begin with nouns.
    if next.is_some_and(|it| it == "of" || crate::is_auxiliary(it)) {
        return false;
    }
    let is_permanent = words[..small]
        .iter()
        .any(|it| matches!(it.as_str(), "always" | "never"));
    let has_object = next.is_none_or(|it| crate::is_stop(it) || it.starts_with(|c: char| c.is_ascii_digit()));
    verb == "be"
        || ORDERS.contains(verb)
        || is_permanent && DUTIES.contains(verb)
        || has_object && verbs::all_verbs().iter().any(|it| it.base == verb)
}

pub(super) fn lower_words(text: &str) -> Vec<String> {
    crate::split_words(text)
        .into_iter()
        .map(|it| it.to_lowercase().replace('\u{2019}', "'"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(object: &str) -> String {
        fact_sentence(FactWords {
            subject: "Ana",
            predicate: "asks to",
            object,
            aspect: Aspect::Instruction,
        })
    }

    #[test]
    fn an_instruction_that_begins_with_a_verb_follows_the_predicate() {
        for object in [
            "answer in French",
            "keep it short",
            "always answer in metric units",
            "please never suggest crypto to me",
            "never report times in local time",
            "only use grams",
            "Always use the 24-hour clock",
            "be brief",
            "read the label first",
        ] {
            assert_eq!(asking(object), format!("Ana asks to {object}"));
        }
    }

    #[test]
    fn an_instruction_that_is_not_a_verb_phrase_follows_a_colon() {
        for object in [
            "no orm",
            "dosing max 20 ml per hour",
            "at most 160 in total",
            "metric units only",
            "never more than two emails",
            "only vegetarian food",
            "I prefer tables to text",
            "when I ask about tax, begin with the deadline",
            "when I pay, do not round up",
            "not more than two emails",
            "answers in French",
            "number of hits at most 3",
            "limit is 160 per order",
            "date format ISO",
            "report verified by Friday",
            "when in doubt",
            "when I pay, no receipts",
        ] {
            assert_eq!(asking(object), format!("Ana asks: {object}"));
        }
    }

    #[test]
    fn an_instruction_that_forbids_something_is_denied() {
        for (object, action) in [
            ("do not change the names", "change the names"),
            ("don't suggest running", "suggest running"),
            ("Don\u{2019}t ever call before nine", "ever call before nine"),
            ("please do not round the totals", "round the totals"),
            ("Please, dont use emojis", "use emojis"),
            ("not book anything on a Friday", "book anything on a Friday"),
        ] {
            assert_eq!(asking(object), format!("Ana asks not to {action}"));
        }
        // These forbid nothing, or not with a verb.
        for (object, sentence) in [
            ("do the sums in euros", "Ana asks to do the sums in euros"),
            ("note the page of each quote", "Ana asks to note the page of each quote"),
            (
                "never report times in local time",
                "Ana asks to never report times in local time",
            ),
            ("always ask before you book", "Ana asks to always ask before you book"),
            ("no garlic", "Ana asks: no garlic"),
            ("nothing with nuts", "Ana asks: nothing with nuts"),
            (
                "donations to the shelter first",
                "Ana asks: donations to the shelter first",
            ),
        ] {
            assert_eq!(asking(object), sentence);
        }
    }

    #[test]
    fn a_predicate_that_denies_is_written_in_one_way() {
        let sentence = |predicate, object| {
            fact_sentence(FactWords {
                subject: "Ana",
                predicate,
                object,
                aspect: Aspect::Instruction,
            })
        };
        for (predicate, object) in [
            ("asks not to", "change the names"),
            ("asks to not", "change the names"),
            ("asks to do not", "change the names"),
            ("asks not to", "do not change the names"),
            ("asks to not", "don't change the names"),
            ("asks to do not", "please do not change the names"),
        ] {
            assert_eq!(sentence(predicate, object), "Ana asks not to change the names");
        }
        assert_eq!(sentence("wants not to", "fly"), "Ana wants not to fly");
        for (predicate, object) in [
            ("does not ask to", "change the names"),
            ("never asks to", "fly"),
            ("asks about", "not changing the names"),
            ("bittet darum,", "nicht anzurufen"),
            ("asks for", "no meat"),
            ("asks that", "nobody calls"),
        ] {
            assert_eq!(sentence(predicate, object), format!("Ana {predicate} {object}"));
        }
    }

    #[test]
    fn only_instructions_whose_predicate_needs_a_verb_get_a_colon() {
        let sentence = |predicate, object, aspect| {
            fact_sentence(FactWords {
                subject: "Ana",
                predicate,
                object,
                aspect,
            })
        };
        for (predicate, object, aspect) in [
            ("wants", "short answers", Aspect::Instruction),
            ("asks not to", "garlic in anything", Aspect::Instruction),
            ("plans to", "Lisbon", Aspect::Plan),
            ("lives in", "Oslo", Aspect::Place),
        ] {
            assert_eq!(sentence(predicate, object, aspect), format!("Ana {predicate} {object}"));
        }
        assert_eq!(
            sentence("wants to", "no garlic", Aspect::Instruction),
            "Ana asks: no garlic"
        );
    }

    #[test]
    fn empty_parts_leave_no_spaces() {
        let words = FactWords {
            subject: "",
            predicate: "lives in",
            object: "Oslo",
            aspect: Aspect::Place,
        };
        assert_eq!(fact_sentence(words), "lives in Oslo");
        assert_eq!(fact_sentence(FactWords { object: "", ..words }), "lives in");
        assert_eq!(asking(""), "Ana asks to");
        assert_eq!(fact_sentence_after_subject(words), "lives in Oslo");
    }
}
