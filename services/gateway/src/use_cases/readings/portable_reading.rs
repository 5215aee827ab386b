//! Readings in the form for import into another space: they use the callers' names of session and records.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Datelike, TimeDelta, Utc};
use domain::id::{ReadingId, RecordId, SessionId, SpaceId};
use domain::reading::{GistRef, Reading, ReadingKind};
use host::clock;

use super::RecordNames;
use crate::api::problem::Problem;
use crate::api::{NewReadings, PortableGist, PortableReading, StoredReading, StoredReadingStatus, StoredReadings};
use crate::app::state::App;
use crate::use_cases::validate::{self, NAME_BYTES_MAX, RECORD_ID_BYTES_MAX};

/// Maximum number of readings in one request.
const READINGS_MAX: usize = 100;
/// Maximum number of records of a passage or an event, of other records in the prompt, and of earlier gists.
const RECORDS_MAX: usize = 24;
const EVENT_RECORDS_MAX: usize = 48;
const BESIDE_MAX: usize = 64;
const EARLIER_MAX: usize = 64;
/// Longest reply of a model, in bytes.
const OUTPUT_BYTES_MAX: usize = 256 << 10;
/// Longest reason of a failure, and longest ignored part of a reply, in bytes.
const REASON_BYTES_MAX: usize = 1_024;
/// Maximum number of ignored parts of a reply.
const LEFT_OUT_MAX: usize = 1_000;
const DIGEST_DIGITS: usize = 64;
/// Maximum lead of a caller's clock.
const AHEAD: TimeDelta = TimeDelta::days(1);
const YEAR_MIN: i32 = 1900;

/// Returns a reading in the portable form; `None` if a record in its prompt was erased, because the reading is then
/// erased too.
pub(super) fn to_portable(reading: Reading, names: &RecordNames) -> Option<PortableReading> {
    let session = names.session_name(*reading.records.first()?)?.to_owned();
    let earlier = reading.earlier.iter().map(|it| PortableGist {
        // Empty if the record of the gist was erased; the entry stays, so that the labels of the others do not change.
        first: names.external_id(it.first).unwrap_or_default().to_owned(),
        number: it.number,
    });
    Some(PortableReading {
        session,
        kind: reading.kind,
        records: names.external_ids(&reading.records)?,
        beside: names.external_ids(&reading.beside)?,
        earlier: earlier.collect(),
        digest: reading.digest,
        prompt: reading.prompt,
        model: reading.model,
        at: reading.at,
        output: reading.output,
        failure: reading.failure,
        outcome: reading.outcome,
        spent: reading.spent.into(),
    })
}

/// Stores readings in an existing space, and queues their sessions for the writer.
///
/// # Errors
/// 422 if one of them is invalid; then no reading is stored.
pub(crate) async fn store_readings(app: &App, space: &SpaceId, new: NewReadings) -> Result<StoredReadings, Problem> {
    if !(1..=READINGS_MAX).contains(&new.items.len()) {
        return Err(Problem::invalid_request(format!("items: must be 1 to {READINGS_MAX}")));
    }
    let now = clock::now();
    for (index, item) in new.items.iter().enumerate() {
        check_reading(item, now).map_err(|problem| Problem::invalid_request(format!("items[{index}].{problem}")))?;
    }
    let readings: Vec<Reading> = new.items.into_iter().map(|it| stored_form(space, it)).collect();
    check_sessions(app, space, &readings).await?;
    let stored = app.stores().readings.put(space, &readings).await?;
    let stored: HashSet<ReadingId> = stored.into_iter().collect();
    let there = readings.iter().filter(|it| stored.contains(&it.id));
    let sessions: BTreeSet<SessionId> = there.map(|it| it.session).collect();
    let sessions: Vec<SessionId> = sessions.into_iter().collect();
    if !sessions.is_empty() {
        let is_over = DateTime::UNIX_EPOCH;
        app.stores()
            .readings
            .schedule_sessions(space, &sessions, is_over, now)
            .await?;
    }
    let items = readings.iter().enumerate().map(|(index, reading)| StoredReading {
        index,
        status: match stored.contains(&reading.id) {
            true => StoredReadingStatus::Stored,
            false => StoredReadingStatus::LeftOut,
        },
    });
    Ok(StoredReadings { items: items.collect() })
}

/// Returns a reading in the stored form, with the ids that derive from the callers' names.
fn stored_form(space: &SpaceId, it: PortableReading) -> Reading {
    let ids =
        |names: &[String]| -> Vec<RecordId> { names.iter().map(|it| RecordId::from_external_id(space, it)).collect() };
    let records = ids(&it.records);
    let earlier = it.earlier.iter().map(|gist| GistRef {
        first: RecordId::from_external_id(space, &gist.first),
        number: gist.number,
    });
    let beside = ids(&it.beside);
    let digest = it.digest.to_ascii_lowercase();
    Reading {
        // The check before ensures that the fields for the id are present.
        id: Reading::id_of(space, it.kind, &records, &beside, &digest)
            .unwrap_or_else(|| ReadingId::of_passage(records[0])),
        kind: it.kind,
        session: SessionId::from_name(space, &it.session),
        beside,
        earlier: earlier.collect(),
        records,
        digest,
        prompt: it.prompt,
        model: it.model,
        at: it.at,
        output: it.output,
        failure: it.failure,
        outcome: it.outcome,
        spent: it.spent.into(),
    }
}

