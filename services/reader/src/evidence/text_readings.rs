//! Readings of texts, as far as they do not depend on the question: each text is read once and cached for the next
//! question.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use domain::evidence::Turn;
use domain::id::SpaceId;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rustc_hash::FxHasher;
use text::gloss::{self, Piece};
use text::meaning::patterns;
use text::people::ownership::{self, Ownership};

use crate::evidence::word_similarity::{Lexicon, StemVectors, Term, vector_of};

/// Maximum memory for readings, in bytes.
const BYTES_MAX: u64 = 32 << 20;
/// Expected number of cached readings.
const COUNT: usize = 8_192;

/// A sentence with the properties that do not depend on the question.
#[derive(Debug)]
pub(crate) struct SentenceReading {
    /// The sentence, without line breaks at the ends.
    pub(crate) text: String,
    /// Content words.
    pub(crate) terms: Vec<Term>,
    /// Words of the sentence with their English, if the sentence is in another language.
    pub(crate) pieces: Option<Vec<Piece>>,
    /// Whether it is the caption of an image.
    pub(crate) caption: bool,
    /// Whether it is a question.
    pub(crate) question: bool,
    /// Whether it contains "he" or "she" and neither the speaker ("I") nor the listener ("you").
    pub(crate) third_person: bool,
    owners: Owners,
    mentioned: Mentioned,
}

/// The owners of a sentence.
#[derive(Clone, Copy, Debug)]
struct Owners {
    /// If the turn follows a question of another speaker.
    after_question: Ownership,
    otherwise: Ownership,
}

/// The words of a text, in lower case and without a genitive, each followed by a space. Vocatives are left out.
#[derive(Debug)]
struct Mentioned(String);

/// A turn with the properties that do not depend on the question.
#[derive(Debug)]
pub(crate) struct TextReading {
    text: String,
    caption: String,
    /// Sentences of the turn, the caption last.
    pub(crate) sentences: Vec<Arc<SentenceReading>>,
    /// Vector of the text.
    pub(crate) vector: Vec<f32>,
    /// Patterns of the text.
    pub(crate) patterns: [u8; patterns::N],
    /// Whether it ends with a question.
    pub(crate) ends_asking: bool,
    mentioned: Mentioned,
}

/// A cache of readings by space and text; it keeps those that are used often. The cache changes the time that an answer
/// takes, never the answer.
#[derive(Debug)]
pub(crate) struct Readings {
    cache: Cache<u64, Arc<TextReading>, Bytes>,
    stems: Arc<StemVectors>,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<u64, Arc<TextReading>> for Bytes {
    fn weight(&self, _: &u64, reading: &Arc<TextReading>) -> u64 {
        reading.size_in_bytes() as u64
    }
}

impl Default for Readings {
    fn default() -> Readings {
        Readings {
            cache: Cache::with_weighter(COUNT, BYTES_MAX, Bytes),
            stems: Arc::default(),
        }
    }
}

impl Readings {
    /// Returns the reading of a turn of a space.
    pub(crate) fn get_or_read(&self, space: &SpaceId, turn: &Turn) -> Arc<TextReading> {
        let mut key = FxHasher::default();
        (space.as_str(), &turn.text, &turn.caption).hash(&mut key);
        let key = key.finish();
        let cached = self.cache.get(&key).filter(|it| it.is_of(turn));
        cached.unwrap_or_else(|| {
            let reading = Arc::new(TextReading::from_turn(turn));
            self.cache.insert(key, Arc::clone(&reading));
            reading
        })
    }

    /// Returns the cache of the vectors of stems.
    pub(crate) fn stem_vectors(&self) -> &Arc<StemVectors> {
        &self.stems
    }

    /// Clears the cache, including the texts that were erased in the meantime.
    pub(crate) fn clear(&self) {
        self.cache.clear();
        self.stems.clear();
    }
}

impl TextReading {
    fn from_turn(turn: &Turn) -> TextReading {
        let spoken = text::split_sentences(&turn.text).into_iter().map(|it| (it, false));
        let caption = text::split_sentences(&turn.caption).into_iter().map(|it| (it, true));
        let mut previous: Option<Owners> = None;
        let mut sentences = Vec::new();
        for (sentence, caption) in spoken.chain(caption) {
            let owners = Owners::from_sentence(sentence, caption, previous);
            previous = Some(owners);
            sentences.push(Arc::new(SentenceReading::from_sentence(sentence, caption, owners)));
        }
        TextReading {
            text: turn.text.clone(),
            caption: turn.caption.clone(),
            sentences,
            vector: vector_of(&turn.text),
            patterns: patterns::count_patterns(&turn.text),
            ends_asking: text::ends_asking(&turn.text),
            mentioned: Mentioned::from_text(&turn.text),
        }
    }

    /// Returns true if the text mentions `name` in the third person, see [`SentenceReading::tells_of`].
    pub(crate) fn tells_of(&self, name: &str) -> bool {
        self.mentioned.has_name(name)
    }

    fn is_of(&self, turn: &Turn) -> bool {
        self.text == turn.text && self.caption == turn.caption
    }

