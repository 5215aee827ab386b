//! Stores the chat as records: the messages of the user since the last reply, and the reply.
//!
//! An id derives from the session, the conversation before the message, and the message itself: a client that retries
//! stores nothing twice, and the same words in another conversation are another record. For a request with an
//! `Idempotency-Key`, the id of the reply derives from the key instead, because a model may give another reply to the
//! same request.

use std::time::Duration;

use domain::id::SpaceId;
use serde::Deserialize as _;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::timeout;
use tracing::{Instrument, info, info_span, warn};

use super::conversation::add_field;
use super::evidence::replace_control_characters;
use super::reply::{Call, Reply};
use super::request::{ChatRequest, Message};
use crate::api::{Item, ItemStatus, NewRecord};
use crate::app::hex::to_hex;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::use_cases::validate::{self, FIELD_BYTES_MAX, NAME_BYTES_MAX, TOOL_NAME_BYTES_MAX};
use crate::use_cases::write::accept;

/// Longest wait of a chat until its records are on disk; after it they are stored in the background.
const PATIENCE: Duration = Duration::from_secs(5);

/// Destination of the records of one chat.
#[derive(Clone)]
pub(super) struct Storing {
    pub(super) app: App,
    /// Access of the caller.
    pub(super) access: Access,
    pub(super) space: SpaceId,
    pub(super) session: String,
    /// The caller's `Idempotency-Key`.
    pub(super) key: Option<String>,
    /// The reason why nothing is stored, if that is the case.
    pub(super) refused: Option<&'static str>,
}

/// Result of storing records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreOutcome {
    /// The records are on disk, now or since an earlier request.
    Kept,
    /// There were no records to store.
    Nothing,
    /// The records are not stored, with the reason.
    Not(&'static str),
}

impl Storing {
    /// Returns the records of the user's messages. A name that no record can have is left out.
    pub(super) fn user_records(&self, request: &ChatRequest) -> Vec<Value> {
        let records = request.user_messages_since_reply().flat_map(|message| {
            let Message { name, text, before, .. } = message;
            let is_valid = |it: &&str| validate::check_name("name", Some(*it), NAME_BYTES_MAX).is_ok();
            let actor = name.as_deref().filter(is_valid).unwrap_or("user");
            let seed = format!("{before} user {actor}");
            self.text_records(&seed, actor, text)
        });
        records.collect()
    }

    /// Returns the records of a reply; `conversation` is the digest of the messages that it replies to.
    pub(super) fn reply_records(&self, conversation: &str, reply: &Reply) -> Vec<Value> {
        // A reply that was cut off may be complete next time, and is then stored too.
        let by_key = self.key.as_deref().filter(|_| !reply.cut);
        let seed = match by_key {
            Some(_) => "key".to_owned(),
            None => format!("{conversation} assistant"),
        };
        let content = |text: &str| by_key.map_or_else(|| text.to_owned(), str::to_owned);
        let mut records = self.texts_as(&seed, "assistant", &reply.text, &content);
        for (number, call) in reply.calls.iter().enumerate() {
            let call_content = content(&format!("{} {}", call.name, call.arguments));
            let id = self.derive_record_id(&format!("{seed} call {number}"), &call_content);
            records.push(self.call_record(&id, call));
        }
        if reply.cut {
            records.iter_mut().for_each(mark_as_cut);
        }
        records
    }

