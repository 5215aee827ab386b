//! What somebody earns, pays and owes, and what they use for good.

use domain::fact::Aspect;

use super::group::Shape;
use super::lexicon::NO_NAMES;
use super::said::{Draft, Said};
use super::verb::third;

/// Reads a sum that comes again or is owed, what is kept where, what somebody has gone over to, and what they do not use.
pub(super) fn money(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let next = group.next;
    let done = matches!(group.shape, Shape::Past | Shape::Perfect);
    match group.base.as_str() {
        "owe" | "earn" | "pay" | "make" | "charge" if group.shape == Shape::Present && group.positive => sum(said),
        "keep" if group.shape == Shape::Present && group.positive => kept(said),
        "switch" | "switched" if done && group.positive && said.at(next) == "to" => changed(said, next + 1),
        "go" if group.shape == Shape::Perfect
            && group.positive
            && said.at(next) == "over"
            && said.at(next + 1) == "to" =>
        {
            changed(said, next + 2)
        }
        "wear" | "use" | "celebrate" | "watch" if group.shape == Shape::Present && !group.positive => without(said),
        _ => None,
    }
}

/// "earns 2,400 a month", "owes £1,870 on the credit card".
fn sum(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let figure = said.at(next).chars().any(|it| it.is_ascii_digit());
    let again = (next..said.end).any(|it| {
        matches!(said.at(it), "a" | "per" | "each" | "every")
            && matches!(said.at(it + 1), "month" | "week" | "year" | "hour" | "day" | "night")
    });
    let object = said
        .timed(next)
        .filter(|_| figure && (again || said.group.base == "owe"))?;
    let pointed = object
        .split(' ')
        .any(|it| matches!(it, "you" | "it" | "that" | "this" | "him" | "her" | "them"));
    (!pointed).then(|| Draft::new(Aspect::Attribute, third(&said.group.base), object).sure(0.8))
}

/// "keeps the accounts in LibreOffice": in something by name.
fn kept(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let mine = matches!(said.at(next), "my" | "our" | "the" | "all");
    let place = (next + 2..said.end.min(next + 5)).find(|it| said.at(*it) == "in" && said.capital(it + 1))?;
    let named = !NO_NAMES.contains(&said.at(place + 1));
    let object = said.object(next).filter(|_| mine && named)?;
    Some(Draft::new(Aspect::Habit, "keeps", object).sure(0.75))
}

/// "has switched to Fedora", "has gone over to oat milk".
fn changed(said: &Said<'_>, from: usize) -> Option<Draft> {
    let plain = said.capital(from) || !crate::is_stop(said.at(from)) && said.at(from).len() > 2;
    let object = said.object(from).filter(|it| plain && it.split(' ').count() <= 4)?;
    Some(Draft::new(Aspect::Habit, "switched to", object).event().sure(0.75))
}

/// "does not wear fur", "does not celebrate birthdays".
fn without(said: &Said<'_>) -> Option<Draft> {
    let next = said.group.next;
    let alone = said.words.get(next).is_some_and(|it| it.gap != super::token::Gap::None) || next + 1 >= said.end;
    let bare = !crate::is_stop(said.at(next)) && !said.at(next).is_empty() && !said.at(next).ends_with("ing");
    let object = said
        .object(next)
        .filter(|_| alone && bare && said.times().count() == 0)?;
    Some(Draft {
        positive: false,
        ..Draft::new(Aspect::Habit, format!("does not {}", said.group.base), object).sure(0.75)
    })
}
