//! Word embeddings: the built-in table of word pieces with one vector each.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::{is_stop, split_words};

static BYTES: &[u8] = include_bytes!("../../data/static-en-128.semb");
/// For each row, the numbers of the rows nearest to it; see [`EmbeddingTable::nearest_rows`].
static NEAREST: &[u8] = include_bytes!("../../data/static-en-128.near");
static BUILTIN: LazyLock<EmbeddingTable> = LazyLock::new(|| EmbeddingTable::from_bytes(BYTES).unwrap_or_default());

/// Maximum length in bytes of a word that is split into pieces.
const WORD_MAX: usize = 100;
/// Maximum number of values of a row.
const DIMENSION_MAX: usize = 128;
/// Minimum similarity of a near row, and maximum number of near rows.
const NEAR: f32 = 0.4;
const NEAREST_MAX: usize = 6;
/// Fills the list of a row that has fewer near rows.
const NO_ROW: u16 = u16::MAX;

/// A table of English word pieces with one vector each, for sentence vectors and soft matching without a model.
#[derive(Default)]
pub struct EmbeddingTable {
    dimension: usize,
    rows: HashMap<&'static [u8], u32, BuildHasherDefault<Fnv>>,
    words: Vec<&'static str>,
    scales: Vec<f32>,
    units: Vec<f32>,
    rarities: Vec<f32>,
    values: Vec<i8>,
}

/// Rows of a table in a form that is fast to compare.
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

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

impl EmbeddingTable {
    /// Returns the built-in table: 27,624 rows of 128 values. `data/NOTICE.md` describes the file format.
    pub fn builtin() -> &'static EmbeddingTable {
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

