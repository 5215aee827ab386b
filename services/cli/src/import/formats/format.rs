//! The format of an input: given by the user, or detected by its first bytes and the file extension.

use std::path::Path;

use anyhow::bail;

use crate::args::Format;
use crate::import::input::byte_order::strip_byte_order_mark;
use crate::import::input::json_scan::{Outline, read_outline};

/// Bytes at the beginning of an input that are examined.
pub(crate) const HEAD_BYTES: usize = 64 << 10;

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Records,
    ChatGpt,
    Claude,
    Mem0,
    Hindsight,
    Text,
    Markdown,
}

impl Kind {
    /// Returns the format that the user chose; `None` for `auto`.
    pub(crate) fn from_format(format: Format) -> Option<Kind> {
        match format {
            Format::Auto => None,
            Format::Records => Some(Kind::Records),
            Format::Chatgpt => Some(Kind::ChatGpt),
            Format::Claude => Some(Kind::Claude),
            Format::Mem0 => Some(Kind::Mem0),
            Format::Hindsight => Some(Kind::Hindsight),
            Format::Text => Some(Kind::Text),
            Format::Markdown => Some(Kind::Markdown),
        }
    }

    /// Returns the name of the format for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Records => "records of Mnemic",
            Kind::ChatGpt => "an export of ChatGPT",
            Kind::Claude => "an export of Claude",
            Kind::Mem0 => "an export of mem0",
            Kind::Hindsight => "an export of Hindsight",
            Kind::Text => "plain text",
            Kind::Markdown => "Markdown",
        }
    }

    /// Returns the name of one piece of this format. The progress of an import is counted in pieces.
    pub(crate) fn piece_name(self) -> &'static str {
        match self {
            Kind::Records => "line",
            Kind::ChatGpt | Kind::Claude => "conversation",
            Kind::Mem0 | Kind::Hindsight => "memory",
            Kind::Text | Kind::Markdown => "part",
        }
    }

    /// Returns the plural of [`Kind::piece_name`].
    pub(crate) fn plural_piece_name(self) -> &'static str {
        match self {
            Kind::Records => "lines",
            Kind::ChatGpt | Kind::Claude => "conversations",
            Kind::Mem0 | Kind::Hindsight => "memories",
            Kind::Text | Kind::Markdown => "parts",
        }
    }

    /// Returns true if the input is a text that is split into parts.
    pub(crate) fn is_document(self) -> bool {
        match self {
            Kind::Text | Kind::Markdown => true,
            Kind::Records | Kind::ChatGpt | Kind::Claude | Kind::Mem0 | Kind::Hindsight => false,
        }
    }
}

/// Returns the format of the file at `path` by its extension, if that determines it.
pub(crate) fn document_by_name(path: &Path) -> Option<Kind> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "md" | "markdown" => Some(Kind::Markdown),
        "txt" | "text" => Some(Kind::Text),
        _ => None,
    }
}

/// Returns the format of an input by its first bytes, if they determine it.
pub(crate) fn by_content(head: &[u8]) -> Option<Kind> {
    let Outline { is_list, wrapper, keys } = read_outline(strip_byte_order_mark(head));
    let has = |names: &[&str]| keys.iter().any(|it| names.contains(&it.as_str()));
    if has(&["mapping"]) {
        return Some(Kind::ChatGpt);
    }
    if has(&["chat_messages"]) {
        return Some(Kind::Claude);
    }
    let lists_memories = is_list || wrapper.is_some();
    // A page of records from Mnemic's API is wrapped in `items`, too.
    if has(&["record", "session"]) {
        return (!lists_memories).then_some(Kind::Records);
    }
    if has(&["memory"]) {
        return Some(Kind::Mem0);
    }
    if lists_memories
        && has(&[
            "fact_type",
            "mentioned_at",
            "occurred_start",
            "occurred_end",
            "chunk_id",
        ])
    {
        return Some(Kind::Hindsight);
    }
    if let Some(wrapper) = &wrapper {
        let is_empty = keys.is_empty();
        return match wrapper.as_str() {
            "results" if is_empty => Some(Kind::Mem0),
            "items" | "memories" if is_empty || has(&["text"]) => Some(Kind::Hindsight),
            _ => None,
        };
    }
    if !is_list && has(&["text", "image_caption", "tool", "reading"]) {
        return Some(Kind::Records);
    }
    None
}

