//! The blocks of a text: headings, paragraphs, lists and code.

/// Blocks of up to this many bytes stay whole; longer ones are cut at about [`PART_BYTES`].
pub(crate) const WHOLE_BYTES: usize = 2 * PART_BYTES;
/// Code of up to this many bytes stays whole; longer code is cut between lines.
pub(crate) const CODE_BYTES: usize = 64 << 10;
/// Approximate length of a part of a text, in bytes.
pub(crate) const PART_BYTES: usize = 1_500;

/// A block, without blank lines around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// A heading: its level from 1 to 6, the line as written, and its words.
    Heading { level: usize, text: String, title: String },
    /// Any other block.
    Body(String),
}

/// The kind of block that the lines since the last block belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum OpenBlock {
    Nothing,
    Paragraph,
    List,
    /// Code, with the fence that opened it.
    Code(Fence),
}

/// The fence that opens a block of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

/// Splits lines into blocks; holds one block at a time, at most [`CODE_BYTES`] and a line.
pub(crate) struct Blocks {
    is_markdown: bool,
    open: OpenBlock,
    text: String,
    /// In a list: the fence of an open block of code inside the list.
    inner: Option<Fence>,
    /// In a list: number of blank lines that were read and not added yet.
    blanks: usize,
    done: Vec<Block>,
}

impl Blocks {
    pub(crate) fn new(is_markdown: bool) -> Blocks {
        Blocks {
            is_markdown,
            open: OpenBlock::Nothing,
            text: String::new(),
            inner: None,
            blanks: 0,
            done: Vec::new(),
        }
    }

    /// Adds a line without its line end; returns the blocks that it completes.
    pub(crate) fn add_line(&mut self, line: &str) -> Vec<Block> {
        match self.open.clone() {
            OpenBlock::Code(fence) => {
                self.append_line(line);
                if is_end(line, fence) {
                    self.close_block();
                }
            }
            OpenBlock::List => self.take_in_list(line),
            OpenBlock::Paragraph | OpenBlock::Nothing => self.take_outside(line),
        }
        self.cut_long_block();
        std::mem::take(&mut self.done)
    }

    /// Returns the blocks that the end of the text completes.
    pub(crate) fn finish_text(&mut self) -> Vec<Block> {
        self.close_block();
        std::mem::take(&mut self.done)
    }

    fn take_in_list(&mut self, line: &str) {
        if let Some(fence) = self.inner {
            self.append_line(line);
            if is_end(line, fence) {
                self.inner = None;
            }
        } else if line.trim().is_empty() {
            self.blanks += 1;
        } else if is_item(line) || is_indented(line) || self.blanks == 0 && !self.begins_block(line) {
            if std::mem::take(&mut self.blanks) > 0 {
                self.text.push('\n');
            }
            self.append_line(line);
            if self.is_markdown {
                self.inner = parse_fence(line);
            }
        } else {
            self.close_block();
            self.take_outside(line);
        }
    }

    fn take_outside(&mut self, line: &str) {
        if line.trim().is_empty() {
            return self.close_block();
        }
        if let Some(heading) = self.parse_heading(line) {
            self.close_block();
            return self.done.push(heading);
        }
        if let Some(fence) = parse_fence(line).filter(|_| self.is_markdown) {
            self.close_block();
            self.append_line(line);
            self.open = OpenBlock::Code(fence);
            return;
        }
        if self.is_markdown && self.open == OpenBlock::Paragraph && is_underline(line) {
            let title = std::mem::take(&mut self.text).trim().to_owned();
            self.open = OpenBlock::Nothing;
            let level = if line.trim_start().starts_with('=') { 1 } else { 2 };
            let text = format!("{title}\n{}", line.trim());
            return self.done.push(Block::Heading { level, text, title });
        }
        if self.is_markdown && is_rule(line) {
            return self.close_block();
        }
        if is_item(line) {
            self.close_block();
            self.append_line(line);
            self.open = OpenBlock::List;
            return;
        }
        self.append_line(line);
        self.open = OpenBlock::Paragraph;
    }

