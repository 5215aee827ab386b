//! Tool calls in chat messages, and the records that wait for their results.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::message_content::PARTS_MAX;

/// Tool calls without a result so far.
pub(super) struct Calls {
    /// The index of the record of each call.
    pub(super) records_by_call: BTreeMap<CallPlace, usize>,
    /// The session of messages that have none.
    usual_session: String,
    /// Whether a result with an id is stored under that id and not with its call.
    pub(super) keeps_own_ids: bool,
}

/// A tool call: ids of calls are unique only in their session.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallPlace {
    session: String,
    call_id: String,
}

impl Calls {
    /// Returns the state at the start of `messages`; `session` is the session of those that have none.
    pub(super) fn of_messages(session: Option<&str>) -> Calls {
        Calls {
            records_by_call: BTreeMap::new(),
            usual_session: session.unwrap_or("default").to_owned(),
            keeps_own_ids: false,
        }
    }

    /// Returns the state at the start of `records`. There, a result with its own id stays a separate record: the id
    /// promises that its content is stored once, whichever request has the call.
    pub(super) fn of_records() -> Calls {
        Calls {
            keeps_own_ids: true,
            ..Calls::of_messages(None)
        }
    }

    /// Returns the place of a call with this id in a session; `None` stands for the session of messages that have none.
    pub(super) fn place_of_call(&self, session: Option<&str>, call_id: String) -> CallPlace {
        CallPlace {
            session: session.unwrap_or(&self.usual_session).to_owned(),
            call_id,
        }
    }
}

/// Returns the name of the session of a message or a record; `None` if it has none.
pub(super) fn session_name(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("session").and_then(Value::as_str)
}

/// A tool call in a message.
pub(super) struct Call {
    /// The id by which its result names it; empty if it has none.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// Parses the field `tool_calls` of a message.
///
/// # Errors
/// Names the place of the invalid value in the message, after a `.`.
pub(super) fn tool_calls_of(value: Value) -> Result<Vec<Call>, String> {
    let all = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(all) => all,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Err(".tool_calls: is not a list".to_owned());
        }
    };
    if all.len() > PARTS_MAX {
        return Err(format!(".tool_calls: has more than {PARTS_MAX} calls"));
    }
    let call = |index: usize, it: &Value| {
        let function = it.get("function").unwrap_or(it);
        let name = function.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| format!(".tool_calls[{index}].function.name: is missing"))?;
        Ok(Call {
            id: it.get("id").and_then(Value::as_str).unwrap_or_default().to_owned(),
            name: name.to_owned(),
            arguments: function.get("arguments").cloned().unwrap_or_default(),
        })
    };
    all.iter().enumerate().map(|(index, it)| call(index, it)).collect()
}
