use std::ops::Range;

use domain::unit::Unit;
use text::frames::Frames;
use text::ownership::{self, Context};
use text::role::{is_assistant, is_user};
use text::{Table, patterns};

/// One turn unit with the data that is computed from it once.
#[derive(Debug)]
pub struct Turn {
    /// The unit, without texts that are not shown.
    pub unit: Unit,
    /// Its parts; at least one.
    pub parts: Vec<Part>,
    /// Its sentences in order; a caption is the last one.
    pub sentences: Vec<Sentence>,
    /// The text that is shown: the text of the unit without emoji, then the caption.
    pub shown: String,
    /// Counts of the patterns in the turn.
    pub patterns: [u8; patterns::N],
    /// Stems of the words of names in it, sorted and without duplicates.
    pub names: Vec<u32>,
    /// Lower-case words by which it addresses somebody.
    pub calls: Vec<String>,
    /// Everyday subjects (semantic frames) that it suggests.
    pub frames: Frames,
    /// o200k tokens of `shown`.
    pub tokens: u32,
    /// Share of its sentences that are questions.
    pub questions: f32,
    /// True if it ends with a question.
    pub asks: bool,
    /// True if the user of an assistant says it.
    pub user: bool,
    /// True if an assistant, or a tool of an assistant, says it.
    pub assistant: bool,
    /// The tags and metadata of its record, by their numbers in the view.
    pub labels: Box<[u32]>,
}

/// A section of a turn that is compared as one piece.
#[derive(Debug)]
pub struct Part {
    /// Its sentences.
    pub sentences: Range<usize>,
    /// Stems, sorted and without duplicates.
    pub words: Vec<u32>,
    /// Word pieces, sorted and without duplicates.
    pub pieces: Vec<u32>,
    /// Number of stems, including repeated ones.
    pub length: u32,
    /// Vector from the built-in table, in steps of 1/127.
    pub vector: Vec<i8>,
}

/// One sentence of a turn.
#[derive(Debug)]
pub struct Sentence {
    /// Its range of bytes in `shown`.
    pub range: Range<usize>,
    /// Stems in order.
    pub words: Vec<u32>,
    /// Word pieces, sorted and without duplicates.
    pub pieces: Vec<u32>,
    /// True if it ends with a question mark.
    pub question: bool,
    /// True if it is the caption.
    pub caption: bool,
    /// How clearly it states a standing wish, 0 to 1 (`text::wishes`).
    pub standing: f32,
    /// True if it is a greeting, a comment, or has no content.
    pub filler: bool,
    /// Shares of speaker and addressee: how far it is about each of them. The first pair applies if the turn does not
    /// follow a question, the second if it does.
    pub owners: [(f32, f32); 2],
    /// o200k tokens after a label or another sentence.
    pub tokens: u32,
    /// One bit for each pattern that occurs.
    pub patterns: u32,
    /// Vector from the built-in table, in steps of 1/127.
    pub vector: Vec<i8>,
}

impl Turn {
    /// Computes the turn of a unit.
    pub(super) fn new(unit: Unit) -> Turn {
        let (shown, pieces) = lay_out(&unit);
        let mut turn = Turn {
            parts: Vec::with_capacity(pieces.len()),
            sentences: Vec::new(),
            patterns: [0; patterns::N],
            names: name_stems(&unit),
            calls: calls(&unit.text),
            frames: Frames::of(&shown),
            tokens: 0,
            questions: 0.0,
            asks: text::ends_asking(&unit.text),
            user: is_user(&unit.actor),
            assistant: is_assistant(&unit.actor),
            labels: Box::default(),
            shown,
            unit,
        };
        for (range, caption) in pieces {
            turn.add_part(range, caption);
        }
        turn.tokens = turn.sentences.iter().map(|it| it.tokens).sum();
        let questions = turn.sentences.iter().filter(|it| it.question).count();
        turn.questions = questions as f32 / turn.sentences.len().max(1) as f32;
        turn.forget_unshown();
        turn
    }

    /// Drops texts of the unit that are not shown.
    pub(super) fn forget_unshown(&mut self) {
        (self.unit.summary, self.unit.cues) = (String::new(), Vec::new());
        self.unit.stated = Vec::new();
    }