    /// Returns the heading in a line that begins with number signs.
    fn parse_heading(&self, line: &str) -> Option<Block> {
        let text = line.trim();
        let level = text.chars().take_while(|it| *it == '#').count();
        let rest = &text[level..];
        let is_heading = self.is_markdown && (1..=6).contains(&level) && indent_width(line) < 4;
        if !is_heading || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
            return None;
        }
        let title = rest.trim_end_matches('#').trim().to_owned();
        let text = text.to_owned();
        Some(Block::Heading { level, text, title })
    }

    /// Returns true if a line cannot continue a list.
    fn begins_block(&self, line: &str) -> bool {
        self.parse_heading(line).is_some() || self.is_markdown && (parse_fence(line).is_some() || is_rule(line))
    }

    fn append_line(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line.trim_end());
    }

    /// Closes the open block.
    fn close_block(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.open = OpenBlock::Nothing;
        self.inner = None;
        self.blanks = 0;
        self.push_body(&text);
    }

    fn push_body(&mut self, text: &str) {
        let text = text.trim_matches(['\n', '\r']).trim_end();
        if !text.trim().is_empty() {
            self.done.push(Block::Body(text.to_owned()));
        }
    }

    /// Cuts pieces off the open block while it is too long.
    fn cut_long_block(&mut self) {
        let is_code = matches!(self.open, OpenBlock::Code(_)) || self.inner.is_some();
        let most = if is_code { CODE_BYTES } else { WHOLE_BYTES };
        while self.text.len() > most {
            let end = match is_code {
                true => last_line_end(&self.text, CODE_BYTES),
                false => cut_at(&self.text),
            };
            let rest = self.text.split_off(end);
            let head = std::mem::replace(&mut self.text, rest);
            self.push_body(&head);
            if !is_code {
                self.text = self.text.trim_start().to_owned();
            }
        }
    }
}

/// Returns the position at which to cut a long block: at most [`PART_BYTES`] from its beginning, before a list item,
/// else after a line, a sentence or a word.
fn cut_at(text: &str) -> usize {
    let most = text.floor_char_boundary(PART_BYTES);
    let window = &text[..most];
    let from = window.floor_char_boundary(PART_BYTES / 3);
    let is_late = |it: &usize| *it >= from;
    let lines = || window.match_indices('\n').map(|(index, _)| index + 1).filter(is_late);
    let begins_item = |it: &usize| {
        text[*it..]
            .lines()
            .next()
            .is_some_and(|line| is_item(line) && indent_width(line) < 2)
    };
    let before_item = lines().rfind(begins_item);
    let after_sentence = || {
        let ends = window
            .char_indices()
            .filter(|(_, it)| matches!(it, '.' | '!' | '?' | '。' | '！' | '？'));
        let mut stops = ends.map(|(index, it)| Stop {
            end: index + it.len_utf8(),
            is_wide: !it.is_ascii(),
        });
        let is_end = |it: &Stop| it.is_wide || text[it.end..].starts_with(char::is_whitespace);
        stops.rfind(|it| is_late(&it.end) && is_end(it)).map(|it| it.end)
    };
    let after_word = || {
        window
            .rfind(char::is_whitespace)
            .filter(is_late)
            .map(|it| window.ceil_char_boundary(it + 1))
    };
    let end = before_item
        .or_else(|| lines().next_back())
        .or_else(after_sentence)
        .or_else(after_word);
    end.unwrap_or(most)
}

/// The end of a sentence.
struct Stop {
    end: usize,
    /// True if the script puts no space after the end of a sentence.
    is_wide: bool,
}

/// Returns the end of the last complete line before `most`, or `most` if there is none.
fn last_line_end(text: &str, most: usize) -> usize {
    let most = text.floor_char_boundary(most);
    text[..most].rfind('\n').map_or(most, |it| it + 1)
}

/// Returns the width of the indentation of a line.
fn indent_width(line: &str) -> usize {
    let blanks = line.chars().take_while(|it| matches!(it, ' ' | '\t'));
    blanks.map(|it| if it == '\t' { 4 } else { 1 }).sum()
}

fn is_indented(line: &str) -> bool {
    indent_width(line) >= 2
}

/// Returns true if a line begins a list item.
fn is_item(line: &str) -> bool {
    let text = line.trim_start();
    let rest = match text.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let number = text.trim_start_matches(|it: char| it.is_ascii_digit());
            let digits = text.len() - number.len();
            match number.strip_prefix(['.', ')']) {
                Some(rest) if (1..=9).contains(&digits) => rest,
                Some(_) | None => return false,
            }
        }
    };
    rest.starts_with([' ', '\t']) && !rest.trim().is_empty()
}

