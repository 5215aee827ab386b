//! English expressions alone, with the half-open intervals that are right for them; the reference is Thursday 15 June
//! 2023, 14:30.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime};
use text::time::find_times;

type Case = (&'static str, &'static [(&'static str, &'static str)]);

/// If usage differs, each meaning is listed; if usage is loose, the interval is the widest that is right.
const CASES: &[Case] = &[
    ("today", &[("2023-06-15", "2023-06-16")]),
    ("yesterday", &[("2023-06-14", "2023-06-15")]),
    ("tomorrow", &[("2023-06-16", "2023-06-17")]),
    ("the day before yesterday", &[("2023-06-13", "2023-06-14")]),
    ("the day after tomorrow", &[("2023-06-17", "2023-06-18")]),
    ("yesterday evening", &[("2023-06-14T17:00", "2023-06-15")]),
    ("last night", &[("2023-06-14T18:00", "2023-06-15T06:00")]),
    ("this morning", &[("2023-06-15", "2023-06-15T12:00")]),
    ("tonight", &[("2023-06-15T17:00", "2023-06-16T06:00")]),
    ("tomorrow afternoon", &[("2023-06-16T12:00", "2023-06-16T18:00")]),
    ("last Friday", &[("2023-06-09", "2023-06-10")]),
    (
        "next Friday",
        &[("2023-06-16", "2023-06-17"), ("2023-06-23", "2023-06-24")],
    ),
    (
        "on Monday",
        &[("2023-06-12", "2023-06-13"), ("2023-06-19", "2023-06-20")],
    ),
    // The reference is a Thursday, and nobody calls today by its weekday.
    ("we will meet on Thursday", &[("2023-06-22", "2023-06-23")]),
    ("this Saturday", &[("2023-06-17", "2023-06-18")]),
    (
        "last Tuesday",
        &[("2023-06-13", "2023-06-14"), ("2023-06-06", "2023-06-07")],
    ),
    ("last weekend", &[("2023-06-10", "2023-06-12")]),
    ("this weekend", &[("2023-06-17", "2023-06-19")]),
    (
        "next weekend",
        &[("2023-06-17", "2023-06-19"), ("2023-06-24", "2023-06-26")],
    ),
    ("last week", &[("2023-06-05", "2023-06-12")]),
    ("next week", &[("2023-06-19", "2023-06-26")]),
    ("this week", &[("2023-06-12", "2023-06-19")]),
    ("last month", &[("2023-05-01", "2023-06-01")]),
    ("next month", &[("2023-07-01", "2023-08-01")]),
    ("this month", &[("2023-06-01", "2023-07-01")]),
    ("last year", &[("2022-01-01", "2023-01-01")]),
    ("next year", &[("2024-01-01", "2025-01-01")]),
    ("two weeks ago", &[("2023-05-29", "2023-06-05")]),
    ("2 days ago", &[("2023-06-13", "2023-06-14")]),
    ("a week ago", &[("2023-06-05", "2023-06-12")]),
    ("three months ago", &[("2023-03-01", "2023-04-01")]),
    ("a couple of days ago", &[("2023-06-12", "2023-06-14")]),
    ("a few days ago", &[("2023-06-10", "2023-06-14")]),
    ("a few years ago", &[("2017-06-01", "2021-07-01")]),
    ("ten years ago", &[("2013-01-01", "2014-01-01")]),
    ("in two weeks", &[("2023-06-26", "2023-07-03")]),
    ("in 3 days", &[("2023-06-18", "2023-06-19")]),
    ("an hour ago", &[("2023-06-15T13:00", "2023-06-15T14:00")]),
    ("a year and a half ago", &[("2021-11-15", "2022-01-16")]),
    ("in 2022", &[("2022-01-01", "2023-01-01")]),
    ("in March", &[("2023-03-01", "2023-04-01")]),
    ("in June 2021", &[("2021-06-01", "2021-07-01")]),
    ("June 9 2023", &[("2023-06-09", "2023-06-10")]),
    ("9 June, 2023", &[("2023-06-09", "2023-06-10")]),
    ("June 9th", &[("2023-06-09", "2023-06-10")]),
    ("2023-06-09", &[("2023-06-09", "2023-06-10")]),
    ("06/09/2023", &[("2023-06-09", "2023-06-10")]),
    ("June 9, 2023 at 3:30 pm", &[("2023-06-09T15:30", "2023-06-09T15:31")]),
    (
        "Friday at 7pm",
        &[
            ("2023-06-16T19:00", "2023-06-16T20:00"),
            ("2023-06-09T19:00", "2023-06-09T20:00"),
        ],
    ),
    ("the week before 9 June 2023", &[("2023-05-29", "2023-06-09")]),
    ("the week of June 5", &[("2023-06-05", "2023-06-12")]),
    ("the Sunday before 9 June 2023", &[("2023-06-04", "2023-06-05")]),
    ("the weekend before 9 June 2023", &[("2023-06-03", "2023-06-05")]),
    ("the first week of May", &[("2023-05-01", "2023-05-08")]),
    ("the first Monday of July", &[("2023-07-03", "2023-07-04")]),
    ("the end of May", &[("2023-05-21", "2023-06-01")]),
    ("early 2022", &[("2022-01-01", "2022-05-01")]),
    ("mid-August 2022", &[("2022-08-10", "2022-08-22")]),
    ("summer 2022", &[("2022-06-01", "2022-09-23")]),
    ("last summer", &[("2022-06-01", "2022-09-23")]),
    ("last Christmas", &[("2022-12-24", "2022-12-27")]),
    ("from June 1 to June 5", &[("2023-06-01", "2023-06-06")]),
    ("between 2019 and 2021", &[("2019-01-01", "2022-01-01")]),
    ("since 2019", &[("2019-01-01", "2023-06-16")]),
    ("for the past three weeks", &[("2023-05-22", "2023-06-16")]),
    ("the last three days", &[("2023-06-12", "2023-06-16")]),
    ("in the 1990s", &[("1990-01-01", "2000-01-01")]),
];

