//! Whether the evidence is about the one who is asked about, and about the very thing.
//!
//! A score of the words alone cannot tell "when did Ann move" from "when did Bob move": both are covered equally well by
//! Bob's turn. So the judge compares who owns the sentences that cover the question (pronouns decide, see
//! `text::ownership`), once by sentence, once by word and once by window, and looks for details that differ.

use domain::anchor::AnswerKind;
use domain::message::AnswerV1;

use crate::check::Opinion;
use crate::pool::{Line, Pool, Sentence};
use crate::question::Question;
use crate::stated::Sought;
use crate::words::near;

/// What speaks for and against an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judgement {
    /// The measures.
    pub(crate) parts: Parts,
    /// A value that excludes the one asked for stands in its place.
    pub(crate) excluded: Option<Detail>,
    /// Another word stands in the place of the one asked for; weak, for it may be another name of the same.
    pub(crate) changed: Option<Detail>,
}

/// What the judge measures, each for itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    /// Mean ownership of the sentences, -1 to 1; 0 without a subject.
    pub(crate) by_sentence: f32,
    /// Ownership word by word, -1 to 1; 0 without a subject.
    pub(crate) by_word: f32,
    /// Ownership of the surroundings of the best turns, -1 to 1; 0 without a subject.
    pub(crate) by_window: f32,
    /// Best cover of the question by a window, 0 to 1.
    pub(crate) cover: f32,
}

impl Parts {
    /// The three kinds of ownership in one number, -4 to 4.
    pub(crate) fn rule(&self) -> f32 {
        self.by_sentence + 2.0 * self.by_word + self.by_window
    }
}

/// A question with its evidence, and what is thought of both.
pub(crate) struct Case<'a> {
    pub(crate) request: &'a AnswerV1,
    pub(crate) question: &'a Question,
    pub(crate) pool: &'a Pool<'a>,
    pub(crate) judgement: &'a Judgement,
    /// What it asks for that turns state outright, if it does.
    pub(crate) sought: Option<&'a Sought>,
    /// Of the check whether to refuse.
    pub(crate) opinion: Opinion,
}

/// "the red bicycle" was asked, "the blue bicycle" is what stands there.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    /// Stem asked for.
    pub(crate) asked: String,
    /// Stem found in its place.
    pub(crate) found: String,
    /// Index of the line.
    pub(crate) line: usize,
}

/// A question sentence states little; a caption states what is seen, not what is so.
fn credit(sentence: &Sentence) -> f32 {
    if sentence.question {
        0.2
    } else if sentence.caption {
        0.6
    } else {
        1.0
    }
}

/// Judges the pool.
pub(crate) fn judge(pool: &Pool<'_>, question: &Question) -> Judgement {
    let covers = pool
        .by_height
        .iter()
        .take(3)
        .map(|&it| window_cover(pool, it, question));
    let mut parts = Parts {
        cover: covers.fold(0.0, f32::max),
        ..Parts::default()
    };
    if question.subject.is_some() && !question.words.is_empty() {
        parts.by_sentence = by_sentence(pool);
        parts.by_word = by_word(pool, question);
        parts.by_window = by_window(pool);
    }
    Judgement {
        parts,
        excluded: excluded(pool, question),
        changed: changed_detail(pool, question),
    }
}

fn window_cover(pool: &Pool<'_>, at: usize, question: &Question) -> f32 {
    let lines = pool.window(at, 2, 1);
    let most = |word: usize| lines.iter().map(|&it| pool.lines[it].matches[word]).fold(0.0, f32::max);
    question
        .words
        .iter()
        .enumerate()
        .map(|(at, word)| word.weight * most(at))
        .sum()
}