/// Returns the format of an input: by the extension of a Markdown file, else by its first bytes, else by the file extension.
///
/// # Errors
/// If the input is an archive, or if nothing determines the format.
pub(crate) fn detect_format(head: &[u8], path: &Path) -> anyhow::Result<Kind> {
    let file = path.display();
    if head.starts_with(b"PK\x03\x04") {
        bail!("{file} is a zip archive; unpack it and import the unpacked file: unzip {file} conversations.json");
    }
    if head.starts_with(b"\x1f\x8b") {
        bail!("{file} is compressed; unpack it first: gunzip {file}");
    }
    let kind_by_name = document_by_name(path);
    if kind_by_name == Some(Kind::Markdown) {
        return Ok(Kind::Markdown);
    }
    if let Some(kind) = by_content(head).or(kind_by_name) {
        return Ok(kind);
    }
    let is_json_by_name = path.extension().is_some_and(|it| {
        ["json", "jsonl", "ndjson"]
            .iter()
            .any(|name| it.eq_ignore_ascii_case(name))
    });
    let start = strip_byte_order_mark(head).trim_ascii_start().first();
    match start {
        None | Some(b'{' | b'[') => Ok(Kind::Records),
        Some(_) if is_json_by_name => Ok(Kind::Records),
        Some(_) => bail!(
            "cannot detect the format of {file}; give it with --format records, chatgpt, claude, mem0, hindsight, text or markdown"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_recognised_by_their_first_bytes() {
        let chatgpt = r#"[{"title": "A [list] of \"things\"", "create_time": 1.5, "mapping": {"a": {"message"#;
        let claude = "\u{feff}[\n {\"uuid\": \"c\", \"account\": {\"uuid\": \"mapping\"}, \"chat_messages\": [";
        let mem0 = r#"{"count": 2, "results": [{"id": "m", "memory": "Likes tea"}]}"#;
        let hindsight = r#"{"items": [{"id": "h", "text": "Ann likes tea.", "context": ""}]}"#;
        for (head, expected) in [
            (chatgpt, Some(Kind::ChatGpt)),
            (r#"{"title": "One", "mapping": {}}"#, Some(Kind::ChatGpt)),
            (claude, Some(Kind::Claude)),
            (mem0, Some(Kind::Mem0)),
            (r#"[{"id": "m", "memory": "Likes tea"}]"#, Some(Kind::Mem0)),
            (r#"{"results": []}"#, Some(Kind::Mem0)),
            (hindsight, Some(Kind::Hindsight)),
            (
                r#"[{"id": "h", "text": "x", "fact_type": "world"}]"#,
                Some(Kind::Hindsight),
            ),
            (r#"{"id": "1", "text": "I moved."}"#, Some(Kind::Records)),
            (
                r#"{"id": "1", "metadata": {"mapping": "x"}, "text": "I"#,
                Some(Kind::Records),
            ),
            (r#"{"reading": {"records": []}}"#, Some(Kind::Records)),
            // Records of Mnemic that are not JSON lines, and a format that is unknown.
            (r#"{"items": [{"record": "r", "session": "s", "text": "x"}]}"#, None),
            (r#"[{"id": "1", "text": "I moved."}]"#, None),
            (r#"{"id": "1", "#, None),
            ("[1, 2]", None),
            ("# A heading", None),
            ("", None),
        ] {
            assert_eq!(by_content(head.as_bytes()), expected, "{head}");
        }
    }

    #[test]
    fn the_file_name_decides_if_the_content_does_not() {
        let kind = |head: &str, name: &str| detect_format(head.as_bytes(), Path::new(name)).unwrap();
        assert_eq!(kind("# Notes", "notes.md"), Kind::Markdown);
        assert_eq!(kind("[{\"text\": 1}]", "notes.MD"), Kind::Markdown);
        assert_eq!(kind("Dear diary", "diary.txt"), Kind::Text);
        assert_eq!(kind("{\"text\": \"x\"}", "talk.txt"), Kind::Records);
        assert_eq!(kind("not json", "talk.jsonl"), Kind::Records);
        assert_eq!(kind("", "-"), Kind::Records);
        let refused = |head: &str, name: &str| detect_format(head.as_bytes(), Path::new(name)).unwrap_err().to_string();
        assert!(refused("Dear diary", "-").contains("--format"));
        assert!(refused("PK\u{3}\u{4}", "export.zip").contains("unzip export.zip"));
    }
}
