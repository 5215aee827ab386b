use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use chrono::{Datelike, NaiveDate};
use domain::anchor::AnswerKind;
use rustc_hash::FxHashMap;
use text::meaning::patterns as p;

use crate::route::query::Query;
use crate::route::similarity::piece_similarity::{Reader, by_word};
use crate::space::view::{Sentence, Turn, View};

/// Minimum share of the content words of its turn that a line keeps: the first value for an improbable turn, the second
/// from the probability `SURE` on, and a proportional value between. So probable evidence is shown nearly whole, and
/// improbable evidence is short.
const KEEP: (f32, f32) = (0.65, 0.85);
const SURE: f32 = 0.2;
/// Bonus of a sentence that states a standing wish, if the question asks what to do.
const STANDING: f32 = 0.3;

/// The part of a turn that a line shows.
pub struct Display {
    /// The sentences that are shown, in order.
    pub sentences: Vec<usize>,
    /// The sum of the o200k tokens of these sentences.
    pub tokens: u32,
}

impl Display {
    /// Takes the most relevant sentences for the question until enough of the content words are shown. A more probable
    /// turn shows more of its words.
    pub fn from_best_sentences(query: &Query, turn: &Turn, probability: f32) -> Display {
        if turn.sentence_count() < 2 {
            return Display::from_all_sentences(turn);
        }
        let mut counted = Counted::from_turn(turn);
        let sure = (probability / SURE).min(1.0);
        let wanted = (KEEP.0 + (KEEP.1 - KEEP.0) * sure) * counted.counts.len() as f32;
        let order = by_worth(query, turn, (0..turn.sentence_count()).collect());
        let mut taken = Vec::new();
        for &next in &order {
            taken.push(next);
            counted.add_sentence(next);
            if counted.shown as f32 >= wanted {
                break;
            }
        }
        // A sentence that was taken early may not be needed any more. The best sentence always stays.
        for &least in order[..taken.len()].iter().skip(1).rev() {
            let lost = counted.shown_by_alone(least);
            if (counted.shown - lost) as f32 >= wanted {
                counted.take_away(least);
                taken.retain(|&it| it != least);
            }
        }
        taken.sort_unstable();
        Display {
            tokens: taken.iter().map(|&it| turn.sentence_at(it).tokens).sum(),
            sentences: taken,
        }
    }

    /// Takes all sentences.
    pub fn from_all_sentences(turn: &Turn) -> Display {
        Display {
            sentences: (0..turn.sentence_count()).collect(),
            tokens: turn.tokens,
        }
    }

    /// Takes the most relevant sentences for the question that cost at most `room` tokens; `None` if even the best one
    /// does not fit.
    pub fn fit_turn(query: &Query, turn: &Turn, room: u32) -> Option<Display> {
        Display::fit_sentences((0..turn.sentence_count()).collect(), query, turn, room)
    }

    /// Takes the most relevant sentences of this display that cost at most `room` tokens, best first, until one does
    /// not fit; `None` if even the best one does not. With more room the result contains the same sentences and perhaps
    /// more.
    pub(super) fn fit_part(&self, query: &Query, turn: &Turn, room: u32) -> Option<Display> {
        Display::fit_sentences(self.sentences.clone(), query, turn, room)
    }

    fn fit_sentences(sentences: Vec<usize>, query: &Query, turn: &Turn, room: u32) -> Option<Display> {
        let order = by_worth(query, turn, sentences);
        let mut display = Display {
            sentences: Vec::new(),
            tokens: 0,
        };
        for next in order {
            let cost = turn.sentence_at(next).tokens;
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
        let sentence = |it: &usize| &turn.shown()[turn.sentence_at(*it).range];
        self.sentences.iter().map(sentence).collect::<Vec<&str>>().join(" ")
    }
}

/// Counts how often the taken sentences contain each word of a turn.
struct Counted {
    /// The count of each word.
    counts: Vec<usize>,
    /// The words of each sentence, as sorted indices into `counts`.
    places: Vec<Vec<usize>>,
    /// Number of words with a count above 0.
    shown: usize,
}

impl Counted {
    fn from_turn(turn: &Turn) -> Counted {
        let mut words = turn.words().to_vec();
        words.sort_unstable();
        words.dedup();
        let place = |word: &u32| words.binary_search(word).ok();
        let places = turn.sentences().map(|it| {
            let mut places: Vec<usize> = it.words.iter().filter_map(place).collect();
            places.sort_unstable();
            places
        });
        Counted {
            places: places.collect(),
            counts: vec![0; words.len()],
            shown: 0,
        }
    }

