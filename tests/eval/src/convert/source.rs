//! Reads the items of a JSON file one after the other. The size of each item is bounded, so a file may be larger than
//! memory.

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, anyhow, bail, ensure};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::Value;

/// Largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 30;

/// Largest item of a file, in bytes of JSON.
const ITEM_BYTES_MAX: u64 = 256 << 20;

/// Maximum number of characters of an item's name in an error.
const NAME_CHARS: usize = 80;

/// One item of a file: an element of its array, or a line.
pub(super) struct Item {
    /// The file.
    pub(super) file: PathBuf,
    /// Number of the item in the file, from 1.
    pub(super) number: usize,
    /// Content of the item.
    pub(super) value: Value,
}

impl Item {
    /// Returns the content as a value of `T`.
    ///
    /// # Errors
    /// If the content does not fit; the error names file, item and field.
    pub(super) fn read<T: DeserializeOwned>(&self) -> anyhow::Result<T> {
        serde_path_to_error::deserialize(&self.value).map_err(|error| {
            let field = error.path().to_string();
            self.wrong(&field, &error.into_inner().to_string())
        })
    }

    /// Returns an error about a field of the item.
    pub(super) fn wrong(&self, field: &str, what: &str) -> anyhow::Error {
        let name = match self.name() {
            Some(name) => format!(" ({name})"),
            None => String::new(),
        };
        let file = self.file.display();
        anyhow!("{file}, item {}{name}, field {field}: {what}", self.number)
    }

    /// Returns the name of the file without its extension, for items that have no name.
    pub(super) fn file_stem(&self) -> String {
        let stem = self.file.file_stem().unwrap_or(self.file.as_os_str());
        stem.to_string_lossy().into_owned()
    }

    fn name(&self) -> Option<String> {
        let named = ["sample_id", "question_id", "conversation_id", "episode"];
        let name = named
            .iter()
            .find_map(|field| super::text::value_to_text(self.value.get(field)?))?;
        Some(name.chars().take(NAME_CHARS).collect())
    }
}

/// Calls `take` for every item of a JSON file: for the elements of an array, or for values that follow each other
/// (JSON lines, or one object).
///
/// # Errors
/// If the file cannot be read, is too large or is not JSON, with the number of the item; and errors that `take`
/// returns.
pub(super) fn for_each_item(path: &Path, take: &mut dyn FnMut(Item) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut source = Source::open(path, ITEM_BYTES_MAX)?;
    source.for_each(take)
}

/// Returns the content of a file that holds one JSON value of at most the size of an item.
///
/// # Errors
/// If the file cannot be read, is too large or is not JSON.
pub(super) fn read_whole(path: &Path) -> anyhow::Result<Item> {
    let source = Source::open(path, ITEM_BYTES_MAX)?;
    let value = serde_json::from_reader(source.reader).with_context(|| format!("{} is not JSON", path.display()))?;
    Ok(Item {
        file: path.to_owned(),
        number: 1,
        value,
    })
}

struct Source<'a> {
    path: &'a Path,
    reader: BoundedReader<BufReader<File>>,
}

impl Source<'_> {
    fn open(path: &Path, item_bytes_max: u64) -> anyhow::Result<Source<'_>> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let bytes = file.metadata().context("cannot tell the size of the file")?.len();
        ensure!(
            bytes <= FILE_BYTES_MAX,
            "{} has {bytes} bytes, more than the {FILE_BYTES_MAX} that are read",
            path.display()
        );
        let reader = BoundedReader {
            inner: BufReader::new(file),
            budget: Rc::new(Cell::new(item_bytes_max)),
            item_bytes_max,
        };
        Ok(Source { path, reader })
    }

    fn for_each(&mut self, take: &mut dyn FnMut(Item) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let is_array = self.reader.opens_array()?;
        let mut taking = Taking {
            path: self.path,
            number: 0,
            budget: Rc::clone(&self.reader.budget),
            item_bytes_max: self.reader.item_bytes_max,
            take,
            refusal: None,
        };
        let read = if is_array {
            let mut json = serde_json::Deserializer::from_reader(&mut self.reader);
            let read = json.deserialize_seq(&mut taking);
            read.and_then(|()| json.end())
        } else {
            taking.each_value(&mut self.reader)
        };
        match (taking.refusal.take(), read) {
            (Some(refusal), _) => Err(refusal),
            (None, Err(error)) => {
                let number = taking.number + 1;
                bail!("{}, item {number}: {error}", self.path.display())
            }
            (None, Ok(())) => Ok(()),
        }
    }
}

