//! The image of a turn: the data that [`Turn`] computes from its unit, as bytes in a store, so that a start need not
//! compute it again. The format is private to this module.
//!
//! An image is used only if its version is that of this build ([`VERSION`], a digest of the sources and tables that
//! compute it), and its checksum, which covers the id and the texts of the unit, is correct. Otherwise the turn is
//! computed. The store deletes an image in the transaction that changes, removes or erases its unit, so an image never
//! holds words that the unit no longer has.

use domain::unit::Unit;
use text::frames::Frames;
use text::patterns;
use text::role::{is_assistant, is_user};

use super::turn::{Part, Sentence, Turn, set};

/// The version of images. Another build may compute other data, and then has another version.
pub(crate) const VERSION: i64 = {
    let (digits, mut at, mut version) = (env!("MNEMIC_IMAGE_VERSION").as_bytes(), 0, 0_i64);
    while at < digits.len() {
        version = version * 10 + (digits[at] - b'0') as i64;
        at += 1;
    }
    version
};

/// Flags of a sentence.
const QUESTION: u8 = 1;
const CAPTION: u8 = 2;
const FILLER: u8 = 4;

/// Returns the image of a turn.
pub(crate) fn encode(turn: &Turn) -> Vec<u8> {
    let mut out = Out(Vec::with_capacity(512));
    let is_plain = turn.shown == turn.unit.text;
    out.0.push(u8::from(is_plain));
    if !is_plain {
        out.text(&turn.shown);
    }
    out.0.extend(turn.patterns);
    out.terms(&turn.names);
    out.count(turn.calls.len());
    turn.calls.iter().for_each(|it| out.text(it));
    out.0.extend(turn.frames.bits().to_le_bytes());
    out.count(turn.tokens as usize);
    out.float(turn.questions);
    out.0.push(u8::from(turn.asks));
    out.count(turn.sentences.len());
    turn.sentences.iter().for_each(|it| out.sentence(it));
    out.count(turn.parts.len());
    for part in &turn.parts {
        out.count(part.sentences.end);
        if part.sentences.len() != 1 {
            out.vector(&part.vector);
        }
    }
    let sum = checksum(&turn.unit, &out.0);
    out.0.extend(sum.to_le_bytes());
    out.0
}

/// Returns the turn of a unit from its image. If the image is not valid, returns the unit as the error.
pub(crate) fn decode(unit: Unit, image: &[u8]) -> Result<Turn, Box<Unit>> {
    let Some((body, sum)) = image.split_last_chunk::<8>() else {
        return Err(Box::new(unit));
    };
    if checksum(&unit, body) != u64::from_le_bytes(*sum) {
        return Err(Box::new(unit));
    }
    match In(body).turn(&unit) {
        Some(mut turn) => {
            turn.unit = unit;
            turn.forget_unshown();
            Ok(turn)
        }
        None => Err(Box::new(unit)),
    }
}

/// Returns the FNV-1a checksum of the id and the texts of a unit and of some bytes. It detects damage, not forgery:
/// anyone who can write the file can write its texts too.
fn checksum(unit: &Unit, bytes: &[u8]) -> u64 {
    let id = unit.id.uuid();
    let shown = unit.text.as_bytes().iter().chain(unit.caption.as_bytes());
    let all = id.as_bytes().iter().chain(shown).chain(bytes);
    all.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The bytes that are written.
struct Out(Vec<u8>);

impl Out {
    /// Writes a number with seven bits in each byte, lowest first.
    fn count(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }

    fn terms(&mut self, terms: &[u32]) {
        self.count(terms.len());
        terms.iter().for_each(|it| self.0.extend(it.to_le_bytes()));
    }

    fn float(&mut self, number: f32) {
        self.0.extend(number.to_bits().to_le_bytes());
    }

    fn vector(&mut self, vector: &[i8]) {
        self.count(vector.len());
        self.0.extend(vector.iter().map(|it| it.cast_unsigned()));
    }

    fn sentence(&mut self, it: &Sentence) {
        self.count(it.range.start);
        self.count(it.range.len());
        self.terms(&it.words);
        self.terms(&it.pieces);
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        self.0
            .push(bit(it.question, QUESTION) | bit(it.caption, CAPTION) | bit(it.filler, FILLER));
        self.float(it.standing);
        for (speaker, addressee) in it.owners {
            self.float(speaker);
            self.float(addressee);
        }
        self.count(it.tokens as usize);
        self.count(it.patterns as usize);
        self.vector(&it.vector);
    }
}

/// The bytes that are left to read. A read returns `None` if they do not fit.
struct In<'a>(&'a [u8]);

