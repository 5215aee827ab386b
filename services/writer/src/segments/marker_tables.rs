//! The tables of `data` that map phrases to relations: markers, questions for a reason, and pronouns that continue a
//! subject. Tabs separate the columns of a row, and lines that begin with `#` are comments.

use std::sync::LazyLock;

use domain::relation::RelationKind;
use serde_json::Value;

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

static MARKER_ROWS: &str = include_str!("../../data/markers.tsv");
static REASON_QUESTION_ROWS: &str = include_str!("../../data/reason_questions.tsv");
static CONTINUING_PRONOUN_ROWS: &str = include_str!("../../data/continuing_pronouns.tsv");

/// The markers, in the order in which they are tried.
pub(super) static MARKERS: LazyLock<Vec<Marker>> =
    LazyLock::new(|| expect_valid_table(parse_table(MARKER_ROWS, parse_marker)));
/// The questions for a reason, in the order in which they are tried.
pub(super) static REASON_QUESTIONS: LazyLock<Vec<ReasonQuestion>> =
    LazyLock::new(|| expect_valid_table(parse_table(REASON_QUESTION_ROWS, parse_reason_question)));
/// The pronouns that continue a subject, in the order in which they are tried.
pub(super) static CONTINUING_PRONOUNS: LazyLock<Vec<ContinuingPronoun>> =
    LazyLock::new(|| expect_valid_table(parse_table(CONTINUING_PRONOUN_ROWS, parse_continuing_pronoun)));

/// Returns a table of `data`. Panics if a row of it is invalid: a rule that is silently left out would lose relations
/// without any error.
fn expect_valid_table<T>(table: Result<Vec<T>, String>) -> Vec<T> {
    table.unwrap_or_else(|error| panic!("a table of relation markers is wrong: {error}"))
}

/// Returns the rows of a table, in the order of the file.
fn parse_table<T>(
    rows: &'static str,
    parse_row: impl Fn(&[&'static str]) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let lines = rows.lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
    let parse_line = |line: &'static str| {
        let cells: Vec<&'static str> = line.split('\t').collect();
        parse_row(&cells).map_err(|error| format!("{error} in \"{line}\""))
    };
    lines.map(parse_line).collect()
}

fn parse_marker(cells: &[&'static str]) -> Result<Marker, String> {
    let &[phrase, kind, direction, reference] = cells else {
        return Err("a marker must have four columns".to_owned());
    };
    Ok(Marker {
        phrase,
        kind: parse_kind(kind)?,
        from_before: match direction {
            "from_before" => true,
            "to_before" => false,
            other => return Err(format!("unknown direction \"{other}\"")),
        },
        points_back: match reference {
            "points_back" => true,
            "-" => false,
            other => return Err(format!("unknown reference \"{other}\"")),
        },
    })
}

fn parse_reason_question(cells: &[&'static str]) -> Result<ReasonQuestion, String> {
    let &[phrase, kind] = cells else {
        return Err("a question must have two columns".to_owned());
    };
    let kind = parse_kind(kind)?;
    Ok(ReasonQuestion { phrase, kind })
}

fn parse_continuing_pronoun(cells: &[&'static str]) -> Result<ContinuingPronoun, String> {
    let &[pronoun, antecedents] = cells else {
        return Err("a pronoun must have two columns".to_owned());
    };
    let antecedents = antecedents.split(' ').filter(|it| *it != "-").collect();
    Ok(ContinuingPronoun { pronoun, antecedents })
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
    fn invalid_rows_are_rejected_with_their_text() {
        assert!(parse_table("# comment\nbut\tcontrasts\tfrom_before\t-\n", parse_marker).is_ok());
        for (row, reason) in [
            ("but\tcontrasts\tfrom_before", "a marker must have four columns"),
            ("but\topposes\tfrom_before\t-", "unknown kind \"opposes\""),
            ("but\tcontrasts\tforwards\t-", "unknown direction \"forwards\""),
            ("but\tcontrasts\tfrom_before\ttrue", "unknown reference \"true\""),
        ] {
            let error = parse_table(row, parse_marker).unwrap_err();
            assert_eq!(error, format!("{reason} in \"{row}\""));
        }
        assert!(parse_table("why\n", parse_reason_question).is_err());
        assert!(parse_table("why\tcauses\n", parse_reason_question).is_ok());
        assert!(parse_table("it\n", parse_continuing_pronoun).is_err());
        assert!(parse_table("it\t-\n", parse_continuing_pronoun).is_ok());
    }
}