    fn add_sentence(&mut self, sentence: usize) {
        for &place in &self.places[sentence] {
            self.shown += usize::from(self.counts[place] == 0);
            self.counts[place] += 1;
        }
    }

    fn take_away(&mut self, sentence: usize) {
        for &place in &self.places[sentence] {
            self.counts[place] -= 1;
            self.shown -= usize::from(self.counts[place] == 0);
        }
    }

    /// Returns the number of words that occur in this sentence and in no other sentence that was added.
    fn shown_by_alone(&self, sentence: usize) -> usize {
        let same_words = self.places[sentence].chunk_by(|a, b| a == b);
        same_words.filter(|it| it.len() == self.counts[it[0]]).count()
    }
}

/// Returns some sentences of a turn sorted by relevance for the question, most relevant first, ties by position.
fn by_worth(query: &Query, turn: &Turn, mut sentences: Vec<usize>) -> Vec<usize> {
    let (mut likeness, mut nearest) = (query.likeness.lock_reader(), Vec::new());
    let mut worths = vec![0.0; turn.sentence_count()];
    for &it in &sentences {
        worths[it] = sentence_relevance(query, &turn.sentence_at(it), &mut likeness, &mut nearest);
    }
    sentences.sort_by(|&a, &b| worths[b].total_cmp(&worths[a]).then(a.cmp(&b)));
    sentences
}

/// Returns the relevance of a sentence for the question; `nearest` is a buffer that is reused.
fn sentence_relevance(
    query: &Query,
    sentence: &Sentence<'_>,
    likeness: &mut Reader<'_>,
    nearest: &mut Vec<f32>,
) -> f32 {
    let mut worth = 0.0;
    likeness.fill_greatest_similarities(sentence.pieces, nearest);
    for (word, like) in by_word(&query.words, nearest) {
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
    if patterns_of_answer(query.anchors.answer)
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

fn patterns_of_answer(answer: AnswerKind) -> &'static [usize] {
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

/// Returns the header of a day with its line break. It names the year if it is the first header or if the year changed.
pub(super) fn day_header(day: NaiveDate, last: Option<NaiveDate>) -> String {
    let form = if last.is_some_and(|it| it.year() == day.year()) {
        "%-d %b:\n"
    } else {
        "%-d %b %Y:\n"
    };
    day.format(form).to_string()
}

/// Maximum number of days whose header tokens are cached.
const DAYS_KEPT: usize = 4_096;

static HEADERS: LazyLock<Mutex<FxHashMap<NaiveDate, [u32; 2]>>> = LazyLock::new(Mutex::default);

/// Returns the o200k tokens of the header of a day, without and with the year. The values are cached across questions.
pub(super) fn header_tokens(day: NaiveDate) -> [u32; 2] {
    let mut known = HEADERS.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= DAYS_KEPT {
        known.clear();
    }
    *known
        .entry(day)
        .or_insert_with(|| [Some(day), None].map(|last| text::count_tokens(&day_header(day, last)) as u32))
}

/// The labels of speakers at the start of lines.
pub(super) struct Labels {
    short: BTreeMap<String, (String, u32)>,
}

impl Labels {
    /// Gives every speaker the shortest beginning of the name that no other speaker has, if that is cheaper than the
    /// name.
    pub(super) fn from_view(view: &View) -> Labels {
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
                .filter(|it| text::count_tokens(it) < text::count_tokens(name))
                .unwrap_or_else(|| text::shown_name(name).into_owned())
        };
        let priced = |label: String| {
            let price = text::count_tokens(&label) as u32 + 1;
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

    /// Returns the label of a speaker who already occurs in this pack.
    pub(super) fn short_form(&self, actor: &str) -> String {
        self.short
            .get(actor)
            .map_or_else(|| self.long_form(actor), |it| format!("{}: ", it.0))
    }

    /// Returns the price of the short label in o200k tokens.
    pub(super) fn price_of_short_form(&self, actor: &str) -> u32 {
        let long = || {
            if actor.is_empty() {
                0
            } else {
                text::count_tokens(&text::shown_name(actor)) as u32 + 1
            }
        };
        self.short.get(actor).map_or_else(long, |it| it.1)
    }

    /// Returns the label of a speaker at the first occurrence.
    #[expect(clippy::unused_self, reason = "the two forms are asked for side by side")]
    pub(super) fn long_form(&self, actor: &str) -> String {
        if actor.is_empty() {
            String::new()
        } else {
            format!("{}: ", text::shown_name(actor))
        }
    }
}
