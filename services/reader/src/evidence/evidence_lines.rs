//! The turns of all scenes, each once, cut into sentences. Each sentence has measures of how well it covers the
//! question and whom it is about.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::evidence::Turn;
use domain::message::AnswerV1;
use text::people::ownership::Ownership;

use crate::evidence::line::{Line, Sentence, question_cover};
use crate::evidence::question::{Asked, Question};
use crate::evidence::text_readings::{Readings, TextReading};
use crate::evidence::word_similarity::{Lexicon, Term};
use crate::evidence::{implied_meanings, rank};
use crate::feature_weights::{Weights, weighted_sum};

/// All turns that the reader may use.
pub(crate) struct Pool<'a> {
    /// In order of first appearance in the scenes.
    pub(crate) lines: Vec<Line<'a>>,
    /// Indices of `lines`, best `height` first; ties by unit id.
    pub(crate) by_height: Vec<usize>,
    /// Indices of `lines`, best `order` first; ties by unit id.
    pub(crate) by_order: Vec<usize>,
}

impl<'a> Pool<'a> {
    /// Returns the turns of a request with their measures.
    pub(crate) fn from_request(
        request: &'a AnswerV1,
        question: &Question,
        weights: &Weights,
        readings: &Readings,
        lexicon: &mut Lexicon,
    ) -> Pool<'a> {
        let mut lines = collect_lines(request, readings);
        for at in 0..lines.len() {
            let around = read_surroundings(&lines, at, question);
            lines[at].sentences = measure_sentences(&lines[at].reading, lines[at].turn, around, question, lexicon);
            lines[at].matches = best_matches(&lines[at].sentences, question.words.len());
            lines[at].cover = question_cover(&lines[at].matches, question);
            lines[at].likeness = text::dot_product(&question.vector, &lines[at].reading.vector);
            lines[at].own = mean_ownership(&lines[at].sentences);
        }
        for at in 0..lines.len() {
            lines[at].measures = rank::compute_measures(&lines, at, request, question);
            lines[at].height = rank::compute_height(&lines[at].measures);
        }
        for at in 0..lines.len() {
            lines[at].row = rank::feature_row(&lines, at, request, question);
            lines[at].order = weighted_sum(&lines[at].row, &weights.turns);
        }
        let sorted = |key: fn(&Line<'a>) -> f32| {
            let mut all: Vec<usize> = (0..lines.len()).collect();
            all.sort_by(|&a, &b| {
                key(&lines[b])
                    .total_cmp(&key(&lines[a]))
                    .then(lines[a].turn.unit.cmp(&lines[b].turn.unit))
            });
            all
        };
        let (by_height, by_order) = (sorted(|it| it.height), sorted(|it| it.order));
        Pool {
            lines,
            by_height,
            by_order,
        }
    }

    /// Returns the last spoken sentence of the turn before `at`.
    pub(crate) fn said_before(&self, at: usize) -> Option<&Sentence> {
        let before = &self.lines[self.lines[at].previous?];
        before.sentences.iter().rev().find(|it| !it.caption)
    }

    /// Returns the indices of `at`, up to `before` turns before it and up to `after` turns after it, in order.
    pub(crate) fn window_around(&self, at: usize, before: usize, after: usize) -> Vec<usize> {
        let mut out = vec![at];
        let mut here = at;
        for _ in 0..before {
            let Some(previous) = self.lines[here].previous else {
                break;
            };
            out.insert(0, previous);
            here = previous;
        }
        here = at;
        for _ in 0..after {
            let Some(next) = self.lines[here].next else { break };
            out.push(next);
            here = next;
        }
        out
    }

    /// Returns true if `line` was said after `earlier`. Lines of the same time are in the order of their session.
    pub(crate) fn is_later(&self, line: usize, earlier: usize) -> bool {
        let observed_at = |it: usize| self.lines[it].turn.observed_at;
        match observed_at(line).cmp(&observed_at(earlier)) {
            Ordering::Greater => true,
            Ordering::Equal => line != earlier && self.window_around(earlier, 0, self.lines.len()).contains(&line),
            Ordering::Less => false,
        }
    }
}

/// Maximum number of bytes of text that are read of one request; weaker scenes beyond it are left out.
const BYTES_MAX: usize = 64 * 1024;

fn collect_lines<'a>(request: &'a AnswerV1, readings: &Readings) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut places = BTreeMap::new();
    let mut bytes = 0;
    for (rank, scene) in request.scenes.iter().enumerate() {
        let mut before: Option<usize> = None;
        for (offset, turn) in scene.turns.iter().enumerate() {
            if bytes > BYTES_MAX && rank > 0 && !places.contains_key(&turn.unit) {
                before = None;
                continue;
            }
            let at = *places.entry(turn.unit).or_insert_with(|| {
                bytes += turn.text.len();
                lines.push(Line {
                    turn,
                    reading: readings.get_or_read(&request.space, turn),
                    rank: None,
                    packed: false,
                    previous: None,
                    next: None,
                    sentences: Vec::new(),
                    matches: Vec::new(),
                    measures: [0.0; 8],
                    height: 0.0,
                    cover: 0.0,
                    likeness: 0.0,
                    own: 0.0,
                    row: Vec::new(),
                    order: 0.0,
                });
                lines.len() - 1
            });
            if offset == scene.center && lines[at].rank.is_none() {
                lines[at].rank = Some(rank);
                lines[at].packed = scene.packed;
            }
            if let Some(before) = before {
                lines[at].previous.get_or_insert(before);
                lines[before].next.get_or_insert(at);
            }
            before = Some(at);
        }
    }
    lines
}

