//! Sends the readings among the lines of an import. A reading is sent when the records of earlier lines are searchable.

use anyhow::{Context, ensure};
use gateway::api::StoredReadingStatus;
use serde_json::Value;

use crate::api::Error;
use crate::import::input::line::{Complaints as _, Line};
use crate::import::sending::tally::{Tally, halve_batch};
use crate::import::{Target, wait_until_searchable};
use crate::output;

/// Maximum number of readings in one request.
pub(crate) const AT_ONCE: usize = 100;

const STOPPED: &str = "stopped; run the same command again to continue, stored records are left unchanged";

/// Sends readings. A batch that is refused as a whole is halved until each refused reading is alone.
pub(crate) async fn send_readings(target: &Target<'_>, lines: &[Line], tally: &mut Tally) -> anyhow::Result<()> {
    let Some(first) = lines.first() else { return Ok(()) };
    if !target.may_read && !tally.lacks_readings {
        // A reading is stored only if the records before it are searchable.
        tally.lacks_readings = true;
        tally.bar.suspend(|| {
            output::print_error_line("lines with readings are left out: they need a key with the right `read`");
        });
    }
    if tally.lacks_readings {
        tally.wrong += lines.len() as u64;
        return Ok(());
    }
    let searchable = wait_until_searchable(target, &tally.watermarks).await;
    ensure!(
        searchable.context(STOPPED)?,
        "the server is still writing the records before {}; run the same command again, stored records are left unchanged",
        first.place
    );
    // The last watermark is kept for the state of the import.
    let written = tally.watermarks.len().saturating_sub(1);
    tally.watermarks.drain(..written);
    let mut waiting = vec![lines];
    while let Some(part) = waiting.pop() {
        let items: Vec<Value> = part.iter().map(|it| it.content.clone()).collect();
        match target.client.put_readings(&target.args.space, &items).await {
            Ok(stored) => {
                for (line, item) in part.iter().zip(stored.items) {
                    match item.status {
                        StoredReadingStatus::Stored => tally.readings += 1,
                        StoredReadingStatus::LeftOut => {
                            tally.report_skipped(&line.place, "a record from the model's prompt is not in the space");
                        }
                    }
                }
            }
            Err(Error::Refused { status: 404, .. }) => {
                tally.lacks_readings = true;
                tally.wrong += part.len() as u64 + waiting.iter().map(|it| it.len() as u64).sum::<u64>();
                tally.bar.suspend(|| {
                    output::print_error_line(
                        "the server is too old to accept readings; lines with readings are left out",
                    );
                });
                return Ok(());
            }
            Err(Error::Refused {
                status: 400 | 413 | 422,
                title,
                detail,
            }) => {
                let halves = halve_batch(part, if detail.is_empty() { &title } else { &detail }, tally);
                waiting.extend(halves);
            }
            Err(error) => {
                tally.bar.finish_and_clear();
                return Err(error).context(STOPPED);
            }
        }
    }
    Ok(())
}
