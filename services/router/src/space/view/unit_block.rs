//! A block of units: what the router reads of the units in an interval of the feed, with the images of their turns, as
//! bytes in a store. A start reads blocks instead of units and computes nothing again. The format is private to this
//! module.
//!
//! The store keeps a digest of each block and deletes a block in the transaction that changes, removes or erases one of
//! its units. A block is used only if its version is that of this build ([`VERSION`], a digest of the sources and tables
//! that compute it). So a block never holds words that a unit no longer has.

use domain::port::{Change, UnitBlock};
use domain::unit::Grain;

use super::bytes::{ByteReader, ByteWriter};
use super::head::{IDS, UnitHead, join_texts, restore_texts};
use super::texts::Texts;
use super::turn::Turn;
use super::turn_image;
use super::unit_fields::{read_unit, write_unit};

/// The version of blocks. Another build may compute other data, and then has another version.
pub(crate) const VERSION: i64 = {
    let (digits, mut at, mut version) = (env!("MNEMIC_IMAGE_VERSION").as_bytes(), 0, 0_i64);
    while at < digits.len() {
        version = version * 10 + (digits[at] - b'0') as i64;
        at += 1;
    }
    version
};

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
        let joined;
        let texts = match turn {
            Some(turn) => turn.unit.texts(),
            None => {
                joined = join_texts(&change.unit, None);
                &joined
            }
        };
        write_texts(texts, change.unit.external_ids.len(), &mut self.out);
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
/// fields that the router reads are set; of a turn unit with its turn, only those that the turn does not hold.
pub(crate) fn decode_block(block: &UnitBlock) -> Option<Vec<TurnChange>> {
    let mut read = ByteReader::new(&block.body, block.file.is_some());
    let (mut sequence, mut units) = (0_u64, Vec::new());
    while !read.is_at_end() {
        sequence = sequence.checked_add(read.read_number()?)?;
        let ids = read.read_u32()?;
        let texts = read_joined_texts(&mut read)?;
        if texts.len() < IDS + ids as usize {
            return None;
        }
        let mut unit = read_unit(&mut read)?;
        let has_turn = read.read_byte()? > 0;
        if !has_turn || unit.grain != Grain::Turn {
            restore_texts(&mut unit, &texts, ids as usize);
        }
        let turn = match has_turn {
            true => {
                let head = UnitHead::from_unit(&unit, texts, ids);
                Some(turn_image::read_image(&mut read, head, block.file)?)
            }
            false => None,
        };
        units.push(TurnChange {
            change: Change { sequence, unit },
            turn,
        });
    }
    Some(units)
}

/// Writes the texts of a unit, `ids` of which are callers' ids of its records.
fn write_texts(texts: &Texts, ids: usize, out: &mut ByteWriter) {
    out.write_length(ids);
    out.write_length(texts.len());
    out.write_length(texts.region().bytes().len());
    out.write_region(texts.region());
}

fn read_joined_texts(read: &mut ByteReader<'_>) -> Option<Texts> {
    let (count, bytes) = (read.read_u32()?, read.read_length()?);
    Texts::from_region(read.read_region(bytes)?, count)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bytes::Bytes;
    use chrono::{DateTime, FixedOffset, Utc};
    use domain::id::{RecordId, SessionId, UnitId};
    use domain::port::BlockFileId;
    use domain::time::TimeSpan;
    use domain::unit::{StateChange, Unit};
    use domain::version::Version;
    use uuid::Uuid;

    use super::*;
    use crate::space::view::unit_fields::{GRAINS, MODALITIES, PRECISIONS, STATUSES};

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

    fn decode(bytes: &[u8], file: Option<BlockFileId>) -> Option<Vec<TurnChange>> {
        decode_block(&UnitBlock {
            after: 0,
            last: 0,
            body: Bytes::copy_from_slice(bytes),
            file,
        })
    }

    #[test]
    fn units_and_turns_are_restored_from_their_block() {
        let changes = make_changes();
        let block = encode(&changes);
        let mut expected = make_changes();
        for TurnChange { change, .. } in expected
            .iter_mut()
            .filter(|it| it.turn.is_some() && it.change.unit.grain == Grain::Turn)
        {
            let unit = &mut change.unit;
            for text in [&mut unit.text, &mut unit.caption, &mut unit.question] {
                text.clear();
            }
            unit.external_ids.clear();
            unit.participants.clear();
        }
        let read = decode(&block, None).unwrap();
        assert_eq!(format!("{read:#?}"), format!("{expected:#?}"));
        let file = Some(BlockFileId(3));
        let mapped = decode(&block, file).unwrap();
        for (turn, own) in mapped
            .iter()
            .zip(&read)
            .filter_map(|it| it.0.turn.as_ref().zip(it.1.turn.as_ref()))
        {
            assert_eq!((turn.file, own.file), (file, None));
            assert_eq!(format!("{:#?}", turn.to_own()), format!("{own:#?}"));
            assert_eq!(format!("{:?}", own.mapped_like(turn)), format!("{:?}", Some(turn)));
        }
        assert_eq!(decode(&[], None).map(|it| it.len()), Some(0));
    }

    #[test]
    fn damaged_blocks_are_decoded_without_a_panic_and_shortened_ones_have_fewer_units() {
        let block = encode(&make_changes()[..6]);
        let unit_count = decode(&block, None).unwrap().len();
        for at in 0..block.len() {
            let shorter = decode(&block[..at], None).map(|it| it.len());
            assert!(shorter.is_none_or(|it| it < unit_count), "cut at {at}");
            // The digest of the store finds every change; here only the ranges are checked.
            for bit in [1, 16, 128] {
                let mut damaged = block.clone();
                damaged[at] ^= bit;
                drop(decode(&damaged, None));
            }
        }
    }

    #[test]
    fn a_turn_of_another_text_is_refused() {
        let mut other = make_changes().remove(6);
        let Some(turn) = &mut other.turn else { panic!("no turn") };
        let mut short = other.change.unit.clone();
        short.text = "Short.".to_owned();
        turn.unit = UnitHead::from_unit(&short, join_texts(&short, None), 1);
        assert!(decode(&encode(&[other]), None).is_none());
    }
}