    /// Returns roughly how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let words = |it: &Sentence| 320 + 4 * (it.words.len() + it.pieces.len());
        let parts = |it: &Part| 256 + 4 * (it.words.len() + it.pieces.len());
        let sentences: usize = self.sentences.iter().map(words).sum();
        804 + 4 * self.labels.len() + 2 * self.shown.len() + sentences + self.parts.iter().map(parts).sum::<usize>()
    }

    fn add_part(&mut self, range: Range<usize>, caption: Option<usize>) {
        let first = self.sentences.len();
        let shown = std::mem::take(&mut self.shown);
        let body = &shown[range.start..caption.unwrap_or(range.end)];
        for sentence in text::sentences(body) {
            let start = sentence.as_ptr() as usize - shown.as_ptr() as usize;
            self.add_sentence(&shown, start..start + sentence.len(), false);
        }
        if let Some(start) = caption {
            self.add_sentence(&shown, start..range.end, true);
        }
        let words: Vec<u32> = self.sentences[first..]
            .iter()
            .flat_map(|it| it.words.iter().copied())
            .collect();
        let pieces = self.sentences[first..]
            .iter()
            .flat_map(|it| it.pieces.iter().copied())
            .collect();
        let vector = match &self.sentences[first..] {
            [only] => only.vector.clone(),
            _ => vector(&shown[range]),
        };
        self.shown = shown;
        self.parts.push(Part {
            sentences: first..self.sentences.len(),
            length: words.len() as u32,
            words: set(words),
            pieces: set(pieces),
            vector,
        });
    }

    fn add_sentence(&mut self, shown: &str, range: Range<usize>, caption: bool) {
        let text = &shown[range.clone()];
        let previous = self.sentences.last();
        let own = |reply: bool| {
            let previous = previous.map(|it| it.owners[usize::from(reply)]);
            let previous = previous.map(|(speaker, addressee)| ownership::Ownership { speaker, addressee });
            let owner = ownership::sentence(
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
        let words: Vec<u32> = text::stems(text).iter().map(|it| text::sparse::hash(it)).collect();
        let found = patterns::count(text);
        let first = self.sentences.is_empty();
        for (pattern, &count) in found.iter().enumerate() {
            if first || !patterns::OPENING.contains(&pattern) {
                self.patterns[pattern] = self.patterns[pattern].saturating_add(count);
            }
        }
        let mask = (0..patterns::N)
            .filter(|&it| found[it] > 0)
            .fold(0, |mask, it| mask | 1 << it);
        self.sentences.push(Sentence {
            question: text::ends_asking(text),
            standing: if caption { 0.0 } else { text::wishes::standing(text) },
            filler: !caption && (words.is_empty() || found[patterns::GREETING] > 0 && words.len() <= 5),
            patterns: mask,
            vector: vector(text),
            pieces: set(Table::builtin().pieces(text)),
            tokens: text::tokens(&format!(" {text}")) as u32,
            range,
            words,
            caption,
            owners,
        });
    }
}

/// The byte range of a part, and the start of the caption if the part contains it.
type Stretch = (Range<usize>, Option<usize>);

/// Returns the text that a unit shows, and its parts.
fn lay_out(unit: &Unit) -> (String, Vec<Stretch>) {
    let mut shown = plain(&unit.text);
    let mut parts: Vec<Stretch> = text::parts(&shown)
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

/// Returns a text without emoji and other pictographs, and without white space at the ends. Every line break becomes a
/// line feed.
fn plain(text: &str) -> String {
    let pictograph = |c: char| matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{FE0F}' | '\u{200D}' | '\u{20E3}');
    let text = text.replace("\r\n", "\n").replace(text::is_line_break, "\n");
    let kept: String = text.chars().filter(|&it| !pictograph(it)).collect();
    let kept = kept.trim();
    if kept.is_empty() {
        text.trim().to_owned()
    } else {
        kept.to_owned()
    }
}

fn vector(text: &str) -> Vec<i8> {
    Table::builtin()
        .embed(text)
        .into_iter()
        .map(|it| (it * 127.0).round() as i8)
        .collect()
}

fn name_stems(unit: &Unit) -> Vec<u32> {
    let words = unit
        .participants
        .iter()
        .map(String::as_str)
        .chain(text::names(&unit.text))
        .flat_map(text::stems);
    set(words.map(|it| text::sparse::hash(&it)).collect())
}

/// Returns the words that address the listener: after a greeting or a comma, and before punctuation or the end of a
/// sentence.
fn calls(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for sentence in text::sentences(text) {
        let words = text::words(sentence);
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

/// Returns terms sorted and without duplicates.
pub(super) fn set(mut terms: Vec<u32>) -> Vec<u32> {
    terms.sort_unstable();
    terms.dedup();
    terms
}
