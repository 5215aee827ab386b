//! Reads a question before the search.

mod question_shape;

use std::borrow::Cow;
use std::collections::HashSet;

use chrono::{DateTime, Duration, FixedOffset};
use domain::anchor::{Anchors, AnswerKind, HopShape};
use domain::evidence::WordWeight;
use domain::port::Sparse;
use domain::question::Question;
use domain::time::{Precision, TimeSpan};
use text::EmbeddingTable;
use text::lexicon::word_lists::WordList;
use text::meaning::frames::Frames;
use text::meaning::sparse_vectors;
use text::people::role::role_of_speaker;
use text::question::QuestionInput;

use crate::route::query_word::Word;
use crate::route::similarity::encoder_similarity::Encoded;
use crate::route::similarity::neighbouring_pieces::with_neighbours;
use crate::route::similarity::piece_similarity::Likeness;
use crate::space::view::{View, is_user};
use crate::word_lists::{ASKER_WORDS, FUTURE_WORDS, ORDER_WORDS, PICTURE_WORDS, SPEECH_WORDS};

/// Maximum number of words of a question that count. The rarest ones are used.
const WORDS_MAX: usize = 48;
/// Rarity of a word that no part contains, as a share of the greatest possible rarity.
const UNKNOWN: f32 = 0.6;

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
    /// True if the question asks about the past.
    pub past: bool,
    /// True if the question asks about a plan.
    pub future: bool,
    /// True if the question asks about what a person said, thinks or advises.
    pub speech: bool,
    /// True if the question addresses the other side of a conversation with an assistant.
    pub addresses: bool,
    /// True if the question asks what to do, or asks for something to be made (`text::question::wishes`).
    pub to_do: bool,
    /// True if the question asks about an image.
    pub picture: bool,
    /// Counts of the patterns in its wording (`text::meaning::patterns`).
    pub patterns: [u8; text::meaning::patterns::N],
    /// Word pieces to search the index for: those of its words, and the nearest neighbours of each.
    pub searched: Sparse,
    /// Similarity of word pieces of texts to those of its words.
    pub likeness: Likeness,
    /// The hits of the index by vector, if a sentence encoder made the vector. They are filled in after the search.
    pub encoded: Encoded,
}

impl Query {
    /// Reads `question` against the space; relative times are resolved against `now`.
    pub fn from_question(question: &str, view: &View, now: DateTime<FixedOffset>) -> Query {
        let mut subjects = Vec::new();
        let full_question = question;
        let mut question = Cow::Borrowed(question);
        while let Some(speaker) = view.speakers().find_in_text(&question) {
            subjects.push(speaker);
            question = Cow::Owned(question.replace(&view.speakers().names()[speaker], " "));
        }
        let question = question.as_ref();
        let english = text::gloss::to_english(question);
        let written = text::split_words(&english);
        let lower: Vec<String> = written
            .iter()
            .map(|it| it.to_lowercase().replace('\u{2019}', "'"))
            .collect();
        let mut anchors = Anchors {
            answer: text::question::answer_kind(&english, &lower),
            asked_at: Some(now),
            ..Anchors::default()
        };
        for speaker in written.iter().filter_map(|it| find_speaker(it, view)) {
            if !subjects.contains(&speaker) {
                subjects.push(speaker);
            }
        }
        anchors.bare = remove_speaker_names(question, &written, view);
        anchors.subjects = subjects.iter().map(|&it| view.speakers().names()[it].clone()).collect();
        anchors.names = other_names(question, view);
        anchors.head = question_shape::find_head_word(&lower);
        anchors.action = question_shape::find_main_verb(&written, &lower, view);
        anchors.window = find_time_window(question, &anchors, now);
        anchors.hops = question_shape::hop_shape(&lower, subjects.len());
        anchors.chronological = anchors.answer == AnswerKind::When || contains_any(&lower, &ORDER_WORDS);
        anchors.step = question_shape::find_step(&lower);
        anchors.state_key = question_shape::state_key(&lower);
        let picture = contains_any(&lower, &PICTURE_WORDS);
        anchors.source = if picture { "image".to_owned() } else { String::new() };
        let vector = EmbeddingTable::builtin().embed_text(&anchors.bare);
        // In a conversation with an assistant, "I" is the other speaker, who is not named and thus no anchor.
        if subjects.is_empty() && contains_any(&lower, &ASKER_WORDS) {
            subjects.extend(view.speakers().names().iter().position(|it| is_user(it)));
        }
        let words = content_words(&anchors, view);
        let reading = text::question::read_question(&QuestionInput {
            question: full_question,
            anchors: &anchors,
            weights: &weights_of_words(&words),
        });
        Query {
            reading,
            searched: with_neighbours(words.iter().flat_map(|it| it.pieces.iter().copied())),
            likeness: Likeness::from_words(&words),
            words,
            vector,
            patterns: text::meaning::patterns::count_patterns(question),
            names: hash_stems(&anchors.names),
            past: lower
                .iter()
                .any(|it| matches!(it.as_str(), "did" | "was" | "were" | "had")),
            future: contains_any(&lower, &FUTURE_WORDS),
            speech: contains_any(&lower, &SPEECH_WORDS),
            addresses: lower.iter().any(|it| matches!(it.as_str(), "you" | "your")),
            to_do: text::question::wishes::asks_what_to_do(&english),
            picture,
            subjects,
            anchors,
            encoded: Encoded::default(),
        }
    }

