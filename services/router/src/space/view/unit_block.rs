//! A block of units: what the router reads of the units in an interval of the feed, with the images of their turns, as
//! bytes in a store. A start reads blocks instead of units and computes nothing again. The format is private to this
//! module.
//!
//! The store keeps a digest of each block and deletes a block in the transaction that changes, removes or erases one of
//! its units. A block is used only if its version is that of this build ([`VERSION`], a digest of the sources and tables
//! that compute it). So a block never holds words that a unit no longer has.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, Utc};
use domain::id::{RecordId, SessionId, UnitId};
use domain::port::Change;
use domain::record::Modality;
use domain::time::{Precision, TimeSpan};
use domain::unit::{Grain, StateChange, Status, Unit};
use domain::version::Version;
use uuid::Uuid;

use super::bytes::{ByteReader, ByteWriter};
use super::turn::Turn;
use super::turn_image;

/// The version of blocks. Another build may compute other data, and then has another version.
pub(crate) const VERSION: i64 = {
    let (digits, mut at, mut version) = (env!("MNEMIC_IMAGE_VERSION").as_bytes(), 0, 0_i64);
    while at < digits.len() {
        version = version * 10 + (digits[at] - b'0') as i64;
        at += 1;
    }
    version
};

const GRAINS: [Grain; 3] = [Grain::Turn, Grain::Event, Grain::Gist];
const STATUSES: [Status; 4] = [Status::Active, Status::Merged, Status::Superseded, Status::Archived];
const MODALITIES: [Modality; 3] = [Modality::Text, Modality::Visual, Modality::Action];
const PRECISIONS: [Precision; 7] = [
    Precision::Instant,
    Precision::Day,
    Precision::Week,
    Precision::Month,
    Precision::Season,
    Precision::Year,
    Precision::Unknown,
];

/// A change of a unit with its turn, if the turn is known.
#[derive(Debug)]
pub(crate) struct TurnChange {
    pub(crate) change: Change,
    pub(crate) turn: Option<Turn>,
}

/// The writer of one block. Units are added in the order of the feed.
#[derive(Default)]
pub(crate) struct BlockWriter {
    out: ByteWriter,
    last: u64,
}

impl BlockWriter {
    /// Adds a unit, with its turn if it has one.
    pub(crate) fn push_unit(&mut self, change: &Change, turn: Option<&Turn>) {
        self.out.write_number(change.sequence.saturating_sub(self.last));
        self.last = change.sequence;
        write_unit(&change.unit, &mut self.out);
        self.out.0.push(u8::from(turn.is_some()));
        if let Some(turn) = turn {
            turn_image::write_image(turn, &mut self.out);
        }
    }

    /// Returns the bytes of the block.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out.0
    }
}

/// Returns the units of a block, in the order of the feed; `None` if the bytes are not a block. Of a unit, only the
/// fields that the router reads are set.
pub(crate) fn decode_block(bytes: &[u8]) -> Option<Vec<TurnChange>> {
    let (mut read, mut sequence, mut units) = (ByteReader(bytes), 0_u64, Vec::new());
    while !read.0.is_empty() {
        sequence = sequence.checked_add(read.read_number()?)?;
        let unit = read_unit(&mut read)?;
        let turn = match read.read_byte()? {
            0 => None,
            _ => Some(turn_image::read_image(&mut read, &unit)?),
        };
        units.push(TurnChange {
            change: Change { sequence, unit },
            turn,
        });
    }
    Some(units)
}

