//! Where JSON values begin and end, without reading what they say: also of values that are broken or cut off.

/// Names of lists of conversations or memories inside of an object.
pub(super) const LIST_NAMES: [&str; 5] = ["conversations", "results", "memories", "items", "data"];
/// Deepest nesting that is followed.
const DEPTH_MAX: usize = 1_024;
/// Names that are collected by [`outline`].
const KEYS_MAX: usize = 256;

/// What a byte was to the value that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The value goes on after it.
    Inside,
    /// It is the last byte of the value.
    Last,
    /// It comes after the value, which is a number or a word.
    After,
    /// The value is nested deeper than [`DEPTH_MAX`].
    TooDeep,
}

/// Follows one value byte by byte.
///
/// A bracket that does not match closes what was left open inside of its counterpart, and a string ends with its line, so
/// that a broken element of a list seldom takes the next one with it.
#[derive(Debug, Default)]
pub(super) struct Scan {
    open: Vec<u8>,
    in_string: bool,
    is_escaped: bool,
    has_begun: bool,
}

impl Scan {
    /// Takes the next byte of the value.
    pub(super) fn step(&mut self, byte: u8) -> Step {
        let is_first = !self.has_begun;
        self.has_begun = true;
        if self.in_string {
            return self.in_string(byte);
        }
        match byte {
            b'"' => {
                self.in_string = true;
                Step::Inside
            }
            b'{' | b'[' if self.open.len() == DEPTH_MAX => Step::TooDeep,
            b'{' | b'[' => {
                self.open.push(byte);
                Step::Inside
            }
            b'}' | b']' => self.close(byte, is_first),
            b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if self.open.is_empty() => {
                if is_first {
                    Step::Last
                } else {
                    Step::After
                }
            }
            _ => Step::Inside,
        }
    }

    fn in_string(&mut self, byte: u8) -> Step {
        if self.is_escaped {
            self.is_escaped = false;
        } else if byte == b'\\' {
            self.is_escaped = true;
        } else if byte == b'"' || byte == b'\n' {
            self.in_string = false;
            if self.open.is_empty() {
                return Step::Last;
            }
        }
        Step::Inside
    }

    fn close(&mut self, byte: u8, is_first: bool) -> Step {
        let counterpart = if byte == b'}' { b'{' } else { b'[' };
        match self.open.iter().rposition(|it| *it == counterpart) {
            Some(place) => self.open.truncate(place),
            None if self.open.is_empty() && !is_first => return Step::After,
            None if self.open.is_empty() => return Step::Last,
            None => return Step::Inside,
        }
        if self.open.is_empty() { Step::Last } else { Step::Inside }
    }
}

/// What the first bytes of a JSON text say about it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// Whether it is a list.
    pub(super) is_list: bool,
    /// Name of the list inside of the object that it is, if it has one of [`LIST_NAMES`].
    pub(super) wrapper: Option<String>,
    /// Names in the first element of the list, else in the object.
    pub(super) keys: Vec<String>,
}

/// Returns what the first bytes of a JSON text say about it; nothing for other texts.
pub(super) fn outline(head: &[u8]) -> Outline {
    let mut cursor = Cursor { rest: head };
    match cursor.peek() {
        Some(b'[') => {
            cursor.advance(1);
            Outline {
                is_list: true,
                wrapper: None,
                keys: keys(&mut cursor).names,
            }
        }
        Some(b'{') => {
            let found = keys(&mut cursor);
            let Some(wrapper) = found.wrapper else {
                return Outline {
                    keys: found.names,
                    ..Outline::default()
                };
            };
            Outline {
                is_list: false,
                wrapper: Some(wrapper),
                keys: keys(&mut cursor).names,
            }
        }
        Some(_) | None => Outline::default(),
    }
}

/// Names in an object, and the one of a list at which reading stopped.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    wrapper: Option<String>,
}

/// Reads names of the object at the cursor, until the first list of [`LIST_NAMES`], whose bracket is passed.
fn keys(cursor: &mut Cursor<'_>) -> Keys {
    let mut keys = Keys::default();
    if cursor.peek() != Some(b'{') {
        return keys;
    }
    cursor.advance(1);
    while keys.names.len() < KEYS_MAX && cursor.peek() == Some(b'"') {
        let Some(name) = cursor.value() else { break };
        let Ok(name) = serde_json::from_slice::<String>(name) else {
            break;
        };
        if cursor.peek() != Some(b':') {
            break;
        }
        cursor.advance(1);
        if cursor.peek() == Some(b'[') && LIST_NAMES.contains(&name.as_str()) {
            cursor.advance(1);
            keys.wrapper = Some(name);
            break;
        }
        keys.names.push(name);
        if cursor.value().is_none() || cursor.peek() != Some(b',') {
            break;
        }
        cursor.advance(1);
    }
    keys
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Moves to the next byte that is no white space, and returns it.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Passes a value and returns it; none if it is cut off.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.peek()?;
        let mut scan = Scan::default();
        for (index, byte) in self.rest.iter().enumerate() {
            let end = match scan.step(*byte) {
                Step::Inside => continue,
                Step::Last => index + 1,
                Step::After => index,
                Step::TooDeep => return None,
            };
            let value = self.rest.get(..end);
            self.advance(end);
            return value;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_they_end() {
        for (text, expected) in [
            (r#"{"a": "}"} , 1"#, r#"{"a": "}"}"#),
            (r#""a \" b", 1"#, r#""a \" b""#),
            ("12.5]", "12.5"),
            ("null}", "null"),
            (r#"[[1], {"b": []}]]"#, r#"[[1], {"b": []}]"#),
            // Broken, and yet at an end.
            (r#"{"a": [1, 2}, {"#, r#"{"a": [1, 2}"#),
            ("{\"a\": \"b\n}, {", "{\"a\": \"b\n}"),
        ] {
            let value = Cursor { rest: text.as_bytes() }.value().unwrap();
            assert_eq!(std::str::from_utf8(value).unwrap(), expected);
        }
        let deep = "[".repeat(2_000);
        assert_eq!(Cursor { rest: deep.as_bytes() }.value(), None);
        assert_eq!(Cursor { rest: b"{\"a\": 1" }.value(), None);
    }
}
