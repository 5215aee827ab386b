//! The times from which and until which a statement holds.

use chrono::{DateTime, Months, TimeDelta, Utc};
use domain::time::{Precision, TimeSpan};

use super::group::Shape;
use super::said::{Draft, Said, When};
use crate::time::{Kind, Mention};

/// Returns the start and the end of a statement's validity, as far as the clause names them.
pub(super) fn when(said: &Said<'_>, draft: &Draft) -> (Option<TimeSpan>, Option<DateTime<Utc>>) {
    match draft.when {
        When::Plan => (
            None,
            said.times().find(|it| it.span.end > said.now).map(|it| it.span.end),
        ),
        When::Event => event(said, draft.ended),
        When::Visit => {
            let (since, until) = event(said, draft.ended);
            let over = since.as_ref().map(|it| it.end.min(said.now));
            (since, until.or(over))
        }
        When::State => state(said, draft.ended),
    }
}

fn event(said: &Said<'_>, ended: bool) -> (Option<TimeSpan>, Option<DateTime<Utc>>) {
    for mention in said.times() {
        if until(said, mention) {
            return (None, Some(mention.span.start));
        }
        // "a house built in 1931": the time belongs to the house, not to the purchase.
        let of_object = said
            .words
            .iter()
            .rev()
            .filter(|it| it.range.end <= mention.range.start)
            .take(2)
            .any(|it| it.is(&["built", "made", "dating", "born", "founded", "opened"]));
        if of_object || mention.kind == Kind::Duration || mention.span.precision == Precision::Unknown {
            continue;
        }
        let mention = &year_before(said, mention);
        // "lived in Porto from 2010 to 2015", "in 2012": a past state held at that time.
        if ended && (mention.kind == Kind::Interval || lived(said)) {
            return (Some(mention.span.clone()), Some(mention.span.end.min(said.now)));
        }
        // If the event ended a state ("sold it in May"), the state held until then.
        return if ended {
            (None, Some(mention.span.end.min(said.now)))
        } else {
            (Some(mention.span.clone()), None)
        };
    }
    (None, None)
}

/// Returns the mention, moved to the year before if a past event lies in the future: "I moved on 20 December", written
/// in November. Only a date without a year is moved, and not the start in "a job from 20 December", which may begin
/// then.
fn year_before(said: &Said<'_>, mention: &Mention) -> Mention {
    let mut mention = mention.clone();
    let span = &mut mention.span;
    let past = matches!(
        said.group.shape,
        Shape::Past | Shape::Perfect | Shape::Was | Shape::Been
    );
    let named = span.words.to_lowercase().split(' ').any(crate::time::is_month);
    let before = said.words.iter().rev().filter(|it| it.range.end <= mention.range.start);
    let begins = before
        .take(2)
        .any(|it| it.is(&["from", "for", "starting", "beginning", "by", "until", "till"]));
    let ahead = mention.relative && span.precision == Precision::Day && span.start > said.now;
    if past && named && ahead && !begins {
        let year = Months::new(12);
        span.start = span.start.checked_sub_months(year).unwrap_or(span.start);
        span.end = span.end.checked_sub_months(year).unwrap_or(span.end);
    }
    mention
}

/// Returns true for verbs of states ("lived", "worked", "studied"): the time is that of the state, not of its end.
fn lived(said: &Said<'_>) -> bool {
    matches!(said.group.base.as_str(), "live" | "work" | "study" | "be" | "volunteer")
}

fn state(said: &Said<'_>, ended: bool) -> (Option<TimeSpan>, Option<DateTime<Utc>>) {
    let (mut since, mut to) = (None, None);
    for mention in said.times() {
        let span = &mention.span;
        if until(said, mention) {
            to = Some(span.start);
        } else if matches!(
            span.words.to_lowercase().as_str(),
            "now" | "today" | "these days" | "nowadays"
        ) {
            continue;
        } else if mention.kind == Kind::Duration {
            since = since.or_else(|| back(said, mention));
        } else if span.start < said.now
            && (after(said, mention, &["since"])
                || (after(said, mention, &["from"]) && lived(said))
                || mention.kind == Kind::Interval)
        {
            if span.end + TimeDelta::days(1) < said.now && ended {
                to = to.or(Some(span.end));
            }
            since = since.or_else(|| Some(span.clone()));
        }
    }
    (since, to)
}

fn until(said: &Said<'_>, mention: &Mention) -> bool {
    after(said, mention, &["until", "till"])
}

/// Returns true if a mention begins with one of the words or follows one of them.
fn after(said: &Said<'_>, mention: &Mention, list: &[&str]) -> bool {
    let first = mention
        .span
        .words
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let before = said.words.iter().rev().find(|it| it.range.end <= mention.range.start);
    list.contains(&first.as_str()) || before.is_some_and(|it| it.is(list))
}

/// Returns a length of time that ends now: "for five years".
fn back(said: &Said<'_>, mention: &Mention) -> Option<TimeSpan> {
    let length = crate::time::length(&mention.span.words)?;
    let start = said
        .now
        .checked_sub_months(Months::new(length.months))?
        .checked_sub_signed(TimeDelta::days(i64::from(length.days)))?;
    Some(TimeSpan {
        start,
        end: said.now.max(start),
        precision: length.precision,
        words: mention.span.words.clone(),
    })
}
