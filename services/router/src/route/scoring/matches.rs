//! BM25 and late interaction (MaxSim): measures how well turns match the words of a question.

use crate::route::query::Query;
use crate::route::similarity::piece_similarity::{Reader, by_word};
use crate::space::view::{Sentence, Turn, View};

/// BM25's `k1`: how fast repeated words stop adding to the score.
const K1: f32 = 1.2;
/// BM25's `b`: how far the length of a part lowers its score.
const B: f32 = 0.2;
/// Maximum similarity of a word that is not the word of the question itself.
const SOFT: f32 = 0.9;
/// A similarity below this is chance.
const CHANCE: f32 = 0.25;
/// Number of sums that are computed at the same time.
const LANES: usize = 16;

/// Turns and how well they match, in the order of the view.
pub struct Matches {
    /// Positions in the view, ascending.
    pub turns: Vec<usize>,
    /// One row for each turn.
    pub rows: Vec<Row>,
    /// Similarity of each word of the question to the best word of each turn, 0 to 1; it has `turns * words` values.
    pub soft: Vec<f32>,
    words: usize,
}

/// The measures to compute for a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measures {
    /// All measures.
    All,
    /// All measures except those from the vectors of single sentences; [`Row::dense_sentence`] is 0.
    WithoutSentenceVectors,
}

/// How well one turn matches, measured on its best part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// BM25 of the stems.
    pub bm25: f32,
    /// Weight of the words of the question that occur.
    pub cover: f32,
    /// Number of words of the question that occur.
    pub hits: f32,
    /// Rarity of the rarest word that occurs.
    pub rare: f32,
    /// Weight of the words of the question, each multiplied by its similarity.
    pub late: f32,
    /// The value of `late` for the best sentence.
    pub sentence: f32,
    /// The value of `late` over all words but the verb.
    pub nouns: f32,
    /// Weight of the words with a similarity above 0.5.
    pub strong: f32,
    /// How far neighbouring words of the question are in one sentence.
    pub bigram: f32,
    /// Squared similarity of the words, weighted.
    pub sharp: f32,
    /// Similarity of the words, weighted by the square of their weights.
    pub rarest: f32,
    /// Mean similarity over the weaker half of the words.
    pub weaker: f32,
    /// Cosine of the vectors of the part and the question.
    pub dense: f32,
    /// Cosine of the best sentence.
    pub dense_sentence: f32,
    /// Share of the speaker minus share of the addressee over the matching sentences, -1 to 1: whom the turn is about.
    pub owner: f32,
}

impl Row {
    /// Returns the same row with the BM25 of `hard`, which was computed with another average length.
    fn with_bm25_of(&self, hard: &Row) -> Row {
        Row {
            bm25: hard.bm25,
            ..*self
        }
    }
}

impl Matches {
    /// Matches `turns`, which are ascending positions in the view.
    pub fn match_turns(view: &View, query: &Query, turns: Vec<usize>) -> Matches {
        Matches::beside_known(view, query, turns, &Matches::empty_for_query(query), Measures::All)
    }

    /// Matches `turns`. Values of turns that are already in `self` are not measured again; the others are neighbours
    /// and get only the measures that their scores need.
    pub fn match_more_turns(&self, view: &View, query: &Query, turns: Vec<usize>, neighbours: Measures) -> Matches {
        Matches::beside_known(view, query, turns, self, neighbours)
    }

    fn empty_for_query(query: &Query) -> Matches {
        Matches {
            turns: Vec::new(),
            rows: Vec::new(),
            soft: Vec::new(),
            words: query.words.len(),
        }
    }

    fn beside_known(view: &View, query: &Query, turns: Vec<usize>, known: &Matches, neighbours: Measures) -> Matches {
        let words = query.words.len();
        let length: u32 = turns.iter().map(|&it| view.turns()[it].words().len() as u32).sum();
        let parts: usize = turns.iter().map(|&it| view.turns()[it].part_count()).sum();
        let scale = Scale {
            average: (length as f32 / parts.max(1) as f32).max(1.0),
        };
        let mut scratch = Scratch::from_query(query);
        let mut matches = Matches {
            rows: Vec::with_capacity(turns.len()),
            soft: Vec::with_capacity(turns.len() * words),
            words,
            turns,
        };
        for &place in &matches.turns {
            let turn = &view.turns()[place];
            // For a turn that was matched in another set of turns, only the average length of a part differs. It
            // affects BM25 and the choice between several parts.
            let known_row = known.turns.binary_search(&place).ok();
            if let Some(at) = known_row.filter(|_| turn.part_count() == 1) {
                matches
                    .rows
                    .push(known.rows[at].with_bm25_of(&scale.measure_exact_words(query, turn.words())));
                matches.soft.extend(known.word_similarities(at));
                continue;
            }
            let measured = Measured {
                turn,
                reply: view.follows_question(place),
                measures: known_row.map_or(neighbours, |_| Measures::All),
            };
            matches.rows.push(scale.measure_turn(query, &measured, &mut scratch));
            matches.soft.extend(&scratch.best);
        }
        matches
    }

