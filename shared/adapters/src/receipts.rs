//! What the stores share about receipts of erasures.

use std::collections::BTreeSet;

use uuid::Uuid;

/// Receipts of one name of a space that are kept: the latest, ties by id.
pub(crate) const KEPT: usize = 10_000;
/// What remembered responses are counted as.
pub(crate) const REMEMBERED: &str = "remembered";

/// Returns the ids that a remembered response names. They are texts of JSON, so they are between quotes.
pub(crate) fn ids_in(response: &[u8]) -> BTreeSet<Uuid> {
    let texts = response.split(|it| *it == b'"');
    texts.filter_map(|it| Uuid::try_parse_ascii(it).ok()).collect()
}
