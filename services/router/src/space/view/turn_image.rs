//! The image of a turn: the data that [`Turn`] computes from its unit, as bytes. A block of units holds the images of
//! its turns ([`super::unit_block`]).

use domain::unit::Unit;
use text::meaning::frames::Frames;
use text::meaning::patterns;
use text::people::role::{is_assistant, is_user};

use super::bytes::{ByteReader, ByteWriter};
use super::columns::{Columns, Counts};
use super::head::UnitHead;
use super::turn::Turn;

/// Writes the image of a turn.
pub(super) fn write_image(turn: &Turn, out: &mut ByteWriter) {
    let Columns {
        numbers,
        vectors,
        counts,
    } = &turn.columns;
    out.0.reserve(256 + 4 * numbers.len() + vectors.len());
    out.0.push(u8::from(turn.shown.is_none()));
    if let Some(shown) = &turn.shown {
        out.write_text(shown);
    }
    out.0.extend(turn.patterns);
    out.write_texts(&turn.calls);
    out.0.extend(turn.frames.to_bits().to_le_bytes());
    out.write_number(u64::from(turn.tokens));
    out.0.extend(turn.questions.to_bits().to_le_bytes());
    out.0.push(u8::from(turn.asks));
    for count in [counts.sentences, counts.parts, counts.names, counts.dimension] {
        out.write_number(u64::from(count));
    }
    out.write_length(numbers.len());
    numbers.iter().for_each(|it| out.0.extend(it.to_le_bytes()));
    out.write_length(vectors.len());
    out.0.extend(vectors.iter().map(|it| it.cast_unsigned()));
}

/// Returns the turn of a unit from its image; `None` if the image does not fit the unit.
pub(super) fn read_image(reader: &mut ByteReader<'_>, unit: &Unit) -> Option<Turn> {
    let shown: Option<Box<str>> = match reader.read_byte()? {
        0 => Some(reader.read_str()?.into()),
        _ => None,
    };
    let patterns: [u8; patterns::N] = reader.take_array()?;
    let calls: Vec<Box<str>> = reader.read_texts()?;
    let frames = u128::from_le_bytes(reader.take_array()?);
    let tokens = reader.read_u32()?;
    let questions = u32::from_le_bytes(reader.take_array()?);
    let asks = reader.read_byte()? > 0;
    let columns = read_columns(reader)?;
    if !columns.fit_text(shown.as_deref().unwrap_or(&unit.text)) {
        return None;
    }
    Some(Turn {
        patterns,
        calls: calls.into_boxed_slice(),
        frames: Frames::of_bits(frames),
        tokens,
        questions: f32::from_bits(questions),
        asks,
        user: is_user(&unit.actor),
        assistant: is_assistant(&unit.actor),
        labels: Box::default(),
        shown,
        unit: UnitHead::from_unit(unit),
        columns,
    })
}

fn read_columns(reader: &mut ByteReader<'_>) -> Option<Columns> {
    let counts = Counts {
        sentences: reader.read_u32()?,
        parts: reader.read_u32()?,
        names: reader.read_u32()?,
        dimension: reader.read_u32()?,
    };
    let bytes = reader.read_length()?.checked_mul(4)?;
    let (numbers, _) = reader.take_bytes(bytes)?.as_chunks::<4>();
    let count = reader.read_length()?;
    let vectors = reader.take_bytes(count)?;
    Some(Columns {
        numbers: numbers.iter().map(|it| u32::from_le_bytes(*it)).collect(),
        vectors: vectors.iter().map(|it| it.cast_signed()).collect(),
        counts,
    })
}
