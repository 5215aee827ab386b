//! Record and replay of language model calls in a file, one JSON line each: recorded when they are made, or replayed
//! without an endpoint.
//!
//! The key of a call is the digest of everything that determines its reply: role, model, parameters, messages, tools,
//! schema, and the digests of the pictures (the pictures themselves are not recorded). While recording, a call that is
//! already in the file is answered from it, and concurrent equal calls are made once. So a replay gives exactly the
//! replies of the recorded run, and an interrupted run continues where it was.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use domain::port::{self, Chat, Completion, LanguageModel, ModelRole};
use domain::{ErrorKind, PortError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;
use tracing::warn;

use crate::process::private_files;

/// Maximum size of a recording, in bytes. A larger file is an error; calls beyond the limit are not recorded.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be opened or read.
    #[error("cannot use the recording {}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file contains something else.
    #[error(
        "line {line} of {} is not a recorded call of a language model: remove the line, or give another file",
        path.display()
    )]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The reason.
        source: serde_json::Error,
    },
    /// The file is too large.
    #[error("the recording {} has more than {FILE_BYTES_MAX} bytes: split it by hand", path.display())]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
    },
}

/// A line of a recording. `call` is only for people; a call is found by its `key`.
#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    #[serde(default)]
    call: Value,
    completion: Completion,
}

/// Everything that determines a reply.
#[derive(Serialize)]
struct Call<'a> {
    model: &'a str,
    parameters: &'a BTreeMap<String, Value>,
    #[serde(flatten)]
    chat: &'a Chat,
    /// SHA-256 of the pictures, in order; the chat itself contains only their kinds and sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<String>,
}

/// A file of calls, shared by all models of a process.
pub struct Recording {
    /// The cells of all calls that are recorded or in progress.
    calls: Mutex<HashMap<String, Arc<OnceCell<Completion>>>>,
    /// The file for new calls, with its length; absent in a replay.
    file: Option<Arc<Mutex<(File, u64)>>>,
}

impl Recording {
    /// Opens a recording for replay.
    ///
    /// # Errors
    ///
    /// A file that is missing, too large, or not a recording.
    pub fn open_for_replay(path: &Path) -> Result<Recording, RecordingError> {
        let file = File::open(path).map_err(|source| file_error(path, source))?;
        let (calls, _) = read_calls(path, &file)?;
        Ok(Recording {
            calls: Mutex::new(calls),
            file: None,
        })
    }

    /// Opens a recording for adding calls. If it is missing, creates it, readable by this user only. An incomplete last
    /// line is removed.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, is too large, or is not a recording.
    pub fn open_for_recording(path: &Path) -> Result<Recording, RecordingError> {
        let opened = private_files::private_file_options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        let mut file = opened.map_err(|source| file_error(path, source))?;
        let (calls, end) = read_calls(path, &file)?;
        file.set_len(end)
            .and_then(|()| file.seek(SeekFrom::Start(end)))
            .map_err(|source| file_error(path, source))?;
        Ok(Recording {
            calls: Mutex::new(calls),
            file: Some(Arc::new(Mutex::new((file, end)))),
        })
    }

    fn cell_of_call(&self, key: &str) -> Arc<OnceCell<Completion>> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(calls.entry(key.to_owned()).or_default())
    }

    /// Appends a line. An error is only logged, because the caller has a reply anyway.
    async fn append_line(&self, line: &Line) {
        let (Some(file), Ok(mut text)) = (self.file.clone(), serde_json::to_vec(line)) else {
            return;
        };
        text.push(b'\n');
        let write = move || {
            let (file, length) = &mut *file.lock().unwrap_or_else(PoisonError::into_inner);
            if *length + text.len() as u64 > FILE_BYTES_MAX {
                return Err(io::Error::other("the recording is full"));
            }
            file.write_all(&text)?;
            *length += text.len() as u64;
            Ok(())
        };
        let written = tokio::task::spawn_blocking(write).await;
        if let Err(error) = written.map_err(io::Error::other).flatten() {
            warn!(
                error = &error as &dyn Error,
                "a call of a language model is not recorded"
            );
        }
    }
}

fn file_error(path: &Path, source: io::Error) -> RecordingError {
    RecordingError::File {
        path: path.to_owned(),
        source,
    }
}

type Calls = HashMap<String, Arc<OnceCell<Completion>>>;

/// Returns the calls in a file and the end of its last complete line. Of equal calls the first counts.
fn read_calls(path: &Path, file: &File) -> Result<(Calls, u64), RecordingError> {
    let bytes = file.metadata().map_err(|source| file_error(path, source))?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(RecordingError::TooLarge { path: path.to_owned() });
    }
    let (mut calls, mut end) = (Calls::new(), 0);
    let mut reader = BufReader::new(file);
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        let length = reader
            .read_until(b'\n', &mut text)
            .map_err(|source| file_error(path, source))?;
        if !text.ends_with(b"\n") {
            break;
        }
        end += length as u64;
        let line: Line = serde_json::from_slice(&text).map_err(|source| RecordingError::Line {
            path: path.to_owned(),
            line: number,
            source,
        })?;
        calls
            .entry(line.key)
            .or_insert_with(|| Arc::new(OnceCell::new_with(Some(line.completion))));
    }
    Ok((calls, end))
}

