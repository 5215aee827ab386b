//! Judges whether the evidence is about the person and the exact thing in question.
//!
//! A score of the words alone cannot separate "when did Ann move" from "when did Bob move": Bob's turn covers both
//! equally well. So the judge compares the owners of the sentences that cover the question (pronouns decide, see
//! `text::people::ownership`), by sentence, by word and by window. It also looks for details that differ.

use domain::anchor::AnswerKind;
use domain::message::AnswerV1;

use crate::answer::stated_facts::Sought;
use crate::check::evidence_features::Parts;
use crate::check::refusal_check::Opinion;
use crate::evidence::evidence_lines::Pool;
use crate::evidence::line::{Line, Sentence};
use crate::evidence::question::Question;
use crate::evidence::word_similarity::stem_similarity;

/// Evidence for and against an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judgement {
    /// The measures.
    pub(crate) parts: Parts,
    /// A value in the evidence that excludes the requested value.
    pub(crate) excluded: Option<Detail>,
    /// Another word in the place of a question word. This is weak evidence, since both words may name the same thing.
    pub(crate) changed: Option<Detail>,
}

/// A question with its evidence and the judgements about both.
pub(crate) struct Case<'a> {
    pub(crate) request: &'a AnswerV1,
    pub(crate) question: &'a Question,
    pub(crate) pool: &'a Pool<'a>,
    pub(crate) judgement: &'a Judgement,
    /// The fact that the question asks for, if turns could state it outright.
    pub(crate) sought: Option<&'a Sought>,
    /// The opinion of the check whether to refuse.
    pub(crate) opinion: Opinion,
}

/// A detail that differs: the question says "the red bicycle", the evidence says "the blue bicycle".
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    /// Stem in the question.
    pub(crate) question_word: String,
    /// Stem in the evidence.
    pub(crate) found: String,
    /// Index of the line.
    pub(crate) line: usize,
}

/// Returns the weight of a sentence as a statement. A question states little, and a caption states only what a picture
/// shows.
fn statement_weight(sentence: &Sentence) -> f32 {
    if sentence.question {
        0.2
    } else if sentence.caption {
        0.6
    } else {
        1.0
    }
}

/// Returns the judgement about the pool.
pub(crate) fn judge_evidence(pool: &Pool<'_>, question: &Question) -> Judgement {
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
        excluded: excluding_detail(pool, question),
        changed: changed_detail(pool, question),
    }
}

fn window_cover(pool: &Pool<'_>, at: usize, question: &Question) -> f32 {
    let lines = pool.window_around(at, 2, 1);
    let most = |word: usize| lines.iter().map(|&it| pool.lines[it].matches[word]).fold(0.0, f32::max);
    question
        .words
        .iter()
        .enumerate()
        .map(|(at, word)| word.weight * most(at))
        .sum()
}

