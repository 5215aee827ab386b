//! Finds sessions with records that have no reading, and queues them for the writer.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use chrono::DateTime;
use domain::id::{ReadingId, RecordId, SessionId, SpaceId};
use domain::port::{Room, Selection};
use domain::reading::ReadingKind;
use domain::record::Record;
use host::clock;
use tokio::time::Instant;

use crate::api::problem::Problem;
use crate::api::{Backfill, BackfillReport, Paged, ReadingEstimate};
use crate::app::cursor::Cursors;
use crate::app::state::App;
use crate::use_cases::lists::record_selection;
use crate::use_cases::validate::{self, NAME_BYTES_MAX};

/// Number of records read from the store in one step, and their size in bytes.
const RECORDS_AT_ONCE: usize = 500;
const BYTES_AT_ONCE: usize = 4 << 20;
/// Number of sessions queued in one step.
const SESSIONS_AT_ONCE: usize = 500;
/// The scan takes this fraction of the time limit of a request; the rest is for queueing the sessions that it found.
const WALK_PART: u32 = 2;

/// Records of a call, bytes of a token, and additional tokens of each call: see [`ReadingEstimate`].
const RECORDS_A_CALL: u64 = 16;
const BYTES_A_TOKEN: u64 = 4;
const TOKENS_A_CALL: u64 = 1_100;
const TOKENS_READ_A_TOKEN_WRITTEN: u64 = 3;

/// The unread part of a session.
#[derive(Default)]
struct UnreadPart {
    records: u64,
    bytes: u64,
}

impl Paged for Backfill {
    fn after_cursor(&self) -> Option<&str> {
        self.after.as_deref()
    }

    fn requested_limit(&self) -> Option<u32> {
        None
    }

    fn filter_text(&self) -> Result<String, Problem> {
        Ok(self.session.clone().unwrap_or_default())
    }
}

/// Scans the records of an existing space and queues the sessions with unread records, unless it is a dry run. Queued
/// sessions are read to their end, without a wait for further records.
pub(crate) async fn backfill_readings(app: &App, space: &SpaceId, order: &Backfill) -> Result<BackfillReport, Problem> {
    let until = Instant::now() + Duration::from_millis(app.config.request_ms_max) / WALK_PART;
    let selection = selection_to_scan(app, space, order).await?;
    let cursors = Cursors::for_list(app, "backfill", space.as_str(), order).await?;
    let mut cursor = Some(cursors.start_position(order)?.unwrap_or(0));
    let mut unread = BTreeMap::new();
    while let Some(after) = cursor {
        let room = Room {
            items: RECORDS_AT_ONCE,
            bytes: BYTES_AT_ONCE,
        };
        let (page, next) = app.stores().records.select(space, &selection, after, room).await?;
        cursor = next;
        note_unread(app, space, order, &page, &mut unread).await?;
        if Instant::now() >= until {
            break;
        }
    }
    if !order.dry_run {
        queue_sessions(app, space, &unread).await?;
    }
    Ok(BackfillReport {
        sessions: unread.len() as u64,
        records: unread.values().map(|it| it.records).sum(),
        estimate: estimate_cost(&unread),
        next: cursor.map(|it| cursors.cursor_after(it)).transpose()?,
    })
}

/// Returns the selection of the records to scan.
async fn selection_to_scan(app: &App, space: &SpaceId, order: &Backfill) -> Result<Selection, Problem> {
    let Some(name) = order.session.as_deref() else {
        return Ok(Selection::default());
    };
    validate::check_name("session", Some(name), NAME_BYTES_MAX).map_err(Problem::invalid_request)?;
    if name.trim().is_empty() {
        return Err(Problem::invalid_request("session: is empty; leave it out instead"));
    }
    let session = record_selection::resolve_session(app, space, name).await?;
    if record_selection::first_record(app, space, session).await?.is_none() {
        return Err(Problem::not_found("the session has no records"));
    }
    Ok(Selection {
        session: Some(session),
        ..Selection::default()
    })
}

/// Adds the records that have no reading. If the request repeats failed readings, removes these. The records of a
/// removed passage or picture then count as unread, and so do records with a picture that has no description.
async fn note_unread(
    app: &App,
    space: &SpaceId,
    order: &Backfill,
    page: &[Record],
    unread: &mut BTreeMap<SessionId, UnreadPart>,
) -> Result<(), Problem> {
    let readings = &app.stores().readings;
    let ids: Vec<RecordId> = page.iter().map(|it| it.id).collect();
    let (mut read, mut failed): (HashSet<RecordId>, Vec<ReadingId>) = (HashSet::new(), Vec::new());
    let mut described: HashSet<RecordId> = HashSet::new();
    for reading in readings.of_records(space, &ids).await? {
        if order.again && reading.failure.is_some() {
            failed.push(reading.id);
            continue;
        }
        match reading.kind {
            ReadingKind::Passage => read.extend(reading.records),
            ReadingKind::Picture => described.extend(reading.records),
            // The clusterer makes these without a request: if a reading is missing, it asks the question again.
            ReadingKind::Events | ReadingKind::Label | ReadingKind::Page | ReadingKind::People => {}
        }
    }
    if order.again {
        let is_undescribed = |it: &&Record| has_uncaptioned_picture(it) && !described.contains(&it.id);
        for record in page.iter().filter(is_undescribed) {
            read.remove(&record.id);
        }
    }
    if !order.dry_run && !failed.is_empty() {
        readings.remove(space, &failed).await?;
    }
    for record in page.iter().filter(|it| !read.contains(&it.id)) {
        let of_session = unread.entry(record.session).or_default();
        of_session.records += 1;
        of_session.bytes += text_bytes(record);
    }
    Ok(())
}

/// Returns true if a record has a picture without a caption of the caller.
fn has_uncaptioned_picture(record: &Record) -> bool {
    let is_blank = |it: Option<&str>| it.is_none_or(|it| it.trim().is_empty());
    is_blank(record.image_caption.as_deref()) && !is_blank(record.image_uri.as_deref())
}

/// Returns the length in bytes of the text of a record that a model may see.
fn text_bytes(record: &Record) -> u64 {
    let tool = record.tool.as_ref();
    let tool = tool.map_or(0, |it| it.name.len() + it.arguments.len() + it.result.len());
    let caption = record.image_caption.as_ref().map_or(0, String::len);
    (record.text.len() + caption + tool) as u64
}

async fn queue_sessions(app: &App, space: &SpaceId, unread: &BTreeMap<SessionId, UnreadPart>) -> Result<(), Problem> {
    let sessions: Vec<SessionId> = unread.keys().copied().collect();
    let is_over = DateTime::UNIX_EPOCH;
    for some in sessions.chunks(SESSIONS_AT_ONCE) {
        app.stores()
            .readings
            .schedule_sessions(space, some, is_over, clock::now())
            .await?;
    }
    Ok(())
}

fn estimate_cost(unread: &BTreeMap<SessionId, UnreadPart>) -> ReadingEstimate {
    let mut sum = ReadingEstimate::default();
    for it in unread.values() {
        let (calls, tokens) = (it.records.div_ceil(RECORDS_A_CALL), it.bytes / BYTES_A_TOKEN);
        sum.model_calls += calls;
        sum.prompt_tokens += tokens + calls * TOKENS_A_CALL;
        sum.completion_tokens += tokens / TOKENS_READ_A_TOKEN_WRITTEN;
    }
    sum
}
