//! Translation of the grammatical frame of other languages into English words: "Wo wohnt meine Schwester?" becomes
//! "where does my sister live", "Mi perro se llama Toby" becomes "my dog is called Toby".
//!
//! The rules for questions, owners, phrases and facts are written for English. With these glosses they also read
//! German, Spanish, French, Italian, Portuguese, Chinese and Dutch, as far as the tables know the words of grammar and
//! of everyday life. All other words stay as they are written. A gloss is only for the rules; users always see the
//! original text.

mod language;
mod page_texts;
mod word_order;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::lexicon::data_files::{self, File, data_file};
use crate::lexicon::{Class, is_in_class};
use crate::{is_stop, split_words};
use language::{detect_language, to_lowercase_cow};
pub use page_texts::{PageTexts, page_texts};
use word_order::base_of_phrase;

macro_rules! language {
    ($code:literal) => {
        Language {
            phrases: data_file!($code, "/phrases.tsv"),
            replies: data_file!($code, "/replies.tsv"),
            page: data_file!($code, "/page.tsv"),
        }
    };
}

/// The known languages; if two have equally many words in a text, the first one wins.
const LANGUAGES: [Language; 7] = [
    language!("de"),
    language!("es"),
    language!("fr"),
    language!("it"),
    language!("pt"),
    language!("zh"),
    language!("nl"),
];

/// The files of a language.
struct Language {
    phrases: File,
    replies: File,
    page: File,
}

/// The phrases of each language, by their words.
static PHRASES: LazyLock<Vec<HashMap<String, Senses>>> = LazyLock::new(|| {
    LANGUAGES
        .iter()
        .map(|it| data_files::expect_valid_table(read_phrases(it.phrases)))
        .collect()
});
/// "Yes" and "no" in each language.
static REPLIES: LazyLock<Vec<[&str; 2]>> = LazyLock::new(|| {
    LANGUAGES
        .iter()
        .map(|it| data_files::expect_valid_table(read_replies(it.replies)))
        .collect()
});
/// Number of words of the longest phrase.
const PHRASE_MAX: usize = 6;

/// English for a phrase in a question and in a statement: "perché" is "why" or "because".
#[derive(Clone, Copy, Debug)]
struct Senses {
    asking: &'static str,
    telling: &'static str,
}

/// A word or phrase of a text with its English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Byte range in the text.
    pub range: Range<usize>,
    /// English words in lower case; `None` for a word that the table does not have.
    pub english: Option<Cow<'static, str>>,
}

/// Splits a text into its words and known phrases, in order. Returns `None` if the text is in English or in an unknown
/// language. The language of most words counts; if two have equally many, the first one of the list.
pub fn split_pieces(text: &str) -> Option<Vec<Piece>> {
    let written = word_ranges(text);
    let phrases = &PHRASES[detect_language(text, &written)?];
    let lower: Vec<Cow<'_, str>> = written.iter().map(|it| to_lowercase_cow(&text[it.clone()])).collect();
    let asks = crate::ends_asking(text);
    let mut out = Vec::with_capacity(written.len());
    let mut at = 0;
    while at < written.len() {
        let longest = (1..=PHRASE_MAX.min(written.len() - at)).rev().find_map(|length| {
            let senses = phrases.get(&lower[at..at + length].join(" "))?;
            Some((length, if asks { senses.asking } else { senses.telling }))
        });
        let length = longest.map_or(1, |it| it.0);
        out.push(Piece {
            range: written[at].start..written[at + length - 1].end,
            english: longest.map(|it| adapt_phrase(it.1, &out)),
        });
        at += length;
    }
    rewrite_ages(text, &mut out);
    Some(out)
}

