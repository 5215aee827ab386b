//! Places gists in time, from the times of the language model and of the rules.

use chrono::Months;
use domain::time::{Precision, TimeSpan};
use text::time::Mention;

use crate::reading::checks::passage_content::Ground;

/// Returns the times of a gist and its confidence. The model's time counts, unless the rules read times in its lines
/// and none of them overlaps it; then those of the rules count. A time of the rules that only differs in a year that the
/// rules inferred does not contradict the model: it read the conversation, and the rules one sentence.
pub(crate) fn place_gist(ground: &Ground<'_>, lines: &[u64], model_time: Option<TimeSpan>) -> (Vec<TimeSpan>, f32) {
    let mut read: Vec<&Mention> = Vec::new();
    for mention in ground.find_lines(lines).flat_map(|it| &it.times) {
        if read.len() < LIST_MAX && read.iter().all(|it| it.span != mention.span) {
            read.push(mention);
        }
    }
    let spans = |read: Vec<&Mention>| read.into_iter().map(|it| it.span.clone()).collect();
    let Some(model_time) = model_time else {
        return (spans(read), CONFIDENCE);
    };
    let agrees = |it: &&&Mention| {
        it.span.overlaps(&model_time) || it.is_year_inferred && is_in_another_year(&it.span, &model_time)
    };
    let mut dated = read
        .iter()
        .filter(|it| it.span.precision != Precision::Unknown)
        .peekable();
    if dated.peek().is_none() || dated.any(|it| agrees(&it)) {
        (vec![model_time], CONFIDENCE)
    } else {
        (spans(read), DOUBTFUL)
    }
}

/// Returns true if two spans overlap after one of them is moved by a year.
fn is_in_another_year(read: &TimeSpan, model_time: &TimeSpan) -> bool {
    let year = Months::new(12);
    let moved = [
        (read.start.checked_add_months(year), read.end.checked_add_months(year)),
        (read.start.checked_sub_months(year), read.end.checked_sub_months(year)),
    ];
    moved.into_iter().any(|it| match it {
        (Some(start), Some(end)) => start < model_time.end && model_time.start < end,
        (None, _) | (_, None) => false,
    })
}

/// Maximum number of names, of cues and of times of a gist (`LIST_MAX`), and maximum lengths of a name and a cue, in
/// bytes.
pub(crate) const LIST_MAX: usize = 16;

/// Confidence of a gist, and of one whose time differs from the times that the rules read.
pub(crate) const CONFIDENCE: f32 = 0.8;

pub(crate) const DOUBTFUL: f32 = 0.5;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::reading::example::{derive_talk, rejection_reasons};

    #[test]
    fn a_year_that_is_not_stated_is_taken_from_the_model() {
        let of = |line: &str, time: &str| {
            let gist = json!({"text": "The operation is planned.", "lines": [1], "time": time});
            let derived = derive_talk(&[line], &json!({"gists": [gist]}));
            (
                derived.units[0].times[0].words.clone(),
                rejection_reasons(&derived).len(),
            )
        };
        let given = |time: &str| (time.to_owned(), 0);
        // The record is from June 2023; after a verb in the past, the rules read 24 October 2022.
        let october_line = "Ann: We had the letter on the 24th of October and went home.";
        assert_eq!(of(october_line, "2023-10-24"), given("2023-10-24"));
        let october_line = "Ann: We had the letter on 24 October 2022 and went home.";
        assert_eq!(of(october_line, "2023-10-24").1, 1);
        assert_eq!(
            of("Ann: We had the letter on 3 March and went home.", "2023-10-24").1,
            1
        );
    }
}
