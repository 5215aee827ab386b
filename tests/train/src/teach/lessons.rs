//! The file of lessons. Each line is the lesson of one stretch and is appended when it is complete. Its key is a
//! digest of all inputs of the lesson.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use domain::port::Usage;
use eval::data::Question;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::check::check_proposal;
use super::prompt::{self, Proposal};
use crate::teach::stretch::Stretch;
use crate::teach::text_digest::digest_of_text;

/// Name of the file in the output folder.
const NAME: &str = "lessons.jsonl";
/// Number of digits of a lesson's key in the ids of its questions.
const ID_DIGITS: usize = 12;
/// Maximum number of bytes that are kept of a rejected question.
const LEFT_OUT_BYTES: usize = 200;

/// The questions that the teacher wrote about one stretch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lesson {
    /// Digest of instructions, teacher, conversation and lines.
    pub key: String,
    /// Id of the conversation.
    conversation: String,
    /// The setting of its questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    split: Option<String>,
    /// The questions that can be learned from.
    pub questions: Vec<Question>,
    /// The questions that were rejected.
    pub left_out: Vec<LeftOut>,
    /// Number of calls for this lesson.
    pub calls: u32,
    /// Number of tokens for this lesson.
    #[serde(default)]
    pub usage: Usage,
}

/// A question that was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Beginning of the question; empty if the reply could not be read.
    pub what: String,
    /// Reason of the rejection.
    pub why: String,
}

/// Returns the key of the lesson that a teacher makes of a stretch: a digest of all inputs of the lesson.
pub fn lesson_key(stretch: &Stretch<'_>, teacher: &str) -> String {
    let name = &stretch.conversation.conversation_id;
    digest_of_text(&json!([prompt::INSTRUCTIONS, teacher, name, prompt::stretch_lines(stretch)]).to_string())
}

impl Lesson {
    /// Returns an empty lesson for a stretch.
    pub fn of(stretch: &Stretch<'_>, teacher: &str) -> Lesson {
        Lesson {
            key: lesson_key(stretch, teacher),
            conversation: stretch.conversation.conversation_id.clone(),
            split: stretch.conversation.split.clone(),
            questions: Vec::new(),
            left_out: Vec::new(),
            calls: 0,
            usage: Usage::default(),
        }
    }

    /// Checks each proposal, and adds it to the questions or to the rejected ones.
    pub fn take(&mut self, proposals: Vec<Proposal>, stretch: &Stretch<'_>) {
        for proposal in proposals {
            match check_proposal(&proposal, stretch) {
                Ok(checked) => {
                    let number = self.questions.len() + 1;
                    let id = format!("{}-t{}-{number}", self.conversation, &self.key[..ID_DIGITS]);
                    let category = match checked.evidence.len() {
                        1 => "single-hop",
                        _ => "multi-hop",
                    };
                    self.questions.push(Question {
                        id,
                        conversation_id: self.conversation.clone(),
                        split: self.split.clone(),
                        question: checked.question,
                        answer: checked.answer,
                        accept: Vec::new(),
                        category: category.to_owned(),
                        category_id: None,
                        evidence: checked.evidence,
                        anchor: Some(checked.anchor),
                        evidence_groups: Vec::new(),
                        answerable: true,
                        options: Vec::new(),
                        rubric: Vec::new(),
                        trap_evidence: Vec::new(),
                        audit_error: None,
                        evidence_audited: Vec::new(),
                        answer_audited: None,
                    });
                }
                Err(why) => self.leave_out(&proposal.question, why),
            }
        }
    }

    /// Records that no reply could be read. The stretch is not asked about again.
    pub fn note_unreadable(&mut self) {
        self.leave_out("", "the reply could not be read");
    }

    fn leave_out(&mut self, what: &str, why: &str) {
        self.left_out.push(LeftOut {
            what: what[..what.floor_char_boundary(LEFT_OUT_BYTES)].to_owned(),
            why: why.to_owned(),
        });
    }
}

/// The lessons in a folder.
pub struct LessonFile {
    /// `None` if the file was opened only for reading.
    file: Option<File>,
    lessons: BTreeMap<String, Lesson>,
}

impl LessonFile {
    /// Opens the file of a folder for appending, and creates it if it is missing. An incomplete last line is removed.
    ///
    /// # Errors
    /// If the file cannot be opened, read or written, or if a line is no lesson; the error gives the number of the
    /// line.
    pub fn open(folder: &Path) -> anyhow::Result<LessonFile> {
        let path = folder.join(NAME);
        let opened = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let mut file = opened.with_context(|| format!("cannot open {}", path.display()))?;
        let ReadLessons { lessons, end } = read(&file, &path)?;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        Ok(LessonFile {
            file: Some(file),
            lessons,
        })
    }

    /// Reads the file of a folder. A missing file has no lessons.
    ///
    /// # Errors
    /// If the file cannot be read, or if a line is no lesson; the error gives the number of the line.
    pub fn read(folder: &Path) -> anyhow::Result<LessonFile> {
        let path = folder.join(NAME);
        let lessons = match path.exists() {
            true => {
                let file = File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
                read(&file, &path)?.lessons
            }
            false => BTreeMap::new(),
        };
        Ok(LessonFile { file: None, lessons })
    }

    /// Returns true if the file has a lesson with this key.
    pub fn holds(&self, key: &str) -> bool {
        self.lessons.contains_key(key)
    }

    /// Returns the questions of all lessons.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.lessons.values().flat_map(|it| &it.questions)
    }

    /// Appends a lesson.
    ///
    /// # Errors
    /// If the lesson cannot be written.
    pub fn append(&mut self, lesson: Lesson) -> anyhow::Result<()> {
        if let Some(file) = &mut self.file {
            let mut text = serde_json::to_vec(&lesson)?;
            text.push(b'\n');
            file.write_all(&text).context("cannot write the lessons")?;
        }
        self.lessons.insert(lesson.key.clone(), lesson);
        Ok(())
    }
}

/// Content of a file of lessons.
struct ReadLessons {
    lessons: BTreeMap<String, Lesson>,
    /// Number of bytes up to the end of the last complete line.
    end: u64,
}

fn read(file: &File, path: &Path) -> anyhow::Result<ReadLessons> {
    let mut found = ReadLessons {
        lessons: BTreeMap::new(),
        end: 0,
    };
    let mut reader = BufReader::new(file);
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        let length = reader.read_until(b'\n', &mut text)?;
        if !text.ends_with(b"\n") {
            break;
        }
        found.end += length as u64;
        let lesson: Lesson = serde_json::from_slice(&text)
            .with_context(|| format!("{}, line {number} is no lesson: remove it", path.display()))?;
        found.lessons.insert(lesson.key.clone(), lesson);
    }
    Ok(found)
}

/// Writes a file with one JSON object on each line, and then replaces an existing file with it.
///
/// # Errors
/// If the file cannot be written.
pub fn write_lines<T: Serialize>(path: &Path, items: &[T]) -> anyhow::Result<()> {
    let beside: PathBuf = path.with_extension("jsonl.new");
    let place = || format!("cannot write {}", beside.display());
    let mut file = BufWriter::new(File::create(&beside).with_context(place)?);
    for item in items {
        serde_json::to_writer(&mut file, item).with_context(place)?;
        file.write_all(b"\n").with_context(place)?;
    }
    file.flush().with_context(place)?;
    fs::rename(&beside, path).with_context(|| format!("cannot write {}", path.display()))
}
