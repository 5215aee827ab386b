//! The image of a turn: the data that [`Turn`] computes from its unit, as bytes. A block of units holds the images of
//! its turns ([`super::unit_block`]).

use domain::port::BlockFileId;
use text::meaning::frames::Frames;
use text::meaning::patterns;
use text::people::role::{is_assistant, is_user};

use super::bytes::{ByteReader, ByteWriter};
use super::columns::{Columns, Counts};
use super::head::UnitHead;
use super::turn::Turn;

/// Writes the image of a turn.
pub(super) fn write_image(turn: &Turn, out: &mut ByteWriter) {
    let Columns { region, counts } = &turn.columns;
    out.0.reserve(256 + region.bytes().len());
    out.0.push(u8::from(turn.shows_other));
    out.0.extend(turn.patterns);
    out.write_texts(&turn.calls);
    out.0.extend(turn.frames.to_bits().to_le_bytes());
    out.write_number(u64::from(turn.tokens));
    out.0.extend(turn.questions.to_bits().to_le_bytes());
    out.0.push(u8::from(turn.asks));
    for count in [
        counts.sentences,
        counts.parts,
        counts.names,
        counts.dimension,
        counts.numbers,
        counts.values,
    ] {
        out.write_number(u64::from(count));
    }
    out.write_region(region);
}

/// Returns the turn of a unit with these texts from its image; `None` if the image does not fit them.
pub(super) fn read_image(reader: &mut ByteReader<'_>, unit: UnitHead, file: Option<BlockFileId>) -> Option<Turn> {
    let shows_other = reader.read_byte()? > 0;
    let patterns: [u8; patterns::N] = reader.take_array()?;
    let calls: Vec<Box<str>> = reader.read_texts()?;
    let frames = u128::from_le_bytes(reader.take_array()?);
    let tokens = reader.read_u32()?;
    let questions = u32::from_le_bytes(reader.take_array()?);
    let asks = reader.read_byte()? > 0;
    let columns = read_columns(reader)?;
    let turn = Turn {
        patterns,
        calls: calls.into_boxed_slice(),
        frames: Frames::of_bits(frames),
        tokens,
        questions: f32::from_bits(questions),
        asks,
        user: is_user(&unit.actor),
        assistant: is_assistant(&unit.actor),
        labels: Box::default(),
        shows_other,
        unit,
        columns,
        file,
    };
    turn.columns.fit_text(turn.shown()).then_some(turn)
}

fn read_columns(reader: &mut ByteReader<'_>) -> Option<Columns> {
    let counts = Counts {
        sentences: reader.read_u32()?,
        parts: reader.read_u32()?,
        names: reader.read_u32()?,
        dimension: reader.read_u32()?,
        numbers: reader.read_u32()?,
        values: reader.read_u32()?,
    };
    let bytes = (counts.numbers as usize)
        .checked_mul(4)?
        .checked_add(counts.values as usize)?;
    Some(Columns {
        region: reader.read_region(bytes.checked_next_multiple_of(4)?)?,
        counts,
    })
}
