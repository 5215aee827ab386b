//! The input of a write: records, or chat messages.

use serde::Deserialize;
use serde_json::Value;

use super::messages::{FromMessages, is_message};
use crate::api::problem::Problem;

/// A batch with unparsed records, so that one invalid record does not stop the others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteInput {
    /// Records; a chat message in this list is accepted too.
    pub(crate) records: Option<Vec<Value>>,
    /// Chat messages.
    pub(crate) messages: Option<Value>,
    /// The session of messages that have none.
    pub(crate) session: Option<String>,
}

impl WriteInput {
    /// Returns the records in the request, and the number of messages that are left out.
    ///
    /// # Errors
    /// 422 if the request has both or neither of the two fields, or a message cannot be parsed.
    pub(crate) fn into_records(self) -> Result<FromMessages, Problem> {
        match self {
            WriteInput {
                records: Some(records),
                messages: None,
                session: None,
            } => with_messages_read(records),
            WriteInput {
                records: None,
                messages: Some(messages),
                session,
            } => {
                let mut read = FromMessages::parse_messages(messages).map_err(Problem::invalid_request)?;
                if let Some(session) = session {
                    for record in read.records.iter_mut().filter_map(Value::as_object_mut) {
                        record
                            .entry("session")
                            .or_insert_with(|| Value::String(session.clone()));
                    }
                }
                Ok(read)
            }
            WriteInput {
                records: None,
                messages: None,
                ..
            } => Err(Problem::invalid_request(
                "records: is missing; a batch has either `records` or `messages`",
            )),
            WriteInput {
                records: Some(_),
                messages: Some(_),
                ..
            } => Err(Problem::invalid_request(
                "messages: a batch has either `records` or `messages`, not both",
            )),
            WriteInput {
                records: Some(_),
                messages: None,
                session: Some(_),
            } => Err(Problem::invalid_request(
                "session: set it in each record; only `messages` have one session for all",
            )),
        }
    }
}

/// Replaces the chat messages in a list of records by the records that they become.
fn with_messages_read(raw_records: Vec<Value>) -> Result<FromMessages, Problem> {
    let mut all = FromMessages::default();
    for (index, item) in raw_records.into_iter().enumerate() {
        if !is_message(&item) {
            all.records.push(item);
            continue;
        }
        let read = FromMessages::parse_messages(Value::Array(vec![item]));
        let name_record = |error: String| error.replacen("messages[0]", &format!("records[{index}]"), 1);
        let read = read.map_err(|error| Problem::invalid_request(name_record(error)))?;
        all.records.extend(read.records);
        all.left_out += read.left_out;
    }
    Ok(all)
}