    /// Returns the approximate memory of the reading in bytes.
    fn size_in_bytes(&self) -> usize {
        let terms: usize = self.sentences.iter().map(|it| it.terms.len()).sum();
        let fixed = 512 + size_of::<f32>() * self.vector.len();
        fixed + 4 * (self.text.len() + self.caption.len()) + 300 * self.sentences.len() + 72 * terms
    }
}

impl SentenceReading {
    fn from_sentence(sentence: &str, caption: bool, owners: Owners) -> SentenceReading {
        let pieces = gloss::split_pieces(sentence);
        SentenceReading {
            terms: Lexicon::read_terms(sentence, pieces.as_deref()),
            pieces,
            question: ownership::is_untagged_question(sentence),
            third_person: third_person(sentence),
            mentioned: Mentioned::from_text(sentence),
            text: sentence.to_owned(),
            caption,
            owners,
        }
    }

    /// Returns the owners of the sentence, depending on whether its turn follows a question.
    pub(crate) fn ownership_in_context(&self, after_question: bool) -> Ownership {
        if after_question {
            self.owners.after_question
        } else {
            self.owners.otherwise
        }
    }

    /// Returns true if the sentence mentions `name` in the third person: the name occurs, and not as a vocative
    /// ("Thanks, Ann!").
    pub(crate) fn tells_of(&self, name: &str) -> bool {
        self.mentioned.has_name(name)
    }
}

impl Owners {
    fn from_sentence(sentence: &str, caption: bool, previous: Option<Owners>) -> Owners {
        let owner = |reply: bool, previous: Option<Ownership>| {
            let context = ownership::Context {
                caption,
                previous,
                reply,
            };
            ownership::ownership_of_sentence(sentence, &context)
        };
        Owners {
            after_question: owner(true, previous.map(|it| it.after_question)),
            otherwise: owner(false, previous.map(|it| it.otherwise)),
        }
    }
}

impl Mentioned {
    fn from_text(text: &str) -> Mentioned {
        let place = |it: &str| (it.as_ptr() as usize, it.as_ptr() as usize + it.len());
        let calls: Vec<(usize, usize)> = text::find_vocatives(text).into_iter().map(place).collect();
        let mut words = String::with_capacity(text.len());
        for word in text::split_words(text) {
            let at = place(word).0;
            if calls.iter().any(|it| (it.0..it.1).contains(&at)) {
                continue;
            }
            let lower = word.to_lowercase().replace('\u{2019}', "'");
            words.push_str(lower.strip_suffix("'s").unwrap_or(&lower));
            words.push(' ');
        }
        Mentioned(words)
    }

    /// Returns true if the first word of `name` is among the words.
    fn has_name(&self, name: &str) -> bool {
        let first = text::split_words(name).first().map(|it| it.to_lowercase());
        first.is_some_and(|first| self.0.split(' ').any(|it| it == first))
    }
}

/// Returns true if a sentence contains "he" or "she" and neither "I" nor "you".
fn third_person(sentence: &str) -> bool {
    let words: Vec<String> = text::split_words(sentence)
        .iter()
        .map(|it| it.to_lowercase().replace('\u{2019}', "'"))
        .collect();
    let has = |list: &[&str]| {
        words
            .iter()
            .any(|it| list.contains(&it.split('\'').next().unwrap_or_default()))
    };
    has(&["he", "she", "his", "her", "him", "hers"]) && !has(&["i", "you"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_turn(text: &str) -> Turn {
        let fields = serde_json::json!({
            "unit": "00000000-0000-0000-0000-000000000001",
            "external_ids": ["1"],
            "session": "00000000-0000-0000-0000-000000000002",
            "observed_at": "2026-05-04T10:00:00+00:00",
            "actor": "Ann",
            "addressee": "Ben",
            "text": text,
            "caption": "a red bicycle",
            "times": [],
        });
        serde_json::from_value(fields).unwrap()
    }

    fn sample_space(name: &str) -> SpaceId {
        name.parse().unwrap()
    }

    #[test]
    fn a_text_is_read_once_in_each_space() {
        let (readings, space) = (Readings::default(), sample_space("talk"));
        let first = readings.get_or_read(&space, &sample_turn("Ben called. He moved to Oslo."));
        assert_eq!(first.sentences.len(), 3);
        let again = readings.get_or_read(&space, &sample_turn("Ben called. He moved to Oslo."));
        assert!(Arc::ptr_eq(&first, &again));
        let elsewhere = readings.get_or_read(
            &self::sample_space("other"),
            &sample_turn("Ben called. He moved to Oslo."),
        );
        assert!(!Arc::ptr_eq(&first, &elsewhere));
        assert_eq!(format!("{first:?}"), format!("{elsewhere:?}"));
    }

    #[test]
    fn clearing_the_cache_frees_the_texts() {
        let (readings, space) = (Readings::default(), sample_space("talk"));
        let first = readings.get_or_read(&space, &sample_turn("The door code is 1234."));
        assert_eq!(Arc::strong_count(&first), 2);
        readings.clear();
        assert_eq!(Arc::strong_count(&first), 1);
    }

    #[test]
    fn a_vocative_does_not_count_as_a_mention_of_a_name() {
        let text = TextReading::from_turn(&sample_turn("Thanks, Ben! Ann\u{2019}s sister moved."));
        assert!(text.tells_of("Ann Lee"));
        assert!(!text.tells_of("Ben"));
        let [thanks, moved, caption] = &text.sentences[..] else {
            panic!("{text:?}");
        };
        assert!(!thanks.tells_of("Ben"));
        assert!(moved.tells_of("Ann"));
        assert!(caption.caption);
    }
}