fn write_unit(unit: &Unit, out: &mut ByteWriter) {
    out.0.extend(unit.id.uuid().as_bytes());
    out.0.extend(unit.session.uuid().as_bytes());
    out.0.push(number_of(unit.grain, &GRAINS));
    out.0.push(number_of(unit.status, &STATUSES));
    out.0.push(number_of(unit.modality, &MODALITIES));
    out.write_length(unit.records.len());
    unit.records.iter().for_each(|it| out.0.extend(it.uuid().as_bytes()));
    out.write_texts(&unit.external_ids);
    write_moment(unit.observed_at.to_utc(), out);
    out.write_signed(i64::from(unit.observed_at.offset().local_minus_utc()));
    out.write_number(unit.ordinal);
    for text in [
        &unit.actor,
        &unit.addressee,
        &unit.text,
        &unit.caption,
        &unit.location,
        &unit.tag,
    ] {
        out.write_text(text);
    }
    out.write_text(&unit.question);
    // The router reads the summaries of events only.
    out.write_text(if unit.grain == Grain::Event { &unit.summary } else { "" });
    out.write_length(unit.times.len());
    for time in &unit.times {
        write_moment(time.start, out);
        write_moment(time.end, out);
        out.0.push(number_of(time.precision, &PRECISIONS));
        out.write_text(&time.words);
    }
    out.write_texts(&unit.participants);
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

fn read_unit(read: &mut ByteReader<'_>) -> Option<Unit> {
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
        external_ids: read.read_texts()?,
        observed_at: read_local_moment(read)?,
        ordinal: read.read_number()?,
        modality,
        actor: read.read_str()?.to_owned(),
        addressee: read.read_str()?.to_owned(),
        text: read.read_str()?.to_owned(),
        caption: read.read_str()?.to_owned(),
        location: read.read_str()?.to_owned(),
        tag: read.read_str()?.to_owned(),
        question: read.read_str()?.to_owned(),
        summary: read.read_str()?.to_owned(),
        times: read_list(read, read_time)?,
        participants: read.read_texts()?,
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [(&str, &str); 6] = [
        ("I adopted a greyhound.", ""),
        (
            "Hey Ann! Where do you live? I moved to Oslo in March \u{1F600}.\r\nIt rains.",
            "",
        ),
        ("", "a red bicycle in front of a café"),
        ("Look at this, Ben.", "two cats"),
        ("", ""),
        (
            "Das Fahrrad kostet 900 Euro. Ich m\u{f6}chte es nicht.\n\n- eins\n- zwei",
            "",
        ),
    ];

    fn moment(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 5).unwrap()
    }

    /// Returns a unit of which only the fields are set that the router reads.
    fn make_unit(number: usize) -> Unit {
        let (text, caption) = TEXTS[number % TEXTS.len()];
        let long = if number < TEXTS.len() { 1 } else { 60 };
        let is_even = number.is_multiple_of(2);
        let record = RecordId::from_uuid(Uuid::from_u128(40 + number as u128));
        Unit {
            id: UnitId::from_uuid(Uuid::from_u128(number as u128)),
            grain: GRAINS[number % 3],
            session: SessionId::from_uuid(Uuid::from_u128(9)),
            records: vec![record; number % 3],
            external_ids: vec!["1".to_owned()],
            observed_at: moment(-90 + number as i64).with_timezone(&FixedOffset::east_opt(-5 * 3_600).unwrap()),
            ordinal: u64::MAX - number as u64,
            modality: MODALITIES[number % 3],
            actor: if is_even { "user" } else { "assistant" }.to_owned(),
            addressee: "Ben".to_owned(),
            text: text.repeat(long),
            caption: caption.to_owned(),
            summary: if number % 3 == 1 {
                text.to_owned()
            } else {
                String::new()
            },
            times: vec![TimeSpan {
                start: moment(7),
                end: moment(70),
                precision: PRECISIONS[number % 7],
                words: "in March".to_owned(),
            }],
            participants: vec!["Ann".to_owned(), String::new()],
            location: "Oslo".to_owned(),
            action: String::new(),
            step: is_even.then_some(u32::MAX),
            changes: vec![StateChange {
                subject: "door".to_owned(),
                key: "state".to_owned(),
                before: String::new(),
                after: "open".to_owned(),
            }],
            version: is_even.then_some(Version { of: record, number: 2 }),
            stated: Vec::new(),
            tag: "tag".to_owned(),
            cues: vec!["greyhound".to_owned()],
            question: "Which dog?".to_owned(),
            tags: vec!["pets".to_owned()],
            metadata: BTreeMap::from([("lang".to_owned(), "de".to_owned())]),
            derived_by: String::new(),
            status: STATUSES[number % 4],
            confidence: 0.0,
        }
    }

    fn make_changes() -> Vec<TurnChange> {
        let change = |number: usize| TurnChange {
            change: Change {
                sequence: 3 + 500 * number as u64,
                unit: make_unit(number),
            },
            turn: (!number.is_multiple_of(5)).then(|| Turn::new(&make_unit(number))),
        };
        (0..2 * TEXTS.len()).map(change).collect()
    }

    fn encode(changes: &[TurnChange]) -> Vec<u8> {
        let mut block = BlockWriter::default();
        changes
            .iter()
            .for_each(|it| block.push_unit(&it.change, it.turn.as_ref()));
        block.into_bytes()
    }

    #[test]
    fn units_and_turns_are_restored_from_their_block() {
        let changes = make_changes();
        let read = decode_block(&encode(&changes)).unwrap();
        assert_eq!(format!("{read:#?}"), format!("{changes:#?}"));
        assert_eq!(decode_block(&[]).map(|it| it.len()), Some(0));
    }

    #[test]
    fn damaged_blocks_are_decoded_without_a_panic_and_shortened_ones_have_fewer_units() {
        let block = encode(&make_changes()[..6]);
        let unit_count = decode_block(&block).unwrap().len();
        for at in 0..block.len() {
            let shorter = decode_block(&block[..at]).map(|it| it.len());
            assert!(shorter.is_none_or(|it| it < unit_count), "cut at {at}");
            // The digest of the store finds every change; here only the ranges are checked.
            for bit in [1, 16, 128] {
                let mut damaged = block.clone();
                damaged[at] ^= bit;
                drop(decode_block(&damaged));
            }
        }
    }

    #[test]
    fn a_turn_of_another_text_is_refused() {
        let mut other = make_changes().remove(6);
        other.change.unit.text = "Short.".to_owned();
        assert!(decode_block(&encode(&[other])).is_none());
    }
}
