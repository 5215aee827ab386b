//! Builds conversations and questions, and repairs differences between versions of a format.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::data::{Conversation, Question, Turn};

/// Longest address of an image that the server accepts, in characters.
const IMAGE_URI_CHARS_MAX: usize = 2_048;

/// The time that is assigned to turns without a time. Conversations are ordered by time, so a conversation without
/// times keeps the order of its file.
pub(super) const UNDATED: &str = "2000-01-01T00:00:00";

/// Counts of repairs and omissions, by description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes(pub BTreeMap<&'static str, usize>);

impl Notes {
    /// Adds one to the count of `what`.
    pub(super) fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }
}

/// A question with the time at which it is asked.
#[derive(Clone, Debug, Serialize)]
pub struct TimedQuestion {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// Time at which the question is asked, if the data set gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<String>,
}

/// A conversation with its questions.
#[derive(Clone, Debug)]
pub struct ConvertedConversation {
    /// The conversation.
    pub conversation: Conversation,
    /// Questions about the conversation.
    pub questions: Vec<TimedQuestion>,
}

/// Fields of a turn as a format gives them.
#[derive(Default)]
pub(super) struct NewTurn {
    pub(super) id: String,
    pub(super) speaker: String,
    pub(super) text: String,
    /// Time in ISO 8601 without a zone. A turn without a time gets the time of the turn before it.
    pub(super) timestamp: Option<String>,
    pub(super) image_caption: Option<String>,
    pub(super) image_uri: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
}

struct Session {
    name: String,
    turns: Vec<Turn>,
}

/// Builds one conversation.
pub(super) struct ConversationBuilder<'a> {
    id: String,
    sessions: Vec<Session>,
    session_names: HashSet<String>,
    ids: HashSet<String>,
    last_time: Option<String>,
    notes: &'a mut Notes,
}

impl<'a> ConversationBuilder<'a> {
    pub(super) fn new(id: String, notes: &'a mut Notes) -> ConversationBuilder<'a> {
        ConversationBuilder {
            id,
            sessions: Vec::new(),
            session_names: HashSet::new(),
            ids: HashSet::new(),
            last_time: None,
            notes,
        }
    }

    pub(super) fn note(&mut self, what: &'static str) {
        self.notes.add(what);
    }

    /// Begins a session and returns its name. If the conversation already has a session of that name, the new one gets
    /// a number. `time` is used for turns of the session that have no time.
    pub(super) fn begin_session(&mut self, name: &str, time: Option<String>) -> String {
        let name = unused_name(name, &self.session_names);
        self.session_names.insert(name.clone());
        self.sessions.push(Session {
            name: name.clone(),
            turns: Vec::new(),
        });
        self.last_time = time.or(self.last_time.take());
        name
    }

    /// Adds a turn to the current session and returns the id that it got. Returns `None` for a turn without text and
    /// caption.
    pub(super) fn push(&mut self, new: NewTurn) -> Option<String> {
        let image_caption = new.image_caption.filter(|it| !it.trim().is_empty());
        if new.text.trim().is_empty() && image_caption.is_none() {
            self.note("turns without text and caption, left out");
            return None;
        }
        if self.sessions.is_empty() {
            self.begin_session("1", None);
        }
        if self.ids.contains(&new.id) {
            self.note("turns whose id another turn has, renamed");
        }
        let id = unused_name(&new.id, &self.ids);
        self.ids.insert(id.clone());
        let timestamp = new.timestamp.or_else(|| self.last_time.clone());
        if timestamp.is_none() {
            self.note("turns without a time, placed in the year 2000");
        }
        let timestamp = timestamp.unwrap_or_else(|| UNDATED.to_owned());
        self.last_time = Some(timestamp.clone());
        let session = self.sessions.last_mut()?;
        session.turns.push(Turn {
            id: id.clone(),
            session: session.name.clone(),
            speaker: new.speaker,
            text: new.text,
            timestamp,
            image_caption,
            image_uri: new
                .image_uri
                .filter(|it| !it.is_empty() && it.chars().count() <= IMAGE_URI_CHARS_MAX),
            metadata: new.metadata,
        });
        Some(id)
    }

    pub(super) fn has_turn(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Returns the ids of the turns of a session, by its name.
    pub(super) fn turns_of_session(&self, name: &str) -> Vec<String> {
        let sessions = self.sessions.iter().filter(|it| it.name == name);
        sessions.flat_map(|it| &it.turns).map(|it| it.id.clone()).collect()
    }

    /// Returns the members of `ids` that name a turn, each once.
    pub(super) fn known_evidence(&mut self, ids: Vec<String>) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for id in ids {
            if !self.has_turn(&id) {
                self.note("evidence that names no turn, left out");
            } else if !known.contains(&id) {
                known.push(id);
            }
        }
        known
    }

    /// Returns the conversation. Sessions are ordered by the time of their first turn; turns keep their order. A turn
    /// whose time is before the time of the previous turn gets the time of that turn.
    pub(super) fn finish(mut self) -> Conversation {
        self.sessions.retain(|it| !it.turns.is_empty());
        self.sessions
            .sort_by(|a, b| a.turns[0].timestamp.cmp(&b.turns[0].timestamp));
        let mut turns: Vec<Turn> = Vec::new();
        for mut turn in self.sessions.into_iter().flat_map(|it| it.turns) {
            if let Some(before) = turns.last().filter(|before| turn.timestamp < before.timestamp) {
                turn.timestamp.clone_from(&before.timestamp);
                self.notes.add("turns earlier than the turn before, moved to its time");
            }
            turns.push(turn);
        }
        let mut speakers: Vec<String> = Vec::new();
        for turn in &turns {
            if !speakers.contains(&turn.speaker) {
                speakers.push(turn.speaker.clone());
            }
        }
        Conversation {
            conversation_id: self.id,
            split: None,
            speakers,
            turns,
        }
    }
}

/// Returns the name, with a number after it if it is already used.
fn unused_name(name: &str, used: &HashSet<String>) -> String {
    if !used.contains(name) {
        return name.to_owned();
    }
    let numbered = (2_u64..).map(|number| format!("{name}#{number}"));
    numbered
        .into_iter()
        .find(|it| !used.contains(it))
        .unwrap_or_else(|| name.to_owned())
}

/// Returns a question with only its wording. It is answerable if an answer is given.
pub(super) fn build_question(conversation: &str, id: String, wording: String, answer: Option<String>) -> Question {
    Question {
        id,
        conversation_id: conversation.to_owned(),
        split: None,
        question: wording,
        answerable: answer.is_some(),
        answer: answer.unwrap_or_default(),
        accept: Vec::new(),
        category: String::new(),
        category_id: None,
        evidence: Vec::new(),
        anchor: None,
        evidence_groups: Vec::new(),
        options: Vec::new(),
        rubric: Vec::new(),
        trap_evidence: Vec::new(),
        audit_error: None,
        evidence_audited: Vec::new(),
        answer_audited: None,
    }
}
