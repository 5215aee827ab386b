//! Statements in a form that takes little memory. The statements of a unit are kept as long as the unit, but read only
//! when a name in them means another person or when a later unit corrects them.

use chrono::{DateTime, Utc};
use domain::fact::Aspect;
use domain::time::TimeSpan;
use serde::{Deserialize, Serialize};
use text::facts::{Statement, Subject};

/// The statements of a unit, in order. Equal statements give equal packed statements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CompactStatements {
    /// Subject, predicate and object of each statement, without separators.
    words: Box<str>,
    all: Box<[CompactStatement]>,
}

/// A statement without its words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CompactStatement {
    subject: SubjectKind,
    subject_bytes: u32,
    predicate_bytes: u32,
    object_bytes: u32,
    aspect: Aspect,
    positive: bool,
    ended: bool,
    event: bool,
    corrects: bool,
    confidence: f32,
    until: Option<DateTime<Utc>>,
    since: Option<Box<TimeSpan>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum SubjectKind {
    Speaker,
    Phrase,
    Name,
}

impl CompactStatements {
    /// Returns the statements, in order.
    pub(super) fn to_statements(&self) -> Vec<Statement> {
        let mut rest = &*self.words;
        let mut next = |bytes: u32| {
            let (word, after) = rest.split_at(bytes as usize);
            rest = after;
            word.to_owned()
        };
        let unpack = |it: &CompactStatement| {
            let subject = next(it.subject_bytes);
            Statement {
                subject: match it.subject {
                    SubjectKind::Speaker => Subject::Speaker,
                    SubjectKind::Phrase => Subject::Phrase(subject),
                    SubjectKind::Name => Subject::Name(subject),
                },
                predicate: next(it.predicate_bytes),
                object: next(it.object_bytes),
                aspect: it.aspect,
                positive: it.positive,
                since: it.since.as_deref().cloned(),
                until: it.until,
                ended: it.ended,
                event: it.event,
                corrects: it.corrects,
                confidence: it.confidence,
            }
        };
        self.all.iter().map(unpack).collect()
    }
}

impl FromIterator<Statement> for CompactStatements {
    fn from_iter<I: IntoIterator<Item = Statement>>(statements: I) -> CompactStatements {
        let mut words = String::new();
        let mut append = |word: &str| {
            words.push_str(word);
            // The text of a record is far shorter than 4 GB.
            u32::try_from(word.len()).unwrap_or(u32::MAX)
        };
        let pack = |it: Statement| {
            let (subject, written) = match &it.subject {
                Subject::Speaker => (SubjectKind::Speaker, ""),
                Subject::Phrase(written) => (SubjectKind::Phrase, written.as_str()),
                Subject::Name(written) => (SubjectKind::Name, written.as_str()),
            };
            CompactStatement {
                subject,
                subject_bytes: append(written),
                predicate_bytes: append(&it.predicate),
                object_bytes: append(&it.object),
                aspect: it.aspect,
                positive: it.positive,
                ended: it.ended,
                event: it.event,
                corrects: it.corrects,
                confidence: it.confidence,
                until: it.until,
                since: it.since.map(Box::new),
            }
        };
        let all = statements.into_iter().map(pack).collect();
        CompactStatements {
            words: words.into(),
            all,
        }
    }
}

#[cfg(test)]
mod tests {
    use text::facts::{Telling, statements_of_turn};

    use super::*;

    #[test]
    fn packed_statements_are_unpacked_as_they_were() {
        let observed_at = DateTime::parse_from_rfc3339("2026-03-04T10:00:00+02:00").unwrap();
        let statements = statements_of_turn(&Telling {
            text: "I have lived in Zürich since May 2021. My sister Léa works at Nestlé. Tom does not like coffee. I \
                   no longer smoke. I am going to move to Oslo in June.",
            speaker: "Ann",
            addressee: "",
            observed_at,
        });
        assert!(statements.len() >= 4, "{statements:?}");
        assert!(statements.iter().any(|it| it.since.is_some()), "{statements:?}");
        assert!(statements.iter().any(|it| it.subject == Subject::Speaker));
        assert!(statements.iter().any(|it| it.subject != Subject::Speaker));
        let packed: CompactStatements = statements.iter().cloned().collect();
        assert_eq!(packed.to_statements(), statements);
        let others = statements.iter().skip(1).cloned();
        assert_ne!(others.collect::<CompactStatements>(), packed);
        let none: CompactStatements = std::iter::empty().collect();
        assert_eq!(none.to_statements(), []);
    }
}
