use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::{is_stop, words};

static BYTES: &[u8] = include_bytes!("../data/static-en-128.semb");
/// For each row the numbers of the rows nearest to it, see [`Table::nearest`].
static NEAREST: &[u8] = include_bytes!("../data/static-en-128.near");
static BUILTIN: LazyLock<Table> = LazyLock::new(|| Table::read(BYTES).unwrap_or_default());

/// Number of bytes of the longest word that is split into pieces.
const WORD_MAX: usize = 100;
/// Rows are at most this long.
const DIMENSION_MAX: usize = 128;
/// Rows near to another are at least this alike, and at most this many.
const NEAR: f32 = 0.4;
const NEAREST_MAX: usize = 6;
/// What stands in the place of a row where fewer are near.
const NO_ROW: u16 = u16::MAX;

/// A table of English word pieces with one vector each, for sentence vectors and soft matching without a model.
#[derive(Default)]
pub struct Table {
    dimension: usize,
    rows: HashMap<&'static [u8], u32, BuildHasherDefault<Fnv>>,
    words: Vec<&'static str>,
    scales: Vec<f32>,
    units: Vec<f32>,
    rarities: Vec<f32>,
    values: Vec<i8>,
}

/// Rows of a table, in the form in which they are compared fastest.
#[derive(Default)]
pub struct Compared {
    values: Vec<i16>,
    units: Vec<f32>,
}

impl Compared {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Says whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

impl Table {
    /// Returns the built-in table: 27,624 rows of 128 values. `data/NOTICE.md` describes the file format.
    pub fn builtin() -> &'static Table {
        &BUILTIN
    }

