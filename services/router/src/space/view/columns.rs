use std::ops::Range;

use zerocopy::{FromBytes, IntoBytes};

use super::region::Region;
use super::sections::{Part, Sentence};

/// Numbers that describe a sentence.
const HEAD: usize = 11;
/// Numbers that describe a part.
const PART: usize = 2;

/// Flags of a sentence.
const QUESTION: u32 = 1;
const CAPTION: u32 = 2;
const FILLER: u32 = 4;
/// The flags are below this bit, the tokens above it.
const FLAGS: u32 = 3;

/// The sentences, parts and names of a turn.
///
/// Their numbers are the heads of the sentences, the heads of the parts, the stems of names, the stems of all sentences
/// and their word pieces. The stems of a part are those of its sentences, so they are not stored again; the same
/// applies to the vector of a part with one sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Columns {
    /// The numbers, then the vectors of the sentences, then those of the parts that do not have exactly one sentence.
    pub(super) region: Region,
    pub(super) counts: Counts,
}

/// Number of items of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) sentences: u32,
    pub(super) parts: u32,
    pub(super) names: u32,
    /// Values of one vector.
    pub(super) dimension: u32,
    pub(super) numbers: u32,
    /// Values of all vectors.
    pub(super) values: u32,
}

/// The columns of a turn while it is computed.
#[derive(Default)]
pub(super) struct Draft {
    heads: Vec<[u32; HEAD]>,
    parts: Vec<[u32; PART]>,
    words: Vec<u32>,
    pieces: Vec<u32>,
    vectors: Vec<i8>,
    part_vectors: Vec<i8>,
    dimension: usize,
}

impl Draft {
    /// Adds a sentence.
    pub(super) fn push_sentence(&mut self, it: &Sentence<'_>) {
        self.words.extend(it.words);
        self.pieces.extend(it.pieces);
        self.vectors.extend(it.vector);
        self.dimension = it.vector.len();
        let flag = |is: bool, bit: u32| if is { bit } else { 0 };
        let flags = flag(it.question, QUESTION) | flag(it.caption, CAPTION) | flag(it.filler, FILLER);
        let [(one, two), (three, four)] = it.owners;
        self.heads.push([
            it.range.start as u32,
            it.range.end as u32,
            self.words.len() as u32,
            self.pieces.len() as u32,
            flags | it.tokens << FLAGS,
            it.patterns,
            it.standing.to_bits(),
            one.to_bits(),
            two.to_bits(),
            three.to_bits(),
            four.to_bits(),
        ]);
    }

    /// Adds a part with the sentences since the last part. `embed` computes its vector, if it does not have exactly one
    /// sentence.
    pub(super) fn push_part(&mut self, embed: impl FnOnce() -> Vec<i8>) {
        let (first, end) = (self.parts.last().map_or(0, |it| it[0]), self.heads.len() as u32);
        let mut vector = first;
        if end - first != 1 {
            let own = embed();
            self.dimension = own.len();
            vector = (self.part_vectors.len() / own.len().max(1)) as u32;
            self.part_vectors.extend(own);
        }
        self.parts.push([end, vector]);
    }

    /// Returns shares of speaker and addressee of the last sentence; `reply` as in [`Sentence::owners`].
    pub(super) fn last_owners(&self, reply: bool) -> Option<(f32, f32)> {
        let last = self.heads.last()?;
        let at = if reply { 9 } else { 7 };
        Some((f32::from_bits(last[at]), f32::from_bits(last[at + 1])))
    }

    /// Returns true if there is no sentence yet.
    pub(super) fn has_no_sentence(&self) -> bool {
        self.heads.is_empty()
    }

    /// Returns the finished columns; `names` are the stems of names in the turn.
    pub(super) fn into_columns(self, names: &[u32]) -> Columns {
        let heads = [self.heads.as_flattened(), self.parts.as_flattened()].concat();
        let numbers = [heads.as_slice(), names, &self.words, &self.pieces].concat();
        let values = [self.vectors, self.part_vectors].concat();
        let counts = Counts {
            sentences: self.heads.len() as u32,
            parts: self.parts.len() as u32,
            names: names.len() as u32,
            dimension: self.dimension as u32,
            numbers: numbers.len() as u32,
            values: values.len() as u32,
        };
        Columns {
            region: Region::from_bytes(&[numbers.as_bytes(), values.as_bytes()].concat()),
            counts,
        }
    }
}