/// Returns the English of a phrase, adapted to the pieces before it. After "I", directly or with "and" between, a verb
/// takes its base form, and a second "I" is dropped ("yo vivo").
fn adapt_phrase(english: &'static str, before: &[Piece]) -> Cow<'static, str> {
    let is_i = |it: &Piece| {
        it.english
            .as_deref()
            .is_some_and(|it| it == "i" || it.starts_with("i "))
    };
    let last = before.last().and_then(|it| it.english.as_deref()).unwrap_or_default();
    let of_i = last == "i" || last == "and" && before.iter().any(is_i);
    match (base_of_phrase(english).filter(|_| of_i), english.strip_prefix("i ")) {
        (Some(base), _) => Cow::Owned(base),
        (None, Some(rest)) if last == "i" => Cow::Borrowed(rest),
        (None, _) => Cow::Borrowed(english),
    }
}

/// "Tengo 34 años": English says that a person is 34 years old, not that they have 34 years.
fn rewrite_ages(text: &str, pieces: &mut [Piece]) {
    for at in 2..pieces.len() {
        let [had, count, years] = [at - 2, at - 1, at].map(|it| pieces[it].english.as_deref());
        let counted = count.is_some_and(|it| crate::number_word(it).is_some_and(|it| it > 1.0))
            || text[pieces[at - 1].range.clone()].chars().all(|it| it.is_ascii_digit());
        let is = match had {
            Some("i have") => "i am",
            Some("have") => "am",
            Some("has") => "is",
            _ => continue,
        };
        if counted && years == Some("years") {
            pieces[at - 2].english = Some(Cow::Borrowed(is));
            pieces[at].english = Some(Cow::Borrowed("years old"));
        }
    }
}

/// A word that is not part of the grammatical frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    /// The word as it is written; for a phrase, its longest word.
    pub written: &'a str,
    /// English translation of the word, for a verb the base form; `None` for a word that the table does not have.
    pub english: Option<String>,
}

/// Returns the words of a text that are not function words of its language, in order. `pieces` is the result of
/// [`split_pieces`].
pub fn content_words<'a>(text: &'a str, pieces: &[Piece]) -> Vec<Content<'a>> {
    let read = |piece: &Piece| {
        let phrase = &text[piece.range.clone()];
        let longest = split_words(phrase).into_iter().rev().max_by_key(|it| it.len());
        let english = match &piece.english {
            None => None,
            Some(english) => {
                let first = english.split(' ').find(|it| !is_stop(it) && *it != "'s")?;
                Some(base_of_phrase(first).unwrap_or_else(|| first.to_owned()))
            }
        };
        Some(Content {
            written: longest.unwrap_or(phrase),
            english,
        })
    };
    pieces.iter().filter_map(read).collect()
}

/// Returns true if a text has an English function word or is in a language of the table.
pub fn is_known(text: &str) -> bool {
    split_words(text).into_iter().any(is_stop) || split_pieces(text).is_some()
}

/// Returns "Yes" and "No" in the language of a text.
pub fn yes_and_no(text: &str) -> [&'static str; 2] {
    let column = detect_language(text, &word_ranges(text));
    column.and_then(|it| REPLIES.get(it).copied()).unwrap_or(["Yes", "No"])
}

/// Returns a text with its frame in English; a question also gets the English word order.
pub fn to_english(text: &str) -> Cow<'_, str> {
    let Some(pieces) = split_pieces(text) else {
        return Cow::Borrowed(text);
    };
    let asks = crate::ends_asking(text);
    let mut out: Vec<String> = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.iter().enumerate() {
        let shown = match &piece.english {
            Some(english) => english.clone().into_owned(),
            None => find_genitive_owner(text, &pieces[at..]).unwrap_or_else(|| text[piece.range.clone()].to_owned()),
        };
        let gap = &text[at.checked_sub(1).map_or(0, |it| pieces[it].range.end)..piece.range.start];
        if let Some(last) = out
            .last_mut()
            .filter(|_| !asks && gap.contains([',', ';', ':', '，', '、']))
        {
            last.push(',');
        }
        let joined = at > 0 && gap.is_empty();
        let unspaced = joined && piece.english.is_none() && pieces[at - 1].english.is_none();
        match out.last_mut() {
            Some(last) if unspaced || shown == "'s" => last.push_str(&shown),
            _ => out.push(shown),
        }
    }
    if asks {
        out = word_order::reorder_question(&out);
    }
    let mark = if asks { "?" } else { "" };
    Cow::Owned(format!("{}{mark}", out.join(" ")))
}

