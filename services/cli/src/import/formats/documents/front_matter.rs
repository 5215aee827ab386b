//! The front matter of a Markdown text: lines of YAML between `---`, or of TOML between `+++`.

use crate::import::record_draft::{LeftOut, METADATA_VALUE_BYTES_MAX};

/// Maximum number of lines of front matter; a longer block is ordinary text.
const LINES_MAX: usize = 200;
const BYTES_MAX: usize = 16 << 10;
const ENTRIES_MAX: usize = 20;
/// Maximum number of words of a key; a longer text before a colon is a sentence.
const KEY_WORDS_MAX: usize = 3;
/// Keys for the date of a text, in order of preference.
const DATES: [&str; 5] = ["date", "created", "created_at", "date_created", "published"];

/// Keys and values, in order. Simple values, lists and blocks of text are read; nested values are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    pub(crate) entries: Vec<Entry>,
    /// Counts of the content that is not in the entries, or that metadata cannot hold.
    pub(crate) left_out: LeftOut,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) value: String,
    /// The separator of the lines of a block of text (`key: |` or `key: >`).
    block: Option<char>,
}

impl FrontMatter {
    /// Returns the value of a key.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let entry = self.entries.iter().find(|it| it.name.eq_ignore_ascii_case(name))?;
        Some(entry.value.as_str()).filter(|it| !it.is_empty())
    }

    /// Returns the values of the keys for the date of the text, in order of preference.
    pub(crate) fn dates(&self) -> impl Iterator<Item = &str> {
        DATES.into_iter().filter_map(move |it| self.get(it))
    }

    /// Returns the entries in the lines between the fences. Returns `None` if the lines are text: a line is neither an
    /// entry nor a part of one nor a comment, or a key is repeated.
    fn from_lines(lines: &[String], separator: char) -> Option<FrontMatter> {
        let mut matter = FrontMatter::default();
        let (mut has_lines, mut is_in_block) = (false, false);
        for line in lines.iter().filter(|it| !it.trim().is_empty()) {
            has_lines = true;
            let is_indented = line.starts_with([' ', '\t']);
            let text = line.trim();
            if is_indented && is_in_block {
                matter.entries.last_mut()?.add_line(text);
                continue;
            }
            is_in_block = false;
            if text.starts_with('#') {
                continue;
            }
            let is_table = separator == '=' && text.starts_with('[');
            let item = text.strip_prefix('-').filter(|it| it.is_empty() || it.starts_with(' '));
            if let Some(item) = item {
                matter.entries.last_mut()?.add_item(item);
            } else if is_indented && !matter.entries.is_empty() {
                matter.left_out.count_one("nested lines of front matter");
            } else if !is_table && !text.starts_with([']', '}']) {
                let entry = Entry::from_line(line, separator)?;
                if matter.entries.iter().any(|it| it.name == entry.name) {
                    return None;
                }
                is_in_block = entry.block.is_some();
                matter.entries.push(entry);
            }
        }
        matter.count_excess();
        (!has_lines || !matter.entries.is_empty()).then_some(matter)
    }

    /// Drops the entries after the first [`ENTRIES_MAX`]; counts them, and the values that metadata shortens.
    fn count_excess(&mut self) {
        let excess = self.entries.len().saturating_sub(ENTRIES_MAX) as u64;
        self.entries.truncate(ENTRIES_MAX);
        self.left_out.count_several("entries of front matter beyond 20", excess);
        let is_long = |it: &&Entry| it.value.len() > METADATA_VALUE_BYTES_MAX;
        let long = self.entries.iter().filter(is_long).count() as u64;
        self.left_out
            .count_several("ends of values of front matter over 1,024 bytes", long);
    }
}

