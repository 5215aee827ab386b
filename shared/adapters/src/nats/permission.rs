//! What each service may do on NATS.

/// A service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The gateway.
    Gateway,
}

/// Nothing yet.
#[must_use]
pub fn server_config() -> String {
    String::new()
}
