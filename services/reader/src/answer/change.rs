//! What a later turn ends or changes: who quit smoking does not smoke, and of two phone numbers the new one holds.

use text::stem;

use super::grade::Grade;
use super::lexis::number;
use super::polarity::{NEAR, apart, clauses};
use super::score::Scored;
use super::spans::Shape;
use crate::lists;
use crate::pool::{Line, Pool, Sentence};
use crate::question::Question;

/// Returns the line that tells that what a question asks of the present is over; none if nobody tells it, or it was told to be
/// the case after that.
pub(super) fn over(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Option<usize> {
    if !asks_of_now(question) {
        return None;
    }
    let all = || {
        let sentences = |&line: &usize| pool.lines[line].sentences.iter().map(move |it| (line, it));
        lines.iter().flat_map(sentences)
    };
    let best = all().map(|it| it.1.cover).fold(0.0, f32::max);
    let telling = |it: &(usize, &Sentence)| {
        let own = it.1.subject >= it.1.other;
        it.1.cover >= NEAR * best && own && !it.1.question && !it.1.caption
    };
    let told = |line: usize| pool.lines[line].turn.observed_at;
    let ended = all().filter(telling).filter(|it| ends(it.1, question));
    let last = ended
        .map(|it| it.0)
        .max_by_key(|&it| (told(it), pool.lines[it].turn.unit))?;
    let again = all()
        .filter(telling)
        .any(|it| told(it.0) > told(last) && !ends(it.1, question));
    (!again).then_some(last)
}

/// "Does she", "is he", "does she still"; not "did she" and "has he quit".
fn asks_of_now(question: &Question) -> bool {
    let first = text::words(&question.lower).first().copied().unwrap_or_default();
    let present = matches!(first, "do" | "does" | "is" | "are" | "am");
    present && question.recency >= 0.0 && question.tense == 0.0 && question.window.is_none()
}

/// Says whether a clause tells that what the question asks about has ended, in words that the question does not use itself.
fn ends(sentence: &Sentence, question: &Question) -> bool {
    let tokens = text::words(&question.lower);
    let having = tokens.iter().any(|it| HAVING.contains(it));
    let asked = |cue: &str| {
        let first = cue.split(' ').next().unwrap_or_default();
        question.words.iter().any(|it| it.stem == stem(first))
    };
    let word = |it: &str| question.words.iter().any(|word| word.stem == stem(it));
    let pair = question.words.iter().any(|it| COUPLE.contains(&it.stem.as_str()));
    let told = |part: &str, cue: &Ending| {
        let words = text::words(part);
        if pair && parts_a_couple(cue) {
            return stands(&words, cue.says).is_some();
        }
        let last = words.iter().rposition(|it| word(it));
        last.is_some_and(|last| stands(&words, cue.says).is_some_and(|at| cue.anywhere || at < last))
    };
    clauses(sentence).iter().any(|clause| {
        let parts = apart(clause);
        let cues = ENDINGS.iter().filter(|it| (having || !it.owned) && !asked(it.says));
        cues.into_iter().any(|cue| {
            if parts_a_couple(cue) {
                told(clause, cue)
            } else {
                parts.iter().any(|it| told(it, cue))
            }
        })
    })
}

fn parts_a_couple(cue: &Ending) -> bool {
    matches!(cue.says, "broke up" | "split up" | "got divorced")
}

/// Stems of what two people are until they part, whatever the sentence calls it.
const COUPLE: [&str; 6] = ["togeth", "coupl", "date", "marri", "engag", "partner"];

/// Says whether what stands at a word of a clause has ended: "I stopped eating meat".
pub(super) fn over_at(words: &[&str], at: usize) -> bool {
    let ends = |it: usize, cue: &Ending| cue.anywhere || it < at;
    let doings = ENDINGS.iter().filter(|it| !it.owned);
    doings
        .into_iter()
        .any(|cue| stands(words, cue.says).is_some_and(|it| ends(it, cue)))
}

/// Returns where the words of a cue stand; "got used to" and "stopped by" end nothing.
fn stands(words: &[&str], cue: &str) -> Option<usize> {
    let cue: Vec<&str> = cue.split(' ').collect();
    let at = words.windows(cue.len()).position(|it| it == cue.as_slice())?;
    let before = at.checked_sub(1).map_or("", |it| words[it]);
    let after = words.get(at + cue.len()).copied().unwrap_or_default();
    let used = cue[0] == "used"
        && matches!(
            before,
            "get" | "got" | "getting" | "am" | "i'm" | "is" | "are" | "was" | "were"
        );
    let halted = cue[0] == "stopped" && matches!(after, "by" | "at" | "in" | "for" | "to");
    (!used && !halted).then_some(at)
}

struct Ending {
    /// In lower case.
    says: &'static str,
    /// Whether only what somebody has ends so, and not what they do.
    owned: bool,
    /// Whether what ends may stand before it.
    anywhere: bool,
}

const fn ending(says: &'static str, owned: bool, anywhere: bool) -> Ending {
    Ending { says, owned, anywhere }
}

const ENDINGS: [Ending; 30] = [
    ending("quit", false, false),
    ending("stopped", false, false),
    ending("gave up", false, false),
    ending("given up", false, false),
    ending("used to", false, false),
    ending("no longer", false, true),
    ending("dropped", false, false),
    ending("cancelled", false, true),
    ending("canceled", false, true),
    ending("retired from", false, false),
    ending("resigned from", false, false),
    ending("got divorced", false, true),
    ending("broke up", false, true),
    ending("split up", false, true),
    ending("is over", false, true),
    ending("sold", true, true),
    ending("returned", true, false),
    ending("sent back", true, false),
    ending("gave away", true, false),
    ending("given away", true, false),
    ending("got rid of", true, false),
    ending("threw away", true, false),
    ending("threw out", true, false),
    ending("donated", true, false),
    ending("lost", true, false),
    ending("died", true, true),
    ending("passed away", true, true),
    ending("was stolen", true, true),
    ending("got stolen", true, true),
    ending("is gone", true, true),
];

const HAVING: [&str; 7] = ["have", "has", "own", "owns", "keep", "possess", "got"];

/// The later sentence must be about what the other is about.
const ABOUT: f32 = 0.9;
/// ... both about what is asked for
const ASKED: f32 = 0.6;
/// ... and its candidate answer nearly as well.
const FIT: f32 = 1.0;
/// ... unless both are so many of the same: "74 kilos", "down to 68 kilos".
const UNIT_FIT: f32 = 2.5;

/// Finds the best candidate of another time than that of `best` if the later of the two sentences says that something is new or
/// has changed: what holds now and what held before. Only for who asks for one of both.
pub(super) fn other_time<'a>(
    question: &Question,
    pool: &Pool<'_>,
    scored: &'a [Scored],
    best: usize,
) -> Option<&'a Scored> {
    let asks = (question.tense == 0.0 || asks_before(question)) && question.window.is_none();
    if !asks || question.plural || question.converse {
        return None;
    }
    let first = &scored[best];
    let sentence = |it: &Scored| &pool.lines[it.span.line].sentences[it.span.sentence];
    let line = |it: &Scored| &pool.lines[it.span.line];
    let told = |it: &Line<'_>| it.turn.observed_at;
    let figure = |it: &Scored| {
        matches!(
            it.span.shape,
            Shape::Number | Shape::Amount | Shape::Duration | Shape::Rate
        )
    };
    scored.iter().find(|it| {
        let later = if told(line(it)) > told(line(first)) { it } else { first };
        let holds = |a: &Scored, b: &Scored| b.stems.iter().all(|stem| a.stems.contains(stem));
        let same = holds(it, first) || holds(first, it);
        told(line(it)) != told(line(first))
            && (line(it).own >= 0.0 && line(first).own >= 0.0)
            && (it.grade == Grade::Right && first.grade == Grade::Right && figure(it) == figure(first))
            && it.fit >= first.fit - if same_unit(it, first) { UNIT_FIT } else { FIT }
            && !same
            && !sentence(it).question
            && sentence(it).cover >= ASKED.max(ABOUT * sentence(first).cover)
            && sentence(first).cover >= ASKED
            && changes(sentence(later))
    })
}

