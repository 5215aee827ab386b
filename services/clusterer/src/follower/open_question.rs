//! Questions for the language model that are open in a space.

use domain::id::{ReadingId, UnitId};

use crate::judgements::coreference::Question;
use crate::judgements::labels::LabelQuestion;
use crate::judgements::people::PeopleQuestion;
use crate::judgements::summaries::SummaryQuestion;

/// A question for the language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpenQuestion {
    /// Whether an event is the same as one of some earlier events.
    Events(Question),
    /// Whether a name belongs to the same person as some other names.
    People(PeopleQuestion),
    /// How to label a topic.
    Label(LabelQuestion),
    /// How to summarise a page.
    Summary(SummaryQuestion),
}

/// Identifies a question among those of its space, even after its wording has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionKey {
    /// The later event of a question about events.
    Events(UnitId),
    /// The first reading of a question about names.
    People(ReadingId),
    /// The reading of a question about a topic.
    Label(ReadingId),
    /// The reading of a question about a page.
    Summary(ReadingId),
}

impl OpenQuestion {
    /// Returns the key of the question; none for a question about names that has no other name.
    pub(crate) fn key(&self) -> Option<QuestionKey> {
        Some(match self {
            OpenQuestion::Events(question) => QuestionKey::Events(question.later),
            OpenQuestion::People(question) => QuestionKey::People(question.others.first()?.place.reading),
            OpenQuestion::Label(question) => QuestionKey::Label(question.place.reading),
            OpenQuestion::Summary(question) => QuestionKey::Summary(question.place.reading),
        })
    }
}