/// Returns the mean ownership of the sentences, -1 to 1. Sentences that cover the question, in turns with a high score,
/// have the most weight.
fn by_sentence(pool: &Pool<'_>) -> f32 {
    let all = || {
        pool.lines
            .iter()
            .flat_map(|line| line.sentences.iter().map(move |it| (line.height + 4.0 * it.cover, it)))
    };
    let top = all().map(|it| it.0).fold(f32::MIN, f32::max);
    let (mut total, mut sum) = (0.0, 0.0);
    for (height, sentence) in all() {
        let weight = (height - top).exp() * statement_weight(sentence);
        total += weight;
        sum += weight * (sentence.subject - sentence.other);
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Returns the weighted sum, over the question words, of the best match in the subject's sentences minus the best match
/// in the sentences of others.
fn by_word(pool: &Pool<'_>, question: &Question) -> f32 {
    let mut near: Vec<usize> = pool
        .by_height
        .iter()
        .take(3)
        .flat_map(|&it| pool.window_around(it, 2, 1))
        .collect();
    near.sort_unstable();
    near.dedup();
    let mut sum = 0.0;
    for (at, word) in question.words.iter().enumerate() {
        let (mut own, mut other) = (0.0_f32, 0.0_f32);
        for sentence in near.iter().flat_map(|&it| &pool.lines[it].sentences) {
            let found = sentence.matches[at] * statement_weight(sentence).sqrt();
            own = own.max(found * sentence.subject);
            other = other.max(found * sentence.other);
        }
        sum += word.weight * (own - other);
    }
    sum
}

/// Returns the mean ownership of the turns around the best turns.
fn by_window(pool: &Pool<'_>) -> f32 {
    let top = pool.by_height.first().map_or(0.0, |&it| pool.lines[it].height);
    let (mut total, mut sum) = (0.0, 0.0);
    for &center in pool.by_height.iter().take(6) {
        let weight = (pool.lines[center].height - top).exp();
        let (mut covers, mut owned) = (0.0, 0.0);
        for sentence in pool
            .window_around(center, 2, 2)
            .into_iter()
            .flat_map(|it| &pool.lines[it].sentences)
        {
            let cover = sentence.cover * sentence.cover * statement_weight(sentence);
            covers += cover;
            owned += cover * (sentence.subject - sentence.other);
        }
        total += weight;
        sum += if covers > 0.0 { weight * owned / covers } else { 0.0 };
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Returns the first changed detail: the question says "a b", the subject says "x b", and `a` does not occur nearby.
fn changed_detail(pool: &Pool<'_>, question: &Question) -> Option<Detail> {
    for pair in question
        .words
        .windows(2)
        .enumerate()
        .filter(|(_, it)| it[1].adjoins && !it[0].verb)
    {
        let (at, [question_word, thing]) = (pair.0, [&pair.1[0], &pair.1[1]]);
        let near = pool
            .by_height
            .iter()
            .take(5)
            .flat_map(|&it| pool.window_around(it, 2, 2));
        if near.clone().any(|it| pool.lines[it].matches[at] >= 0.4) {
            continue;
        }
        for &line in pool.by_height.iter().take(5) {
            let Some(found) = find_replacing_word(&pool.lines[line], &thing.stem, &question_word.stem) else {
                continue;
            };
            let detail = Detail {
                question_word: question_word.stem.clone(),
                found,
                line,
            };
            return Some(detail);
        }
    }
    None
}

/// Values that exclude each other although their meanings are similar.
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

/// Returns a value that excludes the requested value: another one of the same closed set, in a sentence of the subject
/// that covers the rest of the question, while the requested value does not occur nearby.
fn excluding_detail(pool: &Pool<'_>, question: &Question) -> Option<Detail> {
    let options: Vec<String> = question.options.iter().flat_map(|it| text::stem_words(it)).collect();
    for (at, question_word) in question.words.iter().enumerate() {
        // Of two options in the question, one is wrong anyway.
        if options.contains(&question_word.stem) {
            continue;
        }
        let Some(set) = EXCLUSIVE.iter().find(|it| it.contains(&question_word.stem.as_str())) else {
            continue;
        };
        // A sale also says who bought the thing.
        if (question.traits.converse || question.kind == AnswerKind::Who) && set.contains(&"sell") {
            continue;
        }
        let near = pool
            .by_height
            .iter()
            .take(5)
            .flat_map(|&it| pool.window_around(it, 2, 2));
        if near.clone().any(|it| pool.lines[it].matches[at] >= 1.0) {
            continue;
        }
        for &line in pool.by_height.iter().take(3) {
            for sentence in pool.lines[line]
                .sentences
                .iter()
                .filter(|it| it.subject > it.other && !it.question)
            {
                let rest = sentence.cover - sentence.matches[at] * question_word.weight;
                let found = sentence.terms.iter().find(|it| set.contains(&it.stem.as_str()));
                if let (true, Some(found)) = (rest >= 0.5 * (1.0 - question_word.weight), found) {
                    return Some(Detail {
                        question_word: question_word.stem.clone(),
                        found: found.stem.clone(),
                        line,
                    });
                }
            }
        }
    }
    None
}

/// Returns the content word directly before `thing` in a sentence of the subject, if it differs from `question_word`.
fn find_replacing_word(line: &Line<'_>, thing: &str, question_word: &str) -> Option<String> {
    for sentence in line.sentences.iter().filter(|it| it.subject > it.other && !it.question) {
        for pair in sentence.terms.windows(2) {
            let gap = sentence.text.get(pair[0].start..pair[1].start).unwrap_or_default();
            let adjoins = text::split_words(gap).len() == 1 && !gap.contains(['.', ',', '!', ';']);
            if adjoins && pair[1].stem == thing && stem_similarity(&pair[0].stem, question_word) < 0.4 {
                return Some(pair[0].stem.clone());
            }
        }
    }
    None
}