    /// Returns the record of a tool call. Arguments that are too long, or nested too deeply, become text. Such a text,
    /// and the name, are cut off at the longest length.
    fn call_record(&self, id: &str, call: &Call) -> Value {
        // A record needs a name without control characters.
        let full_name = call.name.replace(char::is_control, " ");
        let name = &full_name[..full_name.floor_char_boundary(TOOL_NAME_BYTES_MAX)];
        let is_name_cut = name.len() < full_name.len();
        let record_with = |arguments: Value, is_cut: bool| {
            let mut record = json!({
                "id": id, "session": self.session, "actor": "assistant",
                "tool": { "name": name, "arguments": arguments }
            });
            if is_cut {
                mark_as_cut(&mut record);
            }
            record
        };
        let parsed = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::from(call.arguments.as_str()));
        let record = record_with(parsed, is_name_cut);
        let text_bytes_max = self.app.config.text_bytes_max;
        if NewRecord::deserialize(&record).is_ok_and(|it| validate::check_record(&it, text_bytes_max).is_ok()) {
            return record;
        }
        let text = replace_control_characters(&call.arguments);
        let end = text.floor_char_boundary(text_bytes_max.min(FIELD_BYTES_MAX));
        record_with(Value::from(&text[..end]), is_name_cut || end < text.len())
    }

    /// Stores records. Once started, it finishes even if the caller stops waiting; the wait is at most [`PATIENCE`].
    pub(super) async fn store_records(&self, records: Vec<Value>) -> StoreOutcome {
        if let Some(reason) = self.refused {
            return StoreOutcome::Not(reason);
        }
        if records.is_empty() {
            return StoreOutcome::Nothing;
        }
        let storing = self.clone();
        let work = async move { storing.accept_records(records).await };
        let work = tokio::spawn(work.instrument(info_span!("store")));
        match timeout(PATIENCE, work).await {
            Ok(Ok(stored)) => stored,
            Ok(Err(_)) => StoreOutcome::Not("failed"),
            Err(_) => StoreOutcome::Not("took too long"),
        }
    }

    async fn accept_records(&self, mut records: Vec<Value>) -> StoreOutcome {
        let Storing { app, access, space, .. } = self;
        // At shutdown, the gateway waits for this task.
        let _asking = app.context.keep_serving();
        records.truncate(app.config.batch_max);
        match accept::accept_batch(app, access, space, records, None).await {
            Ok(accepted) => result_of_items(&accepted.items),
            Err(problem) if !problem.items.is_empty() => result_of_items(&problem.items),
            Err(problem) if problem.is_unknown_space() => StoreOutcome::Not("unknown space"),
            Err(problem) => {
                warn!(status = problem.status, "a chat through the proxy is not stored");
                StoreOutcome::Not(match problem.status {
                    429 if problem.retry_after_secs.is_some() => "the quota of the key is used up",
                    429 => "queue full",
                    503 => "memory cannot be reached",
                    _ => "failed",
                })
            }
        }
    }

    fn text_records(&self, seed: &str, actor: &str, text: &str) -> Vec<Value> {
        self.texts_as(seed, actor, text, &str::to_owned)
    }

    /// Splits a text into records of the maximum length; `content` returns the text that their ids derive from.
    fn texts_as(&self, seed: &str, actor: &str, text: &str, content: &dyn Fn(&str) -> String) -> Vec<Value> {
        if text.trim().is_empty() {
            return Vec::new();
        }
        let text = replace_control_characters(text);
        let parts = split_text(&text, self.app.config.text_bytes_max);
        let records = parts.into_iter().enumerate().map(|(number, part)| {
            json!({
                "id": self.derive_record_id(&format!("{seed} {number}"), &content(part)), "session": self.session, "actor": actor,
                "text": part
            })
        });
        records.collect()
    }

    fn derive_record_id(&self, seed: &str, content: &str) -> String {
        let mut hash = Sha256::new();
        for part in [self.session.as_str(), seed, content] {
            add_field(&mut hash, part);
        }
        format!("chat-{}", to_hex(&hash.finalize()[..16]))
    }
}

/// Notes in the metadata of a record that it holds only the beginning of a text or a name.
fn mark_as_cut(record: &mut Value) {
    record["metadata"] = json!({ "cut": "true" });
}

/// Returns the result of storing, from the items. A conflict means that an earlier attempt with the same
/// `Idempotency-Key` stored another reply.
fn result_of_items(items: &[Item]) -> StoreOutcome {
    let known = |it: &Item| it.problem.as_ref().is_some_and(|it| it.status == 409);
    let refused = |it: &&Item| it.status == ItemStatus::Rejected && !known(it);
    match items.iter().filter(refused).count() {
        0 => {}
        records => info!(records, "parts of a chat through the proxy cannot be records"),
    }
    match items.iter().any(|it| it.status != ItemStatus::Rejected || known(it)) {
        true => StoreOutcome::Kept,
        false => StoreOutcome::Not("nothing in it can be a record"),
    }
}

/// Splits a text into parts of at most `bytes_max` bytes.
fn split_text(mut text: &str, bytes_max: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    while text.len() > bytes_max {
        // At least one character in each part, so that a limit below the width of a character does not loop forever.
        let at = text.floor_char_boundary(bytes_max).max(text.ceil_char_boundary(1));
        let (part, rest) = text.split_at(at);
        parts.push(part);
        text = rest;
    }
    parts.push(text);
    parts.retain(|it| !it.trim().is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_without_loss() {
        assert_eq!(split_text("short", 10), ["short"]);
        assert_eq!(split_text("aéé b", 3), ["aé", "é ", "b"]);
        assert_eq!(split_text("éé", 1), ["é", "é"]);
    }
}
