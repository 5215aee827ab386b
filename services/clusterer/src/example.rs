//! Example events, pages and prompts for unit tests.

use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::port::{Chat, ChatMessage};
use domain::record::Modality;
use domain::unit::{Grain, Status, Unit};

use crate::summaries::{ShownLine, ShownSection};

/// Returns an event of one record with this summary.
pub(crate) fn event(number: u32, summary: &str) -> Unit {
    let space: SpaceId = "home".parse().unwrap();
    let record = RecordId::derive(&space, &number.to_string());
    Unit {
        id: UnitId::event(record),
        grain: Grain::Event,
        session: SessionId::derive(&space, "talk"),
        records: vec![record],
        external_ids: vec![number.to_string()],
        observed_at: chrono::DateTime::UNIX_EPOCH.fixed_offset(),
        ordinal: number.into(),
        modality: Modality::Text,
        actor: String::new(),
        addressee: String::new(),
        text: String::new(),
        caption: String::new(),
        summary: summary.to_owned(),
        times: Vec::new(),
        participants: Vec::new(),
        location: String::new(),
        action: String::new(),
        step: None,
        changes: Vec::new(),
        version: None,
        stated: Vec::new(),
        tag: String::new(),
        cues: Vec::new(),
        question: String::new(),
        tags: Vec::new(),
        metadata: Default::default(),
        derived_by: "test".to_owned(),
        status: Status::Active,
        confidence: 1.0,
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
pub(crate) fn section(place: usize, title: &str, lines: &[&str]) -> ShownSection {
    let line = |(number, text): (u32, &&str)| ShownLine {
        unit: event(number, "").id,
        text: (*text).to_owned(),
    };
    ShownSection {
        place,
        title: title.to_owned(),
        lines: (1..).zip(lines).map(line).collect(),
    }
}
