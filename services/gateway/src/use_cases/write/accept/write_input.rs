//! The input of a write: records, or chat messages.

use domain::id::SpaceId;
use serde::Deserialize;
use serde_json::Value;

use super::accept_batch;
use super::messages::{FromMessages, is_message};
use super::tool_calls::Calls;
use crate::api::problem::Problem;
use crate::api::{Accepted, Item};
use crate::app::keys::access::Access;
use crate::app::state::App;

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
                let read = FromMessages::parse_messages(messages, session.as_deref());
                let mut read = read.map_err(Problem::invalid_request)?;
                if let Some(session) = session {
                    for record in read.records.iter_mut().filter_map(Value::as_object_mut) {
                        let own = record.entry("session").or_insert(Value::Null);
                        if own.is_null() {
                            *own = Value::String(session.clone());
                        }
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

/// Replaces the chat messages in a list of records by the records that they become. The result of a tool may come after
/// other records than its call; a result that is stored with its call becomes no record.
fn with_messages_read(raw_records: Vec<Value>) -> Result<FromMessages, Problem> {
    let (mut all, mut calls) = (FromMessages::default(), Calls::of_records());
    for (index, item) in raw_records.into_iter().enumerate() {
        if is_message(&item) {
            all.add_item(item, &mut calls)
                .map_err(|error| Problem::invalid_request(format!("records[{index}]{error}")))?;
        } else {
            all.records.push(item);
        }
        all.elements.resize(all.records.len(), index);
    }
    Ok(all)
}

/// Accepts the records of a request of a caller like [`accept_batch`]. The items of the response, and of a refusal, name
/// the elements of the request.
pub(crate) async fn accept_request(
    app: &App,
    by: &Access,
    space: &SpaceId,
    request: FromMessages,
    key: Option<&str>,
) -> Result<Accepted, Problem> {
    let FromMessages {
        records,
        left_out,
        elements,
    } = request;
    match accept_batch(app, by, space, records, key).await {
        Ok(mut accepted) => {
            name_elements(&mut accepted.items, &elements);
            accepted.left_out = left_out;
            Ok(accepted)
        }
        Err(mut problem) => {
            name_elements(&mut problem.items, &elements);
            Err(problem)
        }
    }
}

/// Replaces the index of each item's record by the index of the element of the request that became this record.
/// `elements` has it for each record; it is empty if the records have no other indices.
fn name_elements(items: &mut [Item], elements: &[usize]) {
    for item in items {
        if let Some(element) = elements.get(item.index) {
            item.index = *element;
        }
    }
}

/// Returns true if an element of `records` is a chat message of which nothing is stored: a system or developer message,
/// or one that holds no text, no tool call and no picture that a record can hold.
#[must_use]
pub fn leaves_no_record(element: &Value) -> bool {
    let mut read = FromMessages::default();
    is_message(element) && read.add_item(element.clone(), &mut Calls::of_records()).is_ok() && read.records.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_valid_records(records: Value) -> FromMessages {
        with_messages_read(records.as_array().unwrap().clone()).unwrap()
    }

    #[test]
    fn each_record_knows_its_element() {
        let read = read_valid_records(json!([
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "id": "m", "content": "A moment.", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "rain"},
            {"text": "I moved."},
        ]));
        assert_eq!((read.elements, read.left_out), (vec![1, 1, 3], 1));
        assert_eq!(read.records[1]["tool"]["result"], "rain");
    }

    /// The record of the result is the same whether or not its call is in the same request.
    #[test]
    fn a_result_with_an_id_stays_a_record_of_its_own() {
        let call =
            json!({"role": "assistant", "id": "m", "tool_calls": [{"id": "c", "function": {"name": "weather"}}]});
        let result = json!({"role": "tool", "id": "r", "tool_call_id": "c", "content": "rain"});
        let together = read_valid_records(json!([call, result]));
        let apart = [read_valid_records(json!([call])), read_valid_records(json!([result]))];
        assert_eq!(together.elements, [0, 1]);
        assert_eq!(together.records, apart.map(|it| it.records).concat());
    }

    #[test]
    fn only_messages_without_content_leave_no_record() {
        for message in [
            json!({"role": "system", "content": "Be short."}),
            json!({"role": "developer", "content": "Be short."}),
            json!({"role": "user"}),
            json!({"role": "user", "content": " ", "tool_calls": []}),
            json!({"role": "assistant", "content": [{"type": "thinking", "text": "Hm."}, "", {"type": "text", "text": " "}]}),
        ] {
            assert!(leaves_no_record(&message), "{message}");
        }
        for record in [
            json!({"role": "user", "content": "Hello."}),
            json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example/b"}}]}),
            json!({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}),
            json!({"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "look"}}]}),
            json!({"role": "assistant", "content": null, "tool_calls": [{}]}),
            json!({"role": "tool", "content": ""}),
            json!({"content": ""}),
            json!({"text": ""}),
        ] {
            assert!(!leaves_no_record(&record), "{record}");
        }
    }
}
