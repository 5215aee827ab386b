use chrono::{DateTime, Utc};

/// A request that holds an idempotency key while it is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Digest of the request.
    pub request: [u8; 32],
    /// Time at which the request asks for the key.
    pub at: DateTime<Utc>,
    /// Time at which the hold ends, in whole milliseconds, unless the request reports its outcome earlier. If the
    /// process dies, the hold ends then too.
    pub until: DateTime<Utc>,
}

/// The result of asking for an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyClaim {
    /// The request holds the key.
    Taken,
    /// Another request with the same digest is in flight and holds the key.
    Busy,
    /// The key is bound to a request with another digest.
    Reused,
    /// A request with the same digest was already answered; this is the response.
    Answered(Vec<u8>),
}
