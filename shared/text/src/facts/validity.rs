//! The times from which and until which a statement holds.

use chrono::{DateTime, Months, TimeDelta, Utc};
use domain::time::{Precision, TimeSpan};

use crate::facts::clauses::clause::{Clause, Draft, TimeReading};
use crate::facts::clauses::verb_group::Shape;
use crate::facts::lexicon::{LASTING_STATE_VERBS, LATER_STARTS, PRESENT_TIMES, TIMES_OF_THINGS};
use crate::time::{Kind, Mention};

/// Returns the start and the end of a statement's validity, as far as the clause names them.
pub(super) fn read_validity(clause: &Clause<'_>, draft: &Draft) -> (Option<TimeSpan>, Option<DateTime<Utc>>) {
    match draft.when {
        TimeReading::Plan => (
            None,
            clause
                .times_in_clause()
                .find(|it| it.span.end > clause.now)
                .map(|it| it.span.end),
        ),
        TimeReading::Event => validity_of_event(clause, draft.ended),
        TimeReading::Visit => {
            let (since, until) = validity_of_event(clause, draft.ended);
            let over = since.as_ref().map(|it| it.end.min(clause.now));
            (since, until.or(over))
        }
        TimeReading::State => validity_of_state(clause, draft.ended),
    }
}

fn validity_of_event(clause: &Clause<'_>, ended: bool) -> (Option<TimeSpan>, Option<DateTime<Utc>>) {
    for mention in clause.times_in_clause() {
        if is_led_by_until(clause, mention) {
            return (None, Some(mention.span.start));
        }
        // "a house built in 1931": the time belongs to the house, not to the purchase.
        let of_object = clause
            .words
            .iter()
            .rev()
            .filter(|it| it.range.end <= mention.range.start)
            .take(2)
            .any(|it| it.is_in_list(&TIMES_OF_THINGS));
        if of_object || mention.kind == Kind::Duration || mention.span.precision == Precision::Unknown {
            continue;
        }
        let mention = &year_before(clause, mention);
        // "lived in Porto from 2010 to 2015", "in 2012": a past state held at that time.
        if ended && (mention.kind == Kind::Interval || is_state_verb(clause)) {
            return (Some(mention.span.clone()), Some(mention.span.end.min(clause.now)));
        }
        // If the event ended a state ("sold it in May"), the state held until then.
        return if ended {
            (None, Some(mention.span.end.min(clause.now)))
        } else {
            (Some(mention.span.clone()), None)
        };
    }
    (None, None)
}

/// Returns the mention, moved to the year before if a past event lies in the future: "I moved on 20 December", written
/// in November. Only a date without a year is moved, and not the start in "a job from 20 December", which may begin
/// then.
fn year_before(clause: &Clause<'_>, mention: &Mention) -> Mention {
    let mut mention = mention.clone();
    let span = &mut mention.span;
    let past = matches!(
        clause.group.shape,
        Shape::Past | Shape::Perfect | Shape::Was | Shape::Been
    );
    let before = clause
        .words
        .iter()
        .rev()
        .filter(|it| it.range.end <= mention.range.start);
    let begins = before.take(2).any(|it| it.is_in_list(&LATER_STARTS));
    let ahead = mention.is_year_inferred && span.precision == Precision::Day && span.start > clause.now;
    if past && ahead && !begins {
        let year = Months::new(12);
        span.start = span.start.checked_sub_months(year).unwrap_or(span.start);
        span.end = span.end.checked_sub_months(year).unwrap_or(span.end);
    }
    mention
}

/// Returns true for verbs of states ("lived", "worked", "studied"): the time is that of the state, not of its end.
fn is_state_verb(clause: &Clause<'_>) -> bool {
    LASTING_STATE_VERBS.contains(clause.group.base.as_str())
}

fn validity_of_state(clause: &Clause<'_>, ended: bool) -> (Option<TimeSpan>, Option<DateTime<Utc>>) {
    let (mut since, mut to) = (None, None);
    for mention in clause.times_in_clause() {
        let span = &mention.span;
        if is_led_by_until(clause, mention) {
            to = Some(span.start);
        } else if PRESENT_TIMES.contains(span.words.to_lowercase().as_str()) {
            continue;
        } else if mention.kind == Kind::Duration {
            since = since.or_else(|| span_ending_now(clause, mention));
        } else if span.start < clause.now
            && (is_led_by(clause, mention, &["since"])
                || (is_led_by(clause, mention, &["from"]) && is_state_verb(clause))
                || mention.kind == Kind::Interval)
        {
            if span.end + TimeDelta::days(1) < clause.now && ended {
                to = to.or(Some(span.end));
            }
            since = since.or_else(|| Some(span.clone()));
        }
    }
    (since, to)
}

fn is_led_by_until(clause: &Clause<'_>, mention: &Mention) -> bool {
    is_led_by(clause, mention, &["until", "till"])
}

/// Returns true if a mention begins with one of the words or follows one of them.
fn is_led_by(clause: &Clause<'_>, mention: &Mention, list: &[&str]) -> bool {
    let first = mention
        .span
        .words
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let before = clause.words.iter().rev().find(|it| it.range.end <= mention.range.start);
    list.contains(&first.as_str()) || before.is_some_and(|it| it.is_any_of(list))
}

/// Returns a length of time that ends now: "for five years".
fn span_ending_now(clause: &Clause<'_>, mention: &Mention) -> Option<TimeSpan> {
    let length = crate::time::parse_length(&mention.span.words)?;
    let start = clause
        .now
        .checked_sub_months(Months::new(length.months))?
        .checked_sub_signed(TimeDelta::days(i64::from(length.days)))?;
    Some(TimeSpan {
        start,
        end: clause.now.max(start),
        precision: length.precision,
        words: mention.span.words.clone(),
    })
}
