//! The turns of all scenes once each, cut into sentences, with how well every sentence covers the question and whom it
//! speaks of.

use std::collections::BTreeMap;

use chrono::Utc;
use domain::anchor::AnswerKind;
use domain::evidence::Turn;
use domain::message::AnswerV1;
use domain::time::{Precision, TimeSpan};
use text::ownership::{self, Ownership};
use text::patterns;

use crate::question::Question;
use crate::words::{Lexicon, Term, dot};

/// A sentence of a turn.
pub(crate) struct Sentence {
    /// The words, without line breaks at the ends.
    pub(crate) text: String,
    /// Content words.
    pub(crate) terms: Vec<Term>,
    /// Whether it is the caption of an image.
    pub(crate) caption: bool,
    /// Whether it asks.
    pub(crate) question: bool,
    /// Best likeness of each word of the question, 0 to 1.
    pub(crate) matches: Vec<f32>,
    /// Weighted share of the question that it covers, 0 to 1.
    pub(crate) cover: f32,
    /// How far it speaks of the subject, 0 to 1; 1 if nobody is asked about.
    pub(crate) subject: f32,
    /// How far it speaks of others, 0 to 1.
    pub(crate) other: f32,
}

/// A turn with its place in the pool.
pub(crate) struct Line<'a> {
    /// The turn.
    pub(crate) turn: &'a Turn,
    /// Rank of its scene, from 0; none if it is only surrounding.
    pub(crate) rank: Option<usize>,
    /// The turn before it in its session, if it is in the pool.
    pub(crate) previous: Option<usize>,
    /// The turn after it in its session, if it is in the pool.
    pub(crate) next: Option<usize>,
    /// Its sentences, the caption last.
    pub(crate) sentences: Vec<Sentence>,
    /// Best likeness of each word of the question, 0 to 1.
    pub(crate) matches: Vec<f32>,
    /// How well it answers by words alone, about 0 to 10.
    pub(crate) height: f32,
    /// Cover-weighted ownership: 1 all the subject's, -1 all the others'.
    pub(crate) own: f32,
    /// Order of answering: `height` with ownership, type and the router's opinion.
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

/// Weight of the cover of a whole turn, of its window and of its best sentence, and of the cover of all but the verb.
const COVER: [f32; 4] = [0.35, 0.35, 0.15, 0.15];
/// Points of a turn that covers the question fully.
const COVER_POINTS: f32 = 9.0;

