//! Converts the files of public data sets and the runs of agents into the format that [`crate::data`] reads.
//!
//! Each format has a module: `numbered_sessions` (LoCoMo, REALTALK), `longmemeval`, `beam`, `memory_agent_bench`,
//! `trajectory`. The modules accept the differences between versions of a format, such as missing fields and duplicate
//! ids, and count what they repair. Everything else is an error that names file, item and field. Items are read one
//! after the other, so a file may be larger than memory.

mod beam;
mod builder;
mod longmemeval;
mod memory_agent_bench;
mod numbered_sessions;
mod source;
mod text;
mod trajectory;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::Serialize;

pub use builder::{ConvertedConversation, Notes, TimedQuestion};
use source::{Item, for_each_item, read_whole};
use trajectory::Trajectories;

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A list of samples with numbered sessions.
    Locomo,
    /// A list of questions, each with the sessions of its user.
    Longmemeval,
    /// One chat in each file, with numbered sessions.
    Realtalk,
    /// Chats made of batches, with probing questions by ability.
    Beam,
    /// Contexts with questions and answers, as JSON or JSON lines.
    MemoryAgentBench,
    /// Steps of agents and questions about them, as JSON lines.
    Trajectory,
}

/// Options of a conversion.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// Format of the files.
    pub format: Format,
    /// Files, in the order in which they are converted.
    pub files: Vec<PathBuf>,
    /// File with the questions; only for one chat of BEAM.
    pub questions: Option<PathBuf>,
    /// Folder for the new data set.
    pub out: PathBuf,
}

/// Result of a conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of conversations.
    pub conversations: usize,
    /// Number of turns.
    pub turns: usize,
    /// Number of questions.
    pub questions: usize,
    /// Repairs and omissions, counted by kind.
    pub notes: Notes,
}

/// Converts files into a data set: it writes `conversations.jsonl` and `questions.jsonl` to a folder that has neither.
///
/// # Errors
/// If a file cannot be read or has another format, with file, item and field; if an id occurs twice; if the folder
/// already has a data set or cannot be written. After an error the folder has no new files.
pub fn convert_data(conversion: &Conversion) -> anyhow::Result<Counts> {
    let is_one_beam_chat = conversion.format == Format::Beam && conversion.files.len() == 1;
    ensure!(
        conversion.questions.is_none() || is_one_beam_chat,
        "questions in a separate file belong to one chat of BEAM"
    );
    let mut writer = DataSetWriter::create(&conversion.out)?;
    let converted = convert_files(conversion, &mut writer);
    match converted {
        Ok(()) if writer.counts.conversations > 0 => writer.finish(),
        Ok(()) => {
            writer.discard();
            anyhow::bail!("the files hold no conversation")
        }
        Err(error) => {
            writer.discard();
            Err(error)
        }
    }
}

fn convert_files(conversion: &Conversion, writer: &mut DataSetWriter) -> anyhow::Result<()> {
    let mut notes = Notes::default();
    match conversion.format {
        Format::Trajectory => {
            let mut trajectories = Trajectories::default();
            for file in &conversion.files {
                for_each_item(file, &mut |item| trajectories.take(&item))?;
            }
            for converted in trajectories.finish(&mut notes)? {
                writer.add(&converted)?;
            }
        }
        Format::Beam => convert_beam(conversion, writer, &mut notes)?,
        Format::Locomo => for_each_conversation(conversion, writer, &mut notes, numbered_sessions::convert_locomo)?,
        Format::Realtalk => for_each_conversation(conversion, writer, &mut notes, numbered_sessions::convert_realtalk)?,
        Format::Longmemeval => for_each_conversation(conversion, writer, &mut notes, longmemeval::convert_item)?,
        Format::MemoryAgentBench => {
            for_each_conversation(conversion, writer, &mut notes, memory_agent_bench::convert_item)?
        }
    }
    writer.counts.notes = notes;
    Ok(())
}

