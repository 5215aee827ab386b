//! Duplicate names in JSON objects. Of two values with one name, a parser of a map silently keeps the last; the caller
//! may have meant the other (RFC 8259, section 4).

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Maximum number of characters of a name that an error shows.
const SHOWN_MAX: usize = 64;

/// Returns the error that an object in a JSON text has a name twice, with the name and its place. Any other error of the
/// text is left to its parser.
#[must_use]
pub fn find_repeated_field(bytes: &[u8]) -> Option<serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = UniqueFields::deserialize(&mut reader);
    read.err().filter(serde_json::Error::is_data)
}

/// A value of any kind, in which no object has a name twice.
struct UniqueFields;

impl<'de> Deserialize<'de> for UniqueFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<UniqueFields, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = UniqueFields;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<UniqueFields, E> {
        Ok(UniqueFields)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<UniqueFields, E> {
        Ok(UniqueFields)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<UniqueFields, E> {
        Ok(UniqueFields)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<UniqueFields, E> {
        Ok(UniqueFields)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<UniqueFields, E> {
        Ok(UniqueFields)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<UniqueFields, E> {
        Ok(UniqueFields)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueFields, A::Error> {
        while let Some(UniqueFields) = items.next_element()? {}
        Ok(UniqueFields)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<UniqueFields, A::Error> {
        let mut names: HashSet<String> = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            if names.contains(&name) {
                let shown: String = name.chars().take(SHOWN_MAX).collect();
                return Err(A::Error::custom(format_args!("duplicate field `{shown}`")));
            }
            names.insert(name);
            let UniqueFields = fields.next_value()?;
        }
        Ok(UniqueFields)
    }
}

#[cfg(test)]
mod tests {
    use super::find_repeated_field;

    #[test]
    fn a_name_that_an_object_has_twice_is_found() {
        for json in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"b":2,"\u0061":3}"#,
            r#"[1.5,-2,"x",null,true,{"b":[{"a":{},"a":{}}]}]"#,
        ] {
            let error = find_repeated_field(json.as_bytes()).unwrap().to_string();
            assert!(error.starts_with("duplicate field `a` at line 1 column "), "{error}");
        }
    }

    #[test]
    fn other_texts_are_left_to_their_parser() {
        for json in [
            "",
            "{",
            r#"{"a""#,
            "[1e999]",
            r#""\ud800""#,
            r#"{"a":1,"A":1,"b":{"a":1}}"#,
            r#"[{"a":1},{"a":1}]"#,
            &"[".repeat(200),
        ] {
            assert!(find_repeated_field(json.as_bytes()).is_none(), "{json}");
        }
    }
}
