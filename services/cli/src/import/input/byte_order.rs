//! The encoding of a file by its first bytes.

/// Returns true if a text begins like UTF-16.
pub(crate) fn is_utf16(head: &[u8]) -> bool {
    UTF16_MARKS.iter().any(|it| head.starts_with(it))
}

/// Returns a line without a leading byte order mark.
pub(crate) fn strip_byte_order_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// Mark that some programs write before a UTF-8 text. In concatenated texts, it also occurs before later lines.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Marks at the beginning of UTF-16 texts.
const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
