use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{Datelike, NaiveDate};
use domain::anchor::AnswerKind;
use text::patterns as p;

use crate::likeness::by_word;
use crate::query::Query;
use crate::view::{Sentence, Turn, View};

/// A line keeps at least this share of the content words of its turn: the first if the turn is improbable, the second from a
/// probability of `SURE`, in proportion between. What bears the answer is shown nearly whole, what is a mere guess is short.
const KEEP: (f32, f32) = (0.65, 0.85);
const SURE: f32 = 0.2;
/// What a sentence gains that states what is wanted for good, where the question asks what to do.
const STANDING: f32 = 0.3;

/// What a line shows of a turn.
pub struct Display {
    /// Sentences shown, in order.
    pub sentences: Vec<usize>,
    /// o200k tokens, the sum over the sentences.
    pub tokens: u32,
}

impl Display {
    /// Takes the sentences that matter most for the question until enough of the content words stand, more of them the
    /// more probable the turn is.
    pub fn of(query: &Query, turn: &Turn, probability: f32) -> Display {
        let all: BTreeSet<u32> = turn.sentences.iter().flat_map(|it| it.words.iter().copied()).collect();
        let sure = (probability / SURE).min(1.0);
        let wanted = (KEEP.0 + (KEEP.1 - KEEP.0) * sure) * all.len() as f32;
        let worth: Vec<f32> = turn.sentences.iter().map(|it| worth(query, it)).collect();
        let mut order: Vec<usize> = (0..turn.sentences.len()).collect();
        order.sort_by(|&a, &b| worth[b].total_cmp(&worth[a]).then(a.cmp(&b)));
        let mut counts: HashMap<u32, u32> = HashMap::with_capacity(all.len());
        let mut taken = Vec::new();
        for &next in &order {
            taken.push(next);
            let words = turn.sentences[next].words.iter();
            words.for_each(|it| *counts.entry(*it).or_default() += 1);
            if counts.len() as f32 >= wanted {
                break;
            }
        }
        // What came early may not be needed any more; the best sentence always stays.
        for &least in order[..taken.len()].iter().skip(1).rev() {
            let words = &turn.sentences[least].words;
            let within = |it: &u32| words.iter().filter(|word| *word == it).count() as u32;
            let mut own = words.clone();
            own.sort_unstable();
            own.dedup();
            let lost = own.iter().filter(|it| within(it) == counts[*it]).count();
            if (counts.len() - lost) as f32 >= wanted {
                for word in words {
                    let left = counts.remove(word).unwrap_or_default().saturating_sub(1);
                    if left > 0 {
                        counts.insert(*word, left);
                    }
                }
                taken.retain(|&it| it != least);
            }
        }
        taken.sort_unstable();
        Display {
            tokens: taken.iter().map(|&it| turn.sentences[it].tokens).sum(),
            sentences: taken,
        }
    }

    /// Takes all sentences.
    pub fn whole(turn: &Turn) -> Display {
        Display {
            sentences: (0..turn.sentences.len()).collect(),
            tokens: turn.tokens,
        }
    }

    /// Takes the sentences that matter most for the question and cost at most `room` tokens; none if even the best does not
    /// fit.
    pub fn within(query: &Query, turn: &Turn, room: u32) -> Option<Display> {
        Display::among((0..turn.sentences.len()).collect(), query, turn, room)
    }

    /// Takes those sentences of this display that matter most for the question and cost at most `room` tokens, the best first
    /// until one does not fit; none if even the best does not. With more room the sentences are the same and more.
    pub(super) fn part(&self, query: &Query, turn: &Turn, room: u32) -> Option<Display> {
        Display::among(self.sentences.clone(), query, turn, room)
    }

    fn among(mut order: Vec<usize>, query: &Query, turn: &Turn, room: u32) -> Option<Display> {
        let worth: Vec<f32> = turn.sentences.iter().map(|it| worth(query, it)).collect();
        order.sort_by(|&a, &b| worth[b].total_cmp(&worth[a]).then(a.cmp(&b)));
        let mut display = Display {
            sentences: Vec::new(),
            tokens: 0,
        };
        for next in order {
            let cost = turn.sentences[next].tokens;
            if display.tokens + cost > room {
                break;
            }
            display.tokens += cost;
            display.sentences.push(next);
        }
        display.sentences.sort_unstable();
        (!display.sentences.is_empty()).then_some(display)
    }

    /// Returns the text.
    pub fn text(&self, turn: &Turn) -> String {
        let sentence = |it: &usize| &turn.shown[turn.sentences[*it].range.clone()];
        self.sentences.iter().map(sentence).collect::<Vec<&str>>().join(" ")
    }
}

/// How much a sentence matters for the question.
fn worth(query: &Query, sentence: &Sentence) -> f32 {
    let (mut worth, mut nearest) = (0.0, Vec::new());
    query.likeness.reader().nearest(&sentence.pieces, &mut nearest);
    for (word, like) in by_word(&query.words, &nearest) {
        let is_there = sentence.words.contains(&word.term);
        worth += word.weight * if is_there { 1.0 } else { like };
    }
    worth += 0.3 / 127.0
        * sentence
            .vector
            .iter()
            .zip(&query.vector)
            .map(|(&a, b)| f32::from(a) * b)
            .sum::<f32>();
    if expected(query.anchors.answer)
        .iter()
        .any(|&it| sentence.patterns & (1 << it) != 0)
    {
        worth += 0.1;
    }
    if query.to_do {
        worth += STANDING * sentence.standing;
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

/// Returns the header of a day with its line break: the year stands at the first one and when it changes.
pub(super) fn header(day: NaiveDate, last: Option<NaiveDate>) -> String {
    let form = if last.is_some_and(|it| it.year() == day.year()) {
        "%-d %b:\n"
    } else {
        "%-d %b %Y:\n"
    };
    day.format(form).to_string()
}

/// What speakers are called at the start of lines.
pub(super) struct Labels {
    short: BTreeMap<String, (String, u32)>,
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
            let is_plain = start.chars().all(char::is_alphabetic) && text::shown_name(name) == name;
            (!clashes && is_plain).then_some(start)
        };
        let label = |name: &String| {
            let start = unique(name, 1).or_else(|| unique(name, 2)).or_else(|| unique(name, 3));
            start
                .filter(|it| text::tokens(it) < text::tokens(name))
                .unwrap_or_else(|| text::shown_name(name).into_owned())
        };
        let priced = |label: String| {
            let price = text::tokens(&label) as u32 + 1;
            (label, price)
        };
        Labels {
            short: names
                .iter()
                .take(32)
                .map(|it| (it.clone(), priced(label(it))))
                .collect(),
        }
    }

    /// Returns the label of a speaker who has spoken in this pack before.
    pub(super) fn short(&self, actor: &str) -> String {
        self.short
            .get(actor)
            .map_or_else(|| self.long(actor), |it| format!("{}: ", it.0))
    }

    /// Returns the price of the short label, o200k tokens.
    pub(super) fn price(&self, actor: &str) -> u32 {
        let long = || {
            if actor.is_empty() {
                0
            } else {
                text::tokens(&text::shown_name(actor)) as u32 + 1
            }
        };
        self.short.get(actor).map_or_else(long, |it| it.1)
    }

    /// Returns the label that introduces a speaker.
    #[expect(clippy::unused_self, reason = "the two forms are asked for side by side")]
    pub(super) fn long(&self, actor: &str) -> String {
        if actor.is_empty() {
            String::new()
        } else {
            format!("{}: ", text::shown_name(actor))
        }
    }
}
