use std::ops::Range;

use domain::port::BlockFileId;
use domain::unit::Unit;
use text::EmbeddingTable;
use text::meaning::frames::Frames;
use text::meaning::patterns;
use text::people::ownership::{self, Context};
use text::people::role::{is_assistant, is_user};

use super::columns::{Columns, Draft};
use super::head::{UnitHead, join_texts};
use super::sections::{Part, Sentence, sort_and_dedup};

/// Bytes that the lists of a view and the heads of allocations take for one turn.
const OVERHEAD: usize = 500;
/// Pictographs that state something: boxes and ticks of lists, stars of ratings, lights.
const MARKS: &str = "☐☑☒✅✓✔✗✘❌❎★☆🔴🟠🟡🟢🔵";

/// One turn unit with the data that is computed from it once.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The fields of the unit that the router reads.
    pub unit: UnitHead,
    /// Counts of the patterns in the turn.
    pub patterns: [u8; patterns::N],
    /// Lower-case words by which the turn addresses a person.
    pub calls: Box<[Box<str>]>,
    /// Everyday subjects (semantic frames) that the turn suggests.
    pub frames: Frames,
    /// o200k tokens of the text that is shown.
    pub tokens: u32,
    /// Share of its sentences that are questions.
    pub questions: f32,
    /// True if the turn ends with a question.
    pub asks: bool,
    /// True if the user of an assistant speaks.
    pub user: bool,
    /// True if an assistant, or a tool of an assistant, speaks.
    pub assistant: bool,
    /// The tags and metadata of the turn's record, by their numbers in the view.
    pub labels: Box<[u32]>,
    /// True if the text that is shown is not the text of the unit.
    pub(super) shows_other: bool,
    pub(super) columns: Columns,
    /// The mapped file that the texts and columns are a part of; `None` if they are in memory.
    pub(super) file: Option<BlockFileId>,
}

impl Turn {
    /// Computes the turn of a unit.
    pub(super) fn new(unit: &Unit) -> Turn {
        let (shown, pieces) = lay_out(unit);
        let mut draft = TurnDraft::default();
        for (range, caption) in pieces {
            draft.add_part(&shown, range, caption);
        }
        let columns = draft.columns.into_columns(&name_stems(unit));
        let sentences = (0..columns.sentence_count()).map(|it| columns.sentence_at(it));
        let texts = join_texts(unit, Some(&*shown).filter(|it| *it != unit.text));
        let questions = sentences.clone().filter(|it| it.question).count();
        Turn {
            patterns: draft.patterns,
            calls: find_vocatives(&unit.text)
                .into_iter()
                .map(String::into_boxed_str)
                .collect(),
            frames: Frames::from_text(&shown),
            tokens: sentences.map(|it| it.tokens).sum(),
            questions: questions as f32 / columns.sentence_count().max(1) as f32,
            asks: text::ends_asking(&unit.text),
            user: is_user(&unit.actor),
            assistant: is_assistant(&unit.actor),
            labels: Box::default(),
            shows_other: shown != unit.text,
            unit: UnitHead::from_unit(unit, texts, unit.external_ids.len() as u32),
            columns,
            file: None,
        }
    }

    /// Returns the text that is shown: the text of the unit without emoji, then the caption.
    pub fn shown(&self) -> &str {
        match self.shows_other {
            true => self.unit.other_shown(),
            false => self.unit.text(),
        }
    }

