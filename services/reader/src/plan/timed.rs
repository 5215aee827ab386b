//! Relations of time: the event in question, and the event that gives its time.

use super::phrase::{Token, named};
use super::split::{Parts, trimmed};

const MARKERS: &[&str] = &["before", "after", "while", "until", "since", "once", "when"];
/// Before "when", these words ask for the time itself.
const ASKING: &[&str] = &[
    "since", "until", "till", "me", "us", "know", "remember", "recall", "say", "exactly", "about", "and", "or",
];
/// Words of a question for an amount; they mean nothing without the event that they measure.
const AMOUNTS: &[&str] = &[
    "long", "many", "much", "soon", "often", "shortly", "right", "just", "day", "days", "week", "weeks", "month",
    "months", "year", "years", "hour", "hours", "minutes", "time", "times", "passed", "pass", "went", "go", "elapsed",
];
/// Words that make a date. A date is no event, so "before" or "after" a date does not split a question.
const DATES: &[&str] = &[
    "christmas",
    "easter",
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "morning",
    "noon",
    "evening",
    "midnight",
    "last",
    "next",
    "day",
    "week",
    "month",
    "year",
    "weekend",
    "early",
    "late",
    "mid",
    "end",
    "beginning",
];

/// Returns the two events of a relation of time: "what did Ann do AFTER she moved to Oslo", "AFTER she moved, what did
/// Ann do", "how long BETWEEN the move and the party".
pub(super) fn timed(phrase: &[Token]) -> Parts {
    leading(phrase)
        .or_else(|| apart(phrase))
        .or_else(|| measured(phrase))
        .or_else(|| trailing(phrase))
}

fn leading(phrase: &[Token]) -> Parts {
    let first = phrase.first()?;
    let asks = first.lower == "when" && phrase.get(1)?.helps();
    if !first.any(MARKERS) || asks {
        return None;
    }
    let end = phrase.iter().position(|it| it.comma)? + 1;
    let (clause, main) = (&phrase[1..end], phrase.get(end..)?);
    parted(main, clause, phrase)
}

fn trailing(phrase: &[Token]) -> Parts {
    let at = (2..phrase.len().saturating_sub(1)).find(|&it| {
        let asking = phrase[it].lower == "when" && (phrase[it - 1].any(ASKING) || phrase[it + 1].helps());
        phrase[it].any(MARKERS) && !asking && !dated(&phrase[it + 1..])
    })?;
    parted(&phrase[..at], &phrase[at + 1..], phrase)
}

/// "How long AFTER the move did Ann marry": the auxiliary ends the clause.
fn measured(phrase: &[Token]) -> Parts {
    let at = (1..phrase.len()).find(|&it| phrase[it].any(&["before", "after", "since", "until"]))?;
    let amount = phrase.first()?.lower == "how" && phrase[1..at].iter().all(|it| !it.says() || it.any(AMOUNTS));
    let end = (at + 1..phrase.len()).find(|&it| phrase[it].helps())?;
    let (clause, main) = (&phrase[at + 1..end], &phrase[end..]);
    (amount && !dated(clause)).then(|| parted(main, clause, phrase))?
}

/// "How many days passed BETWEEN the move AND the party".
fn apart(phrase: &[Token]) -> Parts {
    let at = phrase.iter().position(|it| it.lower == "between")?;
    let and = (at + 2..phrase.len()).find(|&it| phrase[it].lower == "and")?;
    let measures = phrase[..at].iter().all(|it| !it.says() || it.any(AMOUNTS)) && phrase.first()?.lower == "how";
    let (one, other) = (&phrase[at + 1..and], &phrase[and + 1..]);
    (measures && !dated(one) && !dated(other)).then(|| parted(one, other, phrase))?
}

fn parted(main: &[Token], clause: &[Token], whole: &[Token]) -> Parts {
    let says = |it: &[Token]| it.iter().any(|it| it.says() && !it.any(AMOUNTS));
    if !says(main) || !says(clause) {
        return None;
    }
    Some(vec![trimmed(&named(main, whole)), trimmed(&named(clause, whole))])
}

/// Returns true if the clause is only a date.
fn dated(clause: &[Token]) -> bool {
    let date = |it: &Token| {
        !it.says()
            || it.any(DATES)
            || text::time::words::is_named(&it.lower)
            || it.text.starts_with(|it: char| it.is_ascii_digit())
    };
    clause.iter().all(date)
}