fn same_unit(a: &Scored, b: &Scored) -> bool {
    let unit = |it: &Scored| {
        it.stems
            .last()
            .filter(|_| it.span.shape == Shape::Amount && it.stems.len() > 1)
            .cloned()
    };
    unit(a).is_some() && unit(a) == unit(b)
}

/// "Her old number", "his former boss".
pub(super) fn asks_before(question: &Question) -> bool {
    let old = question.lower.contains(" old ") && !question.lower.contains("how old");
    let before = ["previous ", "former ", "used to "];
    question.recency < 0.0 || old || before.iter().any(|it| question.lower.contains(it))
}

/// Says whether a sentence tells of something new.
pub(super) fn changes(sentence: &Sentence) -> bool {
    let lower = text::gloss::english(&sentence.text).to_lowercase().replace('’', "'");
    let words = text::words(&lower);
    words.iter().any(|it| lists::CHANGED.contains(it)) || CHANGES.iter().any(|it| lower.contains(it)) || turns(&words)
}

/// Words between a verb of change and what comes of it.
const REACH: usize = 7;

/// "Fell from 90 to 14", "was raised to 20".
fn turns(words: &[&str]) -> bool {
    let changes = |it: &&str| lists::CHANGES.contains(stem(it).as_str());
    let figure = |it: &&str| number(it).is_some();
    let becomes = |at: usize| {
        let end = words.len().min(at + REACH);
        words[at..end].windows(2).any(|it| it[0] == "to" && figure(&it[1]))
    };
    (0..words.len()).any(|at| changes(&words[at]) && becomes(at))
}

const CHANGES: &[&str] = &[
    "these days",
    "from now on",
    "went up",
    "went down",
    "gone up",
    "gone down",
    "up to",
    "down to",
    "any more",
    "no longer",
    "is now",
    "stays at",
    "stay at",
    "stayed at",
    "remains at",
];