/// "Lenas Hund" and "Jonas' Hund": returns the owner, a name in the genitive before a word of the table.
fn find_genitive_owner(text: &str, pieces: &[Piece]) -> Option<String> {
    let [name, owned, ..] = pieces else { return None };
    let written = &text[name.range.clone()];
    let capital = |it: &str| it.starts_with(char::is_uppercase) && !it.starts_with(|it: char| !it.is_alphabetic());
    let noun = owned.english.as_ref().is_some_and(|it| !is_stop(it)) && capital(&text[owned.range.clone()]);
    if !noun || !capital(written) {
        return None;
    }
    let bare = match &text[name.range.end..owned.range.start] {
        "' " | "’ " => written,
        " " => written.strip_suffix('s')?,
        _ => return None,
    };
    Some(format!("{bare}'s"))
}

/// Returns the byte ranges of the words of a text; elided words ("l'") have their own range.
fn word_ranges(text: &str) -> Vec<Range<usize>> {
    let base = text.as_ptr() as usize;
    let mut out = Vec::new();
    for word in split_words(text) {
        let start = word.as_ptr() as usize - base;
        let end = start + word.len();
        let cut = word
            .find(['\'', '’'])
            .filter(|it| is_in_class(&word[..*it].to_lowercase(), Class::Elided));
        match cut.map(|it| (it, it + word[it..].chars().next().map_or(1, char::len_utf8))) {
            Some((cut, next)) if start + next < end => out.extend([start..start + cut, start + next..end]),
            _ => out.push(start..end),
        }
    }
    out
}

/// Reads the phrases of a language. If a phrase has two rows, the first gives its English in a question and the second
/// its English in a statement.
fn read_phrases(file: File) -> Result<HashMap<String, Senses>, String> {
    let mut phrases: HashMap<String, Senses> = HashMap::new();
    let mut met = HashMap::new();
    for row in data_files::read_rows(file, 2)? {
        let english = row.cells[0];
        data_files::insert_unique(&mut met, english, (), &row)?;
        for phrase in row.split_alternatives(1) {
            let words: Vec<&str> = word_ranges(phrase).into_iter().map(|it| &phrase[it]).collect();
            if words.is_empty() || words.len() > PHRASE_MAX {
                return Err(row.locate_error(&format!("\"{phrase}\" must have 1 to {PHRASE_MAX} words")));
            }
            let senses = phrases.entry(words.join(" ")).or_insert(Senses {
                asking: english,
                telling: english,
            });
            if senses.telling != senses.asking {
                return Err(row.locate_error(&format!("\"{phrase}\" is in more than two rows")));
            }
            senses.telling = english;
        }
    }
    Ok(phrases)
}