impl<'a> Pool<'a> {
    /// Gathers the turns of a request.
    pub(crate) fn gather(request: &'a AnswerV1, question: &Question, lexicon: &mut Lexicon) -> Pool<'a> {
        let mut lines = lines(request);
        for at in 0..lines.len() {
            let around = surroundings(&lines, at, question);
            lines[at].sentences = sentences(lines[at].turn, around, question, lexicon);
            lines[at].matches = best(&lines[at].sentences, question.words.len());
            lines[at].own = own(&lines[at].sentences);
        }
        for at in 0..lines.len() {
            lines[at].height = height(&lines, at, request, question, lexicon);
        }
        for at in 0..lines.len() {
            lines[at].order = order(&lines, at, request, question);
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

fn lines(request: &AnswerV1) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut places = BTreeMap::new();
    for (rank, scene) in request.scenes.iter().enumerate() {
        let mut before: Option<usize> = None;
        for (offset, turn) in scene.turns.iter().enumerate() {
            let at = *places.entry(turn.unit).or_insert_with(|| {
                lines.push(Line {
                    turn,
                    rank: None,
                    previous: None,
                    next: None,
                    sentences: Vec::new(),
                    matches: Vec::new(),
                    height: 0.0,
                    own: 0.0,
                    order: 0.0,
                });
                lines.len() - 1
            });
            if offset == scene.center && lines[at].rank.is_none() {
                lines[at].rank = Some(rank);
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
    let Some(before) = lines[at].previous.map(|it| lines[it].turn) else {
        return Surroundings {
            reply: false,
            told: false,
        };
    };
    let told = question
        .subject
        .as_ref()
        .is_some_and(|it| !same(it, &before.actor) && told_of(&before.text, it));
    Surroundings {
        reply: asks(before) && before.actor != lines[at].turn.actor,
        told,
    }
}

fn asks(turn: &Turn) -> bool {
    turn.text.trim_end().ends_with(['?', '？', '؟'])
}

fn sentences(turn: &Turn, around: Surroundings, question: &Question, lexicon: &mut Lexicon) -> Vec<Sentence> {
    let spoken = text::sentences(&turn.text).into_iter().map(|it| (it, false));
    let caption = (!turn.caption.is_empty()).then_some((turn.caption.as_str(), true));
    let mut previous = None;
    let mut out = Vec::new();
    let Surroundings { reply, mut told } = around;
    for (sentence, caption) in spoken.chain(caption) {
        let context = ownership::Context {
            caption,
            previous,
            reply,
        };
        let owned = ownership::sentence(sentence, &context);
        previous = Some(owned);
        let named = question.subject.as_ref().is_some_and(|it| told_of(sentence, it));
        told |= named;
        let (subject, other) = shares(turn, named || (told && third_person(sentence)), owned, question);
        let terms = Lexicon::terms(sentence);
        let matches: Vec<f32> = question
            .words
            .iter()
            .map(|word| {
                terms
                    .iter()
                    .map(|it| lexicon.near(&word.stem, &it.stem))
                    .fold(0.0, f32::max)
            })
            .collect();
        out.push(Sentence {
            cover: covered(&matches, question),
            question: ownership::asks(sentence),
            text: sentence.to_owned(),
            terms,
            caption,
            matches,
            subject,
            other,
        });
    }
    out
}

/// Splits the ownership of a sentence between the subject of the question and everybody else.
fn shares(turn: &Turn, told: bool, owned: Ownership, question: &Question) -> (f32, f32) {
    let Some(subject) = &question.subject else {
        return (1.0, 0.0);
    };
    let speaker = if question.speech {
        owned.speaker.max(0.9)
    } else {
        owned.speaker
    };
    let addressee = if question.speech {
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

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// Says whether a text tells of `name` in the third person: the name stands in it, and not as a call ("Thanks, Ann!").
fn told_of(text: &str, name: &str) -> bool {
    let Some(first) = text::words(name).first().map(|it| it.to_lowercase()) else {
        return false;
    };
    let place = |it: &str| (it.as_ptr() as usize, it.as_ptr() as usize + it.len());
    let calls: Vec<(usize, usize)> = text::vocatives(text).into_iter().map(place).collect();
    text::words(text).into_iter().any(|word| {
        let lower = word.to_lowercase().replace('’', "'");
        let at = place(word).0;
        lower.strip_suffix("'s").unwrap_or(&lower) == first && !calls.iter().any(|it| (it.0..it.1).contains(&at))
    })
}

/// Says whether a sentence speaks of somebody by "he", "she" or "they" and not of the speaker.
fn third_person(sentence: &str) -> bool {
    let words: Vec<String> = text::words(sentence)
        .iter()
        .map(|it| it.to_lowercase().replace('’', "'"))
        .collect();
    let has = |list: &[&str]| {
        words
            .iter()
            .any(|it| list.contains(&it.split('\'').next().unwrap_or_default()))
    };
    has(&["he", "she", "his", "her", "him", "hers"]) && !has(&["i", "you"])
}

fn best(sentences: &[Sentence], count: usize) -> Vec<f32> {
    (0..count)
        .map(|it| sentences.iter().map(|s| s.matches[it]).fold(0.0, f32::max))
        .collect()
}

fn covered(matches: &[f32], question: &Question) -> f32 {
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

fn height(lines: &[Line<'_>], at: usize, request: &AnswerV1, question: &Question, lexicon: &Lexicon) -> f32 {
    let line = &lines[at];
    if question.words.is_empty() {
        return 0.0;
    }
    let turn = covered(&line.matches, question);
    let window = covered(&window_matches(lines, at), question);
    let sentence = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    let things: f32 = question.words.iter().filter(|it| !it.verb).map(|it| it.weight).sum();
    let pairs = line.matches.iter().zip(&question.words);
    let thing: f32 = pairs
        .filter(|(_, word)| !word.verb)
        .map(|(it, word)| it * word.weight)
        .sum();
    let thing = if things > 0.0 { thing / things } else { turn };
    let covers = COVER[0] * turn + COVER[1] * window + COVER[2] * sentence + COVER[3] * thing;
    let asking = line.sentences.iter().filter(|it| it.question).count() as f32 / line.sentences.len().max(1) as f32;
    let cos = dot(&question.vector, &lexicon.sentence(&line.turn.text));
    COVER_POINTS * covers + 1.5 * cos + 0.8 * dated(line.turn, request) - asking + 0.8 * neighbours(line, question)
}

/// Words may stand in the turn itself or, for less, around it: a question before its answer, a topic two turns ago.
fn window_matches(lines: &[Line<'_>], at: usize) -> Vec<f32> {
    let mut out = lines[at].matches.clone();
    let previous = lines[at].previous;
    let around = [
        (previous, 0.7),
        (lines[at].next, 0.5),
        (previous.and_then(|it| lines[it].previous), 0.4),
    ];
    for (other, weight) in around {
        let Some(other) = other else { continue };
        out.iter_mut()
            .zip(&lines[other].matches)
            .for_each(|(mine, it)| *mine = mine.max(weight * it));
    }
    out
}

/// Mean over neighbouring words of the question of how well one sentence holds both.
fn neighbours(line: &Line<'_>, question: &Question) -> f32 {
    let pairs = question.words.len().saturating_sub(1);
    if pairs == 0 {
        return 0.0;
    }
    let both = |it: usize| {
        line.sentences
            .iter()
            .map(|s| s.matches[it].min(s.matches[it + 1]))
            .fold(0.0, f32::max)
    };
    (0..pairs).map(both).sum::<f32>() / pairs as f32
}

/// 1 in the time asked about, less near it, 0.5 if no time is asked about.
fn dated(turn: &Turn, request: &AnswerV1) -> f32 {
    let Some(window) = &request.anchors.window else {
        return 0.5;
    };
    let told = TimeSpan::instant(turn.observed_at.with_timezone(&Utc));
    let near = |it: &TimeSpan| {
        if it.overlaps(window) {
            return if matches!(window.precision, Precision::Instant | Precision::Day | Precision::Week) {
                1.0
            } else {
                0.7
            };
        }
        let gap = if it.start >= window.end {
            it.start - window.end
        } else {
            window.start - it.end
        };
        if gap.num_days() <= 31 { 0.25 } else { 0.0 }
    };
    turn.times.iter().chain([&told]).map(near).fold(0.0, f32::max)
}

fn order(lines: &[Line<'_>], at: usize, request: &AnswerV1, question: &Question) -> f32 {
    let line = &lines[at];
    let router = line
        .rank
        .map_or(-6.0, |it| request.scenes[it].probability.max(1e-6).ln().max(-6.0));
    let own = if question.subject.is_some() {
        ((line.own + 1.0) / 2.0).max(0.05).ln()
    } else {
        0.0
    };
    let around = [line.previous, line.next]
        .into_iter()
        .flatten()
        .map(|it| lines[it].height)
        .fold(0.0, f32::max);
    let typed = if fits(question, line.turn) { 0.5 } else { 0.0 };
    line.height + 1.3 * own + typed + 0.2 * around + ROUTER * router
}

/// How much a factor e of the router's probability counts.
const ROUTER: f32 = 0.4;

fn fits(question: &Question, turn: &Turn) -> bool {
    let found = patterns::count(&turn.text);
    let has = |it: usize| found[it] > 0;
    match question.kind {
        AnswerKind::When => has(patterns::DATE) || !turn.times.is_empty(),
        AnswerKind::Duration => has(patterns::DURATION),
        AnswerKind::Number => has(patterns::NUMBER) || has(patterns::MONEY),
        AnswerKind::Where => has(patterns::PLACE),
        AnswerKind::Who => has(patterns::KIN) || has(patterns::CAPITAL),
        AnswerKind::Why | AnswerKind::How => has(patterns::REASON) || has(patterns::FEELING),
        AnswerKind::Kind => has(patterns::LIST) || has(patterns::PREFERENCE) || !turn.caption.is_empty(),
        AnswerKind::WhatIs => has(patterns::CAPITAL) || has(patterns::QUOTE),
        AnswerKind::WhatDoes => has(patterns::PAST) || has(patterns::PLAN),
        AnswerKind::YesNo | AnswerKind::Message | AnswerKind::Other => false,
    }
}
