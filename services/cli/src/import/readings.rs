//! Sends the readings among the lines of an import. A reading is sent when the records of earlier lines are searchable.

use anyhow::{Context, ensure};
use gateway::api::StoredReadingStatus;
use serde_json::Value;

use super::batch::{Complaints as _, Line, halved};
use super::tally::Tally;
use super::{Target, wait};
use crate::api::Error;
use crate::out;

/// Most readings in one request.
pub(super) const AT_ONCE: usize = 100;

const STOPPED: &str = "stopped; run the same command again, what is in stays as it is";

/// Returns the reading of a line, if the line holds one.
pub(super) fn of_line(line: &mut Value) -> Option<Value> {
    let fields = line.as_object_mut().filter(|it| it.len() == 1)?;
    fields.get("reading").filter(|it| it.is_object())?;
    fields.remove("reading")
}

/// Sends readings. A batch that is refused as a whole is halved until each refused reading is alone.
pub(super) async fn send(target: &Target<'_>, lines: &[Line], tally: &mut Tally) -> anyhow::Result<()> {
    let Some(first) = lines.first() else { return Ok(()) };
    if tally.lacks_readings {
        tally.wrong += lines.len() as u64;
        return Ok(());
    }
    let searchable = wait(target, &tally.watermarks).await;
    ensure!(
        searchable.context(STOPPED)?,
        "the server is still writing the records before {}; run the same command again, what is in stays as it is",
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
                            tally.wrong(&line.place, "the space lacks a record that the model was shown");
                        }
                    }
                }
            }
            Err(Error::Refused { status: 404, .. }) => {
                tally.lacks_readings = true;
                tally.wrong += part.len() as u64 + waiting.iter().map(|it| it.len() as u64).sum::<u64>();
                tally.bar.suspend(|| {
                    out::complain("the server is older and takes no readings; the lines that hold one are left out");
                });
                return Ok(());
            }
            Err(Error::Refused {
                status: 400 | 413 | 422,
                title,
                detail,
            }) => {
                let halves = halved(part, if detail.is_empty() { &title } else { &detail }, tally);
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