fn moment(text: &str) -> NaiveDateTime {
    let day = |text| {
        NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .unwrap()
            .and_hms_opt(0, 0, 0)
            .unwrap()
    };
    NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M").unwrap_or_else(|_| day(text))
}

/// Returns the length of the intersection of two intervals, divided by the length of their union.
fn overlap(a: (NaiveDateTime, NaiveDateTime), b: (NaiveDateTime, NaiveDateTime)) -> f64 {
    let common = (a.1.min(b.1) - a.0.max(b.0)).num_seconds().max(0);
    let union = (a.1.max(b.1) - a.0.min(b.0)).num_seconds();
    f64::from(i32::try_from(common).unwrap()) / f64::from(i32::try_from(union).unwrap())
}

fn answers(text: &str, offset: FixedOffset) -> Vec<(NaiveDateTime, NaiveDateTime)> {
    let reference: DateTime<FixedOffset> = moment("2023-06-15T14:30").and_local_timezone(offset).single().unwrap();
    let local = |at: DateTime<chrono::Utc>| at.with_timezone(&offset).naive_local();
    find_times(text, reference)
        .iter()
        .map(|found| (local(found.span.start), local(found.span.end)))
        .collect()
}

#[test]
fn time_expressions_without_a_sentence_have_the_expected_intervals() {
    let (mut inside, mut close, mut report) = (0, 0, String::new());
    for (text, accepted) in CASES {
        let found = answers(text, FixedOffset::east_opt(0).unwrap());
        let one = (found.len() == 1).then(|| found[0]);
        let accepted: Vec<_> = accepted.iter().map(|(from, to)| (moment(from), moment(to))).collect();
        let within = one.is_some_and(|f| accepted.iter().any(|a| a.0 <= f.0 && f.1 <= a.1));
        let whole = one.is_some_and(|f| accepted.iter().any(|a| overlap(f, *a) >= 0.8));
        inside += usize::from(within);
        close += usize::from(whole);
        if !(within && whole) {
            report.push_str(&format!("{text}: {found:?}\n"));
        }
    }
    println!("{inside} of {} inside, {close} as intervals\n{report}", CASES.len());
    assert_eq!((inside, close), (CASES.len(), CASES.len()), "{report}");
}

#[test]
fn the_result_moves_with_the_offset_of_the_reference() {
    for (text, _) in CASES {
        let home = answers(text, FixedOffset::east_opt(0).unwrap());
        assert_eq!(home, answers(text, FixedOffset::east_opt(9 * 3600).unwrap()), "{text}");
        assert_eq!(
            home,
            answers(text, FixedOffset::west_opt(5 * 3600 + 1800).unwrap()),
            "{text}"
        );
    }
}