/// Mean ownership of the sentences, the likeliest counting most.
fn by_sentence(pool: &Pool<'_>) -> f32 {
    let all = || {
        pool.lines
            .iter()
            .flat_map(|line| line.sentences.iter().map(move |it| (line.height + 4.0 * it.cover, it)))
    };
    let top = all().map(|it| it.0).fold(f32::MIN, f32::max);
    let (mut total, mut sum) = (0.0, 0.0);
    for (height, sentence) in all() {
        let weight = (height - top).exp() * credit(sentence);
        total += weight;
        sum += weight * (sentence.subject - sentence.other);
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Word by word: does the subject own a place that holds it, or only somebody else?
fn by_word(pool: &Pool<'_>, question: &Question) -> f32 {
    let mut near: Vec<usize> = pool
        .by_height
        .iter()
        .take(3)
        .flat_map(|&it| pool.window(it, 2, 1))
        .collect();
    near.sort_unstable();
    near.dedup();
    let mut sum = 0.0;
    for (at, word) in question.words.iter().enumerate() {
        let (mut own, mut other) = (0.0_f32, 0.0_f32);
        for sentence in near.iter().flat_map(|&it| &pool.lines[it].sentences) {
            let found = sentence.matches[at] * credit(sentence).sqrt();
            own = own.max(found * sentence.subject);
            other = other.max(found * sentence.other);
        }
        sum += word.weight * (own - other);
    }
    sum
}

/// Ownership of the surroundings of the best turns.
fn by_window(pool: &Pool<'_>) -> f32 {
    let top = pool.by_height.first().map_or(0.0, |&it| pool.lines[it].height);
    let (mut total, mut sum) = (0.0, 0.0);
    for &center in pool.by_height.iter().take(6) {
        let weight = (pool.lines[center].height - top).exp();
        let (mut covers, mut owned) = (0.0, 0.0);
        for sentence in pool
            .window(center, 2, 2)
            .into_iter()
            .flat_map(|it| &pool.lines[it].sentences)
        {
            let cover = sentence.cover * sentence.cover * credit(sentence);
            covers += cover;
            owned += cover * (sentence.subject - sentence.other);
        }
        total += weight;
        sum += if covers > 0.0 { weight * owned / covers } else { 0.0 };
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Finds "x b" owned by the subject where "a b" was asked and `a` is nowhere near.
fn changed_detail(pool: &Pool<'_>, question: &Question) -> Option<Detail> {
    for pair in question
        .words
        .windows(2)
        .enumerate()
        .filter(|(_, it)| it[1].adjoins && !it[0].verb)
    {
        let (at, [asked, thing]) = (pair.0, [&pair.1[0], &pair.1[1]]);
        let near = pool.by_height.iter().take(5).flat_map(|&it| pool.window(it, 2, 2));
        if near.clone().any(|it| pool.lines[it].matches[at] >= 0.4) {
            continue;
        }
        for &line in pool.by_height.iter().take(5) {
            let Some(found) = instead(&pool.lines[line], &thing.stem, &asked.stem) else {
                continue;
            };
            let detail = Detail {
                asked: asked.stem.clone(),
                found,
                line,
            };
            return Some(detail);
        }
    }
    None
}

/// Values that exclude each other although they are near in meaning.
const EXCLUSIVE: &[&[&str]] = &[
    &[
        "red", "blue", "green", "yellow", "black", "white", "brown", "pink", "purpl", "orang", "grey", "gray",
        "crimson", "silver",
    ],
    &[
        "mother",
        "father",
        "sister",
        "brother",
        "son",
        "daughter",
        "wife",
        "husband",
        "aunt",
        "uncl",
        "grandmoth",
        "grandfath",
    ],
    &text::time::words::WEEKDAYS,
    &text::time::words::SEASONS,
    &["morn", "afternoon", "even", "night"],
    &["first", "second", "third", "last"],
    &["left", "right"],
    &["buy", "sell"],
    &["win", "lose"],
    &["north", "south", "east", "west"],
];

/// Finds another value of the same closed set in a sentence that else covers the question, where the one asked for stands
/// nowhere near.
fn excluded(pool: &Pool<'_>, question: &Question) -> Option<Detail> {
    let options: Vec<String> = question.options.iter().flat_map(|it| text::stems(it)).collect();
    for (at, asked) in question.words.iter().enumerate() {
        // Of two options one is not so.
        if options.contains(&asked.stem) {
            continue;
        }
        let Some(set) = EXCLUSIVE.iter().find(|it| it.contains(&asked.stem.as_str())) else {
            continue;
        };
        // Who bought it is told by who sold it.
        if (question.traits.converse || question.kind == AnswerKind::Who) && set.contains(&"sell") {
            continue;
        }
        let near = pool.by_height.iter().take(5).flat_map(|&it| pool.window(it, 2, 2));
        if near.clone().any(|it| pool.lines[it].matches[at] >= 1.0) {
            continue;
        }
        for &line in pool.by_height.iter().take(3) {
            for sentence in pool.lines[line]
                .sentences
                .iter()
                .filter(|it| it.subject > it.other && !it.question)
            {
                let rest = sentence.cover - sentence.matches[at] * asked.weight;
                let found = sentence.terms.iter().find(|it| set.contains(&it.stem.as_str()));
                if let (true, Some(found)) = (rest >= 0.5 * (1.0 - asked.weight), found) {
                    return Some(Detail {
                        asked: asked.stem.clone(),
                        found: found.stem.clone(),
                        line,
                    });
                }
            }
        }
    }
    None
}

/// Returns the content word directly before `thing` in a sentence of the subject, if it is another than `asked`.
fn instead(line: &Line<'_>, thing: &str, asked: &str) -> Option<String> {
    for sentence in line.sentences.iter().filter(|it| it.subject > it.other && !it.question) {
        for pair in sentence.terms.windows(2) {
            let gap = sentence.text.get(pair[0].start..pair[1].start).unwrap_or_default();
            let adjoins = text::words(gap).len() == 1 && !gap.contains(['.', ',', '!', ';']);
            if adjoins && pair[1].stem == thing && near(&pair[0].stem, asked) < 0.4 {
                return Some(pair[0].stem.clone());
            }
        }
    }
    None
}