fn for_each_conversation(
    conversion: &Conversion,
    writer: &mut DataSetWriter,
    notes: &mut Notes,
    read: impl Fn(&Item, &mut Notes) -> anyhow::Result<ConvertedConversation>,
) -> anyhow::Result<()> {
    for file in &conversion.files {
        for_each_item(file, &mut |item| writer.add(&read(&item, notes)?))?;
    }
    Ok(())
}

/// Converts files of BEAM. A file holds samples, or it is one chat, whose first element is not a sample.
fn convert_beam(conversion: &Conversion, writer: &mut DataSetWriter, notes: &mut Notes) -> anyhow::Result<()> {
    let questions = conversion.questions.as_deref().map(read_whole).transpose()?;
    for file in &conversion.files {
        if holds_samples(file)? {
            for_each_item(file, &mut |item| {
                writer.add(&beam::convert_item(&item, questions.as_ref(), notes)?)
            })?;
        } else {
            writer.add(&beam::convert_item(&read_whole(file)?, questions.as_ref(), notes)?)?;
        }
    }
    Ok(())
}

fn holds_samples(file: &Path) -> anyhow::Result<bool> {
    let mut first = None;
    // The callback returns an error only to stop after the first item; the file itself has no error.
    let read = for_each_item(file, &mut |item| {
        first = Some(item.value.get("chat").is_some());
        anyhow::bail!("the first item is enough")
    });
    match first {
        Some(is_sample) => Ok(is_sample),
        None => read.map(|()| true),
    }
}

/// Writes a data set under temporary names, and renames the files when the data set is complete.
struct DataSetWriter {
    conversations: Lines,
    questions: Lines,
    conversation_ids: HashSet<String>,
    question_ids: HashSet<String>,
    counts: Counts,
}

impl DataSetWriter {
    fn create(dir: &Path) -> anyhow::Result<DataSetWriter> {
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(DataSetWriter {
            conversations: Lines::create(dir.join("conversations.jsonl"))?,
            questions: Lines::create(dir.join("questions.jsonl"))?,
            conversation_ids: HashSet::new(),
            question_ids: HashSet::new(),
            counts: Counts::default(),
        })
    }

    fn add(&mut self, converted: &ConvertedConversation) -> anyhow::Result<()> {
        let conversation = &converted.conversation;
        let id = &conversation.conversation_id;
        ensure!(
            self.conversation_ids.insert(id.clone()),
            "two conversations are called {id}: convert their files into two folders"
        );
        ensure!(!conversation.turns.is_empty(), "conversation {id} has no turns");
        self.conversations.write(conversation)?;
        for asked in &converted.questions {
            let question = &asked.question.id;
            ensure!(
                self.question_ids.insert(question.clone()),
                "two questions are called {question}, one of them about {id}"
            );
            self.questions.write(asked)?;
        }
        self.counts.conversations += 1;
        self.counts.turns += conversation.turns.len();
        self.counts.questions += converted.questions.len();
        Ok(())
    }

    fn finish(self) -> anyhow::Result<Counts> {
        self.conversations.finish()?;
        self.questions.finish()?;
        Ok(self.counts)
    }

    fn discard(self) {
        self.conversations.discard();
        self.questions.discard();
    }
}

struct Lines {
    path: PathBuf,
    unfinished: PathBuf,
    out: BufWriter<File>,
}

impl Lines {
    fn create(path: PathBuf) -> anyhow::Result<Lines> {
        ensure!(
            !path.exists(),
            "{} exists: name an empty folder, or remove it",
            path.display()
        );
        let unfinished = path.with_extension("jsonl.part");
        let file = File::create(&unfinished).with_context(|| format!("cannot create {}", unfinished.display()))?;
        Ok(Lines {
            path,
            unfinished,
            out: BufWriter::new(file),
        })
    }

    fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        Ok(self.out.write_all(b"\n")?)
    }

    fn finish(mut self) -> anyhow::Result<()> {
        self.out.flush()?;
        fs::rename(&self.unfinished, &self.path).with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn discard(self) {
        drop(self.out);
        // A file that stays under its temporary name does no harm.
        let _ = fs::remove_file(&self.unfinished);
    }
}
