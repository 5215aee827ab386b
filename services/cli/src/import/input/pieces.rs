//! Reads inputs piece by piece: lines, elements of a JSON list, parts of documents.

use std::io::{BufRead, ErrorKind};

use anyhow::{Context, bail};

use crate::import::input::json_scan::{LIST_NAMES, Scan, Step};

/// Longest element of a list, in bytes. A whole conversation is held in memory, but not the whole list.
pub(crate) const ELEMENT_BYTES_MAX: usize = 64 << 20;
/// Maximum number of keys of skipped values that are kept.
const PASSED_MAX: usize = 16;
/// Longest key that is read, in bytes.
const NAME_BYTES_MAX: usize = 256;

const CUT_OFF: &str = "the input ends inside of it";

/// The result of reading the next piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextPiece {
    /// A complete piece.
    Piece,
    /// A piece that cannot be read, with the reason; the input continues after it.
    Broken(String),
    /// The end of the input.
    End,
}

/// An input that is read piece by piece.
pub(crate) trait Pieces {
    /// Reads the next piece into `piece` and replaces its content.
    ///
    /// # Errors
    /// If the input cannot be read any further.
    fn read_next(&mut self, piece: &mut Vec<u8>) -> anyhow::Result<NextPiece>;

    /// Returns the number of bytes read so far.
    fn position(&self) -> u64;

    /// Returns descriptions of other content of the input that is not imported.
    fn passed_over(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Lines with their line ends.
pub(crate) struct Lines {
    source: Box<dyn BufRead>,
    position: u64,
}

impl Lines {
    pub(crate) fn new(source: Box<dyn BufRead>) -> Lines {
        Lines { source, position: 0 }
    }
}

impl Pieces for Lines {
    fn read_next(&mut self, piece: &mut Vec<u8>) -> anyhow::Result<NextPiece> {
        piece.clear();
        let bytes = self.source.read_until(b'\n', piece).context("cannot read to the end")?;
        self.position += bytes as u64;
        Ok(if bytes == 0 { NextPiece::End } else { NextPiece::Piece })
    }

    fn position(&self) -> u64 {
        self.position
    }
}

/// The position of an [`Elements`] in the JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonPosition {
    /// Before a list or an object.
    Top,
    /// In a list; `wrapped` if an object holds the list.
    List { wrapped: bool },
    /// In the object that holds lists.
    Wrapper,
}

/// Elements of JSON lists: of a list, of the lists in an object under one of [`LIST_NAMES`], or objects one after
/// another. At most [`ELEMENT_BYTES_MAX`] bytes are held in memory.
pub(crate) struct Elements {
    source: Box<dyn BufRead>,
    /// True if the object at the top holds lists and is not an element itself.
    is_wrapped: bool,
    at: JsonPosition,
    position: u64,
    passed: Vec<String>,
}

impl Elements {
    pub(crate) fn new(source: Box<dyn BufRead>, is_wrapped: bool) -> Elements {
        Elements {
            source,
            is_wrapped,
            at: JsonPosition::Top,
            position: 0,
            passed: Vec::new(),
        }
    }

    /// Skips white space and commas; returns the next byte without consuming it.
    fn peek_byte(&mut self) -> anyhow::Result<Option<u8>> {
        loop {
            let buffer = match self.source.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error).context("cannot read to the end"),
            };
            if buffer.is_empty() {
                return Ok(None);
            }
            let is_gap = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
            let gap = buffer.iter().take_while(|byte| is_gap(byte)).count();
            let next = buffer.get(gap).copied();
            self.skip_bytes(gap);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    fn skip_bytes(&mut self, bytes: usize) {
        self.source.consume(bytes);
        self.position += bytes as u64;
    }

    /// Reads a value and stores at most `most` bytes of it in `value`.
    fn read_value(&mut self, value: &mut Vec<u8>, most: usize) -> anyhow::Result<NextPiece> {
        value.clear();
        let (mut scan, mut bytes) = (Scan::default(), 0_usize);
        loop {
            let buffer = match self.source.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error).context("cannot read to the end"),
            };
            if buffer.is_empty() {
                return Ok(NextPiece::Broken(CUT_OFF.to_owned()));
            }
            let mut end = None;
            for (index, byte) in buffer.iter().enumerate() {
                match scan.process_byte(*byte) {
                    Step::Inside => {}
                    Step::Last => end = Some(index + 1),
                    Step::After => end = Some(index),
                    Step::TooDeep => bail!("byte {}: nested too deeply", self.position + index as u64),
                }
                if end.is_some() {
                    break;
                }
            }
            let taken = end.unwrap_or(buffer.len());
            let room = most.saturating_sub(value.len()).min(taken);
            value.extend_from_slice(buffer.get(..room).unwrap_or_default());
            bytes += taken;
            self.skip_bytes(taken);
            if end.is_some() {
                break;
            }
        }
        Ok(if bytes > most {
            NextPiece::Broken(format!("has {bytes} bytes, more than {most}"))
        } else {
            NextPiece::Piece
        })
    }

    /// Reads an element of a list. A truncated element is the last one.
    fn read_element(&mut self, element: &mut Vec<u8>) -> anyhow::Result<NextPiece> {
        let next = self.read_value(element, ELEMENT_BYTES_MAX)?;
        if self.source.fill_buf().context("cannot read to the end")?.is_empty() && next != NextPiece::Piece {
            self.at = JsonPosition::Top;
        }
        Ok(next)
    }

    /// Reads a key of the object that holds the lists; enters its list, or skips its value.
    fn read_key(&mut self) -> anyhow::Result<()> {
        let mut name = Vec::new();
        self.read_value(&mut name, NAME_BYTES_MAX)?;
        let name = serde_json::from_slice::<String>(&name).unwrap_or_default();
        match self.peek_byte()? {
            Some(b':') => self.skip_bytes(1),
            None => return Ok(()),
            Some(_) => bail!("byte {}: not JSON, a colon is missing", self.position),
        }
        let start = self.peek_byte()?;
        if start == Some(b'[') && LIST_NAMES.contains(&name.as_str()) {
            self.skip_bytes(1);
            self.at = JsonPosition::List { wrapped: true };
            return Ok(());
        }
        let is_list = matches!(start, Some(b'[' | b'{'));
        if is_list && self.passed.len() < PASSED_MAX {
            self.passed.push(format!("`{name}`"));
        }
        self.read_value(&mut Vec::new(), 0)?;
        Ok(())
    }
}

