//! Shared code of the stores for notes.

use domain::recall::NoteKind;

/// Maximum length of the name of a scope, in bytes.
const SCOPE_BYTES_MAX: usize = 256;
/// Maximum number of notes in a scope; the latest are kept, ties by subject and kind.
pub(crate) const KEPT: usize = 1_000;
/// Share of the notes that is kept when their limit is exceeded (nine of ten), so that not every new note has to search
/// for the oldest.
const LEFT: (usize, usize) = (9, 10);
/// The kinds; the index of a kind is its number in a store. Entries may only be added.
const KINDS: [NoteKind; 4] = [NoteKind::Said, NoteKind::Dismissed, NoteKind::Read, NoteKind::Erased];

/// Returns why the notes of a scope cannot be stored, or `None` if they can.
pub(crate) fn scope_refusal(scope: &str) -> Option<String> {
    let fits = (1..=SCOPE_BYTES_MAX).contains(&scope.len());
    (!fits).then(|| format!("a scope has 1 to {SCOPE_BYTES_MAX} bytes, not {}", scope.len()))
}

/// Returns the common prefix of the scopes that share a limit with this one: up to its first `/`. Returns `None` if it
/// has no `/`.
pub(crate) fn family_of_scope(scope: &str) -> Option<&str> {
    scope.find('/').map(|at| &scope[..=at])
}

/// Returns the number of notes to keep when there are more than `most`.
pub(crate) fn notes_left_after_trim(most: usize) -> usize {
    most / LEFT.1 * LEFT.0 + most % LEFT.1 * LEFT.0 / LEFT.1
}

/// Returns the number of a kind.
pub(crate) fn number_of_kind(kind: NoteKind) -> i64 {
    KINDS
        .iter()
        .position(|it| *it == kind)
        .and_then(|it| i64::try_from(it).ok())
        .unwrap_or(i64::MAX)
}

/// Returns the kind with a number.
pub(crate) fn kind_from_number(number: i64) -> Option<NoteKind> {
    usize::try_from(number).ok().and_then(|it| KINDS.get(it).copied())
}
