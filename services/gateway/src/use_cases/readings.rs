//! Readings of a space: list them, import them from another space, and request them for records that were not read.
//!
//! The gateway calls no language model. It only queues sessions for the writer; the writer reads records that were not
//! read and derives results from the readings.

mod backfill;
mod portable_reading;
mod record_names;

use chrono::NaiveTime;
use domain::id::{ReadingId, RecordId, SpaceId};
use domain::reading::Reading;
use futures::try_join;
use host::clock;
use serde::Serialize;

use crate::api::problem::Problem;
use crate::api::{
    self, Paged, PortableReadingPage, ReadingFilter, ReadingList, ReadingPage, ReadingState, ReadingSummary,
};
use crate::app::cursor::Cursors;
use crate::app::state::App;
use crate::use_cases::lists::derived_items;
use crate::use_cases::lists::list_page::Filling;

pub(crate) use backfill::backfill_readings;
pub(crate) use portable_reading::store_readings;

use record_names::RecordNames;

/// Number of readings read from the store in one step: each may hold a long reply.
const LOOK_MAX: usize = 50;

/// Returns the list item for a reading; `None` if one of its records was erased, because the reading is then erased
/// too.
type Show<'a, T> = &'a (dyn Fn(Reading, &RecordNames) -> Option<T> + Sync);

/// Returns a page of the readings of an existing space, by id.
pub(crate) async fn list_readings(app: &App, space: &SpaceId, filter: &ReadingFilter) -> Result<ReadingList, Problem> {
    if filter.portable == Some(true) {
        let (items, next) = list_page(app, space, filter, &portable_reading::to_portable).await?;
        return Ok(ReadingList::Portable(PortableReadingPage { items, next }));
    }
    let with_output = filter.output == Some(true);
    // The items come last, so that they show at least the readings that the summary counts.
    let summary = summarise_readings(app, space).await?;
    let (items, next) = list_page(app, space, filter, &|reading, names| {
        reading_to_api(reading, names, with_output)
    })
    .await?;
    Ok(ReadingList::Page(ReadingPage { items, next, summary }))
}

/// Returns one reading of an existing space, with the reply of the model.
pub(crate) async fn find_reading(app: &App, space: &SpaceId, id: &str) -> Result<api::Reading, Problem> {
    let missing = || derived_items::missing_item_problem(space, "reading", "readings");
    let id: ReadingId = id.parse().map_err(|_| missing())?;
    let found = app.stores().readings.get(space, &[id]).await?.pop();
    let reading = found.ok_or_else(missing)?;
    let names = RecordNames::of_records(app, space, reading.records.iter().copied()).await?;
    reading_to_api(reading, &names, true).ok_or_else(missing)
}

/// Returns a page of the readings, converted by `show`, and the cursor of the next page.
async fn list_page<T: Serialize>(
    app: &App,
    space: &SpaceId,
    filter: &ReadingFilter,
    show: Show<'_, T>,
) -> Result<(Vec<T>, Option<String>), Problem> {
    let limit = filter.page_limit()?;
    let cursors = Cursors::for_list(app, "readings", space.as_str(), filter).await?;
    let mut after: Option<ReadingId> = cursors.start_position(filter)?;
    let mut page = Filling::new(limit);
    let look = limit.min(LOOK_MAX);
    loop {
        let found = app.stores().readings.list(space, after, look).await?;
        let has_ended = found.len() < look;
        let names = RecordNames::of_records(app, space, found.iter().flat_map(named_records)).await?;
        for reading in found {
            after = Some(reading.id);
            if let Some(item) = show(reading, &names) {
                page.add_item(item);
            }
            if page.is_full() {
                let next = after.map(|it| cursors.cursor_after(it)).transpose()?;
                return Ok((page.items, next));
            }
        }
        if has_ended {
            return Ok((page.items, None));
        }
    }
}

/// Returns every record that a reading names.
fn named_records(reading: &Reading) -> impl Iterator<Item = RecordId> {
    let earlier = reading.earlier.iter().map(|it| it.first);
    reading.records_seen_by_model().chain(earlier)
}

fn reading_to_api(reading: Reading, names: &RecordNames, with_output: bool) -> Option<api::Reading> {
    let state = match reading.failure {
        None => ReadingState::Done,
        Some(_) => ReadingState::Failed,
    };
    Some(api::Reading {
        records: names.external_ids(&reading.records)?,
        id: reading.id,
        kind: reading.kind,
        session: reading.session,
        prompt: reading.prompt,
        model: reading.model,
        at: reading.at,
        state,
        reason: reading.failure,
        outcome: reading.outcome,
        cost: reading.spent.into(),
        output: with_output.then_some(reading.output),
    })
}

/// Returns the progress of the readings of a space.
async fn summarise_readings(app: &App, space: &SpaceId) -> Result<ReadingSummary, Problem> {
    let readings = &app.stores().readings;
    let midnight = clock::now().date_naive().and_time(NaiveTime::MIN).and_utc();
    // A session stops waiting after its reading is stored, so readings are counted after the sessions that wait.
    let waiting_sessions = readings.count_scheduled_sessions(space).await?;
    let (all, today) = try_join!(readings.tally(space, None), readings.tally(space, Some(midnight)))?;
    Ok(ReadingSummary {
        waiting_sessions,
        done: all.done,
        failed: all.failed,
        cost: all.spent.into(),
        cost_today: today.spent.into(),
    })
}
