//! The facts that a question asks for and that turns state outright.

use domain::fact::Aspect;
use domain::predicate::Predicate;
use domain::question::Slot;
use text::facts::Statement;
use text::question::slot;
use text::split_words;

use super::{kinship_role, may_be_same_person};
use crate::evidence::question::Question;

/// The fact that would answer a question.
pub(super) enum RequestedFact {
    /// The role of the person with this name, in lower case.
    Who(String),
    /// The present value of a slot.
    Slot(Slot),
    /// The former value of a slot.
    Before(Slot),
    /// The end of a state: stems that the statement must contain.
    Still(Vec<String>),
    /// Whether a state holds: stems that the statement must contain.
    Whether(Vec<String>),
}

impl RequestedFact {
    pub(super) fn is_answered_by(&self, statement: &Statement) -> bool {
        match self {
            RequestedFact::Who(name) => {
                kinship_role(statement).is_some() && may_be_same_person(&statement.object.to_lowercase(), name)
            }
            RequestedFact::Slot(slot) | RequestedFact::Before(slot) => {
                let left = statement.ended && is_job(statement) && matches!(slot, Slot::Job | Slot::Employer);
                let denied = *slot == Slot::Allergy
                    && Predicate::from_verb_phrase(&statement.predicate) == Predicate::IsNotAllergicTo;
                left || denied || statement.positive && slot::is_told_by(slot, &statement.predicate)
            }
            RequestedFact::Still(words) | RequestedFact::Whether(words) => {
                let statement_stems = stems_of_state(statement);
                words.iter().all(|it| statement_stems.contains(it))
            }
        }
    }

    /// Returns true if the fact is the present or the former home.
    pub(super) fn is_home(&self) -> bool {
        matches!(
            self,
            RequestedFact::Slot(Slot::Home) | RequestedFact::Before(Slot::Home)
        )
    }

    /// Returns true if a statement says no more than the question: "I play the cello", and not "I play the cello badly"
    /// or "I want to play the cello". It must be about a property, a habit or a preference; a home, a job or a
    /// possession ends with statements in other words.
    pub(super) fn is_whole_of(&self, statement: &Statement) -> bool {
        let RequestedFact::Whether(words) = self else {
            return false;
        };
        let lasts = matches!(statement.aspect, Aspect::Attribute | Aspect::Habit | Aspect::Preference);
        lasts && stems_of_state(statement).iter().all(|it| words.contains(it))
    }
}

fn stems_of_state(statement: &Statement) -> Vec<String> {
    text::stem_words(&format!("{} {}", statement.predicate, statement.object))
}

/// Returns true for "I quit my job", which does not say which job.
pub(super) fn is_job(statement: &Statement) -> bool {
    Predicate::from_verb_phrase(&statement.predicate) == Predicate::Has && statement.object == "job"
}

/// Returns the state whose end or presence a question asks for. Only states of the present are stated outright.
pub(super) fn find_asked_state(question: &Question, lower: &str, name: &str) -> Option<RequestedFact> {
    let owning = |it: &str| matches!(it, "own" | "keep" | "possess");
    let stems = question.words.iter().map(|it| it.stem.clone());
    let mut words: Vec<String> = stems.filter(|it| !owning(it)).collect();
    if lower.contains(" still ") {
        return (!words.is_empty()).then_some(RequestedFact::Still(words));
    }
    words.retain(|stem| name.split(' ').all(|it| text::stem_word(it) != *stem));
    let first = split_words(lower).first().copied().unwrap_or_default();
    let is_present = matches!(first, "is" | "are" | "am" | "does" | "do");
    let is_plain = question.options.is_empty() && !question.traits.negated && question.window.is_none();
    (is_present && is_plain && !words.is_empty()).then_some(RequestedFact::Whether(words))
}

/// Returns the value that a question asks for, if each of its words belongs to the slot or to the person. Only present
/// values and the values before them are stated outright, not values at some past time.
pub(super) fn find_asked_value(
    question: &Question,
    lower: &str,
    name: &str,
    role: Option<&str>,
) -> Option<RequestedFact> {
    let tokens = split_words(lower);
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
        stem == question.head || role.is_some_and(|it| text::stem_word(it) == stem) || slot::is_asked_by(slot, stem)
    };
    // The name of a person who never speaks is among the words of the question.
    let called = |stem: &str| name.split(' ').any(|it| text::stem_word(it) == stem);
    let fits = |stem: &str| belongs(stem) || called(stem) || (before && framed.iter().any(|it| stem.starts_with(it)));
    let all = question.words.iter().all(|it| fits(&it.stem));
    all.then_some(match before {
        true => RequestedFact::Before(slot.clone()),
        false => RequestedFact::Slot(slot.clone()),
    })
}
