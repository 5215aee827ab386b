//! The input of a write: records, or chat messages.

use serde::Deserialize;
use serde_json::Value;

use super::messages::{FromMessages, is_message};
use crate::problem::Problem;

/// A batch with unparsed records, so that one invalid record does not stop the others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Given {
    /// Records; a chat message in this list is accepted too.
    pub(crate) records: Option<Vec<Value>>,
    /// Chat messages.
    pub(crate) messages: Option<Value>,
    /// The session for messages that name none.
    pub(crate) session: Option<String>,
}

impl Given {
    /// Returns the records in the request, and the number of messages that are left out.
    ///
    /// # Errors
    /// 422 if the request has both or neither of the two fields, or a message cannot be parsed.
    pub(crate) fn records(self) -> Result<FromMessages, Problem> {
        match self {
            Given {
                records: Some(records),
                messages: None,
                session: None,
            } => with_messages_read(records),
            Given {
                records: None,
                messages: Some(messages),
                session,
            } => {
                let mut read = FromMessages::read(messages).map_err(Problem::invalid)?;
                if let Some(session) = session {
                    for record in read.records.iter_mut().filter_map(Value::as_object_mut) {
                        record
                            .entry("session")
                            .or_insert_with(|| Value::String(session.clone()));
                    }
                }
                Ok(read)
            }
            Given {
                records: None,
                messages: None,
                ..
            } => Err(Problem::invalid(
                "records: is missing; a batch has either `records` or `messages`",
            )),
            Given {
                records: Some(_),
                messages: Some(_),
                ..
            } => Err(Problem::invalid(
                "messages: a batch has either `records` or `messages`, not both",
            )),
            Given {
                records: Some(_),
                messages: None,
                session: Some(_),
            } => Err(Problem::invalid(
                "session: belongs into each record; only `messages` have one for all",
            )),
        }
    }
}

/// Replaces the chat messages in a list of records by the records that they become.
fn with_messages_read(given: Vec<Value>) -> Result<FromMessages, Problem> {
    let mut all = FromMessages::default();
    for (index, item) in given.into_iter().enumerate() {
        if !is_message(&item) {
            all.records.push(item);
            continue;
        }
        let read = FromMessages::read(Value::Array(vec![item]));
        let named = |error: String| error.replacen("messages[0]", &format!("records[{index}]"), 1);
        let read = read.map_err(|error| Problem::invalid(named(error)))?;
        all.records.extend(read.records);
        all.left_out += read.left_out;
    }
    Ok(all)
}
