//! A sentence as words with the properties that the rules need.

use text::lexicon::word_lists::WordList;
use text::{is_auxiliary, is_stop};

use crate::word_lists::{ARTICLES, NAME_PREPOSITIONS, OWNERS, QUESTION_WORDS, REQUEST_VERBS};

/// A word between spaces.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    /// The word as written, without marks around it.
    pub(super) text: String,
    /// The word in lower case, with straight apostrophes.
    pub(super) lower: String,
    /// Whether a comma, semicolon, colon or separate mark follows.
    pub(super) comma: bool,
    /// Whether it is the first word, so that its capital means nothing.
    first: bool,
}

impl Token {
    /// Returns a word that was not in the question.
    pub(super) fn new(text: &str) -> Token {
        Token {
            text: text.to_owned(),
            lower: text.to_lowercase().replace('\u{2019}', "'"),
            comma: false,
            first: false,
        }
    }

    /// Returns true if the word is in a list.
    pub(super) fn is_in_list(&self, list: &WordList) -> bool {
        list.contains(self.lower.as_str())
    }

    /// Returns true if the word is one of `words`.
    pub(super) fn is_any_of(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }

    /// Returns true if it is an auxiliary verb.
    pub(super) fn is_auxiliary_verb(&self) -> bool {
        is_auxiliary(&self.lower)
    }

    /// Returns true if it is a content word.
    pub(super) fn is_content_word(&self) -> bool {
        !is_stop(&self.text)
    }

    /// Returns true if it is a name or part of one.
    pub(super) fn is_name(&self) -> bool {
        let capital = self.text.chars().next().is_some_and(char::is_uppercase);
        capital && self.is_content_word() && !(self.first && self.opens_request())
    }

    fn opens_request(&self) -> bool {
        self.is_in_list(&REQUEST_VERBS) || self.is_any_of(&["name", "please"])
    }

    pub(super) fn is_determiner(&self) -> bool {
        self.is_in_list(&ARTICLES) || self.is_possessive()
    }

    /// Returns true if it is a possessive: it names the owner of the next thing.
    pub(super) fn is_possessive(&self) -> bool {
        self.is_in_list(&OWNERS) || self.lower.ends_with("'s") && self.is_name()
    }

    /// Returns true if it can open a clause that asks.
    pub(super) fn can_open_question(&self) -> bool {
        self.is_in_list(&QUESTION_WORDS) || self.is_auxiliary_verb()
    }
}

/// Returns the words of a sentence.
pub(super) fn read_tokens(sentence: &str) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    for written in sentence.split_whitespace() {
        let bare = written.trim_matches(|it: char| !it.is_alphanumeric());
        if bare.is_empty() {
            if written == "&" {
                out.push(Token::new("and"));
            } else if let Some(last) = out.last_mut() {
                last.comma = true;
            }
            continue;
        }
        let tail = &written[written.find(bare).unwrap_or_default() + bare.len()..];
        out.push(Token {
            comma: tail.starts_with([',', ';', ':']),
            first: out.is_empty(),
            ..Token::new(bare)
        });
    }
    while let Some(at) = out
        .windows(3)
        .position(|it| it[0].lower == "as" && it[1].lower == "well" && it[2].lower == "as")
    {
        out.splice(at..at + 3, [Token::new("and")]);
    }
    out
}

/// Returns a part as text, with a question mark if it is a question.
pub(super) fn render_phrase(tokens: &[Token]) -> String {
    let mut out = String::new();
    for (at, token) in tokens.iter().enumerate() {
        if at > 0 {
            out.push_str(if tokens[at - 1].comma { ", " } else { " " });
        }
        out.push_str(&token.text);
    }
    let mut chars = out.chars();
    let Some(first) = chars.next() else { return out };
    let mut out: String = first.to_uppercase().chain(chars).collect();
    if tokens[0].can_open_question() {
        out.push('?');
    }
    out
}

/// Returns `left`, `middle` and `right` as one phrase, without a comma after `middle`.
pub(super) fn join_phrases(left: &[Token], middle: &[Token], right: &[Token]) -> Vec<Token> {
    let mut out = [left, middle, right].concat();
    if let Some(last) = middle.len().checked_add(left.len()).and_then(|it| it.checked_sub(1)) {
        out[last].comma = false;
    }
    out
}

/// Returns the names as ranges of words. A comma or a possessive ends a name.
pub(super) fn find_names(tokens: &[Token]) -> Vec<std::ops::Range<usize>> {
    let mut out: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !token.is_name() {
            continue;
        }
        match out.last_mut() {
            Some(last) if last.end == at && !tokens[at - 1].comma && !tokens[at - 1].is_possessive() => {
                last.end = at + 1
            }
            _ => out.push(at..at + 1),
        }
    }
    out
}

/// Returns a part with its pronouns replaced by a name of the whole question. Names after a preposition do not count,
/// since they are places or objects. If there is not exactly one other name, or if the part contains it, the part stays
/// unchanged.
pub(super) fn replace_pronouns(part: &[Token], sentence: &[Token]) -> Vec<Token> {
    let mut found = find_names(sentence);
    found.retain(|it| it.start == 0 || !sentence[it.start - 1].is_in_list(&NAME_PREPOSITIONS));
    let [only] = found.as_slice() else {
        return part.to_vec();
    };
    let mut name = sentence[only.clone()].to_vec();
    if part.iter().any(|it| it.lower == name[0].lower) {
        return part.to_vec();
    }
    for it in &mut name {
        it.comma = false;
    }
    let mut out = Vec::new();
    for (at, token) in part.iter().enumerate() {
        let owns = token.is_any_of(&["his", "their"])
            || token.lower == "her" && !token.comma && part.get(at + 1).is_some_and(Token::is_content_word);
        let stands = token.is_any_of(&["he", "she", "they", "him", "them", "her"]);
        if owns || stands {
            out.extend(name.iter().cloned());
            finish_name(&mut out, owns, token.comma);
        } else {
            out.push(token.clone());
        }
    }
    out
}

fn finish_name(out: &mut [Token], owns: bool, comma: bool) {
    let Some(last) = out.last_mut() else { return };
    let bare = last.lower.strip_suffix("'s").is_some();
    let text = if bare {
        let cut = last.text.chars().count() - 2;
        last.text.chars().take(cut).collect()
    } else {
        last.text.clone()
    };
    *last = Token::new(&if owns { format!("{text}'s") } else { text });
    last.comma = comma;
}
