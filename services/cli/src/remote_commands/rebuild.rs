use std::time::Duration;

use anyhow::bail;
use gateway::api::RebuildState;
use indicatif::{ProgressBar, ProgressStyle};

use crate::api::{Client, Error};
use crate::args::Rebuild;
use crate::{Outcome, output};

/// Interval of the progress checks.
const PAUSE: Duration = Duration::from_millis(250);

/// Requests a rebuild of a space from its records, and waits until it is complete.
pub(crate) async fn rebuild_space(args: &Rebuild) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let space = &args.space;
    match client.start_rebuild(space).await {
        Ok(_) => {}
        Err(Error::Refused { status: 409, .. }) => {
            output::print_line(&format!("{space} is being rebuilt already; waiting for it"))
        }
        Err(error) => return Err(error.into()),
    }
    let style = ProgressStyle::with_template("[{bar:40}] {pos}/{len} records {elapsed}, {eta} left");
    let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    loop {
        let rebuild = client.get_rebuild_progress(space).await?;
        bar.set_length(rebuild.of);
        bar.set_position(rebuild.records);
        match rebuild.state {
            RebuildState::Running => tokio::time::sleep(PAUSE).await,
            RebuildState::Done => {
                bar.finish_and_clear();
                output::print_line(&format!("{space} rebuilt from {} records", rebuild.records));
                return Ok(Outcome::Done);
            }
            RebuildState::Failed => {
                bar.finish_and_clear();
                bail!(
                    "the rebuild of {space} failed after {} of {} records; the space stays searchable as before, and \
                     the log of the server has the cause",
                    rebuild.records,
                    rebuild.of
                )
            }
        }
    }
}
