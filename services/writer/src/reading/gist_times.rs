//! Places gists in time, by the language model's reading and that of the rules.

use chrono::Months;
use domain::time::{Precision, TimeSpan};
use text::time::words::MONTHS;

use super::gists::{CONFIDENCE, DOUBTFUL, LIST_MAX};
use super::ground::Ground;

/// Returns the times of a gist and its confidence. The model's time counts, unless the rules read times in its lines
/// and none of them overlaps it; then those of the rules count. A time of the rules that only differs in a year that no
/// line contains does not contradict the model: it read the conversation, and the rules one sentence.
pub(super) fn placed(ground: &Ground<'_>, lines: &[u64], told: Option<TimeSpan>) -> (Vec<TimeSpan>, f32) {
    let mut read: Vec<TimeSpan> = Vec::new();
    for span in ground.lines(lines).flat_map(|it| &it.times) {
        if read.len() < LIST_MAX && !read.contains(span) {
            read.push(span.clone());
        }
    }
    let Some(told) = told else {
        return (read, CONFIDENCE);
    };
    let is_open = |it: &TimeSpan| names_month(&it.words) && !ground.has_year(lines, it);
    let agrees = |it: &&TimeSpan| it.overlaps(&told) || is_open(it) && is_in_another_year(it, &told);
    let mut dated = read.iter().filter(|it| it.precision != Precision::Unknown).peekable();
    if dated.peek().is_none() || dated.any(|it| agrees(&it)) {
        (vec![told], CONFIDENCE)
    } else {
        (read, DOUBTFUL)
    }
}

/// Returns true if a time is that of a calendar, and not relative as "last week" is.
fn names_month(words: &str) -> bool {
    let is_month = |word: &str| {
        let lower = word.to_lowercase();
        lower.len() >= 3 && MONTHS.iter().any(|it| it.starts_with(&lower) || lower.starts_with(it))
    };
    text::words(words).into_iter().any(is_month)
}

/// Returns true if two spans overlap once one of them is moved by a year.
fn is_in_another_year(read: &TimeSpan, told: &TimeSpan) -> bool {
    let year = Months::new(12);
    let moved = [
        (read.start.checked_add_months(year), read.end.checked_add_months(year)),
        (read.start.checked_sub_months(year), read.end.checked_sub_months(year)),
    ];
    moved.into_iter().any(|it| match it {
        (Some(start), Some(end)) => start < told.end && told.start < end,
        (None, _) | (_, None) => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::reading::example::{derived, reasons};

    #[test]
    fn a_year_that_nobody_said_is_the_one_the_model_gives() {
        let of = |line: &str, time: &str| {
            let gist = json!({"text": "The operation is planned.", "lines": [1], "time": time});
            let derived = derived(&[line], &json!({"gists": [gist]}));
            (derived.units[0].times[0].words.clone(), reasons(&derived).len())
        };
        let given = |time: &str| (time.to_owned(), 0);
        // The example is told in June 2023; the rules read the 24th of October 2022 behind a verb in the past.
        let told = "Ann: We had the letter on the 24th of October and went home.";
        assert_eq!(of(told, "2023-10-24"), given("2023-10-24"));
        let told = "Ann: We had the letter on 24 October 2022 and went home.";
        assert_eq!(of(told, "2023-10-24").1, 1);
        assert_eq!(
            of("Ann: We had the letter on 3 March and went home.", "2023-10-24").1,
            1
        );
    }
}
