//! The front matter of a Markdown text: lines of YAML between `---`, or of TOML between `+++`.

use crate::import::formats::times::parse_time_text;

/// Maximum number of lines of front matter; a longer block is ordinary text.
const LINES_MAX: usize = 200;
const BYTES_MAX: usize = 16 << 10;
const ENTRIES_MAX: usize = 20;
/// Keys for the date of a text, in order of preference.
const DATES: [&str; 5] = ["date", "created", "created_at", "date_created", "published"];

/// Keys and values, in order. Only simple values and lists are read; nested ones are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    pub(crate) entries: Vec<Entry>,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl FrontMatter {
    /// Returns the value of a key.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let entry = self.entries.iter().find(|it| it.name.eq_ignore_ascii_case(name))?;
        Some(entry.value.as_str()).filter(|it| !it.is_empty())
    }

    /// Returns the date of the text, as RFC 3339.
    pub(crate) fn date(&self) -> Option<String> {
        DATES.iter().find_map(|it| parse_time_text(self.get(it)?))
    }

    fn from_lines(lines: &[String], separator: char) -> FrontMatter {
        let mut matter = FrontMatter::default();
        for line in lines {
            let is_nested = line.starts_with([' ', '\t']);
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                if let Some(last) = matter.entries.last_mut() {
                    let gap = if last.value.is_empty() { "" } else { ", " };
                    last.value.push_str(&format!("{gap}{}", unquote_value(item)));
                }
            } else if let Some((name, value)) = line.split_once(separator).filter(|_| !is_nested)
                && matter.entries.len() < ENTRIES_MAX
                && !name.trim().is_empty()
                && !name.starts_with('#')
            {
                matter.entries.push(Entry {
                    name: name.trim().to_owned(),
                    value: unquote_value(value),
                });
            }
        }
        matter
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
                FrontMatterLine::Whole(FrontMatter::from_lines(inside, if fence == "---" { ':' } else { '=' }))
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
        assert_eq!(matter.date().as_deref(), Some("2026-03-02T00:00:00Z"));
        let toml = read_front_matter("+++\ntitle = 'Moving'\ncreated = 2026-03-02T18:00:00Z\n+++\n")
            .0
            .unwrap();
        assert_eq!(toml.get("title"), Some("Moving"));
        assert_eq!(toml.date().as_deref(), Some("2026-03-02T18:00:00Z"));
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
