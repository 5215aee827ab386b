//! Shared code of the stores for receipts of erasures.

use std::collections::BTreeSet;

use uuid::Uuid;

/// Maximum number of receipts of one space name; the latest are kept, ties by id.
pub(crate) const KEPT: usize = 10_000;
/// Name of the count of remembered responses.
pub(crate) const REMEMBERED: &str = "remembered";

/// Returns the ids in a remembered response. They are JSON strings, so they are between quotes.
pub(crate) fn ids_in(response: &[u8]) -> BTreeSet<Uuid> {
    let texts = response.split(|it| *it == b'"');
    texts.filter_map(|it| Uuid::try_parse_ascii(it).ok()).collect()
}
