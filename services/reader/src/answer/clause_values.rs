//! Several values in one sentence: each belongs to its own clause, "I moved in on 3 April and painted the kitchen on 20
//! April".

use std::collections::BTreeSet;
use std::ops::Range;

use crate::evidence::line::Sentence;

/// Marks and words between two clauses.
pub(super) const SEPARATORS: [&str; 5] = [", ", "; ", " and ", " but ", " while "];

/// A clause with at least one value.
struct Clause {
    start: usize,
    /// Indices of the question words that it names.
    asked: BTreeSet<usize>,
    /// Whether it has the verb of the question.
    has_verb: bool,
    /// Whether it has other content words too, except its values.
    has_other_words: bool,
}

/// Returns the byte offset in a sentence from which on its values can answer. `places` are the byte ranges of all values.
/// A later clause replaces an earlier one in two cases:
///
/// - It has more words of the question. It does not replace the clause with the verb of the question if it is about
///   something else: "I bought it in March and the red bike was stolen in May".
/// - It has as many, but others, and nothing else. Such a clause leaves out the words that the earlier one named: "I
///   bought the car in 2019 and crashed it in May".
pub(crate) fn start_of_clause_in_question(sentence: &Sentence, places: &[Range<usize>]) -> usize {
    let starts = clause_starts(&sentence.text, places.to_vec());
    let ends = starts.iter().skip(1).copied().chain([sentence.text.len()]);
    let clauses = starts.iter().zip(ends);
    let best = clauses
        .map(|(&start, end)| read_clause(sentence, places, start..end))
        .reduce(|best, next| {
            let (best_count, next_count) = (best.asked.len(), next.asked.len());
            let names_rest = next_count == best_count && next.asked != best.asked && !next.has_other_words;
            let is_other_event = best.has_verb && !next.has_verb && next.has_other_words;
            if next_count > best_count && !is_other_event || names_rest {
                next
            } else {
                best
            }
        });
    best.map_or(0, |it| it.start)
}

/// Returns the byte offsets at which the clauses of the values start, in order. Values without a separator between them
/// are in one clause.
fn clause_starts(text: &str, mut places: Vec<Range<usize>>) -> Vec<usize> {
    places.sort_by_key(|it| (it.start, it.end));
    let mut starts = vec![0];
    let mut last_end = None;
    for place in places {
        let between = last_end.and_then(|end: usize| Some((end, text.get(end..place.start)?)));
        let separator = between.and_then(|(end, between)| Some(end + last_separator(between)?));
        starts.extend(separator);
        last_end = last_end.max(Some(place.end));
    }
    starts
}

/// Returns the byte offset of the last mark or conjunction between two clauses.
fn last_separator(text: &str) -> Option<usize> {
    SEPARATORS.iter().filter_map(|it| text.rfind(it)).max()
}

fn read_clause(sentence: &Sentence, places: &[Range<usize>], range: Range<usize>) -> Clause {
    let is_value = |at: usize| places.iter().any(|it| it.contains(&at));
    let is_asked = |at: usize| sentence.hits.iter().any(|it| it.0 == at);
    let hits = sentence.hits.iter().zip(&sentence.hit_words);
    let hits: Vec<_> = hits.filter(|(hit, _)| range.contains(&hit.0)).collect();
    let mut terms = sentence.terms.iter().filter(|it| range.contains(&it.start));
    Clause {
        start: range.start,
        asked: hits.iter().map(|(_, word)| **word).collect(),
        has_verb: hits.iter().any(|(hit, _)| hit.1),
        has_other_words: terms.any(|it| !is_asked(it.start) && !is_value(it.start)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_separated_by_the_last_mark_or_conjunction_between_them() {
        let starts = |text: &str, values: &[&str]| {
            let place = |it: &&str| text.find(it).map(|at| at..at + it.len());
            let starts = clause_starts(text, values.iter().filter_map(place).collect());
            let shown = starts
                .into_iter()
                .map(|it| text[it..].chars().take(8).collect::<String>());
            shown.collect::<Vec<_>>().join("|")
        };
        for (text, values, expected) in [
            (
                "Ate on 3 May and slept on 4 May",
                ["3 May", "4 May"],
                "Ate on 3| and sle",
            ),
            (
                "On 3 May Tom and I ate, on 4 May not",
                ["3 May", "4 May"],
                "On 3 May|, on 4 M",
            ),
            ("Open from 3 May to 4 May", ["3 May", "4 May"], "Open fro"),
            ("Paid 40 euros and left", ["40", "40 euros"], "Paid 40 "),
        ] {
            assert_eq!(starts(text, &values), expected, "{text}");
        }
    }
}
