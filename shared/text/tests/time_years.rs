//! Whether the year of a time was said or inferred; the reference is Thursday 15 June 2023, 14:30.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use chrono::{DateTime, FixedOffset};
use domain::time::Precision;
use text::time::find_times;

fn sent_at() -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339("2023-06-15T14:30:00+02:00").unwrap()
}

#[test]
fn a_mention_says_whether_its_year_is_inferred() {
    let inferred = |text: &str| -> Vec<bool> {
        find_times(text, sent_at())
            .iter()
            .map(|it| it.is_year_inferred)
            .collect()
    };
    for (text, expected) in [
        ("We had the letter on the 24th of October.", &[true][..]),
        ("They moved in March.", &[true]),
        ("Wir fliegen am 9. Juni.", &[true]),
        ("from June 1 to June 5", &[true]),
        ("We had the letter on 24 October 2022.", &[false]),
        ("The shop opened August last year.", &[false]),
        ("We sailed in 2022 and in May.", &[false, true]),
        ("I went to the beach yesterday, and last week too.", &[false, false]),
    ] {
        assert_eq!(inferred(text), expected, "{text}");
    }
}

#[test]
fn a_month_after_till_has_no_year_in_a_clause_without_a_tense() {
    let precisions =
        |text: &str| -> Vec<Precision> { find_times(text, sent_at()).iter().map(|it| it.span.precision).collect() };
    let agreed = "We agreed with her: the old one stays till november, then we look again.";
    assert_eq!(precisions(agreed), [Precision::Unknown]);
    assert_eq!(precisions("The old one stayed till november."), [Precision::Month]);
}