impl Counts {
    /// Returns the position in `numbers` after the heads of the sentences and parts.
    fn heads_end(self) -> usize {
        self.sentences as usize * HEAD + self.parts as usize * PART
    }
}

impl Columns {
    /// Returns true if every range lies inside of the columns and of a text, so that no accessor can fail.
    pub(super) fn fit_text(&self, shown: &str) -> bool {
        let Counts {
            sentences,
            parts,
            names,
            dimension,
            numbers,
            values,
        } = self.counts;
        let bytes = 4 * u64::from(numbers) + u64::from(values);
        if bytes.next_multiple_of(4) != self.region.bytes().len() as u64 {
            return false;
        }
        let sizes = (sentences as usize)
            .checked_mul(HEAD)
            .zip((parts as usize).checked_mul(PART));
        let terms = sizes.and_then(|it| it.0.checked_add(it.1)?.checked_add(names as usize));
        let Some(terms) = terms.and_then(|it| (numbers as usize).checked_sub(it)) else {
            return false;
        };
        let (mut words, mut pieces) = (0, 0);
        for head in self.sentence_heads() {
            let is_inside = shown.get(head[0] as usize..head[1] as usize).is_some();
            if !is_inside || head[2] < words || head[3] < pieces {
                return false;
            }
            (words, pieces) = (head[2], head[3]);
        }
        let (mut first, mut others) = (0, 0);
        for [end, vector] in self.part_heads() {
            if *end < first || *end > sentences {
                return false;
            }
            let is_one = end - first == 1;
            if *vector != if is_one { first } else { others } {
                return false;
            }
            others += u32::from(!is_one);
            first = *end;
        }
        let vectors = (sentences as usize).saturating_add(others as usize);
        words as usize + pieces as usize == terms && vectors.checked_mul(dimension as usize) == Some(values as usize)
    }

    /// Returns the number of sentences.
    pub(super) fn sentence_count(&self) -> usize {
        self.counts.sentences as usize
    }

    /// Returns the number of parts.
    pub(super) fn part_count(&self) -> usize {
        self.counts.parts as usize
    }

    /// Returns the stems of names, sorted and without duplicates.
    pub(super) fn name_stems(&self) -> &[u32] {
        let start = self.counts.heads_end();
        &self.numbers()[start..start + self.counts.names as usize]
    }

    /// Returns the stems of all sentences in order.
    pub(super) fn all_words(&self) -> &[u32] {
        let start = self.counts.heads_end() + self.counts.names as usize;
        &self.numbers()[start..start + self.words_end(self.sentence_count())]
    }

