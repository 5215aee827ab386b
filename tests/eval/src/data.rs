//! Data sets: conversations, and questions with their gold answers and evidence.
//!
//! A data set is a folder with `conversations.jsonl` and `questions.jsonl`, which have one object on each line.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// One conversation; its turns are in the order of time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Conversation {
    /// Id of the conversation; unique in the data set.
    pub conversation_id: String,
    /// Split of the data set that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Names of the speakers.
    #[serde(default)]
    pub speakers: Vec<String>,
    /// Turns, in the order of time.
    pub turns: Vec<Turn>,
}

/// One turn of a conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// Id of the turn; unique in the conversation.
    pub id: String,
    /// Session of the turn; in the file a text or a number.
    #[serde(deserialize_with = "text_or_number")]
    pub session: String,
    /// Name of the speaker.
    pub speaker: String,
    /// Text of the turn; may be empty if there is an image.
    pub text: String,
    /// Time of the turn, ISO 8601 without a zone.
    pub timestamp: String,
    /// Description of a shared image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_caption: Option<String>,
    /// Address of a shared image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_uri: Option<String>,
    /// Further data about the turn, such as the step of an agent's run and the place, under the keys that the server
    /// reads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Turn {
    /// Returns the text followed by the caption.
    pub fn whole(&self) -> String {
        format!("{} {}", self.text, self.image_caption.as_deref().unwrap_or_default())
    }
}

/// One question with its gold labels. The server gets only the wording of the question; a judge also gets the gold
/// answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    /// Id of the question; unique in the data set.
    pub id: String,
    /// Id of the conversation that it is about.
    pub conversation_id: String,
    /// Split of the data set that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// The question.
    pub question: String,
    /// The gold answer; empty if there is none.
    pub answer: String,
    /// Other wordings of a right answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// Kind of question, for tables.
    pub category: String,
    /// Number of the category, for answers that are scored by category: 1 for lists, 3 for answers with a remark after
    /// a semicolon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category_id: Option<i64>,
    /// Turns that contain the answer; all of them are needed.
    pub evidence: Vec<String>,
    /// The evidence turn that the question starts from. It states the things that the question names, and the other
    /// turns follow from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// Replaces `evidence`: groups of turns; one turn of each group is needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_groups: Vec<Vec<String>>,
    /// Whether the conversation contains an answer.
    pub answerable: bool,
    /// Choices of a multiple-choice question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<serde_json::Value>,
    /// Statements of a good long answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rubric: Vec<String>,
    /// Turns that suggest a wrong answer to an unanswerable question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trap_evidence: Vec<String>,
    /// Error that an audit found in the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_error: Option<String>,
    /// Evidence according to the audit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_audited: Vec<String>,
    /// Answer according to the audit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_audited: Option<String>,
}

/// Conversations and the questions about them.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// Conversations in the order of the file.
    pub conversations: Vec<Conversation>,
    /// Questions in the order of the file.
    pub questions: Vec<Question>,
}

impl DataSet {
    /// Reads the data set in a folder.
    ///
    /// # Errors
    /// If a file is missing, or if a line is not an object of the expected form; the error gives file and line number.
    pub fn read(dir: &Path) -> anyhow::Result<DataSet> {
        Ok(DataSet {
            conversations: read_lines(&dir.join("conversations.jsonl"))?,
            questions: read_lines(&dir.join("questions.jsonl"))?,
        })
    }

    /// Returns the data set with only the conversations and questions of a split; `all` returns everything.
    #[must_use]
    pub fn only(mut self, split: &str) -> DataSet {
        if split != "all" {
            self.conversations.retain(|it| it.split.as_deref() == Some(split));
            self.questions.retain(|it| it.split.as_deref() == Some(split));
        }
        self
    }
}

/// Times at which questions are asked, by the ids of the questions. They define "now" for relative times in a
/// question. A question without an entry is asked at the time of the last turn of its conversation.
pub type QuestionTimes = HashMap<String, String>;

/// Returns the times at which the questions of a data set are asked, from the field `asked_at` of those that have it.
///
/// # Errors
/// Those of [`read_lines`].
pub fn question_times(dir: &Path) -> anyhow::Result<QuestionTimes> {
    #[derive(Deserialize)]
    struct Asked {
        id: String,
        asked_at: Option<String>,
    }
    let asked: Vec<Asked> = read_lines(&dir.join("questions.jsonl"))?;
    Ok(asked.into_iter().filter_map(|it| Some((it.id, it.asked_at?))).collect())
}

/// Reads a file with one JSON object on each line; empty lines are skipped.
///
/// # Errors
/// If the file cannot be read or a line does not fit; the error gives file and line number.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut items = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let place = || format!("{}, line {}", path.display(), number + 1);
        let line = line.with_context(place)?;
        if !line.trim().is_empty() {
            items.push(serde_json::from_str(&line).with_context(place)?);
        }
    }
    Ok(items)
}

fn text_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    let text = value
        .as_str()
        .map(str::to_owned)
        .or_else(|| value.as_number().map(ToString::to_string));
    text.ok_or_else(|| serde::de::Error::custom(format!("a session is a text or a number, not {value}")))
}
