//! What the stores share about notes.

use domain::recall::NoteKind;

/// Longest name of a scope, bytes.
const SCOPE_BYTES_MAX: usize = 256;
/// Notes of a scope that are kept: the latest, ties by subject and kind.
pub(crate) const KEPT: usize = 1_000;
/// Share of a bound of notes that is left once it is passed, so that not every note has to look for the oldest: nine of ten.
const LEFT: (usize, usize) = (9, 10);
/// Kinds, by their number in a store. Only ever added to.
const KINDS: [NoteKind; 4] = [NoteKind::Said, NoteKind::Dismissed, NoteKind::Read, NoteKind::Erased];

/// Says why notes of a scope cannot be kept.
pub(crate) fn refusal(scope: &str) -> Option<String> {
    let fits = (1..=SCOPE_BYTES_MAX).contains(&scope.len());
    (!fits).then(|| format!("a scope has 1 to {SCOPE_BYTES_MAX} bytes, not {}", scope.len()))
}

/// Returns how the scopes begin that are bounded together with this one: up to its first `/`. None if it has none.
pub(crate) fn family(scope: &str) -> Option<&str> {
    scope.find('/').map(|at| &scope[..=at])
}

/// Returns how many notes are left when there are more than `most`.
pub(crate) fn left(most: usize) -> usize {
    most / LEFT.1 * LEFT.0 + most % LEFT.1 * LEFT.0 / LEFT.1
}

/// Returns the number of a kind.
pub(crate) fn number(kind: NoteKind) -> i64 {
    KINDS
        .iter()
        .position(|it| *it == kind)
        .and_then(|it| i64::try_from(it).ok())
        .unwrap_or(i64::MAX)
}

/// Returns the kind of a number.
pub(crate) fn kind(number: i64) -> Option<NoteKind> {
    usize::try_from(number).ok().and_then(|it| KINDS.get(it).copied())
}