impl<'a> In<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|it| it[0])
    }

    fn count(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn short(&mut self) -> Option<u32> {
        u32::try_from(self.count()?).ok()
    }

    fn text(&mut self) -> Option<String> {
        let count = self.count()?;
        let bytes = self.take(count)?;
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }

    fn terms(&mut self) -> Option<Vec<u32>> {
        let bytes = self.count()?.checked_mul(4)?;
        let (terms, _) = self.take(bytes)?.as_chunks::<4>();
        Some(terms.iter().map(|it| u32::from_le_bytes(*it)).collect())
    }

    fn float(&mut self) -> Option<f32> {
        let bits = self.take(4)?.first_chunk::<4>()?;
        Some(f32::from_bits(u32::from_le_bytes(*bits)))
    }

    fn vector(&mut self) -> Option<Vec<i8>> {
        let count = self.count()?;
        Some(self.take(count)?.iter().map(|it| it.cast_signed()).collect())
    }

    fn turn(mut self, unit: &Unit) -> Option<Turn> {
        let shown = match self.byte()? {
            0 => self.text()?,
            _ => unit.text.clone(),
        };
        let patterns = *self.take(patterns::N)?.first_chunk::<{ patterns::N }>()?;
        let names = self.terms()?;
        let calls = self.list(In::text)?;
        let frames = u128::from_le_bytes(*self.take(16)?.first_chunk::<16>()?);
        let (tokens, questions, asks) = (self.short()?, self.float()?, self.byte()? > 0);
        let sentences = self.list(In::sentence)?;
        if sentences.iter().any(|it| shown.get(it.range.clone()).is_none()) {
            return None;
        }
        let mut parts: Vec<Part> = Vec::new();
        for _ in 0..self.count()? {
            let first = parts.last().map_or(0, |it| it.sentences.end);
            parts.push(self.part(&sentences, first)?);
        }
        self.0.is_empty().then(|| Turn {
            unit: unit.emptied(),
            parts,
            sentences,
            shown,
            patterns,
            names,
            calls,
            frames: Frames::of_bits(frames),
            tokens,
            questions,
            asks,
            user: is_user(&unit.actor),
            assistant: is_assistant(&unit.actor),
            labels: Box::default(),
        })
    }

    fn list<T>(&mut self, one: impl Fn(&mut In<'a>) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        (0..count).map(|_| one(self)).collect()
    }

    fn sentence(&mut self) -> Option<Sentence> {
        let (start, length) = (self.count()?, self.count()?);
        let (words, pieces, bits) = (self.terms()?, self.terms()?, self.byte()?);
        let standing = self.float()?;
        let mut owners = [(0.0, 0.0); 2];
        for owner in &mut owners {
            *owner = (self.float()?, self.float()?);
        }
        Some(Sentence {
            range: start..start.checked_add(length)?,
            words,
            pieces,
            question: bits & QUESTION > 0,
            caption: bits & CAPTION > 0,
            filler: bits & FILLER > 0,
            standing,
            owners,
            tokens: self.short()?,
            patterns: self.short()?,
            vector: self.vector()?,
        })
    }

    fn part(&mut self, sentences: &[Sentence], first: usize) -> Option<Part> {
        let end = self.count()?;
        let own = sentences.get(first..end)?;
        let vector = match own {
            [only] => only.vector.clone(),
            _ => self.vector()?,
        };
        let words: Vec<u32> = own.iter().flat_map(|it| it.words.iter().copied()).collect();
        let pieces = own.iter().flat_map(|it| it.pieces.iter().copied()).collect();
        Some(Part {
            sentences: first..end,
            length: words.len() as u32,
            words: set(words),
            pieces: set(pieces),
            vector,
        })
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use domain::id::{SessionId, UnitId};
    use domain::record::Modality;
    use domain::unit::{Grain, Status};
    use uuid::Uuid;

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

    fn unit(number: usize) -> Unit {
        let (text, caption) = TEXTS[number % TEXTS.len()];
        let long = if number < TEXTS.len() { 1 } else { 60 };
        Unit {
            id: UnitId::from_uuid(Uuid::from_u128(number as u128)),
            grain: Grain::Turn,
            session: SessionId::from_uuid(Uuid::nil()),
            records: Vec::new(),
            external_ids: vec!["1".to_owned()],
            observed_at: DateTime::UNIX_EPOCH.fixed_offset(),
            ordinal: 3,
            modality: Modality::Text,
            actor: if number.is_multiple_of(2) { "user" } else { "assistant" }.to_owned(),
            addressee: "Ben".to_owned(),
            text: text.repeat(long),
            caption: caption.to_owned(),
            summary: format!("summary of {text}"),
            times: Vec::new(),
            participants: vec!["Ann".to_owned()],
            location: String::new(),
            action: String::new(),
            step: Some(4),
            changes: Vec::new(),
            version: None,
            stated: Vec::new(),
            tag: "tag".to_owned(),
            cues: vec!["greyhound".to_owned()],
            question: String::new(),
            tags: Vec::new(),
            metadata: Default::default(),
            derived_by: "test".to_owned(),
            status: Status::Active,
            confidence: 1.0,
        }
    }

    #[test]
    fn a_turn_is_restored_from_its_image() {
        for unit in (0..2 * TEXTS.len()).map(unit) {
            let turn = Turn::new(unit.clone());
            let read = decode(unit, &encode(&turn)).unwrap();
            assert_eq!(format!("{read:?}"), format!("{turn:?}"));
        }
    }

    #[test]
    fn an_image_that_is_damaged_or_of_another_unit_is_refused() {
        let image = encode(&Turn::new(unit(1)));
        for at in 0..image.len() {
            let mut damaged = image.clone();
            damaged[at] ^= 16;
            assert!(decode(unit(1), &damaged).is_err(), "byte {at}");
            assert!(decode(unit(1), &image[..at]).is_err(), "cut at {at}");
        }
        assert!(decode(unit(7), &image).is_err());
        let other = Unit {
            text: unit(1).text.replace("Oslo", "Rome"),
            ..unit(1)
        };
        assert!(decode(other, &image).is_err());
        assert!(decode(unit(1), &image).is_ok());
    }
}
