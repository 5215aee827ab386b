//! What a question asks for that turns state outright.

use domain::predicate::Predicate;
use domain::question::Slot;
use text::facts::Statement;
use text::question::slot;
use text::words;

use super::{kinship, same};
use crate::question::Question;

/// What would answer a question.
pub(super) enum Asked {
    /// Who is that, in lower case.
    Who(String),
    /// The value of a slot.
    Slot(Slot),
    /// The value that it had before.
    Before(Slot),
    /// That these are the case no more: stems that the statement has to hold.
    Still(Vec<String>),
}

impl Asked {
    pub(super) fn met(&self, statement: &Statement) -> bool {
        match self {
            Asked::Who(name) => kinship(statement).is_some() && same(&statement.object.to_lowercase(), name),
            Asked::Slot(slot) | Asked::Before(slot) => {
                let left = statement.ended && is_job(statement) && matches!(slot, Slot::Job | Slot::Employer);
                let denied =
                    *slot == Slot::Allergy && Predicate::of(&statement.predicate) == Predicate::IsNotAllergicTo;
                left || denied || statement.positive && slot::is_told_by(slot, &statement.predicate)
            }
            Asked::Still(words) => {
                let said = text::stems(&format!("{} {}", statement.predicate, statement.object));
                words.iter().all(|it| said.contains(it))
            }
        }
    }
}

/// "I quit my job": it says no more which.
pub(super) fn is_job(statement: &Statement) -> bool {
    Predicate::of(&statement.predicate) == Predicate::Has && statement.object == "job"
}

pub(super) fn still(question: &Question, lower: &str) -> Option<Asked> {
    let owning = |it: &str| matches!(it, "own" | "keep" | "possess");
    let stems = question.words.iter().map(|it| it.stem.clone());
    let words: Vec<String> = stems.filter(|it| !owning(it)).collect();
    (lower.contains(" still ") && !words.is_empty()).then_some(Asked::Still(words))
}

/// Reads which value a question asks for: every word of it belongs to the slot or to whom it is about. What was at some time
/// is not stated outright, only what is and what was before that.
pub(super) fn valued(question: &Question, lower: &str, (name, role): (&str, Option<&str>)) -> Option<Asked> {
    let tokens = words(lower);
    let has = |list: &[&str]| tokens.iter().any(|it| list.contains(it));
    let before = has(&["before", "previously", "formerly"]) || lower.contains("used to");
    let other = has(&["first", "originally", "if", "would", "will", "not", "why", "when"]);
    if other
        || question.traits.negated
        || !question.options.is_empty()
        || (!before && has(&["did", "was", "were", "had"]))
    {
        return None;
    }
    let slot = question.slot.as_ref().filter(|it| !before || **it != Slot::Allergy)?;
    let framed = ["previous", "former", "use"];
    let belongs = |stem: &str| {
        stem == question.head || role.is_some_and(|it| text::stem(it) == stem) || slot::is_asked_by(slot, stem)
    };
    // Who never speaks is a word of the question.
    let called = |stem: &str| name.split(' ').any(|it| text::stem(it) == stem);
    let fits = |stem: &str| belongs(stem) || called(stem) || (before && framed.iter().any(|it| stem.starts_with(it)));
    let all = question.words.iter().all(|it| fits(&it.stem));
    all.then_some(match before {
        true => Asked::Before(slot.clone()),
        false => Asked::Slot(slot.clone()),
    })
}
