//! Recovers the complete part of a truncated reply.

/// Maximum number of opening braces at which a reply may begin.
const STARTS_MAX: usize = 16;

/// The complete part of a truncated JSON object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Salvaged<'a> {
    /// The object with its complete members and list items only.
    pub(crate) json: String,
    /// The text after them: the beginning of the item that was cut off, if any.
    pub(crate) rest: &'a str,
}

/// Returns the complete part of each unclosed object in a text, in order, at most 16.
pub(crate) fn salvage_objects(text: &str) -> impl Iterator<Item = Salvaged<'_>> {
    let starts = text.match_indices('{').take(STARTS_MAX);
    starts.filter_map(|(at, _)| object_at_start(&text[at..]))
}

/// The length of the complete part of a text, and the brackets that close it.
#[derive(Clone, Copy)]
struct Complete {
    end: usize,
    closing: &'static str,
}

/// Returns the complete part of the object with which a text begins, or none if the object is closed or is not JSON.
fn object_at_start(text: &str) -> Option<Salvaged<'_>> {
    let mut open: Vec<u8> = Vec::new();
    let (mut in_string, mut is_escaped) = (false, false);
    let mut complete: Option<Complete> = None;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            (in_string, is_escaped) = match byte {
                _ if is_escaped => (true, false),
                b'\\' => (true, true),
                b'"' => (false, false),
                _ => (true, false),
            };
            continue;
        }
        let end = match byte {
            b'"' => {
                in_string = true;
                continue;
            }
            b'{' | b'[' => {
                open.push(byte);
                // An object that was just opened is not an item yet; a list that was just opened is an empty list.
                if open.len() != 2 || byte == b'{' {
                    continue;
                }
                at + 1
            }
            b'}' | b']' => {
                if open.pop()? != opening_bracket(byte) {
                    return None;
                }
                at + 1
            }
            b',' => at,
            _ => continue,
        };
        complete = match open.as_slice() {
            [] => return None,
            [_] => Some(Complete { end, closing: "}" }),
            [_, b'['] => Some(Complete { end, closing: "]}" }),
            _ => complete,
        };
    }
    let Complete { end, closing } = complete?;
    Some(Salvaged {
        json: format!("{}{closing}", &text[..end]),
        rest: text[end..].trim_start_matches(|it: char| it.is_whitespace() || it == ','),
    })
}

fn opening_bracket(closing: u8) -> u8 {
    match closing {
        b'}' => b'{',
        _ => b'[',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_salvaged(text: &str, json: &str, rest: &str) {
        let found = salvage_objects(text).next().unwrap();
        assert_eq!((found.json.as_str(), found.rest), (json, rest), "{text}");
    }

    #[test]
    fn the_complete_items_of_a_list_are_kept() {
        assert_salvaged(r#"{"a": [{"b": 1}, {"b": 2"#, r#"{"a": [{"b": 1}]}"#, r#"{"b": 2"#);
        assert_salvaged(
            r#"{"a": [{"b": [1, 2]}, {"b": [3], "#,
            r#"{"a": [{"b": [1, 2]}]}"#,
            r#"{"b": [3], "#,
        );
        assert_salvaged(
            r#"{"a": [1, 2], "b": [{"c": 1}"#,
            r#"{"a": [1, 2], "b": [{"c": 1}]}"#,
            "",
        );
        assert_salvaged(r#"{"a": ["#, r#"{"a": []}"#, "");
        assert_salvaged(r#"{"a": [1, 23"#, r#"{"a": [1]}"#, "23");
        assert_salvaged(r#"{"a": 1, "b": {"c": 2"#, r#"{"a": 1}"#, r#""b": {"c": 2"#);
    }

    #[test]
    fn brackets_and_commas_in_strings_are_text() {
        assert_salvaged(r#"{"a": ["x]}, \"{", "y}"#, r#"{"a": ["x]}, \"{"]}"#, r#""y}"#);
        assert_salvaged(r#"{"a": ["ä\\", "é"#, r#"{"a": ["ä\\"]}"#, r#""é"#);
    }

    #[test]
    fn a_closed_object_or_invalid_json_is_not_salvaged() {
        for text in ["", "I cannot.", "{", r#"{"a"#, r#"{"a": [1]}"#, r#"{"a": [1}"#] {
            assert_eq!(salvage_objects(text).next(), None, "{text}");
        }
    }

    #[test]
    fn only_the_first_braces_are_tried() {
        let braces = "{".repeat(STARTS_MAX);
        assert_eq!(salvage_objects(&format!("{}{{\"a\": [1,", &braces[1..])).count(), 1);
        assert_eq!(salvage_objects(&format!("{braces}{{\"a\": [1,")).count(), 0);
    }
}