/// Reads the words for "yes" and "no" of a language.
fn read_replies(file: File) -> Result<[&'static str; 2], String> {
    let rows = data_files::read_rows(file, 2)?;
    match rows.iter().map(|it| it.cells.as_slice()).collect::<Vec<_>>().as_slice() {
        [["yes", yes], ["no", no]] => Ok([yes, no]),
        _ => Err(format!(
            "{}: must have one row for \"yes\" and one for \"no\"",
            file.path
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_translated_to_english_word_order() {
        for (text, expected) in [
            ("Wo wohnt Jonas?", "where does Jonas live?"),
            ("Wohin ist Jonas umgezogen?", "where is Jonas moved?"),
            ("Was arbeitet Lena?", "what does Lena work as?"),
            ("Wie heißt die Schwester von Jonas?", "what is Jonas's sister called?"),
            ("Wie heißt Lenas Hund?", "what is Lena's dog called?"),
            ("Wie alt ist Balu?", "how old is Balu?"),
            ("¿Dónde vive Carmen?", "where does Carmen live?"),
            (
                "¿Cómo se llama la hermana de Carmen?",
                "what is Carmen's sister called?",
            ),
            ("¿En qué trabaja Diego?", "what does Diego work as?"),
            ("Où habite ma sœur ?", "where does my sister live?"),
            ("Perché Anna è triste?", "why Anna is triste?"),
            ("Quando va Rita a Coimbra?", "when does Rita go to Coimbra?"),
            ("谁结婚了？", "who married just?"),
            ("小明的妹妹叫什么？", "what is 小明's sister called?"),
            ("Wohnt Jonas in Graz?", "does Jonas live in Graz?"),
            ("Ana abita a Trieste?", "does Ana live in Trieste?"),
            ("Was möchte Lena?", "what does Lena want?"),
            ("Lena liebt wen?", "Lena loves whom?"),
            ("Ugo è allergico alle noci?", "is Ugo allergic to noci?"),
        ] {
            assert_eq!(to_english(text), expected);
        }
    }

    #[test]
    fn yes_and_no_are_given_in_the_language_of_the_question() {
        assert_eq!(REPLIES.len(), LANGUAGES.len());
        assert!(LANGUAGES.len() <= language::LANGUAGES_MAX);
        assert_eq!(yes_and_no("Wohnt Jonas in Graz?"), ["Ja", "Nein"]);
        assert_eq!(yes_and_no("Is Ana in Graz?"), ["Yes", "No"]);
        assert_eq!(yes_and_no("Анна в Казани?"), ["Yes", "No"]);
    }

    #[test]
    fn statements_keep_their_order_and_their_content_words() {
        for (text, expected) in [
            ("Mein Hund heißt Balu.", "my dog is called Balu"),
            ("Yo vivo en Lisboa", "i live in Lisboa"),
            ("J'habite à Lyon.", "i live in Lyon"),
            ("Non vengo, perché piove.", "not i come, because piove"),
            ("我叫小明。", "i am called 小明"),
        ] {
            assert_eq!(to_english(text), expected);
        }
    }

    #[test]
    fn tables_with_errors_are_refused() {
        let file = |text| File { path: "x.tsv", text };
        let perche = &read_phrases(file("why\tperché\nbecause\tperché\n")).unwrap()["perché"];
        assert_eq!([perche.asking, perche.telling], ["why", "because"]);
        for (text, fault) in [
            ("who\twer\nwho\twem\n", "x.tsv:2: \"who\" is there already"),
            ("who\twer,,wem\n", "x.tsv:1: \"\" must have 1 to 6 words"),
            ("a\tx\nb\tx\nc\tx\n", "x.tsv:3: \"x\" is in more than two rows"),
        ] {
            assert_eq!(read_phrases(file(text)).err().as_deref(), Some(fault));
        }
        assert_eq!(read_replies(file("yes\tJa\nno\tNee\n")).unwrap(), ["Ja", "Nee"]);
        assert!(read_replies(file("yes\tJa\n")).is_err());
    }

    #[test]
    fn english_text_stays_as_it_is() {
        for text in [
            "I had a great time in Los Angeles!",
            "Die Hard was on, so we stayed in",
            "Come home soon",
            "La La Land",
            "who was at war with whom?",
            "im so tired of the rat race",
            "AI hat man bin",
            "Ben lives in Bergen",
            "Kat and Ada: 4 pm at Sal's?",
            "",
            "Привет, как дела?",
            "何も言わないで、三杯飲んだ。",
        ] {
            assert_eq!(split_pieces(text), None, "{text}");
        }
        assert!(!is_known("Привет, как дела?") && is_known("Where to?") && is_known("Wohin?"));
    }
}
