//! Fences around what users and programs said, with marks that nobody can write who does not know all that stands between them.

use uuid::Uuid;

/// Names the marks.
const MARKS: Uuid = Uuid::from_u128(0x6d6e_656d_6963_5f65_7669_6465_6e63_6531);

/// Returns a mark made of what it fences: whoever writes a text cannot know it, since their text is a part of it.
pub(super) fn mark(question: &str, evidence: &str) -> String {
    let mark = Uuid::new_v5(&MARKS, format!("{question}\n{evidence}").as_bytes());
    mark.simple().to_string()[..16].to_owned()
}

/// Returns a text between marks, under a name.
pub(super) fn fenced(name: &str, mark: &str, text: &str) -> String {
    format!("<{name} {mark}>\n{}\n</{name} {mark}>", text.trim_end_matches('\n'))
}
