//! Words that stand for times where no date can be made of them: "every Friday", "mornings", "these days".

use crate::lists;

/// Says whether a lower-case word names a time or a unit of it.
pub(crate) fn of_time(lower: &str) -> bool {
    let base = lower.strip_suffix("'s").unwrap_or(lower);
    let base = base.strip_suffix('s').unwrap_or(base);
    lists::TIMES.contains(base) || lists::TIMES.contains(lower)
}

/// Says whether a lower-case word tells how often: "daily", "weekly".
pub(crate) fn of_rate(lower: &str) -> bool {
    lists::RATES.contains(lower)
}

/// Says whether a lower-case word names days of every week: "Tuesdays".
pub(crate) fn of_weekdays(lower: &str) -> bool {
    lower
        .strip_suffix('s')
        .is_some_and(|it| it.len() > 3 && it.ends_with("day") && lists::TIMES.contains(it) || it == "weekend")
}