    /// Returns the length of the vectors.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns true if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the vector of a text, L2-normalised; all zeros if the table has no word of it.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimension];
        self.each_piece(text, true, |id| {
            let scale = self.scales[id as usize];
            vector
                .iter_mut()
                .zip(self.row(id))
                .for_each(|(sum, &value)| *sum += f32::from(value) * scale);
        });
        let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|it| *it /= length);
        }
        vector
    }

    /// Returns the rows of the word pieces of a text in order, without function words and punctuation.
    pub fn pieces(&self, text: &str) -> Vec<u32> {
        let mut out = Vec::new();
        for word in words(text).into_iter().filter(|it| !is_stop(it)) {
            self.each_piece(word, false, |id| out.push(id));
        }
        out
    }

    /// Returns the cosine of two rows, -1 to 1.
    pub fn cos(&self, a: u32, b: u32) -> f32 {
        dot(self.row(a), self.row(b)) as f32 * self.units[a as usize] * self.units[b as usize]
    }

    /// Returns the similarity of two rows: `max(0, cosine)^1.5`.
    pub fn likeness(&self, a: u32, b: u32) -> f32 {
        likeness(self.cos(a, b))
    }

    /// Returns rows that many others are compared with.
    pub fn compared(&self, rows: &[u32]) -> Compared {
        let values = rows.iter().flat_map(|it| self.row(*it));
        Compared {
            values: values.map(|it| i16::from(*it)).collect(),
            units: rows.iter().map(|it| self.units[*it as usize]).collect(),
        }
    }

    /// Returns the likeness of each of some rows to `row`, in their order.
    pub fn likenesses(&self, compared: &Compared, row: u32) -> impl Iterator<Item = f32> {
        let mut wide = [0_i16; DIMENSION_MAX];
        let own = self.row(row);
        wide.iter_mut().zip(own).for_each(|(wide, it)| *wide = i16::from(*it));
        let (length, unit) = (own.len(), self.units[row as usize]);
        let rows = compared.values.chunks_exact(length.max(1)).zip(&compared.units);
        rows.map(move |(values, units)| likeness(dot_wide(values, &wide[..length]) as f32 * units * unit))
    }

    /// Returns the rows that are nearest to a row and alike by 0.4 at least, itself as a rule among them: at most six, best first,
    /// ties by number.
    pub fn nearest(&self, row: u32) -> impl Iterator<Item = u32> + use<> {
        let start = row as usize * NEAREST_MAX * size_of::<u16>();
        let rows = NEAREST.get(start..start + NEAREST_MAX * size_of::<u16>());
        let (numbers, _) = rows.unwrap_or_default().as_chunks();
        let numbers = numbers.iter().map(|it| u16::from_le_bytes(*it));
        numbers.take_while(|it| *it != NO_ROW).map(u32::from)
    }

    /// Computes what [`Table::nearest`] returns by a comparison with all rows.
    pub fn search_nearest(&self, row: u32) -> Vec<u32> {
        let compared = self.compared(&[row]);
        let all = (0..self.len() as u32).flat_map(|it| self.likenesses(&compared, it).map(move |like| (it, like)));
        let mut near: Vec<(u32, f32)> = all.filter(|it| it.1 >= NEAR).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        near.truncate(NEAREST_MAX);
        near.into_iter().map(|it| it.0).collect()
    }

    /// Returns the word piece of a row; a piece inside a word starts with `##`.
    pub fn word(&self, id: u32) -> &str {
        self.words[id as usize]
    }

    /// Returns how rare a row is in general English: the negative natural logarithm of its share.
    pub fn rarity(&self, id: u32) -> f32 {
        self.rarities[id as usize]
    }

    fn row(&self, id: u32) -> &[i8] {
        let start = id as usize * self.dimension;
        &self.values[start..start + self.dimension]
    }

    /// Splits a text at every character that is no letter or digit, in lower case and without diacritics, and calls
    /// `each` with the pieces of each word. If `punctuation` is set, ASCII punctuation marks that have a row count too.
    fn each_piece(&self, text: &str, punctuation: bool, mut each: impl FnMut(u32)) {
        let mut word = Vec::with_capacity(32);
        let mut take = |c: char| {
            if c.is_alphanumeric() {
                let mut buffer = [0; 4];
                c.to_lowercase()
                    .for_each(|it| word.extend_from_slice(it.encode_utf8(&mut buffer).as_bytes()));
                return;
            }
            self.word_pieces(&word, &mut each);
            word.clear();
            if punctuation && c.is_ascii_punctuation() {
                self.rows.get(&[c as u8][..]).into_iter().for_each(|&it| each(it));
            }
        };
        if text.is_ascii() {
            text.chars().for_each(&mut take);
        } else {
            text.nfd().filter(|&it| !is_combining_mark(it)).for_each(&mut take);
        }
        take(' ');
    }

    /// Splits a word by greedy longest match; a word with an unknown rest gives no pieces.
    fn word_pieces(&self, word: &[u8], each: &mut impl FnMut(u32)) {
        if word.is_empty() || word.len() > WORD_MAX {
            return;
        }
        let mut found = [0; WORD_MAX];
        let mut buffer = [b'#'; WORD_MAX + 2];
        let (mut count, mut start) = (0, 0);
        while start < word.len() {
            let rest = &word[start..];
            buffer[2..2 + rest.len()].copy_from_slice(rest);
            let from = if start == 0 { 2 } else { 0 };
            let hit = (1..=rest.len())
                .rev()
                .find_map(|length| Some((length, *self.rows.get(&buffer[from..2 + length])?)));
            let Some((length, id)) = hit else { return };
            found[count] = id;
            count += 1;
            start += length;
        }
        found[..count].iter().for_each(|&it| each(it));
    }

    fn read(bytes: &'static [u8]) -> Option<Table> {
        let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
        if bytes.get(..8)? != b"SEMB0001" {
            return None;
        }
        let (count, dimension) = (number(8)?, number(12)?);
        if dimension > DIMENSION_MAX {
            return None;
        }
        let mut table = Table {
            dimension,
            ..Table::default()
        };
        let mut at = 16;
        for id in 0..count as u32 {
            let word = bytes.get(at + 1..at + 1 + usize::from(*bytes.get(at)?))?;
            table.rows.insert(word, id);
            table.words.push(std::str::from_utf8(word).ok()?);
            at += 1 + word.len();
        }
        at = at.next_multiple_of(4);
        for column in [&mut table.scales, &mut table.units, &mut table.rarities] {
            let raw = bytes.get(at..at + count * 4)?;
            *column = raw
                .chunks_exact(4)
                .map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]]))
                .collect();
            at += count * 4;
        }
        table.values = bytes
            .get(at..at + count * dimension)?
            .iter()
            .map(|&it| it.cast_signed())
            .collect();
        Some(table)
    }
}

