use std::time::Duration;

/// Returns the pause before the next attempt: 100 ms, 1 s, 2 s, 4 s ... 120 s. The longest pause must not exceed
/// `RETRY_MAX` of the embedded queue, which shortens longer pauses after a restart.
pub(super) fn backoff_pause(attempt: u32) -> Duration {
    match attempt {
        0 | 1 => Duration::from_millis(100),
        later => Duration::from_secs(1 << (later - 2).min(7)).min(Duration::from_secs(120)),
    }
}
