//! Data sets: conversations, and questions with their gold answers and evidence.
//!
//! A data set is a folder with `conversations.jsonl` and `questions.jsonl`, one object a line.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// One conversation; its turns stand in the order of time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Conversation {
    /// Names it; unique in the data set.
    pub conversation_id: String,
    /// Part of the data set it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Who speaks.
    #[serde(default)]
    pub speakers: Vec<String>,
    /// What was said.
    pub turns: Vec<Turn>,
}

/// One turn of a conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// Names it; unique in the conversation.
    pub id: String,
    /// The session it belongs to; written as a text or a number.
    #[serde(deserialize_with = "text_or_number")]
    pub session: String,
    /// Who said it.
    pub speaker: String,
    /// What was said; may be empty beside an image.
    pub text: String,
    /// When, ISO 8601 without a zone.
    pub timestamp: String,
    /// What a shared image shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_caption: Option<String>,
    /// Where a shared image lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_uri: Option<String>,
    /// What else is known of it, such as the step of an agent's run and the place, under the names that the server reads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Turn {
    /// Returns the text with the caption behind it: everything the turn says.
    pub fn whole(&self) -> String {
        format!("{} {}", self.text, self.image_caption.as_deref().unwrap_or_default())
    }
}

/// One question with what a right answer is. Only its wording goes to the server, and the answer to a judge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    /// Names it; unique in the data set.
    pub id: String,
    /// The conversation it is about.
    pub conversation_id: String,
    /// Part of the data set it belongs to.
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
    /// The kind as a number where answers are scored by kind: 1 lists, 3 answers with a remark behind a semicolon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category_id: Option<i64>,
    /// Turns that hold the answer, all of them needed.
    pub evidence: Vec<String>,
    /// The one of them that the question starts from: it tells what the question names, and the others follow from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// Instead of `evidence`: groups of which one turn each is needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_groups: Vec<Vec<String>>,
    /// Whether the conversation holds an answer.
    pub answerable: bool,
    /// Choices of a multiple-choice question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<serde_json::Value>,
    /// What a good long answer says, one statement each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rubric: Vec<String>,
    /// Turns that tempt to answer an unanswerable question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trap_evidence: Vec<String>,
    /// What an audit found wrong with the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_error: Option<String>,
    /// Evidence according to the audit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_audited: Vec<String>,
    /// Answer according to the audit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_audited: Option<String>,
}

/// A data set.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// In the order of the file.
    pub conversations: Vec<Conversation>,
    /// In the order of the file.
    pub questions: Vec<Question>,
}

impl DataSet {
    /// Reads the data set in a folder.
    ///
    /// # Errors
    /// If a file is missing or a line is not an object of the form, with file and line number.
    pub fn read(dir: &Path) -> anyhow::Result<DataSet> {
        Ok(DataSet {
            conversations: read_lines(&dir.join("conversations.jsonl"))?,
            questions: read_lines(&dir.join("questions.jsonl"))?,
        })
    }

    /// Returns the data set with only the conversations and questions of a split; `all` keeps everything.
    #[must_use]
    pub fn only(mut self, split: &str) -> DataSet {
        if split != "all" {
            self.conversations.retain(|it| it.split.as_deref() == Some(split));
            self.questions.retain(|it| it.split.as_deref() == Some(split));
        }
        self
    }
}

/// When questions are asked, by their ids: the "now" of relative times in them. Those that are left out are asked when the
/// last turn of their conversation was.
pub type QuestionTimes = HashMap<String, String>;

/// Reads when the questions of the data set in a folder are asked (`asked_at`), where it says so.
///
/// # Errors
/// As [`read_lines`].
pub fn question_times(dir: &Path) -> anyhow::Result<QuestionTimes> {
    #[derive(Deserialize)]
    struct Asked {
        id: String,
        asked_at: Option<String>,
    }
    let asked: Vec<Asked> = read_lines(&dir.join("questions.jsonl"))?;
    Ok(asked.into_iter().filter_map(|it| Some((it.id, it.asked_at?))).collect())
}

/// Reads a file of one JSON object a line; empty lines are skipped.
///
/// # Errors
/// If the file cannot be read or a line does not fit, with file and line number.
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