    /// Returns the similarity of each word of the question to the turn of row `row`.
    pub fn word_similarities(&self, row: usize) -> &[f32] {
        &self.soft[row * self.words..(row + 1) * self.words]
    }

    /// Returns the row of the turn that is `by` positions further in the same session, if that turn is matched.
    pub fn find_row_at_offset(&self, view: &View, row: usize, by: isize) -> Option<usize> {
        let place = self.turns[row];
        let other = place.checked_add_signed(by)?;
        if !view.session_ranges()[view.session_of(place)].contains(&other) {
            return None;
        }
        let near = row.saturating_add_signed(by);
        if self.turns.get(near) == Some(&other) {
            return Some(near);
        }
        self.turns.binary_search(&other).ok()
    }

    /// Returns the rows of the three turns before a row and the three after it in the same session.
    pub fn neighbour_rows(&self, view: &View, row: usize) -> Around {
        Around {
            before: [-1, -2, -3].map(|by| self.find_row_at_offset(view, row, by)),
            after: [1, 2, 3].map(|by| self.find_row_at_offset(view, row, by)),
        }
    }
}

/// Rows of the turns around a turn, nearest first; `None` for a turn that is not matched or is in another session.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// Rows of the turns before it.
    pub before: [Option<usize>; 3],
    /// Rows of the turns after it.
    pub after: [Option<usize>; 3],
}

impl Around {
    /// Returns all rows that exist.
    pub fn existing_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.before.iter().chain(&self.after).copied().flatten()
    }
}

struct Scale {
    average: f32,
}

/// A turn that is measured, and how.
struct Measured<'a> {
    turn: &'a Turn,
    /// True if the turn follows a question by another speaker.
    reply: bool,
    measures: Measures,
}

/// Buffers for the similarity of each word of the question, reused for all turns to save allocations.
struct Scratch<'a> {
    likeness: Reader<'a>,
    /// Similarity of each word to the current sentence.
    own: Vec<f32>,
    /// Similarity of each word piece to the current sentence.
    nearest: Vec<f32>,
    /// Similarity of each word to the current part.
    soft: Vec<f32>,
    /// Similarity of each word to the best part of the turn.
    best: Vec<f32>,
    sorted: Vec<f32>,
}

impl<'a> Scratch<'a> {
    fn from_query(query: &'a Query) -> Scratch<'a> {
        Scratch {
            likeness: query.likeness.lock_reader(),
            own: Vec::new(),
            nearest: Vec::new(),
            soft: Vec::new(),
            best: Vec::new(),
            sorted: Vec::new(),
        }
    }
}

impl Scale {
    /// Returns the match of a turn, and leaves the similarity of each word in `scratch.best`.
    fn measure_turn(&self, query: &Query, measured: &Measured<'_>, scratch: &mut Scratch<'_>) -> Row {
        let Measured { turn, reply, measures } = *measured;
        let Scratch {
            likeness,
            own,
            nearest,
            soft,
            best,
            sorted,
        } = scratch;
        for it in [&mut *own, &mut *best] {
            it.clear();
            it.resize(query.words.len(), 0.0);
        }
        let mut chosen: Option<(f32, Row)> = None;
        let (mut owned, mut covered) = (0.0, 0.0);
        for part in turn.parts() {
            soft.clear();
            soft.resize(query.words.len(), 0.0);
            let mut row = self.measure_exact_words(query, part.words);
            for sentence in turn.sentences_of(part.sentences.clone()) {
                likeness.fill_greatest_similarities(sentence.pieces, nearest);
                fill_word_similarities(query, &sentence, nearest, own);
                let cover = weighted_similarity(query, own);
                row.sentence = row.sentence.max(cover);
                if measures == Measures::All {
                    row.dense_sentence = row.dense_sentence.max(cosine_to_question(query, sentence.vector));
                }
                row.bigram = row.bigram.max(bigram_similarity(own));
                let (speaker, addressee) = sentence.owners[usize::from(reply)];
                owned += cover * cover * (speaker - addressee);
                covered += cover * cover;
                soft.iter_mut().zip(&*own).for_each(|(a, &b)| *a = b.max(*a));
            }
            row.late = weighted_similarity(query, soft);
            row.nouns = similarity_without_verb(query, soft).unwrap_or(row.late);
            row.strong = query
                .words
                .iter()
                .zip(&*soft)
                .filter(|it| *it.1 > 0.5)
                .map(|it| it.0.weight)
                .sum();
            row.dense = cosine_to_question(query, part.vector);
            let score = row.late + 0.5 * row.dense + 0.02 * row.bm25;
            if chosen.as_ref().is_none_or(|it| score > it.0) {
                chosen = Some((score, row));
                best.copy_from_slice(soft);
            }
        }
        let (_, mut row) = chosen.unwrap_or_default();
        sorted.clone_from(best);
        fill_similarity_measures(query, best, sorted, &mut row);
        row.owner = if covered > 0.0 { owned / covered } else { 0.0 };
        row
    }

