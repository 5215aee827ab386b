//! Lists the questions of a space that a language model may answer.

use domain::id::SpaceId;

use super::OpenQuestion;
use super::memory::Memory;

/// Limits on the open questions that are kept per space: about events, names, topics and pages.
const QUESTIONS_MAX: usize = 16;
const PEOPLE_MAX: usize = 4;
const LABELS_MAX: usize = 8;
const SUMMARIES_MAX: usize = 4;

/// Returns the open questions of a space for a language model.
pub(super) fn list_open_questions(space: &SpaceId, memory: &Memory) -> Vec<OpenQuestion> {
    let events = memory
        .event_questions(QUESTIONS_MAX)
        .into_iter()
        .map(OpenQuestion::Events);
    let people = memory.people_questions(space, PEOPLE_MAX).into_iter();
    let labels = memory.label_questions(LABELS_MAX).into_iter().map(OpenQuestion::Label);
    let pages = memory.summary_questions(space, SUMMARIES_MAX).into_iter();
    let events = events.chain(people.map(OpenQuestion::People));
    events.chain(labels).chain(pages.map(OpenQuestion::Summary)).collect()
}
