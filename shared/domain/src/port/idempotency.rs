use chrono::{DateTime, Utc};

/// A request that wants an idempotency key for itself while it is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Digest of the request.
    pub request: [u8; 32],
    /// When it asks.
    pub at: DateTime<Utc>,
    /// Until when it holds the key, to the millisecond, unless it says earlier what came of it. A process that died holds
    /// nothing beyond.
    pub until: DateTime<Utc>,
}

/// Whether a request got the idempotency key that it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// It holds the key.
    Taken,
    /// A request with the same digest holds it and is in flight.
    Busy,
    /// The key is bound to a request with another digest.
    Reused,
    /// A request with the same digest was answered: the response.
    Answered(Vec<u8>),
}
