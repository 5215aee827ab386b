//! Reads a question before the search.

mod kind;

use std::borrow::Cow;
use std::collections::HashSet;

use chrono::{DateTime, Duration, FixedOffset};
use domain::anchor::{Anchors, AnswerKind, HopShape};
use domain::evidence::WordWeight;
use domain::port::Sparse;
use domain::question::Question;
use domain::time::{Precision, TimeSpan};
use text::frames::Frames;
use text::question::Given;
use text::{Table, sparse};

use crate::encoded::Encoded;
use crate::likeness::Likeness;
use crate::near::with_neighbours;
use crate::view::{View, is_role, is_user};

/// Maximum number of words of a question that count. The rarest ones are used.
const WORDS_MAX: usize = 48;
/// Rarity of a word that no part contains, as a share of the greatest possible rarity.
const UNKNOWN: f32 = 0.6;

/// Words that ask about what a person said, thinks or advises.
const SPEECH: &str = "say says said tell told think thinks thought suggest suggested recommend advise offer describe described according \
    opinion feel feels felt feeling react reacted reaction attitude agree agreed compare compared response respond \
    encourage encouraged compliment mention mentioned";

/// A question with all data that is needed to score units against it.
pub struct Query {
    /// The anchors that were read from the question: names, times, the kind of answer and others.
    pub anchors: Anchors,
    /// The reading of the question for the reader, which answers it.
    pub reading: Question,
    /// Content words of the bare question, in order, without duplicates.
    pub words: Vec<Word>,
    /// Vector of the bare question from the built-in table.
    pub vector: Vec<f32>,
    /// Indices of the speakers that are named.
    pub subjects: Vec<usize>,
    /// Stems of other names.
    pub names: Vec<u32>,
    /// True if it asks about the past.
    pub past: bool,
    /// True if it asks about a plan.
    pub future: bool,
    /// True if it asks about what a person said, thinks or advises.
    pub speech: bool,
    /// True if it addresses the other side of a conversation with an assistant.
    pub addresses: bool,
    /// True if it asks what to do, or asks for something to be made (`text::wishes`).
    pub to_do: bool,
    /// True if it asks about an image.
    pub picture: bool,
    /// Counts of the patterns in its wording (`text::patterns`).
    pub patterns: [u8; text::patterns::N],
    /// Word pieces to search the index for: those of its words, and the nearest neighbours of each.
    pub searched: Sparse,
    /// Similarity of word pieces of texts to those of its words.
    pub likeness: Likeness,
    /// The hits of the index by vector, if a sentence encoder made the vector. They are filled in after the search.
    pub encoded: Encoded,
}

/// One content word of a question.
pub struct Word {
    /// Its stem.
    pub stem: String,
    /// The term of the stem.
    pub term: u32,
    /// Its word pieces, rows of the built-in table.
    pub pieces: Vec<u32>,
    /// Number of parts of the space that contain the stem.
    pub df: u32,
    /// Rarity in the space.
    pub idf: f32,
    /// Share of the summed rarity of all words, 0 to 1.
    pub weight: f32,
    /// Everyday subjects (semantic frames) that the word suggests, each with its rarity in the space.
    pub matters: Vec<(u32, f32)>,
    /// True for the main verb.
    pub verb: bool,
}

