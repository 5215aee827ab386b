//! The turns of all scenes once each, cut into sentences, with how well every sentence covers the question and whom it
//! speaks of.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use domain::evidence::Turn;
use domain::message::AnswerV1;
use text::ownership::Ownership;

use crate::implied;
use crate::question::{Asked, Question};
use crate::rank;
use crate::readings::{Readings, SentenceReading, TextReading};
use crate::weights::{self, Weights};
use crate::words::{Lexicon, Term};

/// A sentence of a turn, read against the question.
pub(crate) struct Sentence {
    /// What it says.
    reading: Arc<SentenceReading>,
    /// Where words near those of the question start, in bytes, and whether that is the verb asked about.
    pub(crate) hits: Vec<(usize, bool)>,
    /// Best likeness of each word of the question, 0 to 1.
    pub(crate) matches: Vec<f32>,
    /// Weighted share of the question that it covers, 0 to 1.
    pub(crate) cover: f32,
    /// How far it speaks of the subject, 0 to 1; 1 if nobody is asked about.
    pub(crate) subject: f32,
    /// How far it speaks of others, 0 to 1.
    pub(crate) other: f32,
}

impl Deref for Sentence {
    type Target = SentenceReading;

    fn deref(&self) -> &SentenceReading {
        &self.reading
    }
}

/// A turn with its place in the pool.
pub(crate) struct Line<'a> {
    /// The turn.
    pub(crate) turn: &'a Turn,
    /// What it says.
    pub(crate) reading: Arc<TextReading>,
    /// Rank of its scene, from 0; none if it is only surrounding.
    pub(crate) rank: Option<usize>,
    /// Whether the pack shows it.
    pub(crate) packed: bool,
    /// The turn before it in its session, if it is in the pool.
    pub(crate) previous: Option<usize>,
    /// The turn after it in its session, if it is in the pool.
    pub(crate) next: Option<usize>,
    /// Its sentences, the caption last.
    pub(crate) sentences: Vec<Sentence>,
    /// Best likeness of each word of the question, 0 to 1.
    pub(crate) matches: Vec<f32>,
    /// How well its words answer, see [`rank::measures`].
    pub(crate) measures: [f32; 8],
    /// The measures in one number, about 0 to 10.
    pub(crate) height: f32,
    /// Share of the question that its words cover, 0 to 1.
    pub(crate) cover: f32,
    /// Cosine to the bare question.
    pub(crate) likeness: f32,
    /// Cover-weighted ownership: 1 all the subject's, -1 all the others'.
    pub(crate) own: f32,
    /// What `order` weighs, see [`rank::row`].
    pub(crate) row: Vec<f32>,
    /// Logit of answering: the measures with ownership, kind and the router's opinion.
    pub(crate) order: f32,
}

/// All turns the reader may use.
pub(crate) struct Pool<'a> {
    /// In order of first appearance in the scenes.
    pub(crate) lines: Vec<Line<'a>>,
    /// Indices of `lines`, best `height` first.
    pub(crate) by_height: Vec<usize>,
    /// Indices of `lines`, best `order` first.
    pub(crate) by_order: Vec<usize>,
}