    /// Returns the measures of equal stems for a part with the stems `words`.
    fn measure_exact_words(&self, query: &Query, words: &[u32]) -> Row {
        let mut row = Row::default();
        let norm = K1 * (1.0 - B + B * words.len() as f32 / self.average);
        for word in &query.words {
            let count = words.iter().filter(|&&it| it == word.term).count();
            if count == 0 {
                continue;
            }
            let tf = count as f32;
            row.bm25 += word.idf * tf * (K1 + 1.0) / (tf + norm);
            row.cover += word.weight;
            row.hits += 1.0;
            row.rare = row.rare.max(word.idf);
        }
        row
    }
}

/// Fills in the similarity of each word of the question to the best word of a sentence; `nearest` has that of its
/// pieces.
fn fill_word_similarities(query: &Query, sentence: &Sentence<'_>, nearest: &[f32], out: &mut [f32]) {
    for ((word, mean), like) in by_word(&query.words, nearest).zip(out) {
        *like = match sentence.words.contains(&word.term) {
            true => 1.0,
            false if mean < CHANCE => 0.0,
            false => SOFT * mean.min(1.0),
        };
    }
}

/// Returns the sum of the weights of the words of a question, each multiplied by its similarity.
pub(crate) fn weighted_similarity(query: &Query, soft: &[f32]) -> f32 {
    query
        .words
        .iter()
        .zip(soft)
        .map(|(word, like)| word.weight * like)
        .sum()
}

/// Fills in further measures of the similarities in `soft`; `sorted` holds the same values and gets sorted.
fn fill_similarity_measures(query: &Query, soft: &[f32], sorted: &mut [f32], row: &mut Row) {
    let pairs = || query.words.iter().map(|it| it.weight).zip(soft);
    row.sharp = pairs().map(|(weight, like)| weight * like * like).sum();
    let squares: f32 = pairs().map(|it| it.0 * it.0).sum();
    row.rarest = pairs().map(|(weight, like)| weight * weight * like).sum::<f32>() / squares.max(1e-6);
    sorted.sort_unstable_by(f32::total_cmp);
    let half = sorted.len().div_ceil(2);
    row.weaker = sorted[..half].iter().sum::<f32>() / half.max(1) as f32;
}

/// Returns the cosine of the question and a vector. It sums in lanes, since in a single sum each addition would wait
/// for the one before it.
fn cosine_to_question(query: &Query, vector: &[i8]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let ((vector, rest), (query, last)) = (vector.as_chunks::<LANES>(), query.vector.as_chunks::<LANES>());
    for (some, own) in vector.iter().zip(query) {
        for lane in 0..LANES {
            lanes[lane] += f32::from(some[lane]) * own[lane];
        }
    }
    let rest: f32 = rest.iter().zip(last).map(|(&a, b)| f32::from(a) * b).sum();
    (lanes.iter().sum::<f32>() + rest) / 127.0
}

fn similarity_without_verb(query: &Query, soft: &[f32]) -> Option<f32> {
    let others = || query.words.iter().zip(soft).filter(|it| !it.0.verb);
    let all: f32 = others().map(|it| it.0.weight).sum();
    (all > 0.0).then(|| others().map(|it| it.0.weight * it.1).sum::<f32>() / all)
}

fn bigram_similarity(soft: &[f32]) -> f32 {
    let pairs = soft.len().saturating_sub(1);
    soft.windows(2).map(|it| it[0].min(it[1])).sum::<f32>() / pairs.max(1) as f32
}