/// Refuses readings that name the wrong session for their records.
async fn check_sessions(app: &App, space: &SpaceId, readings: &[Reading]) -> Result<(), Problem> {
    let records = readings.iter().flat_map(|it| it.records.iter().copied());
    let names = RecordNames::of_records(app, space, records).await?;
    for (index, reading) in readings.iter().enumerate() {
        for record in &reading.records {
            let session = names.session_name(*record).map(|it| SessionId::from_name(space, it));
            if session.is_some_and(|it| it != reading.session) {
                let record = names.external_id(*record).unwrap_or_default();
                return Err(Problem::invalid_request(format!(
                    "items[{index}].session: the record `{record}` belongs to another session"
                )));
            }
        }
    }
    Ok(())
}

/// Checks the fields that can be checked without a store; the error names the first invalid field.
fn check_reading(it: &PortableReading, now: DateTime<Utc>) -> Result<(), String> {
    check_records(it)?;
    for (field, text) in [("session", &it.session), ("prompt", &it.prompt), ("model", &it.model)] {
        check_name(field, text, NAME_BYTES_MAX)?;
    }
    if it.digest.len() != DIGEST_DIGITS || !it.digest.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(format!("digest: must be {DIGEST_DIGITS} hexadecimal digits"));
    }
    if it.at > now + AHEAD || it.at.year() < YEAR_MIN {
        return Err(format!("at: must be between the year {YEAR_MIN} and now"));
    }
    if it.output.len() > OUTPUT_BYTES_MAX {
        let bytes = it.output.len();
        return Err(format!("output: has {bytes} bytes, more than {OUTPUT_BYTES_MAX}"));
    }
    validate::check_content("failure", it.failure.as_deref().unwrap_or_default(), REASON_BYTES_MAX)?;
    if it.outcome.left_out.len() > LEFT_OUT_MAX {
        return Err(format!("outcome.left_out: has more than {LEFT_OUT_MAX} entries"));
    }
    for left_out in &it.outcome.left_out {
        check_length("outcome.left_out: what", &left_out.what)?;
        check_length("outcome.left_out: why", &left_out.why)?;
    }
    if !it.spent.model_ms.is_finite() || it.spent.model_ms < 0.0 {
        return Err("spent.model_ms: is not a number of milliseconds".to_owned());
    }
    Ok(())
}

fn check_records(it: &PortableReading) -> Result<(), String> {
    let most = match it.kind {
        ReadingKind::Passage | ReadingKind::Picture => RECORDS_MAX,
        ReadingKind::Events | ReadingKind::Label | ReadingKind::Page | ReadingKind::People => EVENT_RECORDS_MAX,
    };
    if !(1..=most).contains(&it.records.len()) {
        return Err(format!("records: must be 1 to {most}"));
    }
    if it.beside.len() > BESIDE_MAX {
        return Err(format!("beside: has more than {BESIDE_MAX} records"));
    }
    if it.earlier.len() > EARLIER_MAX {
        return Err(format!("earlier: has more than {EARLIER_MAX} gists"));
    }
    if it.kind == ReadingKind::Events && it.beside.is_empty() {
        return Err("beside: names no record of the earlier event".to_owned());
    }
    let mut distinct_records = HashSet::new();
    for record in &it.records {
        check_name("records", record, RECORD_ID_BYTES_MAX)?;
        if !distinct_records.insert(record) {
            return Err(format!("records: `{record}` is named twice"));
        }
    }
    it.beside
        .iter()
        .try_for_each(|record| check_name("beside", record, RECORD_ID_BYTES_MAX))?;
    let firsts = it.earlier.iter().map(|gist| gist.first.as_str());
    for first in firsts {
        validate::check_name("earlier: first", Some(first), RECORD_ID_BYTES_MAX)?;
    }
    Ok(())
}

/// Checks a required name.
fn check_name(field: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    validate::check_name(field, Some(text), bytes_max)?;
    match text.trim().is_empty() {
        true => Err(format!("{field}: is empty")),
        false => Ok(()),
    }
}

/// Checks the length of a text that a model wrote, which may contain any character.
fn check_length(field: &str, text: &str) -> Result<(), String> {
    match text.len() > REASON_BYTES_MAX {
        true => Err(format!(
            "{field}: has {} bytes, more than {REASON_BYTES_MAX}",
            text.len()
        )),
        false => Ok(()),
    }
}