impl Entry {
    /// Returns the entry of a line such as `key: value`; `None` if the line is something else.
    fn from_line(line: &str, separator: char) -> Option<Entry> {
        let (name, value) = line.split_once(separator)?;
        let name = name.trim();
        let is_key = (1..=KEY_WORDS_MAX).contains(&name.split_whitespace().count());
        // A value directly after the colon is accepted too, but `https://example.org` and `12:30` are no entries.
        let is_apart = separator == '=' || value.is_empty() || value.starts_with([' ', '\t']);
        let is_word = name.starts_with(|it: char| it.is_alphabetic()) && !name.contains(char::is_whitespace);
        if !is_key || !(is_apart || is_word && !value.starts_with("//")) {
            return None;
        }
        let block = match value.trim() {
            "|" | "|-" | "|+" => Some('\n'),
            ">" | ">-" | ">+" => Some(' '),
            _ => None,
        };
        Some(Entry {
            name: name.to_owned(),
            value: if block.is_some() {
                String::new()
            } else {
                unquote_value(value)
            },
            block,
        })
    }

    /// Adds a line of a block of text.
    fn add_line(&mut self, line: &str) {
        if let Some(gap) = self.block.filter(|_| !self.value.is_empty()) {
            self.value.push(gap);
        }
        self.value.push_str(line);
    }

    /// Adds an item of a list; an empty item is ignored.
    fn add_item(&mut self, item: &str) {
        let item = unquote_value(item);
        let gap = if self.value.is_empty() || item.is_empty() {
            ""
        } else {
            ", "
        };
        self.value.push_str(&format!("{gap}{item}"));
    }
}

/// Returns a value without quotes, and a list without its brackets.
fn unquote_value(value: &str) -> String {
    let value = value.trim();
    let unquoted = |it: &str| {
        let it = it.trim();
        let inside = |quote: char| it.strip_prefix(quote)?.strip_suffix(quote);
        inside('"').or_else(|| inside('\'')).unwrap_or(it).to_owned()
    };
    match value.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(list) => list.split(',').map(unquoted).collect::<Vec<_>>().join(", "),
        None => unquoted(value),
    }
}

/// The classification of a line at the beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FrontMatterLine {
    /// The line is part of the front matter, which continues.
    Inside,
    /// The line ends the front matter.
    Whole(FrontMatter),
    /// There is no front matter: these lines are text, including the given line.
    Text(Vec<String>),
}

/// Collects the first lines of a text until it is clear whether they are front matter.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    lines: Vec<String>,
    bytes: usize,
}

impl Opening {
    /// Takes a line without its line end.
    pub(crate) fn add_line(&mut self, line: &str) -> FrontMatterLine {
        self.lines.push(line.to_owned());
        self.bytes += line.len();
        let fence = self.lines.first().map_or("", |it| it.trim_end());
        if !matches!(fence, "---" | "+++") || self.lines.len() > LINES_MAX || self.bytes > BYTES_MAX {
            return FrontMatterLine::Text(std::mem::take(&mut self.lines));
        }
        let ends = line.trim_end() == fence || fence == "---" && line.trim_end() == "...";
        match self.lines.as_slice() {
            [_, inside @ .., _] if ends => {
                match FrontMatter::from_lines(inside, if fence == "---" { ':' } else { '=' }) {
                    Some(matter) => FrontMatterLine::Whole(matter),
                    None => FrontMatterLine::Text(std::mem::take(&mut self.lines)),
                }
            }
            _ => FrontMatterLine::Inside,
        }
    }