impl Pieces for Elements {
    fn read_next(&mut self, piece: &mut Vec<u8>) -> anyhow::Result<NextPiece> {
        loop {
            let byte = self.peek_byte()?;
            match (self.at, byte) {
                (JsonPosition::Top, None) => return Ok(NextPiece::End),
                (JsonPosition::Top, Some(0xef | 0xbb | 0xbf)) => self.skip_bytes(1),
                (JsonPosition::Top, Some(b'[')) => {
                    self.skip_bytes(1);
                    self.at = JsonPosition::List { wrapped: false };
                }
                (JsonPosition::Top, Some(b'{')) if self.is_wrapped => {
                    self.skip_bytes(1);
                    self.at = JsonPosition::Wrapper;
                }
                (JsonPosition::Top, Some(b'{')) => return self.read_value(piece, ELEMENT_BYTES_MAX),
                (JsonPosition::Top, Some(_)) => bail!(
                    "byte {}: not JSON, or not of this format; --format says what it is",
                    self.position
                ),
                (JsonPosition::List { .. } | JsonPosition::Wrapper, None) => {
                    self.at = JsonPosition::Top;
                    piece.clear();
                    return Ok(NextPiece::Broken("the input ends before the list does".to_owned()));
                }
                (JsonPosition::List { wrapped }, Some(b']')) => {
                    self.skip_bytes(1);
                    self.at = if wrapped {
                        JsonPosition::Wrapper
                    } else {
                        JsonPosition::Top
                    };
                }
                (JsonPosition::List { .. }, Some(_)) => return self.read_element(piece),
                (JsonPosition::Wrapper, Some(b'}')) => {
                    self.skip_bytes(1);
                    self.at = JsonPosition::Top;
                }
                (JsonPosition::Wrapper, Some(b'"')) => self.read_key()?,
                (JsonPosition::Wrapper, Some(_)) => bail!("byte {}: not JSON, a name is missing", self.position),
            }
        }
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn passed_over(&self) -> Vec<String> {
        self.passed.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    fn read_pieces(text: &str, is_wrapped: bool) -> Vec<String> {
        // A buffer of seven bytes makes values span several reads.
        let source = BufReader::with_capacity(7, Cursor::new(text.as_bytes().to_vec()));
        let mut elements = Elements::new(Box::new(source), is_wrapped);
        let (mut piece, mut all) = (Vec::new(), Vec::new());
        loop {
            match elements.read_next(&mut piece).unwrap() {
                NextPiece::Piece => all.push(String::from_utf8(piece.clone()).unwrap()),
                NextPiece::Broken(why) => all.push(format!("broken: {why}")),
                NextPiece::End => break,
            }
        }
        assert_eq!(elements.position(), text.len() as u64);
        all.extend(elements.passed_over());
        all
    }

    #[test]
    fn elements_are_read_one_by_one() {
        assert_eq!(
            read_pieces("\u{feff}[ {\"a\": \"]\"},\n 7, \"x\" ]\n", false),
            [r#"{"a": "]"}"#, "7", r#""x""#]
        );
        assert_eq!(
            read_pieces(
                r#"{"count": 1, "results": [{"id": 1}, {"id": 2}], "relations": [{"x": 1}], "next": null}"#,
                true
            ),
            [r#"{"id": 1}"#, r#"{"id": 2}"#, "`relations`"]
        );
        assert_eq!(
            read_pieces("{\"mapping\": {}}\n{\"mapping\": []}\n", false),
            [r#"{"mapping": {}}"#, r#"{"mapping": []}"#]
        );
        assert_eq!(read_pieces("[]", false), Vec::<String>::new());
    }

    #[test]
    fn a_malformed_element_does_not_affect_the_others() {
        assert_eq!(
            read_pieces("[{\"a\": [1, 2}, {\"b\": 3}]", false),
            ["{\"a\": [1, 2}", "{\"b\": 3}"]
        );
        assert_eq!(
            read_pieces("[{\"a\": 1}, {\"b\":", false),
            ["{\"a\": 1}", "broken: the input ends inside of it"]
        );
        assert_eq!(
            read_pieces("[{\"a\": 1}, ", false),
            ["{\"a\": 1}", "broken: the input ends before the list does"]
        );
    }

    #[test]
    fn a_value_that_is_too_long_is_skipped() {
        let text = format!("[\"{}\", 1]", "a".repeat(100));
        let mut elements = Elements::new(Box::new(Cursor::new(text.into_bytes())), false);
        let mut value = Vec::new();
        assert_eq!(elements.peek_byte().unwrap(), Some(b'['));
        elements.skip_bytes(1);
        assert_eq!(
            elements.read_value(&mut value, 10).unwrap(),
            NextPiece::Broken("has 102 bytes, more than 10".to_owned())
        );
        assert_eq!((value.len(), elements.peek_byte().unwrap()), (10, Some(b'1')));
    }
}