    /// Returns its sentences in order; a caption is the last one.
    pub fn sentences(&self) -> impl ExactSizeIterator<Item = Sentence<'_>> + Clone {
        self.sentences_of(0..self.columns.sentence_count())
    }

    /// Returns some of its sentences, in order.
    pub fn sentences_of(&self, numbers: Range<usize>) -> impl ExactSizeIterator<Item = Sentence<'_>> + Clone {
        numbers.map(|it| self.columns.sentence_at(it))
    }

    /// Returns a sentence; `number` is less than [`Turn::sentence_count`].
    pub fn sentence_at(&self, number: usize) -> Sentence<'_> {
        self.columns.sentence_at(number)
    }

    /// Returns the number of sentences.
    pub fn sentence_count(&self) -> usize {
        self.columns.sentence_count()
    }

    /// Returns the parts of the turn, at least one.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = Part<'_>> + Clone {
        (0..self.columns.part_count()).map(|it| self.columns.part_at(it))
    }

    /// Returns the number of parts.
    pub fn part_count(&self) -> usize {
        self.columns.part_count()
    }

    /// Returns the stems of all sentences in order.
    pub fn words(&self) -> &[u32] {
        self.columns.all_words()
    }

    /// Returns the stems of the words of names in it, sorted and without duplicates.
    pub fn names(&self) -> &[u32] {
        self.columns.name_stems()
    }

    /// Returns the mapped file that its texts and columns are a part of.
    pub(crate) fn file(&self) -> Option<BlockFileId> {
        self.file
    }

    /// Returns true if a unit has the texts of this turn.
    pub(crate) fn has_texts_of(&self, unit: &Unit) -> bool {
        let shown = self.shows_other.then(|| self.unit.other_shown());
        *self.unit.texts() == join_texts(unit, shown)
    }

    /// Returns a copy that needs no mapped file.
    pub(super) fn to_own(&self) -> Turn {
        Turn {
            unit: self.unit.with_texts(self.unit.texts().to_own()),
            columns: self.columns.to_own(),
            file: None,
            ..self.clone()
        }
    }

    /// Returns a copy that uses the mapped file of `other`; `None` if that turn has other texts or columns.
    pub(super) fn mapped_like(&self, other: &Turn) -> Option<Turn> {
        let is_same = self.columns == other.columns
            && self.unit.texts() == other.unit.texts()
            && self.shows_other == other.shows_other;
        is_same.then(|| Turn {
            unit: self.unit.with_texts(other.unit.texts().clone()),
            columns: other.columns.clone(),
            file: other.file,
            ..self.clone()
        })
    }

    /// Returns roughly how many bytes it takes, with its entries in the lists of the view.
    pub(super) fn size_in_bytes(&self) -> usize {
        let calls = self.calls.iter().map(|it| 48 + it.len());
        OVERHEAD
            + size_of::<Turn>()
            + self.unit.size_in_bytes()
            + self.columns.region.allocated_bytes()
            + calls.sum::<usize>()
            + 4 * (self.labels.len() + self.words().len())
    }
}

/// A turn while its sentences are computed.
#[derive(Default)]
struct TurnDraft {
    columns: Draft,
    patterns: [u8; patterns::N],
}

impl TurnDraft {
    fn add_part(&mut self, shown: &str, range: Range<usize>, caption: Option<usize>) {
        let body = &shown[range.start..caption.unwrap_or(range.end)];
        for sentence in text::split_sentences(body) {
            let start = sentence.as_ptr() as usize - shown.as_ptr() as usize;
            self.add_sentence(shown, start..start + sentence.len(), false);
        }
        if let Some(start) = caption {
            self.add_sentence(shown, start..range.end, true);
        }
        self.columns.push_part(|| embed_quantized(&shown[range]));
    }

    fn add_sentence(&mut self, shown: &str, range: Range<usize>, caption: bool) {
        let text = &shown[range.clone()];
        let own = |reply: bool| {
            let previous = self.columns.last_owners(reply);
            let previous = previous.map(|(speaker, addressee)| ownership::Ownership { speaker, addressee });
            let owner = ownership::ownership_of_sentence(
                text,
                &Context {
                    caption,
                    previous,
                    reply,
                },
            );
            (owner.speaker, owner.addressee)
        };
        let owners = [own(false), own(true)];
        let words: Vec<u32> = text::stem_words(text)
            .iter()
            .map(|it| text::meaning::sparse_vectors::hash_stem(it))
            .collect();
        let found = patterns::count_patterns(text);
        let first = self.columns.has_no_sentence();
        for (pattern, &count) in found.iter().enumerate() {
            if first || !patterns::OPENING.contains(&pattern) {
                self.patterns[pattern] = self.patterns[pattern].saturating_add(count);
            }
        }
        let mask = (0..patterns::N)
            .filter(|&it| found[it] > 0)
            .fold(0, |mask, it| mask | 1 << it);
        self.columns.push_sentence(&Sentence {
            question: text::ends_asking(text),
            standing: if caption {
                0.0
            } else {
                text::question::wishes::grade_standing_wish(text)
            },
            filler: !caption && (words.is_empty() || found[patterns::GREETING] > 0 && words.len() <= 5),
            patterns: mask,
            vector: &embed_quantized(text),
            pieces: &sort_and_dedup(EmbeddingTable::builtin().piece_rows(text)),
            tokens: text::count_tokens(&format!(" {text}")) as u32,
            range,
            words: &words,
            caption,
            owners,
        });
    }
}