impl Query {
    /// Reads `question` against the space; relative times are resolved against `now`.
    pub fn read(question: &str, view: &View, now: DateTime<FixedOffset>) -> Query {
        let mut subjects = Vec::new();
        let whole = question;
        let mut question = Cow::Borrowed(question);
        while let Some(speaker) = view.speakers().within(&question) {
            subjects.push(speaker);
            question = Cow::Owned(question.replace(&view.speakers().names()[speaker], " "));
        }
        let question = question.as_ref();
        let asked = text::gloss::english(question);
        let written = text::words(&asked);
        let lower: Vec<String> = written
            .iter()
            .map(|it| it.to_lowercase().replace('\u{2019}', "'"))
            .collect();
        let mut anchors = Anchors {
            answer: text::question::kind(&asked, &lower),
            asked_at: Some(now),
            ..Anchors::default()
        };
        for speaker in written.iter().filter_map(|it| speaker(it, view)) {
            if !subjects.contains(&speaker) {
                subjects.push(speaker);
            }
        }
        anchors.bare = bare(question, &written, view);
        anchors.subjects = subjects.iter().map(|&it| view.speakers().names()[it].clone()).collect();
        anchors.names = other_names(question, view);
        anchors.head = kind::head(&lower);
        anchors.action = kind::action(&written, &lower, view);
        anchors.window = window(question, &anchors, now);
        anchors.hops = kind::hops(&lower, subjects.len());
        anchors.chronological = anchors.answer == AnswerKind::When || any(&lower, "order first before after timeline");
        anchors.step = kind::step(&lower);
        anchors.state_key = kind::state_key(&lower);
        let source = "photo picture image pictured photograph shown screenshot";
        let picture = any(&lower, source);
        anchors.source = if picture { "image".to_owned() } else { String::new() };
        let vector = Table::builtin().embed(&anchors.bare);
        // In a conversation with an assistant, "I" is the other speaker, who is not named and thus no anchor.
        if subjects.is_empty() && any(&lower, "i my me mine i'm i've") {
            subjects.extend(view.speakers().names().iter().position(|it| is_user(it)));
        }
        let words = words(&anchors, view);
        let reading = text::question::read(&Given {
            question: whole,
            anchors: &anchors,
            weights: &weights(&words),
        });
        Query {
            reading,
            searched: with_neighbours(words.iter().flat_map(|it| it.pieces.iter().copied())),
            likeness: Likeness::of(&words),
            words,
            vector,
            patterns: text::patterns::count(question),
            names: anchors
                .names
                .iter()
                .flat_map(|it| text::stems(it))
                .map(|it| sparse::hash(&it))
                .collect(),
            past: any(&lower, "did was were had"),
            future: any(&lower, "will plan plans planning going hope hopes want wants wish"),
            speech: any(&lower, SPEECH),
            addresses: any(&lower, "you your"),
            to_do: text::wishes::asks_what_to_do(&asked),
            picture,
            subjects,
            anchors,
            encoded: Encoded::default(),
        }
    }

    /// Returns how rare the words of the question are in the space.
    pub fn weights(&self) -> Vec<WordWeight> {
        weights(&self.words)
    }