impl<'a> Pool<'a> {
    /// Gathers the turns of a request.
    pub(crate) fn gather(
        request: &'a AnswerV1,
        question: &Question,
        weights: &Weights,
        readings: &Readings,
        lexicon: &mut Lexicon,
    ) -> Pool<'a> {
        let mut lines = lines(request, readings);
        for at in 0..lines.len() {
            let around = surroundings(&lines, at, question);
            lines[at].sentences = sentences(&lines[at].reading, lines[at].turn, around, question, lexicon);
            lines[at].matches = best(&lines[at].sentences, question.words.len());
            lines[at].cover = covered(&lines[at].matches, question);
            lines[at].likeness = text::dot(&question.vector, &lines[at].reading.vector);
            lines[at].own = own(&lines[at].sentences);
        }
        for at in 0..lines.len() {
            lines[at].measures = rank::measures(&lines, at, request, question);
            lines[at].height = rank::height(&lines[at].measures);
        }
        for at in 0..lines.len() {
            lines[at].row = rank::row(&lines, at, request, question);
            lines[at].order = weights::dot(&lines[at].row, &weights.turns);
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

    /// Returns the last sentence that was spoken in the turn before `at`.
    pub(crate) fn said_before(&self, at: usize) -> Option<&Sentence> {
        let before = &self.lines[self.lines[at].previous?];
        before.sentences.iter().rev().find(|it| !it.caption)
    }

    /// Returns the indices of up to `before` turns before and `after` turns after `at`, with it, in order.
    pub(crate) fn window(&self, at: usize, before: usize, after: usize) -> Vec<usize> {
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
}

/// Text that is read of one request, in bytes; weaker scenes than fit are left out.
const BYTES_MAX: usize = 64 * 1024;

fn lines<'a>(request: &'a AnswerV1, readings: &Readings) -> Vec<Line<'a>> {
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
                    reading: readings.of(&request.space, turn),
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

/// What the turn before says about how to read a turn.
struct Surroundings {
    /// It is by somebody else and ends with a question.
    reply: bool,
    /// It tells of the subject in the third person.
    told: bool,
}

fn surroundings(lines: &[Line<'_>], at: usize, question: &Question) -> Surroundings {
    let Some(before) = lines[at].previous.map(|it| &lines[it]) else {
        return Surroundings {
            reply: false,
            told: false,
        };
    };
    let told = question
        .subject
        .as_ref()
        .is_some_and(|it| !same(it, &before.turn.actor) && before.reading.tells_of(it));
    Surroundings {
        reply: before.reading.ends_asking && before.turn.actor != lines[at].turn.actor,
        told,
    }
}

fn sentences(
    reading: &TextReading,
    turn: &Turn,
    around: Surroundings,
    question: &Question,
    lexicon: &mut Lexicon,
) -> Vec<Sentence> {
    let Surroundings { reply, mut told } = around;
    let mut out = Vec::with_capacity(reading.sentences.len());
    for reading in &reading.sentences {
        let named = question.subject.as_ref().is_some_and(|it| reading.tells_of(it));
        told |= named;
        let told = named || (told && reading.third_person);
        let (subject, other) = shares(turn, told, reading.owner(reply), question);
        let (mut matches, hits) = compare(&reading.terms, question, lexicon);
        implied::raise(&mut matches, &reading.text, question);
        out.push(Sentence {
            cover: covered(&matches, question),
            reading: Arc::clone(reading),
            hits,
            matches,
            subject,
            other,
        });
    }
    out
}

/// A word this near to one of the question counts as the place where the matter stands.
const HIT: f32 = 0.45;

fn compare(terms: &[Term], question: &Question, lexicon: &mut Lexicon) -> (Vec<f32>, Vec<(usize, bool)>) {
    let mut matches = vec![0.0_f32; question.words.len()];
    let mut hits = Vec::new();
    let words = question.words.len();
    let mut near: Vec<f32> = Vec::with_capacity(terms.len() * words);
    terms.iter().for_each(|it| near.extend(lexicon.near_words(&it.stem)));
    for (at, (word, most)) in question.words.iter().zip(&mut matches).enumerate() {
        let near = || near.iter().skip(at).step_by(words).copied();
        *most = near().fold(0.0, f32::max);
        // Beside the word itself, one like it is another matter: the coat beside the boots.
        let least = if *most >= 1.0 { 1.0 } else { HIT };
        // "Grey" is like "colour", but not the place where the boots stand.
        if question.class == Some(Asked::Colour) && matches!(word.stem.as_str(), "colour" | "color") {
            continue;
        }
        let places = terms.iter().zip(near()).filter(|it| it.1 >= least);
        hits.extend(places.map(|it| (it.0.start, word.verb)));
    }
    (matches, hits)
}

/// Splits the ownership of a sentence between the subject of the question and everybody else.
fn shares(turn: &Turn, told: bool, owned: Ownership, question: &Question) -> (f32, f32) {
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
    let speaks = same(&turn.actor, subject);
    let hears = same(&turn.addressee, subject) || (turn.addressee.is_empty() && !speaks);
    let (mut own, mut other) = (0.0_f32, 0.0_f32);
    *(if speaks { &mut own } else { &mut other }) += speaker;
    *(if hears { &mut own } else { &mut other }) += addressee;
    if !speaks && told {
        (own, other) = (own.max(0.9), other.min(0.2));
    }
    (own.min(1.0), other.min(1.0))
}

/// Says whether two names of speakers are the same, in any case.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

fn best(sentences: &[Sentence], count: usize) -> Vec<f32> {
    (0..count)
        .map(|it| sentences.iter().map(|s| s.matches[it]).fold(0.0, f32::max))
        .collect()
}

pub(crate) fn covered(matches: &[f32], question: &Question) -> f32 {
    matches
        .iter()
        .zip(&question.words)
        .map(|(it, word)| it * word.weight)
        .sum()
}

fn own(sentences: &[Sentence]) -> f32 {
    let total: f32 = sentences.iter().map(|it| it.cover * it.cover).sum();
    let sum: f32 = sentences
        .iter()
        .map(|it| it.cover * it.cover * (it.subject - it.other))
        .sum();
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Sentences of a turn that are searched for an answer.
const SENTENCES_MAX: usize = 12;

/// Returns the places of the sentences that cover the question best, in their order; all of a short turn.
pub(crate) fn telling(all: &[Sentence]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by(|&a, &b| all[b].cover.total_cmp(&all[a].cover).then(a.cmp(&b)));
    places.truncate(SENTENCES_MAX);
    places.sort_unstable();
    places
}