/// A language model whose calls are recorded or replayed.
pub struct Recorded {
    recording: Arc<Recording>,
    model: String,
    parameters: BTreeMap<String, Value>,
    /// The model to call; absent in a replay.
    inner: Option<Arc<dyn LanguageModel>>,
}

impl Recorded {
    /// Makes a model that calls `inner` and records the calls; without `inner`, one that replays them.
    pub fn new(
        recording: Arc<Recording>,
        model: &str,
        parameters: &BTreeMap<String, Value>,
        inner: Option<Arc<dyn LanguageModel>>,
    ) -> Recorded {
        Recorded {
            recording,
            model: model.to_owned(),
            parameters: parameters.clone(),
            inner,
        }
    }

    fn call_to_json(&self, chat: &Chat) -> port::Result<Value> {
        let call = Call {
            model: &self.model,
            parameters: &self.parameters,
            chat,
            pictures: chat.pictures().map(|it| to_hex(&Sha256::digest(it.bytes()))).collect(),
        };
        serde_json::to_value(call).map_err(|source| {
            PortError::new("model.complete", ErrorKind::Internal, "the call cannot be recorded").caused_by(source)
        })
    }

    async fn complete_and_record(&self, key: &str, call: Value, chat: &Chat) -> port::Result<Completion> {
        let Some(inner) = &self.inner else {
            // Without a source, because no call was sent.
            let detail = "the recording that is replayed does not hold this call";
            return Err(PortError::new("model.complete", ErrorKind::Unavailable, detail));
        };
        let completion = inner.complete(chat).await?;
        let line = Line {
            key: key.to_owned(),
            call,
            completion: completion.clone(),
        };
        self.recording.append_line(&line).await;
        Ok(completion)
    }
}

#[async_trait]
impl LanguageModel for Recorded {
    async fn complete(&self, chat: &Chat) -> port::Result<Completion> {
        let call = self.call_to_json(chat)?;
        // JSON maps are sorted, so equal calls give equal texts.
        let key = to_hex(&Sha256::digest(call.to_string()));
        let cell = self.recording.cell_of_call(&key);
        let completion = cell
            .get_or_try_init(|| self.complete_and_record(&key, call, chat))
            .await?;
        Ok(completion.clone())
    }

    fn pause_before_background_calls(&self, role: ModelRole) -> Option<Duration> {
        self.inner.as_ref()?.pause_before_background_calls(role)
    }
}

fn to_hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use domain::port::Picture;

    use super::*;

    fn call_with_pictures(pictures: &[&[u8]]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let recording = Recording::open_for_recording(&dir.path().join("calls.jsonl")).unwrap();
        let recorded = Recorded::new(Arc::new(recording), "parrot", &BTreeMap::new(), None);
        let mut chat = Chat::new(ModelRole::See, "Describe.", "The picture:".to_owned());
        for bytes in pictures {
            chat = chat.with_picture(Picture::new(bytes.to_vec()).unwrap());
        }
        recorded.call_to_json(&chat).unwrap().to_string()
    }

    #[test]
    fn calls_with_different_pictures_have_different_keys_and_contain_no_picture() {
        let (none, first, second) = (
            call_with_pictures(&[]),
            call_with_pictures(&[b"GIF89a one"]),
            call_with_pictures(&[b"GIF89a two"]),
        );
        assert!(
            !none.contains("pictures"),
            "a call without pictures stays as it was: {none}"
        );
        assert_ne!(first, second);
        assert_eq!(first, call_with_pictures(&[b"GIF89a one"]));
        assert!(!first.contains("R0lG") && first.contains(r#""bytes":10"#), "{first}");
    }

    #[test]
    fn a_call_has_the_same_key_whatever_is_left_of_the_budget() {
        let dir = tempfile::tempdir().unwrap();
        let recording = Recording::open_for_recording(&dir.path().join("calls.jsonl")).unwrap();
        let recorded = Recorded::new(Arc::new(recording), "parrot", &BTreeMap::new(), None);
        let call = |text: &str, completion_max: Option<u32>| {
            let chat = Chat::new(ModelRole::Write, "Read.", text.to_owned());
            let chat = Chat { completion_max, ..chat };
            recorded.call_to_json(&chat).unwrap().to_string()
        };
        assert_eq!(call("A line.", Some(9_997_611)), call("A line.", Some(9_997_785)));
        assert_eq!(call("A line.", Some(9_997_611)), call("A line.", None));
        assert_ne!(call("A line.", None), call("Another line.", None));
    }
}