    /// Returns the speaker whom the question is about, if there is exactly one.
    pub fn subject(&self) -> Option<usize> {
        match self.subjects[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// Returns how rare the words are, in the form that the reader gets.
fn weights(words: &[Word]) -> Vec<WordWeight> {
    let weight = |it: &Word| WordWeight {
        stem: it.stem.clone(),
        idf: it.idf,
        df: it.df,
    };
    words.iter().map(weight).collect()
}

/// Returns the speaker that a word of a question names, also as "Ann's". Names of roles match no speaker. A capitalised
/// word that does not occur in the space may be another spelling of a name.
fn speaker(word: &str, view: &View) -> Option<usize> {
    let lower = word.to_lowercase().replace('\u{2019}', "'");
    let name = lower.strip_suffix("'s").unwrap_or(&lower);
    let unknown = || view.word_parts(sparse::hash(&text::stem(name))) == 0 && word.starts_with(char::is_uppercase);
    let spelt = || unknown().then(|| view.speakers().spelt(name)).flatten();
    let named = view.speakers().named(name).or_else(spelt);
    named.filter(|_| !text::is_stop(name) && !is_role(name))
}

/// Returns the question without the names of speakers, as written. If the question is not in English, its function
/// words are removed too.
fn bare(question: &str, written: &[&str], view: &View) -> String {
    let without = |words: &mut dyn Iterator<Item = &str>| {
        let kept: Vec<&str> = words.filter(|it| speaker(it, view).is_none()).collect();
        kept.join(" ")
    };
    let pieces = text::gloss::pieces(question).unwrap_or_default();
    let content = text::gloss::content(question, &pieces);
    // The German "Lenas Hund" means Lena's dog.
    let owns = |it: &str| it.strip_suffix('s').is_some_and(|it| speaker(it, view).is_some());
    let bare = without(&mut content.iter().map(|it| it.written).filter(|it| !owns(it)));
    if bare.is_empty() {
        without(&mut written.iter().copied())
    } else {
        bare
    }
}

fn any(words: &[String], list: &str) -> bool {
    list.split(' ').any(|it| words.iter().any(|word| word == it))
}

fn other_names(question: &str, view: &View) -> Vec<String> {
    let known = |name: &&str| text::words(name).iter().any(|it| speaker(it, view).is_some());
    let mut names: Vec<String> = text::names(question)
        .into_iter()
        .filter(|it| !known(it))
        .map(str::to_owned)
        .collect();
    names.dedup();
    names
}

/// Returns the first named time that can be resolved; `None` for a message, which names times only in passing.
fn window(question: &str, anchors: &Anchors, now: DateTime<FixedOffset>) -> Option<TimeSpan> {
    if anchors.answer == AnswerKind::Message {
        return None;
    }
    let found = text::time::find(question, now).into_iter().map(|it| it.span);
    let mut placed = found.filter(|it| it.precision != Precision::Unknown);
    let mut span = placed.next()?;
    if span.end <= span.start {
        span.end = span.start + Duration::days(1);
    }
    Some(span)
}

fn words(anchors: &Anchors, view: &View) -> Vec<Word> {
    let dates: Vec<&str> = anchors.window.iter().flat_map(|it| text::words(&it.words)).collect();
    // The similarity of a word to every other word is expensive. So the rarest words are chosen before it is computed.
    let mut met = HashSet::new();
    let mut chosen: Vec<(&str, String, u32, f32)> = Vec::new();
    for written in text::words(&anchors.bare) {
        let stem = text::stem(written);
        if text::is_stop(written) || kind::asks(&stem) || dates.contains(&written) || !met.insert(stem.clone()) {
            continue;
        }
        let df = view.word_parts(sparse::hash(&stem));
        let idf = if df == 0 { UNKNOWN * view.idf(0) } else { view.idf(df) };
        chosen.push((written, stem, df, idf));
    }
    if chosen.len() > WORDS_MAX {
        let mut idfs: Vec<f32> = chosen.iter().map(|it| it.3).collect();
        idfs.sort_by(|a, b| b.total_cmp(a));
        chosen.retain(|it| it.3 >= idfs[WORDS_MAX - 1]);
        chosen.truncate(WORDS_MAX);
    }
    let word = |(written, stem, df, idf): (&str, String, u32, f32)| Word {
        term: sparse::hash(&stem),
        stem,
        pieces: Table::builtin().pieces(written),
        df,
        idf,
        weight: 0.0,
        matters: Frames::of(written)
            .iter()
            .map(|it| (it, view.frame_rarity(it)))
            .collect(),
        verb: *written == anchors.action,
    };
    let mut out: Vec<Word> = chosen.into_iter().map(word).collect();
    let sum: f32 = out.iter().map(|it| it.idf).sum();
    out.iter_mut().for_each(|it| it.weight = it.idf / sum.max(1e-6));
    out
}

impl Query {
    /// Returns true if the question asks for several facts.
    pub fn gathers(&self) -> bool {
        self.anchors.hops == HopShape::Multi
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::ASKED;

    #[test]
    fn a_long_question_looks_up_neighbours_only_for_the_words_that_count() {
        let digit = |it: usize| char::from(b'a' + (it % 26) as u8);
        let word = |it: usize| format!("zu{}{}{}o", digit(it), digit(it / 26), digit(it / 676));
        let long: Vec<String> = (0..1_000).map(word).collect();
        let query = Query::read(&long.join(" "), &View::default(), DateTime::default());
        assert_eq!(query.words.len(), WORDS_MAX);
        let pieces: usize = query.words.iter().map(|it| it.pieces.len()).sum();
        assert_eq!(ASKED.get(), pieces);
    }
}