fn parse_fence(line: &str) -> Option<Fence> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let length = text.chars().take_while(|it| *it == mark).count();
    // Three backticks with another backtick later on the line are inline code.
    let is_inline = mark == '`' && text[length..].contains('`');
    (length >= 3 && !is_inline).then_some(Fence { mark, length })
}

fn is_end(line: &str, open: Fence) -> bool {
    let text = line.trim();
    text.chars().all(|it| it == open.mark) && text.chars().count() >= open.length
}

fn is_underline(line: &str) -> bool {
    let text = line.trim();
    let all = |mark: char| text.chars().all(|it| it == mark);
    text.len() >= 2 && indent_width(line) < 4 && (all('=') || all('-'))
}

/// Returns true if a line is a horizontal rule.
fn is_rule(line: &str) -> bool {
    let marks: Vec<char> = line.chars().filter(|it| !it.is_whitespace()).collect();
    marks.len() >= 3 && ['-', '*', '_'].iter().any(|mark| marks.iter().all(|it| it == mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks_of_text(text: &str, is_markdown: bool) -> Vec<String> {
        let mut blocks = Blocks::new(is_markdown);
        let mut all: Vec<Block> = text.lines().flat_map(|it| blocks.add_line(it)).collect();
        all.extend(blocks.finish_text());
        let shown = |block: Block| match block {
            Block::Heading { level, title, .. } => format!("h{level} {title}"),
            Block::Body(text) => text,
        };
        all.into_iter().map(shown).collect()
    }

    #[test]
    fn markdown_is_split_into_blocks() {
        let text = "Intro\n=====\nOne line,\nand another.\n\n## Setup ##\n- a\n- b\n\n  more of b\n\n  ```\n  code of b\n\n- no item\n  ```\n\
                    After the list\nlazily.\n\n1. x\n2. y\n\nText.\n```sh\n# no heading\n\n- no list\n```\n---\n#hashtag\nSub\n---\n";
        assert_eq!(
            blocks_of_text(text, true),
            [
                "h1 Intro",
                "One line,\nand another.",
                "h2 Setup",
                "- a\n- b\n\n  more of b\n\n  ```\n  code of b\n\n- no item\n  ```\nAfter the list\nlazily.\n\n1. x\n2. y",
                "Text.",
                "```sh\n# no heading\n\n- no list\n```",
                "h2 #hashtag\nSub",
            ]
        );
    }

    #[test]
    fn plain_text_has_paragraphs_and_lists_only() {
        assert_eq!(
            blocks_of_text("# not a heading\n---\n\n```\n\nSecond.\n* a\n* b\n", false),
            ["# not a heading\n---", "```", "Second.", "* a\n* b"]
        );
    }

    #[test]
    fn long_paragraphs_are_cut_after_sentences_and_nothing_is_lost() {
        let sentence = "The boat was painted blue by Ines. ";
        let text = sentence.repeat(200);
        let all = blocks_of_text(&text, true);
        assert!(
            all.len() > 3 && all.iter().all(|it| it.len() <= WHOLE_BYTES),
            "{}",
            all.len()
        );
        assert!(
            all.iter().all(|it| it.starts_with("The") && it.ends_with("Ines.")),
            "{all:?}"
        );
        assert_eq!(all.join(" "), text.trim());
        // A text without any place to cut.
        let all = blocks_of_text(&"漢".repeat(3_000), true);
        assert!(all.iter().all(|it| it.len() <= WHOLE_BYTES));
        assert_eq!(all.concat().chars().count(), 3_000);
    }

    #[test]
    fn long_lists_are_cut_between_items_and_long_code_between_lines() {
        let items: String = (0..200).map(|it| format!("- item {it}\n  of the list\n")).collect();
        let all = blocks_of_text(&items, true);
        assert!(
            all.len() > 2
                && all
                    .iter()
                    .all(|it| it.starts_with("- item ") && it.ends_with("of the list"))
        );
        assert_eq!(all.join("\n"), items.trim());
        let code: String = format!("```\n{}```\n", "let a = 1;\n".repeat(2_000));
        assert_eq!(blocks_of_text(&code, true).len(), 1);
        let code: String = format!("```\n{}```\n", "let a = 1;\n".repeat(20_000));
        let all = blocks_of_text(&code, true);
        assert!(all.len() > 2 && all.iter().all(|it| it.len() <= CODE_BYTES && it.ends_with(['`', ';'])));
    }
}