    /// Returns the vector of a text, L2-normalised; all zeros if the table contains no word of the text.
    pub fn embed_text(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimension];
        self.each_piece(text, true, |id| {
            let scale = self.scales[id as usize];
            vector
                .iter_mut()
                .zip(self.row_values(id))
                .for_each(|(sum, &value)| *sum += f32::from(value) * scale);
        });
        let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|it| *it /= length);
        }
        vector
    }

    /// Returns the rows of the word pieces of a text in order, without function words and punctuation.
    pub fn piece_rows(&self, text: &str) -> Vec<u32> {
        let mut out = Vec::new();
        for word in split_words(text).into_iter().filter(|it| !is_stop(it)) {
            self.each_piece(word, false, |id| out.push(id));
        }
        out
    }

    /// Returns the cosine of two rows, -1 to 1.
    pub fn cosine_of_rows(&self, a: u32, b: u32) -> f32 {
        dot_product_i8(self.row_values(a), self.row_values(b)) as f32 * self.units[a as usize] * self.units[b as usize]
    }

    /// Returns the similarity of two rows: `max(0, cosine)^1.5`.
    pub fn similarity_of_rows(&self, a: u32, b: u32) -> f32 {
        similarity_from_cosine(self.cosine_of_rows(a, b))
    }

    /// Returns copies of rows, prepared for comparison with many other rows.
    pub fn rows_to_compare(&self, rows: &[u32]) -> Compared {
        let values = rows.iter().flat_map(|it| self.row_values(*it));
        Compared {
            values: values.map(|it| i16::from(*it)).collect(),
            units: rows.iter().map(|it| self.units[*it as usize]).collect(),
        }
    }

    /// Returns the similarity of `row` to each of the compared rows, in their order.
    pub fn similarities_to(&self, compared: &Compared, row: u32) -> impl Iterator<Item = f32> {
        let mut wide = [0_i16; DIMENSION_MAX];
        let own = self.row_values(row);
        wide.iter_mut().zip(own).for_each(|(wide, it)| *wide = i16::from(*it));
        let (length, unit) = (own.len(), self.units[row as usize]);
        let rows = compared.values.chunks_exact(length.max(1)).zip(&compared.units);
        rows.map(move |(values, units)| similarity_from_cosine(dot_wide(values, &wide[..length]) as f32 * units * unit))
    }

    /// Returns at most six rows whose similarity to a row is at least 0.4, usually including the row itself; most
    /// similar first, ties by number.
    pub fn nearest_rows(&self, row: u32) -> impl Iterator<Item = u32> + use<> {
        let start = row as usize * NEAREST_MAX * size_of::<u16>();
        let rows = NEAREST.get(start..start + NEAREST_MAX * size_of::<u16>());
        let (numbers, _) = rows.unwrap_or_default().as_chunks();
        let numbers = numbers.iter().map(|it| u16::from_le_bytes(*it));
        numbers.take_while(|it| *it != NO_ROW).map(u32::from)
    }

    /// Computes the result of [`EmbeddingTable::nearest_rows`] by a comparison with all rows.
    pub fn search_nearest(&self, row: u32) -> Vec<u32> {
        let compared = self.rows_to_compare(&[row]);
        let all = (0..self.len() as u32).flat_map(|it| self.similarities_to(&compared, it).map(move |like| (it, like)));
        let mut near: Vec<(u32, f32)> = all.filter(|it| it.1 >= NEAR).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        near.truncate(NEAREST_MAX);
        near.into_iter().map(|it| it.0).collect()
    }

    /// Returns the word piece of a row; a piece inside a word starts with `##`.
    pub fn word_of_row(&self, id: u32) -> &str {
        self.words[id as usize]
    }

    /// Returns the rarity of a row in general English: the negative natural logarithm of its share.
    pub fn rarity_of_row(&self, id: u32) -> f32 {
        self.rarities[id as usize]
    }

    fn row_values(&self, id: u32) -> &[i8] {
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

    fn from_bytes(bytes: &'static [u8]) -> Option<EmbeddingTable> {
        let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
        if bytes.get(..8)? != b"SEMB0001" {
            return None;
        }
        let (count, dimension) = (number(8)?, number(12)?);
        if dimension > DIMENSION_MAX {
            return None;
        }
        let mut table = EmbeddingTable {
            dimension,
            ..EmbeddingTable::default()
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

/// Returns the dot product. The sum is computed in lanes, which takes less than half of the time of a plain sum even
/// without instructions of a particular processor.
fn dot_product_i8(a: &[i8], b: &[i8]) -> i32 {
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

/// Returns the dot product of rows that are widened to 16 bits already, which takes half of the instructions.
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

fn similarity_from_cosine(cos: f32) -> f32 {
    let cos = cos.max(0.0);
    cos * cos.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_words_have_similar_vectors() {
        let table = EmbeddingTable::builtin();
        assert_eq!((table.len(), table.dimension()), (27_624, 128));
        let row = |word: &str| table.piece_rows(word)[0];
        assert_eq!(table.word_of_row(row("Dogs")), "dogs");
        assert!(
            table.cosine_of_rows(row("dog"), row("puppy")) > table.cosine_of_rows(row("dog"), row("invoice")) + 0.2
        );
        assert!((table.similarity_of_rows(row("dog"), row("dog")) - 1.0).abs() < 1e-3);
        assert!(table.rarity_of_row(row("dog")) < table.rarity_of_row(row("quasar")));
    }

    #[test]
    fn rows_compared_together_have_the_same_similarity_as_in_pairs() {
        let table = EmbeddingTable::builtin();
        let rows = [7, 1_000, 27_623];
        let compared = table.rows_to_compare(&rows);
        assert_eq!(compared.len(), rows.len());
        for row in (0..table.len() as u32).step_by(500) {
            let two: Vec<f32> = rows.iter().map(|it| table.similarity_of_rows(*it, row)).collect();
            assert_eq!(table.similarities_to(&compared, row).collect::<Vec<f32>>(), two);
        }
    }

    #[test]
    fn stored_nearest_rows_are_those_that_a_comparison_finds() {
        let table = EmbeddingTable::builtin();
        assert_eq!(NEAREST.len(), table.len() * NEAREST_MAX * size_of::<u16>());
        let mut found = 0;
        for row in (0..table.len() as u32).step_by(199) {
            let nearest: Vec<u32> = table.nearest_rows(row).collect();
            assert_eq!(nearest, table.search_nearest(row), "{}", table.word_of_row(row));
            found += nearest.len();
        }
        assert!(found > 139, "{found}");
    }

    #[test]
    fn a_text_has_a_unit_vector_unless_it_has_no_known_word() {
        let table = EmbeddingTable::builtin();
        let length = |text: &str| table.embed_text(text).iter().map(|it| it * it).sum::<f32>();
        assert!((length("She adopted a naïve puppy!") - 1.0).abs() < 1e-4);
        assert!(length("🎉").abs() < f32::EPSILON);
        assert!(table.piece_rows("the of don't ... !").is_empty());
        assert_eq!(table.piece_rows(&"x".repeat(500)), Vec::<u32>::new());
    }
}