    /// Returns the rarity of the words of the question in the space.
    pub fn word_weights(&self) -> Vec<WordWeight> {
        weights_of_words(&self.words)
    }

    /// Returns the speaker whom the question is about, if there is exactly one.
    pub fn single_subject(&self) -> Option<usize> {
        match self.subjects[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// Returns the hashes of the stems of all words in some names.
fn hash_stems(names: &[String]) -> Vec<u32> {
    let stems = names.iter().flat_map(|it| text::stem_words(it));
    stems.map(|it| sparse_vectors::hash_stem(&it)).collect()
}

/// Returns the rarity of the words, in the form that the reader gets.
fn weights_of_words(words: &[Word]) -> Vec<WordWeight> {
    let weight = |it: &Word| WordWeight {
        stem: it.stem.clone(),
        idf: it.idf,
        df: it.df,
    };
    words.iter().map(weight).collect()
}

/// Returns the speaker that a word of a question names, also as "Ann's". Names of roles match no speaker. A capitalised
/// word that does not occur in the space may be another spelling of a name.
fn find_speaker(word: &str, view: &View) -> Option<usize> {
    let lower = word.to_lowercase().replace('\u{2019}', "'");
    let name = lower.strip_suffix("'s").unwrap_or(&lower);
    let unknown = || {
        view.word_parts(sparse_vectors::hash_stem(&text::stem_word(name))) == 0 && word.starts_with(char::is_uppercase)
    };
    let spelt = || unknown().then(|| view.speakers().find_by_spelling(name)).flatten();
    let speaker = view.speakers().find_by_word(name).or_else(spelt);
    speaker.filter(|_| !text::is_stop(name) && role_of_speaker(name).is_none())
}

/// Returns the question without the names of speakers, as written. If the question is not in English, its function
/// words are removed too.
fn remove_speaker_names(question: &str, written: &[&str], view: &View) -> String {
    let without = |words: &mut dyn Iterator<Item = &str>| {
        let remaining: Vec<&str> = words.filter(|it| find_speaker(it, view).is_none()).collect();
        remaining.join(" ")
    };
    let pieces = text::gloss::split_pieces(question).unwrap_or_default();
    let content = text::gloss::content_words(question, &pieces);
    // The German "Lenas Hund" means Lena's dog.
    let owns = |it: &str| it.strip_suffix('s').is_some_and(|it| find_speaker(it, view).is_some());
    let bare = without(&mut content.iter().map(|it| it.written).filter(|it| !owns(it)));
    if bare.is_empty() {
        without(&mut written.iter().copied())
    } else {
        bare
    }
}

fn contains_any(words: &[String], list: &WordList) -> bool {
    words.iter().any(|it| list.contains(it.as_str()))
}

fn other_names(question: &str, view: &View) -> Vec<String> {
    let known = |name: &&str| {
        text::split_words(name)
            .iter()
            .any(|it| find_speaker(it, view).is_some())
    };
    let mut names: Vec<String> = text::find_names(question)
        .into_iter()
        .filter(|it| !known(it))
        .map(str::to_owned)
        .collect();
    names.dedup();
    names
}

/// Returns the first named time that can be resolved; `None` for a message, which names times only in passing.
fn find_time_window(question: &str, anchors: &Anchors, now: DateTime<FixedOffset>) -> Option<TimeSpan> {
    if anchors.answer == AnswerKind::Message {
        return None;
    }
    let found = text::time::find_times(question, now).into_iter().map(|it| it.span);
    let mut placed = found.filter(|it| it.precision != Precision::Unknown);
    let mut span = placed.next()?;
    if span.end <= span.start {
        span.end = span.start + Duration::days(1);
    }
    Some(span)
}

fn content_words(anchors: &Anchors, view: &View) -> Vec<Word> {
    let dates: Vec<&str> = anchors
        .window
        .iter()
        .flat_map(|it| text::split_words(&it.words))
        .collect();
    // The similarity of a word to every other word is expensive. So the rarest words are chosen before it is computed.
    let mut met = HashSet::new();
    let mut chosen: Vec<(&str, String, u32, f32)> = Vec::new();
    for written in text::split_words(&anchors.bare) {
        let stem = text::stem_word(written);
        if text::is_stop(written)
            || question_shape::is_question_form_word(&stem)
            || dates.contains(&written)
            || !met.insert(stem.clone())
        {
            continue;
        }
        let df = view.word_parts(sparse_vectors::hash_stem(&stem));
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
        term: sparse_vectors::hash_stem(&stem),
        stem,
        pieces: EmbeddingTable::builtin().piece_rows(written),
        df,
        idf,
        weight: 0.0,
        matters: Frames::from_text(written)
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
    pub fn is_multi_hop(&self) -> bool {
        self.anchors.hops == HopShape::Multi
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::similarity::neighbouring_pieces::ASKED;

    #[test]
    fn a_long_question_looks_up_neighbours_only_for_the_words_that_count() {
        let digit = |it: usize| char::from(b'a' + (it % 26) as u8);
        let word = |it: usize| format!("zu{}{}{}o", digit(it), digit(it / 26), digit(it / 676));
        let long: Vec<String> = (0..1_000).map(word).collect();
        let query = Query::from_question(&long.join(" "), &View::default(), DateTime::default());
        assert_eq!(query.words.len(), WORDS_MAX);
        let pieces: usize = query.words.iter().map(|it| it.pieces.len()).sum();
        assert_eq!(ASKED.get(), pieces);
    }
}