/// The byte range of a part, and the start of the caption if the part contains it.
type Stretch = (Range<usize>, Option<usize>);

/// Returns the text that a unit shows, and its parts.
fn lay_out(unit: &Unit) -> (String, Vec<Stretch>) {
    let mut shown = strip_pictographs(&unit.text);
    let mut parts: Vec<Stretch> = text::split_into_parts(&shown)
        .into_iter()
        .map(|it| {
            let start = it.as_ptr() as usize - shown.as_ptr() as usize;
            (start..start + it.len(), None)
        })
        .collect();
    if !unit.caption.is_empty() {
        let start = if shown.is_empty() { 0 } else { shown.len() + 1 };
        if start > 0 {
            shown.push(' ');
        }
        shown.push('[');
        shown.push_str(&text::one_line(&unit.caption));
        shown.push(']');
        if let Some(last) = parts.last_mut() {
            (last.0.end, last.1) = (shown.len(), Some(start));
        }
    }
    (shown, parts)
}

/// Returns a text without emoji and other pictographs except [`MARKS`], and without white space at the ends. Every line
/// break becomes a line feed.
fn strip_pictographs(text: &str) -> String {
    let pictograph = |c: char| matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{FE0F}' | '\u{200D}' | '\u{20E3}');
    let text = text.replace("\r\n", "\n").replace(text::is_line_break, "\n");
    let remaining: String = text
        .chars()
        .filter(|&it| !pictograph(it) || MARKS.contains(it))
        .collect();
    let remaining = remaining.trim();
    if remaining.is_empty() {
        text.trim().to_owned()
    } else {
        remaining.to_owned()
    }
}

fn embed_quantized(text: &str) -> Vec<i8> {
    EmbeddingTable::builtin()
        .embed_text(text)
        .into_iter()
        .map(|it| (it * 127.0).round() as i8)
        .collect()
}

fn name_stems(unit: &Unit) -> Vec<u32> {
    let words = unit
        .participants
        .iter()
        .map(String::as_str)
        .chain(text::find_names(&unit.text))
        .flat_map(text::stem_words);
    sort_and_dedup(words.map(|it| text::meaning::sparse_vectors::hash_stem(&it)).collect())
}

/// Returns the words that address the listener: after a greeting or a comma, and before punctuation or the end of a
/// sentence.
fn find_vocatives(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for sentence in text::split_sentences(text) {
        let words = text::split_words(sentence);
        for (i, word) in words.iter().enumerate() {
            if !word.chars().next().is_some_and(char::is_uppercase) || text::is_stop(word) || word.chars().count() < 2 {
                continue;
            }
            let at = word.as_ptr() as usize - sentence.as_ptr() as usize;
            let before = sentence[..at].trim_end();
            let after = sentence[at + word.len()..].trim_start();
            let greeted = i > 0
                && matches!(
                    words[i - 1].to_lowercase().as_str(),
                    "hey" | "hi" | "hello" | "thanks" | "dear"
                );
            let closes = after.is_empty() || after.starts_with(['!', '?', '.', ',']);
            if (greeted || before.ends_with(',')) && closes {
                out.push(word.to_lowercase());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictographs_are_left_out_and_marks_stay() {
        for text in [
            "Build of main: ❌",
            "☑ bread ☐ milk",
            "The pump is 🔴 now.",
            "Soup ★★☆",
            "🎉",
        ] {
            assert_eq!(strip_pictographs(text), text);
        }
        assert_eq!(strip_pictographs("See you on Friday 🎉❤️"), "See you on Friday");
        assert_eq!(strip_pictographs("✔️ done 🎉"), "✔ done");
    }
}
