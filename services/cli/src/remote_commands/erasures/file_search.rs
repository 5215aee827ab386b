//! Searches the bytes of files in any format for a text, both unescaped and JSON-escaped, ignoring the case of ASCII letters.
//!
//! A database stores a long text in several pages. The parts of a text are therefore searched for as well; a page
//! boundary cuts at most one part.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;

/// Length of the prefix that selects the patterns to compare at a place, in bytes; also the length of the shortest text.
const START: usize = 4;
/// Length of a part, in bytes. A text of at most twice this length has no parts.
const PART: usize = 32;
/// Bytes per read.
const BLOCK: usize = 1 << 20;

/// A text to search for.
pub(crate) struct Text {
    patterns: Vec<Pattern>,
    /// Indexes of patterns by their first bytes.
    starts: HashMap<[u8; START], Vec<usize>>,
    parts: usize,
}

struct Pattern {
    bytes: Vec<u8>,
    /// Number of the part; `None` for the whole text.
    part: Option<usize>,
}

/// Number of pieces of a text that a file contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Sighting {
    /// Occurrences of the whole text.
    texts_found: usize,
    /// Number of different parts of the text, 32 bytes each, that occur.
    parts_found: usize,
    /// Number of parts that the text has; 0 if it is short.
    parts: usize,
}

impl Text {
    /// Prepares a text for the search; returns `None` if it has fewer than four bytes.
    pub(crate) fn new(text: &str) -> Option<Text> {
        if text.len() < START {
            return None;
        }
        let quoted = serde_json::Value::from(text).to_string();
        let escaped = quoted[1..quoted.len() - 1].to_owned();
        let forms = BTreeSet::from([text.to_ascii_lowercase(), escaped.to_ascii_lowercase()]);
        let mut patterns = Vec::new();
        let mut parts = 0;
        for form in forms {
            let bytes = form.into_bytes();
            if bytes.len() > 2 * PART {
                for (number, part) in bytes.chunks_exact(PART).enumerate() {
                    patterns.push(Pattern {
                        bytes: part.to_vec(),
                        part: Some(number),
                    });
                }
                parts = parts.max(bytes.len() / PART);
            }
            patterns.push(Pattern { bytes, part: None });
        }
        let mut starts: HashMap<[u8; START], Vec<usize>> = HashMap::new();
        for (number, pattern) in patterns.iter().enumerate() {
            if let Some(start) = pattern.bytes.first_chunk() {
                starts.entry(*start).or_default().push(number);
            }
        }
        Some(Text {
            patterns,
            starts,
            parts,
        })
    }

    /// Reads a whole file and returns how much of the text it contains.
    pub(crate) fn seek_in(&self, path: &Path) -> io::Result<Sighting> {
        self.seek_in_reader(File::open(path)?)
    }

    fn seek_in_reader(&self, mut input: impl Read) -> io::Result<Sighting> {
        let longest = self.patterns.iter().map(|it| it.bytes.len()).max().unwrap_or(0);
        let (mut texts_found, mut parts) = (0, BTreeSet::new());
        let mut buffer: Vec<u8> = Vec::with_capacity(BLOCK + longest);
        let mut ended = false;
        while !ended {
            let before = buffer.len();
            let read = input.by_ref().take(BLOCK as u64).read_to_end(&mut buffer)?;
            ended = read < BLOCK;
            buffer[before..].make_ascii_lowercase();
            // Places too close to the end of the block for the longest pattern are compared with the next block.
            let places = if ended {
                buffer.len()
            } else {
                buffer.len().saturating_sub(longest)
            };
            for at in 0..places {
                for found in self.found_at(&buffer[at..]) {
                    match found.part {
                        None => texts_found += 1,
                        Some(part) => drop(parts.insert(part)),
                    }
                }
            }
            buffer.drain(..places);
        }
        Ok(Sighting {
            texts_found,
            parts_found: parts.len(),
            parts: self.parts,
        })
    }

    fn found_at<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = &'a Pattern> {
        let start = bytes.first_chunk().and_then(|it| self.starts.get(it));
        let candidates = start.into_iter().flatten().map(|it| &self.patterns[*it]);
        candidates.filter(|it| bytes.starts_with(&it.bytes))
    }
}

impl Sighting {
    /// Returns true if nothing of the text was found.
    pub(crate) fn is_nothing(&self) -> bool {
        self.texts_found == 0 && self.parts_found == 0
    }
}

impl fmt::Display for Sighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.texts_found, self.parts_found) {
            (0, 0) => f.write_str("absent"),
            (0, some) => write!(
                f,
                "found: {some} of {} parts of the text, which other texts may share",
                self.parts
            ),
            (times, _) => write!(f, "found: the text, {times} times"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seek_in_bytes(text: &str, bytes: &[u8]) -> Sighting {
        Text::new(text).unwrap().seek_in_reader(bytes).unwrap()
    }

    #[test]
    fn a_text_is_found_as_it_is_and_as_json_writes_it() {
        let text = "He said \"Quaxbank\"\nand left";
        let json = serde_json::to_vec(&serde_json::json!({ "text": text })).unwrap();
        for (bytes, texts_found) in [
            (format!("..{text}..{}", text.to_uppercase()).into_bytes(), 2),
            (json, 1),
            (b"He said nothing".to_vec(), 0),
            (Vec::new(), 0),
        ] {
            assert_eq!(
                seek_in_bytes(text, &bytes).texts_found,
                texts_found,
                "{}",
                String::from_utf8_lossy(&bytes)
            );
        }
        assert!(Text::new("abc").is_none());
    }

    #[test]
    fn a_text_across_the_border_of_two_blocks_is_found_once() {
        for shift in 0..12 {
            let mut bytes = vec![b'.'; BLOCK - shift];
            bytes.extend_from_slice(b"quaxbank and more");
            assert_eq!(seek_in_bytes("Quaxbank", &bytes).texts_found, 1, "{shift}");
        }
    }

    #[test]
    fn a_long_text_that_pages_cut_is_found_by_its_parts() {
        let text: String = (0..40).map(|it| format!("sentence number {it}. ")).collect();
        let mut bytes = text.clone().into_bytes();
        bytes.splice(300..300, [0, 0, 0, 7]);
        let sighting = seek_in_bytes(&text, &bytes);
        assert_eq!((sighting.texts_found, sighting.parts_found), (0, sighting.parts - 1));
        assert!(!sighting.is_nothing());
        assert!(seek_in_bytes(&text, b"something else entirely").is_nothing());
    }
}
