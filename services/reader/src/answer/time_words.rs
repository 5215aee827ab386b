//! Words that stand for times where no date can be made of them: "every Friday", "mornings", "these days".

/// Says whether a lower-case word names a time or a unit of it.
pub(crate) fn of_time(lower: &str) -> bool {
    let base = lower.strip_suffix("'s").unwrap_or(lower);
    let base = base.strip_suffix('s').unwrap_or(base);
    WORDS.contains(&base) || WORDS.contains(&lower)
}

/// Says whether a lower-case word tells how often: "daily", "weekly".
pub(crate) fn of_rate(lower: &str) -> bool {
    RATES.contains(&lower)
}

/// Says whether a lower-case word names days of every week: "Tuesdays".
pub(crate) fn of_weekdays(lower: &str) -> bool {
    lower
        .strip_suffix('s')
        .is_some_and(|it| it.len() > 3 && it.ends_with("day") && WORDS.contains(&it) || it == "weekend")
}

const RATES: &[&str] = &[
    "daily",
    "nightly",
    "weekly",
    "fortnightly",
    "monthly",
    "quarterly",
    "yearly",
    "annually",
    "hourly",
    "rarely",
    "never",
    "always",
];

/// Months that are also names or verbs ("May", "March", "August") are left to the reader of times.
const WORDS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "weekday",
    "weekend",
    "january",
    "february",
    "june",
    "july",
    "september",
    "october",
    "november",
    "december",
    "spring",
    "summer",
    "autumn",
    "winter",
    "morning",
    "noon",
    "midday",
    "afternoon",
    "evening",
    "night",
    "midnight",
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "nowaday",
    "day",
    "week",
    "fortnight",
    "month",
    "year",
    "decade",
    "century",
    "hour",
    "minute",
    "now",
    "soon",
    "recently",
    "lately",
    "currently",
    "ago",
    "later",
    "earlier",
    "o'clock",
    "am",
    "pm",
    "a.m",
    "p.m",
    "daily",
    "weekly",
    "monthly",
    "yearly",
    "christma",
    "easter",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "samedi",
    "dimanche",
    "lune",
    "marte",
    "miércole",
    "jueve",
    "vierne",
    "sábado",
    "domingo",
    "heute",
    "gestern",
    "morgen",
    "hoy",
    "ayer",
    "mañana",
    "hier",
    "aujourd'hui",
    "demain",
    "hoje",
    "ontem",
];