/// FNV-1a hash: the keys are short, and no attacker can choose them.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Adds in lanes: even without instructions of a particular processor, this takes less than half of the time of a plain
/// sum.
fn dot(a: &[i8], b: &[i8]) -> i32 {
    const LANES: usize = 32;
    let mut lanes = [0_i32; LANES];
    let ((a, rest), (b, other)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (some, own) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += i32::from(some[lane]) * i32::from(own[lane]);
        }
    }
    let rest = rest.iter().zip(other).map(|(&x, &y)| i32::from(x) * i32::from(y));
    lanes.iter().sum::<i32>() + rest.sum::<i32>()
}

/// The same of rows that are widened already, which takes half of the instructions.
fn dot_wide(a: &[i16], b: &[i16]) -> i32 {
    const LANES: usize = 32;
    let mut lanes = [0_i32; LANES];
    let ((a, rest), (b, other)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (some, own) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += i32::from(some[lane]) * i32::from(own[lane]);
        }
    }
    let rest = rest.iter().zip(other).map(|(&x, &y)| i32::from(x) * i32::from(y));
    lanes.iter().sum::<i32>() + rest.sum::<i32>()
}

fn likeness(cos: f32) -> f32 {
    let cos = cos.max(0.0);
    cos * cos.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_words_have_similar_vectors() {
        let table = Table::builtin();
        assert_eq!((table.len(), table.dimension()), (27_624, 128));
        let row = |word: &str| table.pieces(word)[0];
        assert_eq!(table.word(row("Dogs")), "dogs");
        assert!(table.cos(row("dog"), row("puppy")) > table.cos(row("dog"), row("invoice")) + 0.2);
        assert!((table.likeness(row("dog"), row("dog")) - 1.0).abs() < 1e-3);
        assert!(table.rarity(row("dog")) < table.rarity(row("quasar")));
    }

    #[test]
    fn rows_compared_together_are_as_alike_as_two() {
        let table = Table::builtin();
        let rows = [7, 1_000, 27_623];
        let compared = table.compared(&rows);
        assert_eq!(compared.len(), rows.len());
        for row in (0..table.len() as u32).step_by(500) {
            let two: Vec<f32> = rows.iter().map(|it| table.likeness(*it, row)).collect();
            assert_eq!(table.likenesses(&compared, row).collect::<Vec<f32>>(), two);
        }
    }

    #[test]
    fn stored_nearest_rows_are_those_that_a_comparison_finds() {
        let table = Table::builtin();
        assert_eq!(NEAREST.len(), table.len() * NEAREST_MAX * size_of::<u16>());
        let mut found = 0;
        for row in (0..table.len() as u32).step_by(199) {
            let nearest: Vec<u32> = table.nearest(row).collect();
            assert_eq!(nearest, table.search_nearest(row), "{}", table.word(row));
            found += nearest.len();
        }
        assert!(found > 139, "{found}");
    }

    #[test]
    fn every_text_has_a_vector() {
        let table = Table::builtin();
        let length = |text: &str| table.embed(text).iter().map(|it| it * it).sum::<f32>();
        assert!((length("She adopted a naïve puppy!") - 1.0).abs() < 1e-4);
        assert!(length("🎉").abs() < f32::EPSILON);
        assert!(table.pieces("the of don't ... !").is_empty());
        assert_eq!(table.pieces(&"x".repeat(500)), Vec::<u32>::new());
    }
}
