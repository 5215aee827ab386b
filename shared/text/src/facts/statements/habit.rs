//! Habits: actions that a person repeats.

use domain::fact::Aspect;

use crate::facts::clauses::clause::{Clause, Draft};
use crate::facts::clauses::verb::third_person;
use crate::facts::clauses::verb_group::Shape;
use crate::facts::lexicon::{
    GOING_VERBS, HABIT_PRONOUNS, NEVER_HABITS, NO_HABIT_OBJECTS, NO_HABITS, PERIODIC, RATE_WORDS, REPEATED_PARTS,
    TIME_UNITS,
};

/// Reads a habit: an adverb of habit, or a repeated time.
pub(crate) fn read_habit(clause: &Clause<'_>) -> Option<Draft> {
    let group = &clause.group;
    if group.shape != Shape::Present || group.base == "be" || NO_HABITS.contains(group.base.as_str()) {
        return None;
    }
    let next = clause.word_at(group.next);
    let often = group.often.as_deref();
    let repeated = has_repeated_time(clause);
    if !repeated && often.is_none() && !(group.never && NEVER_HABITS.contains(group.base.as_str())) {
        return None;
    }
    let aimless = next == "to" && !GOING_VERBS.contains(group.base.as_str());
    if (!group.positive && !group.never) || aimless || NO_HABIT_OBJECTS.contains(next) {
        return None;
    }
    // A comment on the current talk is not a habit, and neither is praise for the addressee.
    let about_other = (group.next..clause.end).any(|it| HABIT_PRONOUNS.contains(clause.word_at(it)));
    if about_other {
        return None;
    }
    let object = clause.read_object_with_times(group.next)?;
    let verb = third_person(&group.base);
    let predicate = match (often, group.never) {
        (_, true) => format!("never {verb}"),
        (Some(often), false) => format!("{often} {verb}"),
        (None, false) => verb,
    };
    let object = match leading_repeated_time(clause) {
        Some(lead) if often.is_none() => format!("{object} {lead}"),
        _ => object,
    };
    Some(Draft {
        positive: !group.never,
        ..Draft::new(Aspect::Habit, predicate, object)
            .with_confidence(if repeated { 0.85 } else { 0.7 })
            .with_ended(group.ended)
    })
}

/// Returns a repeated time before the subject: "Every Sunday I ...".
fn leading_repeated_time(clause: &Clause<'_>) -> Option<String> {
    let at = (clause.from..clause.at).find(|&it| is_repeated_time_at(clause, it))?;
    let last = clause.words.get(clause.at.checked_sub(1)?)?;
    clause
        .text
        .get(clause.words[at].range.start..last.range.end)
        .map(|it| it.trim_end_matches(',').to_lowercase())
}

fn has_repeated_time(clause: &Clause<'_>) -> bool {
    (clause.from..clause.end).any(|it| is_repeated_time_at(clause, it))
}

/// Returns true if a repeated time begins at a word: "every Sunday", "twice a week", "on Sundays", "daily".
fn is_repeated_time_at(clause: &Clause<'_>, at: usize) -> bool {
    let (word, next, third) = (clause.word_at(at), clause.word_at(at + 1), clause.word_at(at + 2));
    let unit = |it: &str| is_unit(it) || it.strip_suffix('s').is_some_and(is_unit);
    match word {
        "every" => unit(next) || unit(third) || unit(clause.word_at(at + 3)),
        "each" => unit(next),
        "once" | "twice" => RATE_WORDS.contains(next) && unit(third),
        "times" => matches!(next, "a" | "per") && unit(third),
        "on" if is_unit(next) && third.ends_with('s') => third.strip_suffix('s').is_some_and(is_unit),
        "on" | "in" => next
            .strip_suffix('s')
            .is_some_and(|it| is_unit(it) && (it.ends_with("day") || REPEATED_PARTS.contains(it)) && it != "day"),
        // "three mornings a week", "Mondays I swim".
        _ if crate::facts::lexicon::is_number(word) => {
            unit(next) && matches!(third, "a" | "per") && unit(clause.word_at(at + 3))
        }
        _ if at == clause.from && at < clause.at => word
            .strip_suffix('s')
            .is_some_and(|it| it.ends_with("day") && is_unit(it)),
        _ => PERIODIC.contains(word),
    }
}

/// Returns true if a word names a unit of time, a weekday, a month or a season.
fn is_unit(word: &str) -> bool {
    TIME_UNITS.contains(word) || crate::time::words::is_named(word)
}
