//! Checks the end that a language model gives for a fact: a model that knows no end likes to give the day of the line.

use chrono::NaiveDate;
use domain::time::{Precision, TimeSpan};
use text::time::{Kind, Mention};

use crate::reading::checks::passage_content::Line;

/// Returns the end of a fact as its line names it. Any other day than that of the line is kept as given. The day of the
/// line is kept only if the sentences of the quote name it ("today"); if they name one earlier time instead, an ended
/// fact ended then; otherwise its end is unknown.
pub(crate) fn check_end(line: &Line<'_>, quote: &str, given: TimeSpan, ended: bool) -> Option<TimeSpan> {
    let today = line.record.observed_at.date_naive();
    if !covers_only(line, &given, today) {
        return Some(given);
    }
    let sentences = line.quoted_sentences(quote);
    let is_quoted = |it: &&Mention| sentences.iter().any(|range| range.contains(&it.range.start));
    let named: Vec<&Mention> = line.times.iter().filter(is_quoted).filter(|it| is_date(it)).collect();
    if named.iter().any(|it| covers_only(line, &it.span, today)) {
        return Some(given);
    }
    match named.as_slice() {
        [only] if ended && only.span.end <= given.start => Some(only.span.clone()),
        [] | [_] | [_, _, ..] => None,
    }
}

/// Returns true if a span lies within one day, in the calendar of the line.
fn covers_only(line: &Line<'_>, span: &TimeSpan, day: NaiveDate) -> bool {
    let offset = line.record.observed_at.offset();
    match span.precision {
        Precision::Instant | Precision::Day => span.start.with_timezone(offset).date_naive() == day,
        Precision::Week | Precision::Month | Precision::Season | Precision::Year | Precision::Unknown => false,
    }
}

/// Returns true if a mention has a place in the calendar.
fn is_date(mention: &Mention) -> bool {
    match mention.kind {
        Kind::Point | Kind::Interval => mention.span.precision != Precision::Unknown,
        Kind::Duration | Kind::Vague => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::checks::passage_content::Ground;
    use crate::reading::checks::times::parse_time;
    use crate::reading::example::{records_of_talk, start_time};

    /// Returns the first and last day of the end that counts if the model gives `given` for an ended fact.
    fn end_of(sentence: &str, quote: &str, given: &str) -> Option<[String; 2]> {
        let records = records_of_talk(&[&format!("Ann: {sentence}")]);
        let ground = Ground::new(&[], &records);
        let offset = *start_time().offset();
        let given = parse_time(given, offset).unwrap();
        let end = check_end(ground.find_line(1).unwrap(), quote, given, true)?;
        let last = end.end - chrono::TimeDelta::seconds(1);
        Some([end.start, last].map(|it| it.with_timezone(&offset).date_naive().to_string()))
    }

    #[test]
    fn the_day_of_the_line_is_no_end_unless_the_line_names_it() {
        // The lines are from Friday, 9 June 2023.
        for (sentence, quote) in [
            ("I have left the choir.", "left the choir"),
            ("I don't smoke any more.", "don't smoke any more"),
            ("The mill is closed, sadly.", "The mill is closed"),
            ("He used to play the cello.", "used to play the cello"),
            ("We sold the boat. It rains today.", "We sold the boat"),
            ("No more night shifts for me!", "No more night shifts"),
            ("She sang there for three years.", "sang there for three years"),
        ] {
            assert_eq!(end_of(sentence, quote, "2023-06-09"), None, "{sentence}");
        }
        for (sentence, quote) in [
            ("I left the choir today.", "left the choir"),
            ("Today was my last day at the mill.", "my last day at the mill"),
            ("I gave up smoking this morning.", "gave up smoking"),
            ("We sold the boat on 9 June.", "We sold the boat"),
            ("The lease ends tonight.", "The lease ends"),
            ("I quit the band today, after a row on Monday.", "quit the band"),
        ] {
            let day = || "2023-06-09".to_owned();
            assert_eq!(
                end_of(sentence, quote, "2023-06-09"),
                Some([day(), day()]),
                "{sentence}"
            );
        }
    }

    #[test]
    fn an_earlier_time_that_the_line_names_is_the_end() {
        for (sentence, quote, first, last) in [
            (
                "I left the choir on Monday.",
                "left the choir",
                "2023-06-05",
                "2023-06-05",
            ),
            (
                "I left the choir yesterday.",
                "left the choir",
                "2023-06-08",
                "2023-06-08",
            ),
            (
                "We sold the boat in May 2022.",
                "We sold the boat",
                "2022-05-01",
                "2022-05-31",
            ),
        ] {
            let expected = [first, last].map(str::to_owned);
            assert_eq!(end_of(sentence, quote, "2023-06-09"), Some(expected), "{sentence}");
        }
        // Two times, or a later one, do not say when it ended.
        assert_eq!(
            end_of(
                "I left the choir on Monday or on Tuesday.",
                "left the choir",
                "2023-06-09"
            ),
            None
        );
        assert_eq!(
            end_of("I leave the choir in July 2024.", "leave the choir", "2023-06-09"),
            None
        );
    }

    #[test]
    fn any_other_end_is_kept_as_given() {
        for given in ["2023-06-08", "2023-06", "2019"] {
            assert!(
                end_of("I have left the choir.", "left the choir", given).is_some(),
                "{given}"
            );
        }
    }
}
