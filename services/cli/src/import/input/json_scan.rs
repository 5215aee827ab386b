//! Finds where JSON values begin and end, without parsing them; also for values that are malformed or truncated.

/// Keys of an object that may hold a list of conversations or memories.
pub(crate) const LIST_NAMES: [&str; 5] = ["conversations", "results", "memories", "items", "data"];
/// Greatest nesting depth that is supported.
const DEPTH_MAX: usize = 1_024;
/// Maximum number of keys that [`read_outline`] collects.
const KEYS_MAX: usize = 256;

/// The role of a byte in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The value continues after the byte.
    Inside,
    /// The byte is the last one of the value.
    Last,
    /// The byte comes after the value, which is a number or a literal.
    After,
    /// The value is nested deeper than [`DEPTH_MAX`].
    TooDeep,
}

/// Follows one value byte by byte.
///
/// A closing bracket also closes all brackets that were left open inside its counterpart, and a string ends with its
/// line. A malformed list element therefore seldom affects the next one.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    open: Vec<u8>,
    in_string: bool,
    is_escaped: bool,
    has_begun: bool,
}

impl Scan {
    /// Processes the next byte of the value.
    pub(crate) fn process_byte(&mut self, byte: u8) -> Step {
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
            b'}' | b']' => self.close_bracket(byte, is_first),
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

    fn close_bracket(&mut self, byte: u8, is_first: bool) -> Step {
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

/// The structure of a JSON text, from its first bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// True if the text is a list.
    pub(crate) is_list: bool,
    /// If the text is an object: the key of its list, one of [`LIST_NAMES`], if it has one.
    pub(crate) wrapper: Option<String>,
    /// Keys of the first element of the list, else of the object.
    pub(crate) keys: Vec<String>,
}

/// Returns the structure of a JSON text from its first bytes; an empty outline for other texts.
pub(crate) fn read_outline(head: &[u8]) -> Outline {
    let mut cursor = Cursor { rest: head };
    match cursor.peek_byte() {
        Some(b'[') => {
            cursor.skip_bytes(1);
            Outline {
                is_list: true,
                wrapper: None,
                keys: read_keys(&mut cursor).names,
            }
        }
        Some(b'{') => {
            let found = read_keys(&mut cursor);
            let Some(wrapper) = found.wrapper else {
                return Outline {
                    keys: found.names,
                    ..Outline::default()
                };
            };
            Outline {
                is_list: false,
                wrapper: Some(wrapper),
                keys: read_keys(&mut cursor).names,
            }
        }
        Some(_) | None => Outline::default(),
    }
}

/// Keys of an object, and the key of the list at which reading stopped.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    wrapper: Option<String>,
}

/// Reads keys of the object at the cursor, up to the first list of [`LIST_NAMES`]; moves past the opening bracket of that list.
fn read_keys(cursor: &mut Cursor<'_>) -> Keys {
    let mut keys = Keys::default();
    if cursor.peek_byte() != Some(b'{') {
        return keys;
    }
    cursor.skip_bytes(1);
    while keys.names.len() < KEYS_MAX && cursor.peek_byte() == Some(b'"') {
        let Some(name) = cursor.read_value() else { break };
        let Ok(name) = serde_json::from_slice::<String>(name) else {
            break;
        };
        if cursor.peek_byte() != Some(b':') {
            break;
        }
        cursor.skip_bytes(1);
        if cursor.peek_byte() == Some(b'[') && LIST_NAMES.contains(&name.as_str()) {
            cursor.skip_bytes(1);
            keys.wrapper = Some(name);
            break;
        }
        keys.names.push(name);
        if cursor.read_value().is_none() || cursor.peek_byte() != Some(b',') {
            break;
        }
        cursor.skip_bytes(1);
    }
    keys
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Moves to the next byte that is not white space, and returns it.
    fn peek_byte(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    fn skip_bytes(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Moves past a value and returns it; `None` if it is truncated.
    fn read_value(&mut self) -> Option<&'a [u8]> {
        self.peek_byte()?;
        let mut scan = Scan::default();
        for (index, byte) in self.rest.iter().enumerate() {
            let end = match scan.process_byte(*byte) {
                Step::Inside => continue,
                Step::Last => index + 1,
                Step::After => index,
                Step::TooDeep => return None,
            };
            let value = self.rest.get(..end);
            self.skip_bytes(end);
            return value;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_each_value_is_found() {
        for (text, expected) in [
            (r#"{"a": "}"} , 1"#, r#"{"a": "}"}"#),
            (r#""a \" b", 1"#, r#""a \" b""#),
            ("12.5]", "12.5"),
            ("null}", "null"),
            (r#"[[1], {"b": []}]]"#, r#"[[1], {"b": []}]"#),
            // Malformed, but the end is found.
            (r#"{"a": [1, 2}, {"#, r#"{"a": [1, 2}"#),
            ("{\"a\": \"b\n}, {", "{\"a\": \"b\n}"),
        ] {
            let value = Cursor { rest: text.as_bytes() }.read_value().unwrap();
            assert_eq!(std::str::from_utf8(value).unwrap(), expected);
        }
        let deep = "[".repeat(2_000);
        assert_eq!(Cursor { rest: deep.as_bytes() }.read_value(), None);
        assert_eq!(Cursor { rest: b"{\"a\": 1" }.read_value(), None);
    }
}
