//! Converts a piece of an input to records.

use domain::id::RecordId;
use gateway::find_repeated_field;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::record_draft::LeftOut;
use crate::import::formats::format::Kind;
use crate::import::formats::{chatgpt, claude, memories};
use crate::remote_commands::keys::to_hex;

/// The content of a piece.
pub(super) enum Parsed {
    Records(Vec<Value>),
    Reading(Value),
}

/// Returns the content of a piece; counts the parts that are left out.
///
/// # Errors
/// If the piece is not JSON, or is not of this kind.
pub(super) fn parse_piece(kind: Kind, piece: &[u8], number: u64, left_out: &mut LeftOut) -> Result<Parsed, String> {
    let value: Value = serde_json::from_slice(piece).map_err(|error| format!("not JSON: {error}"))?;
    if !value.is_object() {
        return Err("not a JSON object".to_owned());
    }
    let records = match kind {
        Kind::Records => return parse_line(value, piece, number),
        Kind::ChatGpt => chatgpt::records_from_conversation(&value, left_out),
        Kind::Claude => claude::records_from_conversation(&value, left_out),
        Kind::Mem0 => memories::of_mem0(&value, left_out),
        Kind::Hindsight => memories::of_hindsight(&value, left_out),
        Kind::Text | Kind::Markdown => Ok(vec![value]),
    };
    Ok(Parsed::Records(records?))
}

/// Returns the record or the reading of a line. A record without an id, or with null, gets one derived from its number
/// and text, so that a record that is sent twice is stored once. Mnemic's own id, which lists of records contain, is
/// removed, since it is derived from the other id. A line in which an object has a field twice is an error, because a
/// server refuses such a body, too.
fn parse_line(mut record: Value, line: &[u8], number: u64) -> Result<Parsed, String> {
    if let Some(error) = find_repeated_field(line) {
        return Err(format!("{error}; an object may have each field once"));
    }
    if let Some(reading) = of_line(&mut record) {
        return Ok(Parsed::Reading(reading));
    }
    let Some(fields) = record.as_object_mut() else {
        return Err("not a JSON object".to_owned());
    };
    let listed = |it: &Value| it.as_str().is_some_and(|it| it.parse::<RecordId>().is_ok());
    if fields.get("record").is_some_and(listed) {
        fields.remove("record");
    }
    if fields.get("id").is_none_or(Value::is_null) {
        let digest = Sha256::new()
            .chain_update(number.to_be_bytes())
            .chain_update(line.trim_ascii())
            .finalize();
        fields.insert("id".to_owned(), json!(format!("line-{}", &to_hex(&digest)[..16])));
    }
    Ok(Parsed::Records(vec![record]))
}

/// Returns the reading of a line, if the line holds one.
pub(crate) fn of_line(line: &mut Value) -> Option<Value> {
    let fields = line.as_object_mut().filter(|it| it.len() == 1)?;
    fields.get("reading").filter(|it| it.is_object())?;
    fields.remove("reading")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the id of the only record of a line.
    fn id_of(line: &str) -> Value {
        let parsed = parse_piece(Kind::Records, line.as_bytes(), 1, &mut LeftOut::default());
        let Ok(Parsed::Records(mut records)) = parsed else {
            panic!("{line} is no record");
        };
        assert_eq!(records.len(), 1);
        records[0]["id"].take()
    }

    #[test]
    fn a_line_without_an_id_gets_the_same_one_each_time() {
        for line in [r#"{"text": "A fine day."}"#, r#"{"id": null, "text": "A fine day."}"#] {
            let id = id_of(line);
            assert!(id.as_str().is_some_and(|it| it.starts_with("line-")), "{line}: {id}");
            assert_eq!(id, id_of(line));
        }
        assert_eq!(id_of(r#"{"id": "7", "text": "A fine day."}"#), "7");
    }

    #[test]
    fn a_line_with_a_repeated_field_is_refused() {
        for line in [
            r#"{"id": "7", "text": "A fine day.", "id": "8"}"#,
            r#"{"text": "A fine day.", "metadata": {"id": "7", "id": "8"}}"#,
            r#"{"reading": {"records": [], "passages": [{"id": "7", "id": "8"}]}}"#,
        ] {
            let parsed = parse_piece(Kind::Records, line.as_bytes(), 1, &mut LeftOut::default());
            let error = parsed.err().unwrap();
            assert!(
                error.starts_with("duplicate field `id` at line 1 column ")
                    && error.ends_with("; an object may have each field once"),
                "{line}: {error}"
            );
        }
        assert_eq!(
            id_of(r#"{"id": "7", "text": "A fine day.", "metadata": {"id": "8"}}"#),
            "7"
        );
    }
}
