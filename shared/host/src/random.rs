//! The randomness of the services: it enters here, from the operating system, and is passed on as data.

use domain::{ErrorKind, PortError};

/// Returns an unpredictable number.
///
/// # Errors
///
/// Like [`generate_secret`].
pub fn generate_number() -> Result<u64, PortError> {
    let [a, b, c, d, e, f, g, h, ..] = generate_secret()?;
    Ok(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

/// Returns 32 unpredictable bytes.
///
/// # Errors
///
/// `Unavailable` if the operating system has no random bytes.
pub fn generate_secret() -> Result<[u8; 32], PortError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|source| {
        let detail = "the operating system returns no random bytes";
        PortError::new("host.random", ErrorKind::Unavailable, detail).caused_by(source)
    })?;
    Ok(bytes)
}
