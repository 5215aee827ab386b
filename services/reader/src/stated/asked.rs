//! The facts that a question asks for and that turns state outright.

use domain::predicate::Predicate;
use domain::question::Slot;
use text::facts::Statement;
use text::question::slot;
use text::words;

use super::{kinship, same};
use crate::question::Question;

/// The fact that would answer a question.
pub(super) enum Asked {
    /// The role of the person with this name, in lower case.
    Who(String),
    /// The present value of a slot.
    Slot(Slot),
    /// The former value of a slot.
    Before(Slot),
    /// The end of a state: stems that the statement must contain.
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

/// Returns true for "I quit my job", which does not say which job.
pub(super) fn is_job(statement: &Statement) -> bool {
    Predicate::of(&statement.predicate) == Predicate::Has && statement.object == "job"
}

pub(super) fn still(question: &Question, lower: &str) -> Option<Asked> {
    let owning = |it: &str| matches!(it, "own" | "keep" | "possess");
    let stems = question.words.iter().map(|it| it.stem.clone());
    let words: Vec<String> = stems.filter(|it| !owning(it)).collect();
    (lower.contains(" still ") && !words.is_empty()).then_some(Asked::Still(words))
}

/// Returns the value that a question asks for, if each of its words belongs to the slot or to the person. Only present
/// values and the values before them are stated outright, not values at some past time.
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
    // The name of a person who never speaks is among the words of the question.
    let called = |stem: &str| name.split(' ').any(|it| text::stem(it) == stem);
    let fits = |stem: &str| belongs(stem) || called(stem) || (before && framed.iter().any(|it| stem.starts_with(it)));
    let all = question.words.iter().all(|it| fits(&it.stem));
    all.then_some(match before {
        true => Asked::Before(slot.clone()),
        false => Asked::Slot(slot.clone()),
    })
}
