//! The words of a sentence for the rules for facts: in lower case, with contractions split, and with their positions.

use std::ops::Range;

use crate::facts::clauses::contractions::split_contraction;
use crate::facts::lexicon::{FINAL_VERBS, GERMAN_SUBORDINATORS};
use crate::gloss::{self, Piece};
use crate::lexicon::contractions::expand_chat_spelling;
use crate::lexicon::word_lists::WordList;
use crate::lexicon::{Class, is_in_class};

/// The separation between a word and the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// A space only.
    None,
    /// A comma.
    Comma,
    /// A mark that separates clauses: semicolon, colon, dash, bracket, dots.
    Strong,
}

/// One word.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    /// The word in lower case with straight apostrophes; one part of a contraction.
    pub(crate) lower: String,
    /// Byte range of the whole written word in the text.
    pub(crate) range: Range<usize>,
    /// The separation from the next word.
    pub(crate) gap: Gap,
    /// True if it begins with a capital letter.
    pub(crate) capital: bool,
    /// True if it is written in capitals: "HELLO", "NATO"; false for "I".
    pub(crate) shouted: bool,
    /// True inside quotation marks.
    pub(crate) quoted: bool,
    /// True if it was translated from another language.
    pub(crate) foreign: bool,
}

impl Word {
    /// Returns true if the word is in a list.
    pub(crate) fn is_in_list(&self, list: &WordList) -> bool {
        list.contains(self.lower.as_str())
    }

    /// Returns true if the word is one of `list`.
    pub(crate) fn is_any_of(&self, list: &[&str]) -> bool {
        list.contains(&self.lower.as_str())
    }
}

/// Returns the words of `text[sentence]`, with the frame of other languages in English; words inside `quotes` are
/// marked.
pub(crate) fn read_words(text: &str, sentence: Range<usize>, quotes: &[Range<usize>]) -> Vec<Word> {
    let pieces = text.get(sentence.clone()).and_then(gloss::split_pieces);
    let written = words_as_written(text, sentence.clone(), quotes);
    match pieces {
        Some(pieces) => gloss_words(text, sentence, pieces, &written),
        None => written,
    }
}

/// Returns the words of a sentence with the English of `pieces` in place of the words that it translates. The ranges of
/// `pieces` count from the start of the sentence. The position of "not" differs between languages, so the result for a
/// sentence that contains it is empty.
fn gloss_words(text: &str, sentence: Range<usize>, pieces: Vec<Piece>, written: &[Word]) -> Vec<Word> {
    let start = sentence.start;
    let mut out: Vec<Word> = Vec::new();
    if pieces
        .iter()
        .any(|it| matches!(it.english.as_deref(), Some("not" | "no")))
    {
        return out;
    }
    let pieces = join_name_characters(pieces);
    let nexts = pieces.iter().skip(1).map(|it| start + it.range.start);
    let nexts: Vec<usize> = nexts.chain([sentence.end]).collect();
    for (piece, next) in pieces.into_iter().zip(nexts) {
        let range = start + piece.range.start..start + piece.range.end;
        let over = |it: &&Word| it.range.start < range.end && range.start < it.range.end;
        let Some(last) = written.iter().rfind(over) else {
            continue;
        };
        // In scripts without spaces, a written word may contain punctuation.
        let marks = text.get(range.end..next).unwrap_or_default();
        let before = text.get(start..range.end).unwrap_or_default();
        let gap = gap_of(before, marks).max_with(if last.range.end == range.end {
            last.gap
        } else {
            Gap::None
        });
        let shown = text.get(range.clone()).unwrap_or_default();
        let word = |lower: &str, gap| Word {
            lower: lower.to_owned(),
            range: range.clone(),
            gap,
            capital: piece.english.is_none() && shown.starts_with(|it: char| it.is_alphabetic() && !it.is_lowercase()),
            shouted: piece.english.is_none() && last.shouted,
            quoted: last.quoted,
            foreign: true,
        };
        let lower = piece
            .english
            .as_deref()
            .map_or_else(|| shown.to_lowercase(), str::to_owned);
        let mut parts = lower.split(' ').peekable();
        while let Some(part) = parts.next() {
            out.push(word(part, if parts.peek().is_some() { Gap::None } else { gap }));
        }
    }
    verb_last(&mut out);
    clause_last(&mut out);
    out
}

/// Joins the characters of a name after "called" in a script without spaces.
fn join_name_characters(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut name = false;
    for piece in pieces {
        match out.last_mut() {
            Some(last) if name && piece.english.is_none() && last.range.end == piece.range.start => {
                last.range.end = piece.range.end;
            }
            last => {
                name = last.is_some_and(|it| it.english.as_deref().is_some_and(|it| it.ends_with("called")));
                out.push(piece);
            }
        }
    }
    out
}

/// Moves the participle at the end of a German clause to its English position: "Ich bin im Mai nach Graz gezogen"
/// becomes "i have moved to Graz". The words between are left out.
fn verb_last(words: &mut Vec<Word>) {
    let Some(verb) = words.iter().position(|it| it.lower == "moved" && it.gap != Gap::None) else {
        return;
    };
    let Some(helps) = words[..verb]
        .iter()
        .rposition(|it| is_in_class(&it.lower, Class::HelpsParticiple))
    else {
        return;
    };
    let Some(to) = (helps + 1..verb).find(|it| words[*it].lower == "to") else {
        return;
    };
    let mut moved = words.remove(verb);
    words[verb - 1].gap = moved.gap;
    moved.gap = Gap::None;
    words[helps].lower = "have".to_owned();
    words.splice(helps + 1..to, [moved]);
}

