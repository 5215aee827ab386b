//! Cues: the names, nouns and verbs of a question, in order.

use text::lexicon::{Class, is_in_class};

use crate::word_lists::REQUEST_VERBS;

/// Maximum number of cues of a question.
const CUES_MAX: usize = 30;
/// Longest cue in bytes; longer text is no word.
const LENGTH_MAX: usize = 80;

/// Returns the cues of a question in order of appearance, each once: names whole and as written, and other words in
/// lower case without function words. In scripts without spaces, a run of characters is a cue.
pub(super) fn find_cues(question: &str) -> Vec<String> {
    let names: Vec<(usize, &str)> = text::find_names(question)
        .into_iter()
        .map(|it| (byte_offset(question, it), it))
        .collect();
    let mut out: Vec<String> = Vec::new();
    let mut run: Option<(usize, usize)> = None;
    for (number, word) in text::split_words(question).into_iter().enumerate() {
        let (from, to) = (byte_offset(question, word), byte_offset(question, word) + word.len());
        if is_unspaced_script(word) {
            run = match run {
                Some((start, end)) if end == from => Some((start, to)),
                other => {
                    close_run(question, other, &mut out);
                    Some((from, to))
                }
            };
            continue;
        }
        close_run(question, run.take(), &mut out);
        if let Some((_, name)) = names.iter().find(|(at, it)| (*at..at + it.len()).contains(&from)) {
            push_cue((*name).to_owned(), &mut out);
            continue;
        }
        let lower = normalise_word(word);
        let frames = is_in_class(&lower, Class::Frame) || number == 0 && REQUEST_VERBS.contains(lower.as_str());
        if !frames && !text::is_stop(word) && lower.chars().any(char::is_alphanumeric) {
            push_cue(lower, &mut out);
        }
    }
    close_run(question, run, &mut out);
    out
}

/// Returns the byte offset of a part of a text.
fn byte_offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn normalise_word(word: &str) -> String {
    let lower = word.to_lowercase().replace('\u{2019}', "'");
    lower.strip_suffix("'s").unwrap_or(&lower).to_owned()
}

/// Returns true if the word is a character of a script that does not separate words.
fn is_unspaced_script(word: &str) -> bool {
    let mut chars = word.chars();
    let Some(first) = chars.next() else { return false };
    // Ideographs, kana and the scripts of Southeast Asia; Hangul is written with spaces.
    let parted = !matches!(first, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    !parted
}

fn close_run(question: &str, run: Option<(usize, usize)>, out: &mut Vec<String>) {
    if let Some(text) = run.and_then(|(from, to)| question.get(from..to)) {
        push_cue(text.to_owned(), out);
    }
}

fn push_cue(cue: String, out: &mut Vec<String>) {
    let known = out.iter().any(|it| it.to_lowercase() == cue.to_lowercase());
    if !known && cue.len() <= LENGTH_MAX && out.len() < CUES_MAX {
        out.push(cue);
    }
}