    /// Returns a sentence.
    pub(super) fn sentence_at(&self, number: usize) -> Sentence<'_> {
        let head = &self.sentence_heads()[number];
        let float = |at: usize| f32::from_bits(head[at]);
        let flags = head[4];
        Sentence {
            range: head[0] as usize..head[1] as usize,
            words: self.words_of(number..number + 1),
            pieces: self.pieces_of(number..number + 1),
            question: flags & QUESTION > 0,
            caption: flags & CAPTION > 0,
            filler: flags & FILLER > 0,
            tokens: flags >> FLAGS,
            patterns: head[5],
            standing: float(6),
            owners: [(float(7), float(8)), (float(9), float(10))],
            vector: self.vector_at(number),
        }
    }

    /// Returns a part.
    pub(super) fn part_at(&self, number: usize) -> Part<'_> {
        let heads = self.part_heads();
        let [end, vector] = heads[number];
        let first = number.checked_sub(1).map_or(0, |it| heads[it][0] as usize);
        let sentences = first..end as usize;
        Part {
            words: self.words_of(sentences.clone()),
            pieces: self.pieces_of(sentences.clone()),
            vector: match sentences.len() {
                1 => self.vector_at(first),
                _ => self.vector_at(self.sentence_count() + vector as usize),
            },
            sentences,
        }
    }

    /// Returns a copy in an allocation of its own.
    pub(super) fn to_own(&self) -> Columns {
        Columns {
            region: self.region.to_own(),
            counts: self.counts,
        }
    }

    fn numbers(&self) -> &[u32] {
        &self.region.numbers()[..self.counts.numbers as usize]
    }

    fn values(&self) -> &[i8] {
        let bytes = &self.region.bytes()[4 * self.counts.numbers as usize..];
        <[i8]>::ref_from_bytes(bytes).unwrap_or_default()
    }

    fn sentence_heads(&self) -> &[[u32; HEAD]] {
        self.numbers()[..self.sentence_count() * HEAD].as_chunks().0
    }

    fn part_heads(&self) -> &[[u32; PART]] {
        self.numbers()[self.sentence_count() * HEAD..self.counts.heads_end()]
            .as_chunks()
            .0
    }

    fn words_end(&self, sentences: usize) -> usize {
        let last = sentences.checked_sub(1);
        last.map_or(0, |it| self.sentence_heads()[it][2] as usize)
    }

    fn pieces_end(&self, sentences: usize) -> usize {
        let last = sentences.checked_sub(1);
        last.map_or(0, |it| self.sentence_heads()[it][3] as usize)
    }

    fn words_of(&self, sentences: Range<usize>) -> &[u32] {
        &self.all_words()[self.words_end(sentences.start)..self.words_end(sentences.end)]
    }

    fn pieces_of(&self, sentences: Range<usize>) -> &[u32] {
        let start = self.counts.heads_end() + self.counts.names as usize + self.words_end(self.sentence_count());
        let pieces = &self.numbers()[start..];
        &pieces[self.pieces_end(sentences.start)..self.pieces_end(sentences.end)]
    }

    fn vector_at(&self, number: usize) -> &[i8] {
        let dimension = self.counts.dimension as usize;
        &self.values()[number * dimension..(number + 1) * dimension]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "Ann met Ben. He sings. Then she left.";

    fn sentence(range: Range<usize>, words: &'static [u32]) -> Sentence<'static> {
        Sentence {
            range,
            words,
            pieces: &[3, 5],
            question: true,
            caption: false,
            standing: 0.5,
            filler: true,
            owners: [(0.25, 0.75), (1.0, 0.0)],
            tokens: 7,
            patterns: 6,
            vector: &[1, -2],
        }
    }

    fn three_sentences_in_two_parts() -> Columns {
        let mut draft = Draft::default();
        draft.push_sentence(&sentence(0..12, &[9, 2]));
        draft.push_part(|| vec![8, 8]);
        draft.push_sentence(&sentence(13..22, &[4, 2, 4]));
        draft.push_sentence(&sentence(23..37, &[]));
        draft.push_part(|| vec![-7, 7]);
        draft.into_columns(&[11])
    }

    #[test]
    fn a_part_shares_the_terms_of_its_sentences() {
        let columns = three_sentences_in_two_parts();
        let (one, two) = (columns.part_at(0), columns.part_at(1));
        assert_eq!(
            (one.sentences, one.words, one.vector),
            (0..1, &[9, 2][..], &[1, -2][..])
        );
        assert_eq!(
            (two.sentences.clone(), two.words, two.vector),
            (1..3, &[4, 2, 4][..], &[-7, 7][..])
        );
        assert_eq!(
            (two.distinct_words(), &*two.distinct_pieces()),
            (vec![2, 4], &[3, 5][..])
        );
        assert_eq!(
            (columns.name_stems(), columns.all_words()),
            (&[11][..], &[9, 2, 4, 2, 4][..])
        );
        let read = format!("{:?}", columns.sentence_at(1));
        assert_eq!(read, format!("{:?}", sentence(13..22, &[4, 2, 4])));
    }

    #[test]
    fn columns_that_reach_outside_are_refused() {
        let columns = three_sentences_in_two_parts();
        assert!(columns.fit_text(SHOWN));
        assert!(!columns.fit_text(&SHOWN[..30]), "a sentence ends after the text");
        let heads = columns.counts.heads_end();
        for at in (0..heads).filter(|it| matches!(it % HEAD, 0..4) || *it >= 3 * HEAD) {
            let mut numbers = columns.region.numbers().to_vec();
            numbers[at] += 100;
            let region = Region::Own(numbers.into_boxed_slice());
            let damaged = Columns { region, ..columns };
            assert!(!damaged.fit_text(SHOWN), "number {at}");
        }
        let others = [
            Counts {
                sentences: 4,
                ..columns.counts
            },
            Counts {
                parts: 1,
                ..columns.counts
            },
            Counts {
                names: u32::MAX,
                ..columns.counts
            },
            Counts {
                dimension: 3,
                ..columns.counts
            },
            Counts {
                numbers: columns.counts.numbers + 1,
                ..columns.counts
            },
            Counts {
                values: u32::MAX,
                ..columns.counts
            },
        ];
        for counts in others {
            let region = columns.region.clone();
            assert!(!Columns { region, counts }.fit_text(SHOWN), "{counts:?}");
        }
    }
}
