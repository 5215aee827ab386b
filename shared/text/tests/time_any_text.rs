//! For any text and any reference, times are found without a panic, in order and within bounds.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use chrono::{DateTime, FixedOffset, NaiveDate, Utc};
use proptest::prelude::*;
use text::time::{find_times, render_mention, render_span};

const PIECES: &str = "the last next this two 999999 4294967295 weeks ago in May may 9 31 0 , 2023 9999 0001 - / . : at 7 pm \
                      between and from to since first Monday of before after end mid early summer winter Christmas Easter \
                      half a few century decade years '90s ' ’s 年 月 日 昨天 hace il y T Z +02:00 tonight every quarter past \
                      noon year week month back now other day weekends second thirty";

fn references() -> impl Strategy<Value = DateTime<FixedOffset>> {
    let days = -800_000_i64..4_000_000;
    (days, 0_i64..86_400, -86_000_i32..86_000).prop_map(|(days, seconds, offset)| {
        let day = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap() + chrono::TimeDelta::days(days);
        let at = day.and_hms_opt(0, 0, 0).unwrap() + chrono::TimeDelta::seconds(seconds);
        at.and_utc().with_timezone(&FixedOffset::east_opt(offset).unwrap())
    })
}

fn bound(year: i32, month: u32, day: u32) -> DateTime<Utc> {
    NaiveDate::from_ymd_opt(year, month, day)
        .unwrap()
        .and_hms_opt(0, 0, 0)
        .unwrap()
        .and_utc()
}

fn check(text: &str, reference: DateTime<FixedOffset>) {
    let mut after = 0;
    for mention in find_times(text, reference) {
        assert!(
            mention.range.start >= after && mention.range.start < mention.range.end,
            "{text}"
        );
        after = mention.range.end;
        assert_eq!(&text[mention.range.clone()], mention.span.words);
        assert!(mention.span.start <= mention.span.end, "{text}");
        assert!(
            mention.span.start >= bound(0, 12, 31) && mention.span.end <= bound(10_000, 1, 4),
            "{text}"
        );
        assert!(!render_span(&mention.span, *reference.offset()).is_empty());
        assert!(!render_mention(&mention.span, reference).is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn times_of_any_text_are_in_order_and_within_bounds(text in "\\PC{0,80}", reference in references()) {
        check(&text, reference);
    }

    #[test]
    fn time_words_in_any_order_are_read_without_a_panic(
        pieces in prop::collection::vec((prop::sample::select(PIECES.split(' ').collect::<Vec<_>>()), any::<bool>()), 1..14),
        reference in references(),
    ) {
        let text: String = pieces.iter().map(|(piece, space)| format!("{piece}{}", if *space { " " } else { "" })).collect();
        check(&text, reference);
    }
}

#[test]
fn references_at_the_ends_of_the_calendar_are_accepted() {
    let ends = [
        "0001-01-01T00:00:00+00:00",
        "9999-12-31T23:59:59+00:00",
        "0001-01-01T00:00:00+14:00",
    ];
    for end in ends {
        let reference = DateTime::parse_from_rfc3339(end).unwrap();
        for text in [
            "last year",
            "next year",
            "999999 years ago",
            "in 999999 decades",
            "this week",
            "next winter",
            "tonight",
        ] {
            check(text, reference);
        }
    }
}

#[test]
fn long_texts_take_linear_time() {
    let reference = DateTime::parse_from_rfc3339("2023-06-15T14:30:00Z").unwrap();
    for piece in [
        "from 5 ",
        "the day before ",
        "between May ",
        "12:",
        "1.2.",
        "a few ",
        "'",
        "第",
        "early early ",
    ] {
        check(&piece.repeat(20_000), reference);
    }
}
