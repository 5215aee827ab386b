use std::collections::{BTreeMap, BTreeSet};

use chrono::{Datelike, NaiveDate};
use domain::anchor::AnswerKind;
use domain::unit::Unit;
use text::{Table, patterns as p};

use crate::query::Query;
use crate::view::{Sentence, Turn, View};

/// A line keeps at least this share of the content words of its turn.
const KEEP: f32 = 0.75;

/// What a line shows of a turn.
pub struct Display {
    /// Sentences shown, in order.
    pub sentences: Vec<usize>,
    /// Their text.
    pub text: String,
}

impl Display {
    /// Takes the sentences that matter most for the question until three quarters of the content words stand.
    pub fn of(query: &Query, turn: &Turn) -> Display {
        let all: BTreeSet<u32> = turn.sentences.iter().flat_map(|it| it.words.iter().copied()).collect();
        let wanted = KEEP * all.len() as f32;
        let worth: Vec<f32> = turn.sentences.iter().map(|it| worth(query, turn, it)).collect();
        let mut order: Vec<usize> = (0..turn.sentences.len()).collect();
        order.sort_by(|&a, &b| worth[b].total_cmp(&worth[a]).then(a.cmp(&b)));
        let held = |taken: &[usize]| {
            let words: BTreeSet<u32> = taken
                .iter()
                .flat_map(|&it| turn.sentences[it].words.iter().copied())
                .collect();
            words.len() as f32
        };
        let mut taken = Vec::new();
        for &next in &order {
            taken.push(next);
            if held(&taken) >= wanted {
                break;
            }
        }
        // What came early may not be needed any more; the best sentence always stays.
        for &least in order.iter().skip(1).rev() {
            let rest: Vec<usize> = taken.iter().copied().filter(|&it| it != least).collect();
            if rest.len() < taken.len() && held(&rest) >= wanted {
                taken = rest;
            }
        }
        taken.sort_unstable();
        let text: Vec<&str> = taken
            .iter()
            .map(|&it| &turn.shown[turn.sentences[it].range.clone()])
            .collect();
        Display {
            text: text.join(" "),
            sentences: taken,
        }
    }
}

/// How much a sentence matters for the question.
fn worth(query: &Query, turn: &Turn, sentence: &Sentence) -> f32 {
    let text = &turn.shown[sentence.range.clone()];
    let mut worth = 0.0;
    for word in &query.words {
        let like = if sentence.words.contains(&word.term) {
            1.0
        } else {
            let nearest = |row: &[f32]| sentence.pieces.iter().map(|&it| row[it as usize]).fold(0.0, f32::max);
            word.pieces.iter().map(|it| nearest(&it.1)).sum::<f32>() / word.pieces.len().max(1) as f32
        };
        worth += word.weight * like;
    }
    let vector = Table::builtin().embed(text);
    worth += 0.3 * vector.iter().zip(&query.vector).map(|(a, b)| a * b).sum::<f32>();
    let found = p::count(text);
    if expected(query.anchors.answer).iter().any(|&it| found[it] > 0) {
        worth += 0.1;
    }
    if sentence.filler {
        worth -= 0.5;
    }
    if sentence.question {
        worth -= 0.1;
    }
    worth
}

fn expected(answer: AnswerKind) -> &'static [usize] {
    match answer {
        AnswerKind::When => &[p::DATE],
        AnswerKind::Duration => &[p::DURATION, p::DATE],
        AnswerKind::Number => &[p::NUMBER, p::MONEY],
        AnswerKind::Where => &[p::PLACE],
        AnswerKind::Who => &[p::KIN, p::CAPITAL],
        AnswerKind::Why => &[p::REASON, p::FEELING],
        AnswerKind::How => &[p::FEELING],
        AnswerKind::Kind => &[p::LIST, p::QUOTE, p::CAPITAL],
        AnswerKind::WhatIs => &[p::QUOTE, p::CAPITAL, p::LIST],
        AnswerKind::WhatDoes => &[p::PAST, p::PLAN],
        AnswerKind::Message | AnswerKind::YesNo | AnswerKind::Other => &[],
    }
}

/// Returns the header of a day: the year stands at the first one and when it changes.
pub(super) fn header(unit: &Unit, last: Option<NaiveDate>) -> String {
    let day = unit.observed_at.date_naive();
    let form = if last.is_some_and(|it| it.year() == day.year()) {
        "%-d %b:"
    } else {
        "%-d %b %Y:"
    };
    day.format(form).to_string()
}

/// What speakers are called at the start of lines.
pub(super) struct Labels {
    short: BTreeMap<String, String>,
}

impl Labels {
    /// Gives every speaker the shortest start of the name that no other speaker has, if that is cheaper than the name.
    pub(super) fn of(view: &View) -> Labels {
        let names = view.speakers().names();
        let unique = |name: &str, length: usize| {
            let start: String = name.chars().take(length).collect();
            let clashes = names
                .iter()
                .take(32)
                .any(|it| it != name && it.to_lowercase().starts_with(&start.to_lowercase()));
            (!clashes && start.chars().all(char::is_alphabetic)).then_some(start)
        };
        let label = |name: &String| {
            let start = unique(name, 1).or_else(|| unique(name, 2)).or_else(|| unique(name, 3));
            start
                .filter(|it| text::tokens(it) < text::tokens(name))
                .unwrap_or_else(|| name.clone())
        };
        Labels {
            short: names.iter().take(32).map(|it| (it.clone(), label(it))).collect(),
        }
    }

    /// Returns the label of a speaker who has spoken in this pack before.
    pub(super) fn short(&self, actor: &str) -> String {
        self.short
            .get(actor)
            .map_or_else(|| self.long(actor), |it| format!("{it}: "))
    }

    /// Returns the label that introduces a speaker.
    #[expect(clippy::unused_self, reason = "the two forms are asked for side by side")]
    pub(super) fn long(&self, actor: &str) -> String {
        if actor.is_empty() {
            String::new()
        } else {
            format!("{actor}: ")
        }
    }
}
