//! Digests of texts.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of a text in hexadecimal digits.
pub fn digest_of_text(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