/// Passes items on, and stores the error of `take`, because an error of serde cannot carry another error.
struct Taking<'a> {
    path: &'a Path,
    number: usize,
    budget: Rc<Cell<u64>>,
    item_bytes_max: u64,
    take: &'a mut dyn FnMut(Item) -> anyhow::Result<()>,
    refusal: Option<anyhow::Error>,
}

impl Taking<'_> {
    fn each_value(&mut self, reader: impl Read) -> serde_json::Result<()> {
        for value in serde_json::Deserializer::from_reader(reader).into_iter::<Value>() {
            self.pass(value?)?;
        }
        Ok(())
    }

    fn pass(&mut self, value: Value) -> serde_json::Result<()> {
        self.budget.set(self.item_bytes_max);
        self.number += 1;
        let item = Item {
            file: self.path.to_owned(),
            number: self.number,
            value,
        };
        (self.take)(item).map_err(|refusal| {
            self.refusal = Some(refusal);
            serde_json::Error::custom("an item was refused")
        })
    }
}

impl<'de> Visitor<'de> for &mut Taking<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(value) = items.next_element_seed(AnyValue)? {
            self.pass(value).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

struct AnyValue;

impl<'de> DeserializeSeed<'de> for AnyValue {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        serde::Deserialize::deserialize(from)
    }
}

/// A reader that fails when an item has more bytes than allowed. [`Taking`] resets the budget after each item.
struct BoundedReader<R> {
    inner: R,
    budget: Rc<Cell<u64>>,
    item_bytes_max: u64,
}

impl<R: BufRead> BoundedReader<R> {
    /// Returns true if the first character that is not white space opens an array. Consumes only white space.
    fn opens_array(&mut self) -> anyhow::Result<bool> {
        loop {
            let bytes = self.inner.fill_buf().context("cannot read the file")?;
            let Some(first) = bytes.first().copied() else {
                return Ok(false);
            };
            if !first.is_ascii_whitespace() {
                return Ok(first == b'[');
            }
            self.inner.consume(1);
        }
    }
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let Some(left) = self.budget.get().checked_sub(read as u64) else {
            let most = self.item_bytes_max;
            return Err(io::Error::other(format!("it has more than {most} bytes")));
        };
        self.budget.set(left);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_items(text: &str, item_bytes_max: u64) -> anyhow::Result<Vec<Value>> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("items.json");
        std::fs::write(&path, text)?;
        let mut found = Vec::new();
        let mut source = Source::open(&path, item_bytes_max)?;
        source.for_each(&mut |item| {
            found.push(item.value);
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn arrays_json_lines_and_single_objects_give_the_same_items() {
        for text in [" [ {\"a\": 1},\n{\"a\": 2} ]\n", "{\"a\": 1}\n{\"a\": 2}\n"] {
            let found = parse_items(text, 100).unwrap();
            assert_eq!(found, [serde_json::json!({ "a": 1 }), serde_json::json!({ "a": 2 })]);
        }
        assert_eq!(parse_items("{\"a\":\n1}", 100).unwrap().len(), 1);
        assert!(parse_items("", 100).unwrap().is_empty());
    }

    #[test]
    fn the_size_limit_applies_to_an_item_and_not_to_the_file() {
        let many = format!("[{}]", vec!["\"0123456789\""; 50].join(","));
        assert_eq!(parse_items(&many, 20).unwrap().len(), 50);
        let large = format!("[\"a\", \"{}\"]", "b".repeat(40));
        let error = parse_items(&large, 20).unwrap_err().to_string();
        assert!(error.contains("item 2: it has more than 20 bytes"), "{error}");
    }

    #[test]
    fn broken_json_is_reported_with_its_item() {
        let error = parse_items("[{\"a\": 1}, {\"a\": ]", 100).unwrap_err().to_string();
        assert!(error.contains("items.json, item 2: expected value"), "{error}");
    }
}
