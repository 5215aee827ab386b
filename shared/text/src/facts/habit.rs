//! Habits: actions that a person repeats.

use domain::fact::Aspect;

use super::group::Shape;
use super::lexicon::{GOING_VERBS, NEVER_HABITS, NO_HABITS, TIME_UNITS};
use super::said::{Draft, Said};
use super::verb::third;

/// Reads a habit: an adverb of habit, or a repeated time.
pub(super) fn habit(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    if group.shape != Shape::Present || group.base == "be" || NO_HABITS.contains(group.base.as_str()) {
        return None;
    }
    let next = said.at(group.next);
    let often = group.often.as_deref();
    let repeated = repeats(said);
    if !repeated && often.is_none() && !(group.never && NEVER_HABITS.contains(group.base.as_str())) {
        return None;
    }
    let aimless = next == "to" && !GOING_VERBS.contains(group.base.as_str());
    if (!group.positive && !group.never) || aimless || matches!(next, "that" | "it" | "this" | "so") {
        return None;
    }
    // A comment on the current talk is not a habit, and neither is praise for the addressee.
    let about_other = (group.next..said.end).any(|it| matches!(said.at(it), "you" | "your" | "that" | "it" | "this"));
    if about_other {
        return None;
    }
    let object = said.timed(group.next)?;
    let verb = third(&group.base);
    let predicate = match (often, group.never) {
        (_, true) => format!("never {verb}"),
        (Some(often), false) => format!("{often} {verb}"),
        (None, false) => verb,
    };
    let object = match lead(said) {
        Some(lead) if often.is_none() => format!("{object} {lead}"),
        _ => object,
    };
    Some(Draft {
        positive: !group.never,
        ..Draft::new(Aspect::Habit, predicate, object)
            .sure(if repeated { 0.85 } else { 0.7 })
            .ended(group.ended)
    })
}

/// Returns a repeated time before the subject: "Every Sunday I ...".
fn lead(said: &Said<'_>) -> Option<String> {
    let at = (said.from..said.at).find(|&it| again(said, it))?;
    let last = said.words.get(said.at.checked_sub(1)?)?;
    said.text
        .get(said.words[at].range.start..last.range.end)
        .map(|it| it.trim_end_matches(',').to_lowercase())
}

fn repeats(said: &Said<'_>) -> bool {
    (said.from..said.end).any(|it| again(said, it))
}

/// Returns true if a repeated time begins at a word: "every Sunday", "twice a week", "on Sundays", "daily".
fn again(said: &Said<'_>, at: usize) -> bool {
    let (word, next, third) = (said.at(at), said.at(at + 1), said.at(at + 2));
    let unit = |it: &str| is_unit(it) || it.strip_suffix('s').is_some_and(is_unit);
    match word {
        "every" => unit(next) || unit(third) || unit(said.at(at + 3)),
        "each" => unit(next),
        "once" | "twice" => matches!(next, "a" | "every" | "per") && unit(third),
        "times" => matches!(next, "a" | "per") && unit(third),
        "on" if is_unit(next) && third.ends_with('s') => third.strip_suffix('s').is_some_and(is_unit),
        "on" | "in" => next.strip_suffix('s').is_some_and(|it| {
            is_unit(it)
                && (it.ends_with("day") || matches!(it, "weekend" | "evening" | "morning" | "night"))
                && it != "day"
        }),
        // "three mornings a week", "Mondays I swim".
        _ if super::lexicon::is_number(word) => unit(next) && matches!(third, "a" | "per") && unit(said.at(at + 3)),
        _ if at == said.from && at < said.at => word
            .strip_suffix('s')
            .is_some_and(|it| it.ends_with("day") && is_unit(it)),
        "daily" | "weekly" | "monthly" => true,
        _ => false,
    }
}

/// Returns true if a word names a unit of time, a weekday, a month or a season.
fn is_unit(word: &str) -> bool {
    TIME_UNITS.contains(word) || crate::time::words::is_named(word)
}
