//! The fields of a unit in a block, except the texts that a turn keeps ([`super::head::join_texts`]).

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, Utc};
use domain::id::{RecordId, SessionId, UnitId};
use domain::record::Modality;
use domain::time::{Precision, TimeSpan};
use domain::unit::{Grain, StateChange, Status, Unit};
use domain::version::Version;
use uuid::Uuid;

use super::bytes::{ByteReader, ByteWriter};

pub(super) const GRAINS: [Grain; 3] = [Grain::Turn, Grain::Event, Grain::Gist];
pub(super) const STATUSES: [Status; 4] = [Status::Active, Status::Merged, Status::Superseded, Status::Archived];
pub(super) const MODALITIES: [Modality; 3] = [Modality::Text, Modality::Visual, Modality::Action];
pub(super) const PRECISIONS: [Precision; 7] = [
    Precision::Instant,
    Precision::Day,
    Precision::Week,
    Precision::Month,
    Precision::Season,
    Precision::Year,
    Precision::Unknown,
];

/// Writes a unit without its texts.
pub(super) fn write_unit(unit: &Unit, out: &mut ByteWriter) {
    out.0.extend(unit.id.uuid().as_bytes());
    out.0.extend(unit.session.uuid().as_bytes());
    out.0.push(number_of(unit.grain, &GRAINS));
    out.0.push(number_of(unit.status, &STATUSES));
    out.0.push(number_of(unit.modality, &MODALITIES));
    out.write_length(unit.records.len());
    unit.records.iter().for_each(|it| out.0.extend(it.uuid().as_bytes()));
    write_moment(unit.observed_at.to_utc(), out);
    out.write_signed(i64::from(unit.observed_at.offset().local_minus_utc()));
    out.write_number(unit.ordinal);
    for text in [&unit.actor, &unit.addressee, &unit.location, &unit.tag] {
        out.write_text(text);
    }
    // The router reads the summaries of events only.
    out.write_text(if unit.grain == Grain::Event { &unit.summary } else { "" });
    out.write_length(unit.times.len());
    for time in &unit.times {
        write_moment(time.start, out);
        write_moment(time.end, out);
        out.0.push(number_of(time.precision, &PRECISIONS));
        out.write_text(&time.words);
    }
    out.write_number(unit.step.map_or(0, |it| u64::from(it) + 1));
    out.write_length(unit.changes.len());
    for it in &unit.changes {
        out.write_text(&it.subject);
        out.write_text(&it.key);
        out.write_text(&it.before);
        out.write_text(&it.after);
    }
    out.0.push(u8::from(unit.version.is_some()));
    if let Some(version) = unit.version {
        out.0.extend(version.of.uuid().as_bytes());
        out.write_number(u64::from(version.number));
    }
    out.write_texts(&unit.cues);
    out.write_texts(&unit.tags);
    out.write_length(unit.metadata.len());
    for (key, value) in &unit.metadata {
        out.write_text(key);
        out.write_text(value);
    }
}

/// Returns a unit that [`write_unit`] wrote, without texts.
pub(super) fn read_unit(read: &mut ByteReader<'_>) -> Option<Unit> {
    let (id, session) = (read_uuid(read)?, read_uuid(read)?);
    let (grain, status, modality) = (
        *GRAINS.get(usize::from(read.read_byte()?))?,
        *STATUSES.get(usize::from(read.read_byte()?))?,
        *MODALITIES.get(usize::from(read.read_byte()?))?,
    );
    Some(Unit {
        id: UnitId::from_uuid(id),
        grain,
        session: SessionId::from_uuid(session),
        records: read_list(read, |it| read_uuid(it).map(RecordId::from_uuid))?,
        observed_at: read_local_moment(read)?,
        ordinal: read.read_number()?,
        modality,
        actor: read.read_str()?.to_owned(),
        addressee: read.read_str()?.to_owned(),
        location: read.read_str()?.to_owned(),
        tag: read.read_str()?.to_owned(),
        summary: read.read_str()?.to_owned(),
        times: read_list(read, read_time)?,
        step: match read.read_number()? {
            0 => None,
            step => Some(u32::try_from(step - 1).ok()?),
        },
        changes: read_list(read, read_state_change)?,
        version: match read.read_byte()? {
            0 => None,
            _ => Some(Version {
                of: RecordId::from_uuid(read_uuid(read)?),
                number: read.read_u32()?,
            }),
        },
        cues: read.read_texts()?,
        tags: read.read_texts()?,
        metadata: read_list(read, |it| Some((it.read_str()?.to_owned(), it.read_str()?.to_owned())))?
            .into_iter()
            .collect::<BTreeMap<String, String>>(),
        external_ids: Vec::new(),
        text: String::new(),
        caption: String::new(),
        question: String::new(),
        participants: Vec::new(),
        action: String::new(),
        stated: Vec::new(),
        derived_by: String::new(),
        status,
        confidence: 0.0,
    })
}

fn read_list<'a, T>(read: &mut ByteReader<'a>, item: impl Fn(&mut ByteReader<'a>) -> Option<T>) -> Option<Vec<T>> {
    let count = read.read_length()?;
    (0..count).map(|_| item(read)).collect()
}

fn read_time(read: &mut ByteReader<'_>) -> Option<TimeSpan> {
    Some(TimeSpan {
        start: read_moment(read)?,
        end: read_moment(read)?,
        precision: *PRECISIONS.get(usize::from(read.read_byte()?))?,
        words: read.read_str()?.to_owned(),
    })
}

fn read_state_change(read: &mut ByteReader<'_>) -> Option<StateChange> {
    Some(StateChange {
        subject: read.read_str()?.to_owned(),
        key: read.read_str()?.to_owned(),
        before: read.read_str()?.to_owned(),
        after: read.read_str()?.to_owned(),
    })
}

fn read_uuid(read: &mut ByteReader<'_>) -> Option<Uuid> {
    read.take_array().map(Uuid::from_bytes)
}

fn write_moment(at: DateTime<Utc>, out: &mut ByteWriter) {
    out.write_signed(at.timestamp());
    out.write_number(u64::from(at.timestamp_subsec_nanos()));
}

fn read_moment(read: &mut ByteReader<'_>) -> Option<DateTime<Utc>> {
    let seconds = read.read_signed()?;
    DateTime::from_timestamp(seconds, read.read_u32()?)
}

fn read_local_moment(read: &mut ByteReader<'_>) -> Option<DateTime<FixedOffset>> {
    let at = read_moment(read)?;
    let offset = FixedOffset::east_opt(i32::try_from(read.read_signed()?).ok()?)?;
    Some(at.with_timezone(&offset))
}

/// Returns the place of a value in the list of all values.
fn number_of<T: Copy + PartialEq>(value: T, all: &[T]) -> u8 {
    // Each list holds all values, so there is a place.
    all.iter().position(|it| *it == value).map_or(u8::MAX, |it| it as u8)
}