/// Properties of the previous turn that help to read a turn.
struct Surroundings {
    /// The previous turn is by another speaker and ends with a question.
    reply: bool,
    /// The previous turn mentions the subject in the third person.
    mentions_subject: bool,
}

fn read_surroundings(lines: &[Line<'_>], at: usize, question: &Question) -> Surroundings {
    let Some(before) = lines[at].previous.map(|it| &lines[it]) else {
        return Surroundings {
            reply: false,
            mentions_subject: false,
        };
    };
    let mentions_subject = question
        .subject
        .as_ref()
        .is_some_and(|it| !is_same_speaker(it, &before.turn.actor) && before.reading.tells_of(it));
    Surroundings {
        reply: before.reading.ends_asking && before.turn.actor != lines[at].turn.actor,
        mentions_subject,
    }
}

fn measure_sentences(
    reading: &TextReading,
    turn: &Turn,
    around: Surroundings,
    question: &Question,
    lexicon: &mut Lexicon,
) -> Vec<Sentence> {
    let Surroundings {
        reply,
        mut mentions_subject,
    } = around;
    let mut out = Vec::with_capacity(reading.sentences.len());
    for reading in &reading.sentences {
        let names_subject = question.subject.as_ref().is_some_and(|it| reading.tells_of(it));
        mentions_subject |= names_subject;
        let is_about_subject = names_subject || (mentions_subject && reading.third_person);
        let (subject, other) = ownership_shares(turn, is_about_subject, reading.ownership_in_context(reply), question);
        let WordMatches {
            mut matches,
            hits,
            hit_words,
        } = match_question_words(&reading.terms, question, lexicon);
        implied_meanings::raise_implied_matches(&mut matches, &reading.text, question);
        out.push(Sentence {
            cover: question_cover(&matches, question),
            reading: Arc::clone(reading),
            hits,
            hit_words,
            matches,
            subject,
            other,
        });
    }
    out
}

/// Minimum similarity at which a word counts as an occurrence of a question word.
const HIT: f32 = 0.45;

/// The occurrences of the question words in a sentence; the fields are those of [`Sentence`].
struct WordMatches {
    matches: Vec<f32>,
    hits: Vec<(usize, bool)>,
    hit_words: Vec<usize>,
}

fn match_question_words(terms: &[Term], question: &Question, lexicon: &mut Lexicon) -> WordMatches {
    let mut matches = vec![0.0_f32; question.words.len()];
    let (mut hits, mut hit_words) = (Vec::new(), Vec::new());
    let words = question.words.len();
    let mut near: Vec<f32> = Vec::with_capacity(terms.len() * words);
    terms.iter().for_each(|it| near.extend(lexicon.near_words(&it.stem)));
    for (at, (word, most)) in question.words.iter().zip(&mut matches).enumerate() {
        let near = || near.iter().skip(at).step_by(words).copied();
        *most = near().fold(0.0, f32::max);
        // If the word itself occurs, a similar word is another thing: the coat next to the boots.
        let least = if *most >= 1.0 { 1.0 } else { HIT };
        // "Grey" is similar to "colour", but does not mark the place of the boots.
        if question.class == Some(Asked::Colour) && matches!(word.stem.as_str(), "colour" | "color") {
            continue;
        }
        let places = terms.iter().zip(near()).filter(|it| it.1 >= least);
        hits.extend(places.map(|it| (it.0.start, word.verb)));
        hit_words.resize(hits.len(), at);
    }
    WordMatches {
        matches,
        hits,
        hit_words,
    }
}

/// Returns the degrees to which a sentence is about the subject of the question and about others, 0 to 1 each.
fn ownership_shares(turn: &Turn, mentions_subject: bool, owned: Ownership, question: &Question) -> (f32, f32) {
    let Some(subject) = &question.subject else {
        return (1.0, 0.0);
    };
    let speaker = if question.traits.speech {
        owned.speaker.max(0.9)
    } else {
        owned.speaker
    };
    let addressee = if question.traits.speech {
        0.6 * owned.addressee
    } else {
        owned.addressee
    };
    let speaks = is_same_speaker(&turn.actor, subject);
    let hears = is_same_speaker(&turn.addressee, subject) || (turn.addressee.is_empty() && !speaks);
    let (mut own, mut other) = (0.0_f32, 0.0_f32);
    *(if speaks { &mut own } else { &mut other }) += speaker;
    *(if hears { &mut own } else { &mut other }) += addressee;
    if !speaks && mentions_subject {
        (own, other) = (own.max(0.9), other.min(0.2));
    }
    (own.min(1.0), other.min(1.0))
}

/// Returns true if two names of speakers are equal without regard to case.
pub(crate) fn is_same_speaker(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

fn best_matches(sentences: &[Sentence], count: usize) -> Vec<f32> {
    (0..count)
        .map(|it| sentences.iter().map(|s| s.matches[it]).fold(0.0, f32::max))
        .collect()
}

fn mean_ownership(sentences: &[Sentence]) -> f32 {
    let total: f32 = sentences.iter().map(|it| it.cover * it.cover).sum();
    let sum: f32 = sentences
        .iter()
        .map(|it| it.cover * it.cover * (it.subject - it.other))
        .sum();
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Maximum number of sentences of a turn that are searched for an answer.
const SENTENCES_MAX: usize = 12;

/// Returns the indices of the sentences that cover the question best, in text order.
pub(crate) fn best_covering_sentences(all: &[Sentence]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by(|&a, &b| all[b].cover.total_cmp(&all[a].cover).then(a.cmp(&b)));
    places.truncate(SENTENCES_MAX);
    places.sort_unstable();
    places
}
