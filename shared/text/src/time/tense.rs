//! The tense of sentences: whether they are about the past or the future. It decides where their days and months lie.

use super::ahead::{Ahead, hints};
use super::clause;
use super::lexicon::Class;
use super::token::{Tense, Token};
use crate::gloss;
use crate::lexicon::{Class as WordClass, classes, is, words};
use crate::verbs::is_past;

/// Sets the tense of every token: that of the nearest verb before it in its sentence, otherwise that of the first verb
/// after it. A sentence without a verb continues the tense of the sentence before.
pub(super) fn mark(text: &str, tokens: &mut [Token<'_>]) {
    let foreign = foreign(text, tokens);
    let mut current = Tense::Open;
    let mut plans = Ahead::default();
    let mut sentence = usize::MAX;
    for i in 0..tokens.len() {
        if tokens[i].sentence != sentence {
            sentence = tokens[i].sentence;
            current = Tense::Open;
            plans = Ahead::begin(tokens, i);
        }
        let next = tokens.get(i + 1).map_or("", |token| &*token.lower);
        let last = i.checked_sub(1).map_or("", |last| &*tokens[last].lower);
        let cue = match &foreign {
            Some(cues) => cues[i],
            None if opens_clause(tokens, i) && is(&tokens[i].lower, WordClass::OpeningParticiple) => Tense::Past,
            None => cue(last, &tokens[i].lower, next),
        };
        current = if cue == Tense::Open { current } else { cue };
        if foreign.is_none() && current == Tense::Past && cue == Tense::Open {
            current = clause::left_past(tokens, i).unwrap_or(current);
        }
        if plans.read(tokens, i, cue, foreign.is_none()) {
            current = Tense::Future;
        }
        tokens[i].tense = current;
    }
    let mut before = Tense::Open;
    for sentence in tokens.chunk_by_mut(|a, b| a.sentence == b.sentence) {
        if foreign.is_none() && sentence.iter().all(|it| it.tense == Tense::Open) {
            let on = goes_on(sentence);
            let tense = if hints(sentence, on, on && before == Tense::Open) {
                Tense::Future
            } else if on && before == Tense::Past && clause::may_look_ahead(sentence) {
                Tense::Unsure
            } else if on {
                before
            } else {
                Tense::Open
            };
            sentence.iter_mut().for_each(|it| it.tense = tense);
        }
        before = sentence.last().map_or(Tense::Open, |it| it.tense);
    }
    let mut ahead = Tense::Open;
    for i in (0..tokens.len()).rev() {
        let reason = foreign.is_none() && clause::gives_reason(tokens, i);
        let token = &mut tokens[i];
        if token.sentence != sentence {
            sentence = token.sentence;
            ahead = Tense::Open;
        }
        match token.tense {
            Tense::Open => token.tense = ahead,
            Tense::Past | Tense::Future | Tense::Unsure => ahead = token.tense,
        }
        if reason {
            ahead = Tense::Open;
        }
    }
}

/// Returns the tense cues of a text in another language, read from the English of its words where it is known. Returns
/// `None` for English, and for a text without a day or month to place.
fn foreign(text: &str, tokens: &[Token<'_>]) -> Option<Vec<Tense>> {
    let signs = |it: &Token<'_>| it.lower.chars().any(|it| it.is_alphabetic() && !it.is_ascii());
    // "Vrijdagavond" contains its weekday.
    let compound = |it: &Token<'_>| {
        it.class == Class::World && ["ochtend", "middag", "avond"].iter().any(|end| it.lower.ends_with(end))
    };
    let placed =
        |it: &Token<'_>| matches!(it.class, Class::Weekday(..) | Class::Month(..)) || signs(it) || compound(it);
    if !tokens.iter().any(placed) {
        return None;
    }
    let pieces = gloss::pieces(text)?;
    let mut last = String::new();
    let mut cues = vec![Tense::Open; tokens.len()];
    for piece in &pieces {
        let said = match &piece.english {
            None => participle(&last, &text[piece.range.clone()].to_lowercase()),
            Some(english) => {
                let cue = english
                    .split(' ')
                    .map(|it| cue(&last, it, ""))
                    .find(|it| *it != Tense::Open);
                last = english.rsplit(' ').next().unwrap_or_default().to_owned();
                cue.unwrap_or_default()
            }
        };
        if piece.english.is_none() && said == Tense::Past {
            last.clear();
        }
        let from = tokens.partition_point(|it| it.end <= piece.range.start);
        let to = tokens.partition_point(|it| it.start < piece.range.end);
        cues[from..to.max(from)].fill(said);
    }
    Some(cues)
}

/// Returns the past for verb forms that only the past has: "gekauft", "ho visto" after "have", "compré", "comprou",
/// "买了".
fn participle(last: &str, word: &str) -> Tense {
    let long = |least: usize| word.chars().count() >= least;
    let ends = |class: WordClass| words(class).iter().any(|it| word.ends_with(it));
    let germanic = word.starts_with("ge") && long(6) && ["t", "en", "d"].iter().any(|it| word.ends_with(it));
    let helped = is(last, WordClass::HelpsParticiple) && long(4) && ends(WordClass::ParticipleEnding);
    let preterite = long(5) && ends(WordClass::PreteriteEnding) && !is(word, WordClass::NoPreterite);
    if germanic || helped || preterite || matches!(word, "了" | "过") || is(word, WordClass::Preterite) {
        Tense::Past
    } else {
        Tense::Open
    }
}

pub(super) fn cue(last: &str, word: &str, next: &str) -> Tense {
    let classes = classes(word);
    match word {
        "’ll" => Tense::Future,
        _ if classes.has(WordClass::FutureCue) => Tense::Future,
        "going" if next == "to" => Tense::Future,
        "looking" | "forward" => Tense::Future,
        // "In Rome now, back on the 28th" is in the future; "came back on the 28th" is not.
        "back" if matches!(next, "on" | "by") && (is_be(last) || matches!(last, "" | "," | "be")) => Tense::Future,
        // The class has "didn" and similar forms too, since "'t" is a token of its own.
        _ if classes.has(WordClass::PastCue) => Tense::Past,
        _ if is_past(word) => Tense::Past,
        "gone" | "done" | "born" if !tied(last) => Tense::Past,
        // "Is planned" and "will be closed" are not about the past.
        _ if word.len() > 3 && word.ends_with("ed") && !tied(last) && !is_state(word) => Tense::Past,
        _ => Tense::Open,
    }
}

/// Returns true if token `i` is the first word of its sentence, or of a clause after a mark.
pub(super) fn opens_clause(tokens: &[Token<'_>], i: usize) -> bool {
    let Some(last) = i.checked_sub(1).map(|last| &tokens[last]) else {
        return true;
    };
    last.sentence != tokens[i].sentence || matches!(last.class, Class::Mark(_)) && !tokens[i].glued
}

/// Returns true if a participle after this word is not a past tense: "is closed", "a baked potato".
fn tied(last: &str) -> bool {
    is(last, WordClass::TiesParticiple)
}

/// Returns true if a word is a present form of "be" that cannot be another word: "am", "is", "are", "'m" or "'re".
pub(super) fn is_be(word: &str) -> bool {
    matches!(word, "am" | "is" | "are") || matches!(word.strip_prefix(['\'', '’']), Some("m" | "re"))
}

/// Returns true for words in "-ed" that describe a state or are not a past form: "so excited for Saturday", "we need
/// milk".
fn is_state(word: &str) -> bool {
    let own = ["agreed", "freed"];
    is(word, WordClass::StateOnEd) || (word.ends_with("eed") && !own.contains(&word))
}

/// Returns true if a sentence has no word of an acting subject or a verb, so that it continues the one before: "On
/// Sunday, right through."
fn goes_on(sentence: &[Token<'_>]) -> bool {
    let short = |it: &str| {
        it.len() > 2
            && it
                .rsplit(['\'', '’'])
                .next()
                .is_some_and(|it| is(it, WordClass::ShortVerb))
    };
    let acts = |it: &Token<'_>| is(&it.lower, WordClass::Acts) || short(&it.lower);
    !sentence.iter().any(acts) && sentence.last().is_none_or(|it| it.lower != "?")
}
