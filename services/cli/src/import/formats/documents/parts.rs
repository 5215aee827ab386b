//! The parts of a document: blocks of one section, together about [`PART_BYTES`] long.

use crate::import::formats::documents::blocks::{Block, Blocks, PART_BYTES};
use crate::import::formats::documents::front_matter::{FrontMatter, FrontMatterLine, Opening};
use crate::import::record_draft::one_line;

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    /// Headings above the part, the outermost first, joined with ` > `.
    pub(crate) heading: String,
}

/// Splits the lines of a document into parts.
pub(crate) struct Parts {
    blocks: Blocks,
    /// Set until it is clear whether the text begins with front matter.
    opening: Option<Opening>,
    matter: FrontMatter,
    first_heading: Option<String>,
    path: Vec<Heading>,
    text: String,
    /// True if the text has other blocks than headings.
    has_body: bool,
    done: Vec<Part>,
}

struct Heading {
    level: usize,
    title: String,
}

impl Parts {
    pub(crate) fn new(is_markdown: bool) -> Parts {
        Parts {
            blocks: Blocks::new(is_markdown),
            opening: is_markdown.then(Opening::default),
            matter: FrontMatter::default(),
            first_heading: None,
            path: Vec::new(),
            text: String::new(),
            has_body: false,
            done: Vec::new(),
        }
    }

    /// Adds a line without its line end; returns the parts that it completes.
    pub(crate) fn add_line(&mut self, line: &str) -> Vec<Part> {
        let Some(opening) = &mut self.opening else {
            self.take_text(line);
            return std::mem::take(&mut self.done);
        };
        match opening.add_line(line) {
            FrontMatterLine::Inside => {}
            FrontMatterLine::Whole(matter) => {
                self.matter = matter;
                self.opening = None;
            }
            FrontMatterLine::Text(lines) => {
                self.opening = None;
                lines.iter().for_each(|it| self.take_text(it));
            }
        }
        std::mem::take(&mut self.done)
    }

    /// Returns the parts that the end of the text completes.
    pub(crate) fn finish_text(&mut self) -> Vec<Part> {
        if let Some(mut opening) = self.opening.take() {
            opening.take_lines().iter().for_each(|it| self.take_text(it));
        }
        for block in self.blocks.finish_text() {
            self.add_block(block);
        }
        self.close_part();
        std::mem::take(&mut self.done)
    }

    /// Returns the front matter; empty until it has been read.
    pub(crate) fn front_matter(&self) -> &FrontMatter {
        &self.matter
    }

    /// Returns the title: from the front matter, else the first heading so far.
    pub(crate) fn title(&self) -> Option<&str> {
        self.matter.get("title").or(self.first_heading.as_deref())
    }

    fn take_text(&mut self, line: &str) {
        for block in self.blocks.add_line(line) {
            self.add_block(block);
        }
    }

    fn add_block(&mut self, block: Block) {
        match block {
            Block::Heading { level, text, title } => {
                if self.has_body {
                    self.close_part();
                }
                let title = one_line(&title);
                self.first_heading.get_or_insert_with(|| title.clone());
                self.path.retain(|it| it.level < level);
                self.path.push(Heading { level, title });
                self.append_text(&text);
            }
            Block::Body(text) => {
                if self.has_body && self.text.len() + text.len() > PART_BYTES {
                    self.close_part();
                }
                self.append_text(&text);
                self.has_body = true;
            }
        }
    }

    fn append_text(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    fn close_part(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.has_body = false;
        if !text.is_empty() {
            let titles: Vec<&str> = self.path.iter().map(|it| it.title.as_str()).collect();
            self.done.push(Part {
                text,
                heading: titles.join(" > "),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of_text(text: &str) -> Parts {
        let mut parts = Parts::new(true);
        let mut all: Vec<Part> = text.lines().flat_map(|it| parts.add_line(it)).collect();
        all.extend(parts.finish_text());
        parts.done = all;
        parts
    }

    #[test]
    fn parts_have_the_headings_above_them() {
        let text = "---\ntags: a\n---\nBefore.\n\n# Guide\n## Install\nRun it.\n\nAgain.\n### Linux\nUse apt.\n## Use\nAsk.\n# Last\n";
        let read = parts_of_text(text);
        let shown: Vec<String> = read
            .done
            .iter()
            .map(|it| format!("{} | {}", it.heading, it.text))
            .collect();
        assert_eq!(
            shown,
            [
                " | Before.",
                "Guide > Install | # Guide\n\n## Install\n\nRun it.\n\nAgain.",
                "Guide > Install > Linux | ### Linux\n\nUse apt.",
                "Guide > Use | ## Use\n\nAsk.",
                "Last | # Last",
            ]
        );
        assert_eq!(
            (read.title(), read.front_matter().get("tags")),
            (Some("Guide"), Some("a"))
        );
    }

    #[test]
    fn parts_have_about_the_target_size() {
        let paragraph = "A sentence about boats and the people in them. ".repeat(8);
        let text = format!("# Boats\n{}", format!("{paragraph}\n\n").repeat(40));
        let read = parts_of_text(&text);
        let sizes: Vec<usize> = read.done.iter().map(|it| it.text.len()).collect();
        assert!(sizes.iter().all(|it| *it <= PART_BYTES + 20), "{sizes:?}");
        assert!(sizes.len() > 8 && sizes[0] > PART_BYTES / 2, "{sizes:?}");
        let code = format!("Look:\n\n```\n{}```\n", "x = 1\n".repeat(1_000));
        let read = parts_of_text(&code);
        assert_eq!(read.done.len(), 2, "code stays whole");
        assert!(parts_of_text("---\n\n").done.iter().all(|it| it.text == "---"));
    }
}
