//! The tense of sentences: whether they are about the past or the future. It decides where their days and months lie.

pub(super) mod clause;
pub(super) mod future_events;
pub(super) mod verb_forms;

use crate::gloss;
use crate::lexicon::{Class as WordClass, is_in_class, words_of_class};
use crate::time::tense::future_events::{Ahead, hints_at_future};
use crate::time::tense::verb_forms::{opens_clause, tense_cue};
use crate::time::token::{Tense, Token};
use crate::time_words::lexicon::Class;

/// Sets the tense of every token: that of the nearest verb before it in its sentence, otherwise that of the first verb
/// after it. An English sentence without a verb may continue the tense of the sentence before it.
pub(super) fn mark_tenses(text: &str, tokens: &mut [Token<'_>]) {
    let foreign = foreign_tense_cues(text, tokens);
    let mut current = Tense::Open;
    let mut plans = Ahead::default();
    let mut sentence = usize::MAX;
    for i in 0..tokens.len() {
        if tokens[i].sentence != sentence {
            sentence = tokens[i].sentence;
            current = Tense::Open;
            plans = Ahead::from_sentence(tokens, i);
        }
        let next = tokens.get(i + 1).map_or("", |token| &*token.lower);
        let last = i.checked_sub(1).map_or("", |last| &*tokens[last].lower);
        let cue = match &foreign {
            Some(cues) => cues[i],
            None if opens_clause(tokens, i) && is_in_class(&tokens[i].lower, WordClass::OpeningParticiple) => {
                Tense::Past
            }
            None => tense_cue(last, &tokens[i].lower, next),
        };
        current = if cue == Tense::Open { current } else { cue };
        if foreign.is_none() && current == Tense::Past && cue == Tense::Open {
            current = clause::left_past(tokens, i).unwrap_or(current);
        }
        if plans.read_token(tokens, i, cue, foreign.is_none()) {
            current = Tense::Future;
        }
        tokens[i].tense = current;
    }
    let mut before = Tense::Open;
    for sentence in tokens.chunk_by_mut(|a, b| a.sentence == b.sentence) {
        if foreign.is_none() && sentence.iter().all(|it| it.tense == Tense::Open) {
            let on = goes_on(sentence);
            let tense = if hints_at_future(sentence, on, on && before == Tense::Open) {
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
fn foreign_tense_cues(text: &str, tokens: &[Token<'_>]) -> Option<Vec<Tense>> {
    let signs = |it: &Token<'_>| it.lower.chars().any(|it| it.is_alphabetic() && !it.is_ascii());
    // "Vrijdagavond" contains its weekday.
    let compound = |it: &Token<'_>| {
        it.class == Class::World
            && words_of_class(WordClass::DayPartEnding)
                .iter()
                .any(|end| it.lower.ends_with(end))
    };
    let placed =
        |it: &Token<'_>| matches!(it.class, Class::Weekday(..) | Class::Month(..)) || signs(it) || compound(it);
    if !tokens.iter().any(placed) {
        return None;
    }
    let pieces = gloss::split_pieces(text)?;
    let mut last = String::new();
    let mut cues = vec![Tense::Open; tokens.len()];
    for piece in &pieces {
        let piece_tense = match &piece.english {
            None => tense_of_participle(&last, &text[piece.range.clone()].to_lowercase()),
            Some(english) => english.split(' ').fold(Tense::Open, |piece_tense, word| {
                let cue = tense_cue(&last, word, "");
                word.clone_into(&mut last);
                if piece_tense == Tense::Open { cue } else { piece_tense }
            }),
        };
        if piece.english.is_none() && piece_tense == Tense::Past {
            last.clear();
        }
        let from = tokens.partition_point(|it| it.end <= piece.range.start);
        let to = tokens.partition_point(|it| it.start < piece.range.end);
        cues[from..to.max(from)].fill(piece_tense);
    }
    Some(cues)
}

/// Returns the past for verb forms that only the past has: "gekauft", "ho visto" after "have", "compré", "comprou",
/// "买了".
fn tense_of_participle(last: &str, word: &str) -> Tense {
    let long = |least: usize| word.chars().count() >= least;
    let ends = |class: WordClass| words_of_class(class).iter().any(|it| word.ends_with(it));
    let germanic = word.starts_with("ge") && long(6) && ends(WordClass::GeParticipleEnding);
    let helped = is_in_class(last, WordClass::HelpsParticiple) && long(4) && ends(WordClass::ParticipleEnding);
    let preterite = long(5) && ends(WordClass::PreteriteEnding) && !is_in_class(word, WordClass::NoPreterite);
    if germanic || helped || preterite || matches!(word, "了" | "过") || is_in_class(word, WordClass::Preterite) {
        Tense::Past
    } else {
        Tense::Open
    }
}

/// Returns true if a sentence has no word of an acting subject or a verb, so that it continues the one before: "On
/// Sunday, right through."
fn goes_on(sentence: &[Token<'_>]) -> bool {
    let short = |it: &str| {
        it.len() > 2
            && it
                .rsplit(['\'', '’'])
                .next()
                .is_some_and(|it| is_in_class(it, WordClass::ShortVerb))
    };
    let acts = |it: &Token<'_>| is_in_class(&it.lower, WordClass::Acts) || short(&it.lower);
    !sentence.iter().any(acts) && sentence.last().is_none_or(|it| it.lower != "?")
}
