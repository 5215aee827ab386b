//! English phrases for times without exact bounds, read from `data/en/vague_times.tsv`: "recently", "a while ago".

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use crate::lexicon::data_files::{self, File, data_file};

/// The phrases; those with more words come first.
pub(crate) static VAGUE_TIMES: LazyLock<Vec<VagueTime>> =
    LazyLock::new(|| data_files::expect_valid_table(read_vague_times(data_file!("en/vague_times.tsv"))));

/// A phrase and the days in which its time lies, counted from the day of the reference.
#[derive(Debug)]
pub(crate) struct VagueTime {
    pub(crate) words: Vec<&'static str>,
    pub(crate) first_day: i64,
    /// The day after the last one.
    pub(crate) end_day: i64,
}

fn read_vague_times(file: File) -> Result<Vec<VagueTime>, String> {
    let mut times = Vec::new();
    let mut met = HashMap::new();
    for row in data_files::read_rows(file, 3)? {
        let day = |cell: usize| {
            let cell = row.cells[cell];
            cell.parse::<i64>()
                .map_err(|_| row.locate_error(&format!("\"{cell}\" is not a number of days")))
        };
        let (first_day, end_day) = (day(0)?, day(1)?);
        for phrase in row.split_alternatives(2) {
            data_files::insert_unique(&mut met, phrase, (), &row)?;
            times.push(VagueTime {
                words: phrase.split(' ').collect(),
                first_day,
                end_day,
            });
        }
    }
    times.sort_by_key(|it| Reverse(it.words.len()));
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_with_more_words_come_first() {
        assert!(VAGUE_TIMES.is_sorted_by_key(|it| Reverse(it.words.len())));
        let found = VAGUE_TIMES.iter().find(|it| it.words == ["a", "while", "ago"]).unwrap();
        assert_eq!((found.first_day, found.end_day), (-730, -7));
        assert!(VAGUE_TIMES.iter().all(|it| it.first_day < it.end_day));
    }

    #[test]
    fn rows_with_errors_are_refused() {
        for (text, fault) in [
            ("-7\tnow\tlately\n", "x.tsv:1: \"now\" is not a number of days"),
            ("-7\t0\tlately\n-9\t0\tlately\n", "x.tsv:2: \"lately\" is there already"),
        ] {
            let read = read_vague_times(File { path: "x.tsv", text });
            assert_eq!(read.err().as_deref(), Some(fault));
        }
    }
}
