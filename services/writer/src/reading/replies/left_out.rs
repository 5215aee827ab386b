//! Items of a model's reply that are left out.

use domain::reading::LeftOut;

/// Returns a rejected item with the reason, quoting at most its first 200 bytes.
pub(crate) fn left_out_of(what: &str, why: &str) -> LeftOut {
    LeftOut {
        what: what[..what.floor_char_boundary(WHAT_BYTES_MAX)].to_owned(),
        why: why.to_owned(),
    }
}

/// Maximum length of the quoted beginning of a rejected item, in bytes.
const WHAT_BYTES_MAX: usize = 200;
