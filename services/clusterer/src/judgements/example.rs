//! Example events, pages and prompts for unit tests.

use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::{Chat, ChatMessage};
use domain::unit::{Grain, Unit};

use crate::judgements::summaries::{ShownLine, ShownSection};

/// Returns an event of one record with this summary.
pub(crate) fn sample_event(number: u32, summary: &str) -> Unit {
    let space: SpaceId = "home".parse().unwrap();
    let record = RecordId::from_external_id(&space, &number.to_string());
    Unit {
        id: UnitId::of_event(record),
        grain: Grain::Event,
        ordinal: number.into(),
        summary: summary.to_owned(),
        ..fixtures::sample_unit(&space, &number.to_string())
    }
}

/// Returns the text of the last message of a prompt.
pub(crate) fn last_message(chat: &Chat) -> String {
    let text = |it: &ChatMessage| match it {
        ChatMessage::System { text } | ChatMessage::User { text, .. } => text.clone(),
        ChatMessage::Assistant { .. } | ChatMessage::Tool { .. } => unreachable!("nothing was replied yet"),
    };
    chat.messages.iter().map(text).next_back().unwrap()
}

/// Returns a section of a page in the form in which a model is shown it.
pub(crate) fn sample_section(place: usize, title: &str, lines: &[&str]) -> ShownSection {
    let line = |(number, text): (u32, &&str)| ShownLine {
        unit: sample_event(number, "").id,
        text: (*text).to_owned(),
    };
    ShownSection {
        place,
        title: title.to_owned(),
        lines: (1..).zip(lines).map(line).collect(),
    }
}