/// Moves the verb at the end of a German subordinate clause to its subject: "Seit wir in Husum wohnen, ..." becomes "we
/// live in Husum", and "weil mein Sohn gegen Hunde allergisch ist" becomes "my son is allergic to Hunde".
fn clause_last(words: &mut Vec<Word>) {
    let opens = |it: &Word| it.is_in_list(&GERMAN_SUBORDINATORS);
    let Some(from) = words.iter().position(opens).map(|it| it + 1) else {
        return;
    };
    let subject = match words.get(from).map_or("", |it| it.lower.as_str()) {
        "i" | "we" | "he" | "she" => from + 1,
        "my" | "our" => from + 2,
        _ => return,
    };
    let end = (from..words.len()).find(|it| words[*it].gap != Gap::None);
    let end = end.unwrap_or(words.len().saturating_sub(1));
    let verb = words.get(end).is_some_and(|it| it.is_in_list(&FINAL_VERBS));
    if !verb || end <= subject + 1 {
        return;
    }
    let mut moved = words.remove(end);
    words[end - 1].gap = moved.gap;
    moved.gap = Gap::None;
    if words[subject].lower == "against" && words[end - 1].lower == "allergic" {
        let mut allergic = words.remove(end - 1);
        words[end - 2].gap = allergic.gap;
        allergic.gap = Gap::None;
        words[subject].lower = "to".to_owned();
        words.insert(subject, allergic);
    }
    words.insert(subject, moved);
    // The rules look for "since", whatever the German word was.
    words[from - 1].lower = "since".to_owned();
}

fn words_as_written(text: &str, sentence: Range<usize>, quotes: &[Range<usize>]) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::new();
    let raws = piece_ranges(text, sentence.clone());
    for (at, raw) in raws.iter().enumerate() {
        let Some(piece) = text.get(raw.clone()) else { continue };
        let bare = piece.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '$' | '€' | '£' | '%' | '&'));
        if bare.is_empty() {
            raise_last_gap(&mut out, Gap::Strong);
            continue;
        }
        let from = raw.start + piece.find(bare).unwrap_or_default();
        let range = from..from + bare.len();
        let (before, after) = (&text[raw.start..from], &text[range.end..raw.end]);
        if before.contains(['(', '[']) {
            raise_last_gap(&mut out, Gap::Strong);
        }
        let quoted = quotes.iter().any(|it| it.start <= range.start && range.end <= it.end);
        let capital = bare.chars().next().is_some_and(char::is_uppercase);
        let shouted = bare.chars().filter(|it| it.is_uppercase()).count() > 1 && !bare.chars().any(char::is_lowercase);
        let lower = if bare == "&" {
            "and".to_owned()
        } else {
            expand_chat_spelling(bare.to_lowercase().replace('\u{2019}', "'"))
        };
        let (first, second) = split_contraction(&lower);
        // A full stop after the last word ends the sentence; any other one is inside it.
        let gap = match raws.get(at + 1) {
            Some(next) => gap_of(&text[sentence.start..range.end], &text[range.end..next.start]),
            None if after.contains(['.', ':']) => Gap::Strong,
            None => gap_of("", after),
        };
        let word = |lower: &str, gap| Word {
            lower: lower.to_owned(),
            range: range.clone(),
            gap,
            capital,
            shouted,
            quoted,
            foreign: false,
        };
        match second {
            Some(second) => {
                out.push(word(first, Gap::None));
                out.push(word(second, gap));
            }
            None => out.push(word(first, gap)),
        }
    }
    out
}

impl Gap {
    fn max_with(self, other: Gap) -> Gap {
        match (self, other) {
            (Gap::Strong, _) | (_, Gap::Strong) => Gap::Strong,
            (Gap::Comma, _) | (_, Gap::Comma) => Gap::Comma,
            (Gap::None, Gap::None) => Gap::None,
        }
    }
}

fn raise_last_gap(out: &mut [Word], gap: Gap) {
    if let Some(last) = out.last_mut() {
        last.gap = last.gap.max_with(gap);
    }
}

fn gap_of(before: &str, marks: &str) -> Gap {
    if crate::ends_clause(before, marks) || marks.contains([')', ']']) {
        Gap::Strong
    } else if marks.contains([',', '，', '、']) {
        Gap::Comma
    } else {
        Gap::None
    }
}

/// Returns the byte ranges between white space; long dashes and repeated dots separate words too.
fn piece_ranges(text: &str, sentence: Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = None;
    let Some(slice) = text.get(sentence.clone()) else {
        return out;
    };
    for (at, c) in slice.char_indices() {
        let at = at + sentence.start;
        if c.is_whitespace() {
            out.extend(start.take().map(|it| it..at));
        } else if matches!(c, '\u{2014}' | '\u{2026}') {
            let from = start.take().unwrap_or(at);
            out.push(from..at + c.len_utf8());
            if from < at {
                // A dash inside of a word separates the words around it.
                out.push(at..at + c.len_utf8());
            }
        } else {
            start.get_or_insert(at);
        }
    }
    out.extend(start.map(|it| it..sentence.end));
    out
}

/// Returns the byte ranges between double quotation marks, each inside one line.
pub(crate) fn quote_ranges(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut open: Option<usize> = None;
    for (at, c) in text.char_indices() {
        match (c, open) {
            ('\n', _) => open = None,
            ('"' | '\u{201c}' | '\u{201e}' | '«' | '\u{201d}' | '»', None) => open = Some(at),
            ('"' | '\u{201d}' | '\u{201c}' | '»', Some(from)) => {
                out.push(from..at + c.len_utf8());
                open = None;
            }
            _ => {}
        }
    }
    out
}
