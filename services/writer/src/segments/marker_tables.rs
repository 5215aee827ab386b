//! The tables of `data` that map phrases to relations: markers, questions for a reason, and pronouns that continue a
//! subject. A rule that is silently left out would lose relations without any error, so an invalid row stops the program.

use std::sync::LazyLock;

use domain::relation::RelationKind;
use serde_json::Value;
use text::lexicon::data_files::{File, data_file, expect_valid_table, read_rows};

/// A phrase at the beginning of a sentence that states a relation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// The phrase, in lower case.
    pub(crate) phrase: &'static str,
    /// Kind of the relation.
    pub(crate) kind: RelationKind,
    /// True if the relation leads from the preceding text to this turn, false if it leads back.
    pub(crate) from_before: bool,
    /// True if the marker itself refers to the preceding text ("that is why"), so that no other connection is needed.
    pub(crate) points_back: bool,
}

/// The beginning of a question that asks for a cause or motive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReasonQuestion {
    /// The phrase, in lower case.
    pub(super) phrase: &'static str,
    /// Kind of the relation from the answer to the subject of the question.
    pub(super) kind: RelationKind,
}

/// A pronoun that continues the subject of preceding text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ContinuingPronoun {
    /// The pronoun, in lower case.
    pub(super) pronoun: &'static str,
    /// Words of which the preceding text should contain one; empty if any text will do.
    pub(super) antecedents: Vec<&'static str>,
}

/// The markers, in the order in which they are tried.
pub(super) static MARKERS: LazyLock<Vec<Marker>> =
    LazyLock::new(|| expect_valid_table(parse_table(data_file!("markers.tsv"), 4, parse_marker)));
/// The questions for a reason, in the order in which they are tried.
pub(super) static REASON_QUESTIONS: LazyLock<Vec<ReasonQuestion>> = LazyLock::new(|| {
    expect_valid_table(parse_table(
        data_file!("reason_questions.tsv"),
        2,
        parse_reason_question,
    ))
});
/// The pronouns that continue a subject, in the order in which they are tried.
pub(super) static CONTINUING_PRONOUNS: LazyLock<Vec<ContinuingPronoun>> = LazyLock::new(|| {
    expect_valid_table(parse_table(
        data_file!("continuing_pronouns.tsv"),
        2,
        parse_continuing_pronoun,
    ))
});

/// Returns the rows of a table, in the order of the file.
fn parse_table<T>(
    file: File,
    columns: usize,
    parse_cells: impl Fn(&[&'static str]) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let rows = read_rows(file, columns)?.into_iter();
    rows.map(|row| parse_cells(&row.cells).map_err(|error| row.locate_error(&error)))
        .collect()
}

fn parse_marker(cells: &[&'static str]) -> Result<Marker, String> {
    Ok(Marker {
        phrase: cells[0],
        kind: parse_kind(cells[1])?,
        from_before: match cells[2] {
            "from_before" => true,
            "to_before" => false,
            other => return Err(format!("unknown direction \"{other}\"")),
        },
        points_back: match cells[3] {
            "points_back" => true,
            "-" => false,
            other => return Err(format!("unknown reference \"{other}\"")),
        },
    })
}

fn parse_reason_question(cells: &[&'static str]) -> Result<ReasonQuestion, String> {
    let kind = parse_kind(cells[1])?;
    Ok(ReasonQuestion { phrase: cells[0], kind })
}

fn parse_continuing_pronoun(cells: &[&'static str]) -> Result<ContinuingPronoun, String> {
    let antecedents = cells[1].split(' ').filter(|it| *it != "-").collect();
    Ok(ContinuingPronoun {
        pronoun: cells[0],
        antecedents,
    })
}

fn parse_kind(name: &str) -> Result<RelationKind, String> {
    serde_json::from_value(Value::from(name)).map_err(|_| format!("unknown kind \"{name}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_parsed_in_the_order_of_the_file() {
        assert_eq!(MARKERS.len(), 54);
        assert_eq!(
            MARKERS[0],
            Marker {
                phrase: "because i want",
                kind: RelationKind::Motivates,
                from_before: false,
                points_back: false,
            }
        );
        assert_eq!(
            MARKERS[7],
            Marker {
                phrase: "since then",
                kind: RelationKind::FollowsUp,
                from_before: true,
                points_back: true,
            }
        );
        assert_eq!(REASON_QUESTIONS.len(), 12);
        assert_eq!(REASON_QUESTIONS[0].kind, RelationKind::Motivates);
        assert_eq!(REASON_QUESTIONS[11].kind, RelationKind::Causes);
        let pronouns: Vec<&str> = CONTINUING_PRONOUNS.iter().map(|it| it.pronoun).collect();
        assert_eq!(pronouns, ["he", "she", "it", "which"]);
        assert!(CONTINUING_PRONOUNS[0].antecedents.contains(&"he's"));
        assert_eq!(CONTINUING_PRONOUNS[2].antecedents, [""; 0]);
    }

    #[test]
    fn no_phrase_hides_a_longer_one_after_it() {
        let markers = MARKERS.iter().map(|it| it.phrase).collect();
        let questions = REASON_QUESTIONS.iter().map(|it| it.phrase).collect();
        let phrases_of_tables: [Vec<&str>; 2] = [markers, questions];
        for phrases in phrases_of_tables {
            for (place, phrase) in phrases.iter().enumerate() {
                let is_hidden = |it: &&str| {
                    it.strip_prefix(phrase)
                        .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
                };
                let hidden: Vec<&str> = phrases[place + 1..].iter().copied().filter(is_hidden).collect();
                assert_eq!(hidden, [""; 0], "{phrase}");
            }
        }
    }

    #[test]
    fn invalid_rows_are_rejected_with_their_line() {
        let parse = |text| parse_table(File { path: "x.tsv", text }, 4, parse_marker);
        assert!(parse("# comment\nbut\tcontrasts\tfrom_before\t-\n").is_ok());
        for (row, error) in [
            ("but\tcontrasts\tfrom_before", "x.tsv:1: 3 cells, not 4"),
            ("but\topposes\tfrom_before\t-", "x.tsv:1: unknown kind \"opposes\""),
            ("but\tcontrasts\tforwards\t-", "x.tsv:1: unknown direction \"forwards\""),
            (
                "but\tcontrasts\tfrom_before\ttrue",
                "x.tsv:1: unknown reference \"true\"",
            ),
        ] {
            assert_eq!(parse(row).unwrap_err(), error);
        }
    }
}