    /// Returns the collected lines as text, if the text ends before the front matter does.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_front_matter(text: &str) -> (Option<FrontMatter>, Vec<String>) {
        let mut opening = Opening::default();
        for line in text.lines() {
            match opening.add_line(line) {
                FrontMatterLine::Inside => {}
                FrontMatterLine::Whole(matter) => return (Some(matter), Vec::new()),
                FrontMatterLine::Text(lines) => return (None, lines),
            }
        }
        (None, opening.take_lines())
    }

    #[test]
    fn simple_values_and_lists_are_read() {
        let text = "---\ntitle: \"Moving: a diary\"\ndate: 2026-03-02\n# a comment: no\ntags:\n  - home\n  - 'oslo'\nnested:\n  a: b\n\
                    also: [x, \"y\"]\n---\nText";
        let matter = read_front_matter(text).0.unwrap();
        assert_eq!(matter.get("Title"), Some("Moving: a diary"));
        assert_eq!(matter.get("tags"), Some("home, oslo"));
        assert_eq!(matter.get("also"), Some("x, y"));
        assert_eq!((matter.get("nested"), matter.get("a")), (None, None));
        assert_eq!(matter.dates().collect::<Vec<_>>(), ["2026-03-02"]);
        assert_eq!(matter.left_out.in_words(), ["nested lines of front matter: 1"]);
        let text = "+++\ntitle = 'Moving'\ncreated = 2026-03-02T18:00:00Z\n[extra]\nweather = 'rain'\n+++\n";
        let toml = read_front_matter(text).0.unwrap();
        assert_eq!((toml.get("title"), toml.get("weather")), (Some("Moving"), Some("rain")));
        assert_eq!(toml.dates().collect::<Vec<_>>(), ["2026-03-02T18:00:00Z"]);
    }

    #[test]
    fn empty_items_of_lists_are_ignored() {
        let text = "---\ntags:\n  - home\n  -\n  - ''\n- oslo\naliases:\n-\n  -  \nkind: x\n---\nText";
        let matter = read_front_matter(text).0.unwrap();
        assert_eq!((matter.get("tags"), matter.get("aliases")), (Some("home, oslo"), None));
        assert_eq!((matter.get("kind"), &matter.left_out), (Some("x"), &LeftOut::default()));
    }

    #[test]
    fn text_between_two_lines_is_text() {
        for inside in [
            "We met Oona at the harbour.\n\nThe price was 4,000 crowns",
            "title: Oslo\nWe met Oona.",
            "Then she said the following to us: it leaks",
            "# A heading",
            "https://example.org",
            "12:30 We left.",
            "- an item",
            "-",
            "title: Oslo\n-dash",
            "    indented",
            "Ann: Hello.\nBen: Hello.\nAnn: Bye.",
        ] {
            let text = format!("---\n{inside}\n---\n# Later");
            let (matter, lines) = read_front_matter(&text);
            assert_eq!(matter, None, "{inside}");
            assert_eq!(lines.join("\n"), format!("---\n{inside}\n---"));
        }
        for inside in [
            "",
            "\n",
            "title: Oslo\n\ndate created: 2026-03-02",
            "title:Oslo",
            "\"a\": b\n# c",
        ] {
            let text = format!("---\n{inside}\n---\n# Later");
            assert!(read_front_matter(&text).0.is_some(), "{inside}");
        }
    }

    #[test]
    fn blocks_of_text_are_read_and_the_rest_is_counted() {
        let text = "---\nsummary: |\n  Oona sold us\n  the boat.\n\nnote: >-\n  It is\n  blue.\nkind: x\n---\n";
        let matter = read_front_matter(text).0.unwrap();
        assert_eq!(matter.get("summary"), Some("Oona sold us\nthe boat."));
        assert_eq!(
            (matter.get("note"), matter.get("kind")),
            (Some("It is blue."), Some("x"))
        );
        assert_eq!(matter.left_out, LeftOut::default());
        let many: String = (0..22).map(|it| format!("key{it}:\n  - {it}\n")).collect();
        let text = format!("---\nlong: {}\n{many}---\n", "x".repeat(1_025));
        let matter = read_front_matter(&text).0.unwrap();
        assert_eq!((matter.entries.len(), matter.get("key18")), (ENTRIES_MAX, Some("18")));
        assert_eq!(
            matter.left_out.in_words(),
            [
                "ends of values of front matter over 1,024 bytes: 1",
                "entries of front matter beyond 20: 3"
            ]
        );
    }

    #[test]
    fn front_matter_without_an_end_is_text() {
        assert_eq!(
            read_front_matter("---\nA line\n"),
            (None, vec!["---".to_owned(), "A line".to_owned()])
        );
        assert_eq!(read_front_matter("# Title\n---\n"), (None, vec!["# Title".to_owned()]));
        let long = format!("---\n{}", "a: b\n".repeat(300));
        assert_eq!(read_front_matter(&long).1.len(), LINES_MAX + 1);
    }
}
