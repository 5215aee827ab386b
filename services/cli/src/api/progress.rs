//! The progress of writes.

use std::time::Duration;

use domain::id::SpaceId;
use gateway::api::Progress;
use reqwest::Method;
use tokio::time::{Instant, sleep};

use super::responses::read_json_body;
use super::{Client, Error, Result};

/// Longest time that the server holds a request for the progress of a write, in milliseconds.
const HELD_MS: u32 = 10_000;
/// Interval of the checks if the server does not hold a request for that long.
const PAUSE: Duration = Duration::from_millis(250);

impl Client {
    /// Waits a limited time for the write of the watermark; returns true if it is searchable.
    ///
    /// # Errors
    /// [`Error::WriteFailed`] if the write failed permanently, so that a longer wait is useless.
    pub(crate) async fn wait_for_watermark(&self, space: &SpaceId, watermark: &str) -> Result<bool> {
        let progress = match self.read_progress(space, watermark, HELD_MS).await {
            // A server may allow less time for one request ([gateway] request_ms_max).
            Err(Error::Refused { status: 422, .. }) => return self.poll_for_watermark(space, watermark).await,
            read => read?,
        };
        Ok(progress.is_some_and(|it| it.written))
    }

    /// Checks the write at intervals, for as long as another server would hold the request.
    async fn poll_for_watermark(&self, space: &SpaceId, watermark: &str) -> Result<bool> {
        let until = Instant::now() + Duration::from_millis(HELD_MS.into());
        loop {
            let progress = self.get_write_progress(space, watermark).await?;
            let is_written = progress.is_some_and(|it| it.written);
            if is_written || Instant::now() >= until {
                return Ok(is_written);
            }
            sleep(PAUSE).await;
        }
    }

    /// Returns the present progress of the write of the watermark, or `None` if the server did not find it in time.
    ///
    /// # Errors
    /// [`Error::WriteFailed`] if the write failed permanently.
    pub(crate) async fn get_write_progress(&self, space: &SpaceId, watermark: &str) -> Result<Option<Progress>> {
        self.read_progress(space, watermark, 0).await
    }

    async fn read_progress(&self, space: &SpaceId, watermark: &str, wait_ms: u32) -> Result<Option<Progress>> {
        let wait_ms = wait_ms.to_string();
        let query = [("watermark", watermark), ("wait_ms", wait_ms.as_str())];
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "progress"], &query);
        match self.send_request(Method::GET, &url, None).await {
            Ok(response) => read_json_body(response).await.map(Some),
            Err(Error::NotWritten { progress, .. }) => Ok(Some(*progress)),
            Err(Error::Refused { status: 504, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
